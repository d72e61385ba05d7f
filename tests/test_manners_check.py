"""Suppressing all findings, quiet runs, fixes alone, standard input alone, watching, and counts that agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from npulint.commands.check.pipeline import run as run_pipeline
from npulint.hosts.cli.watch import counts
from npulint.judge.settings import Settings
from tests.project_support import Project

TRAIN = """\
    import torch
    import torch_npu

    model = torch.nn.Linear(4, 2).npu()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in torch.utils.data.DataLoader(range(8)):
        loss = model(
            batch.cuda()
        ).sum()
        loss.backward()
        optimizer.step()
        torch.npu.synchronize()
    """
COMPOSE = """\
    services:
      train:
        image: ascendai/cann:8.0
        runtime: nvidia
        command: |
          # not a comment
          python train.py
    """
LAUNCHER = "#!/bin/bash\nexport ASCEND_LAUNCH_BLOCKING=1\npython train.py \\\n  --epochs 3\n"
ALL = ("--min-severity", "note")


@pytest.fixture
def ported(project: Project) -> Project:
    return project.write({"train.py": TRAIN, "run.sh": LAUNCHER, "docker-compose.yml": COMPOSE})


def test_comments_suppress_what_is_shown_and_nothing_else(ported: Project) -> None:
    shown = ported.run("check", "--format", "json", "--min-severity", "warning").names
    answer = ported.run("check", "--add-ignore")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"Suppressed {len(shown)} findings by comments in 3 files: ")
    left = ported.run("check", "--format", "json", *ALL)
    assert left.names and {one["severity"] for one in left.findings} == {"note"}
    assert "unused-suppression" not in left.names
    train = (ported.folder / "train.py").read_text()
    assert "        batch.cuda()  # npulint: ignore[cuda-in-training-step] TODO: say why\n" in train
    launcher = (ported.folder / "run.sh").read_text()
    assert "ASCEND_LAUNCH_BLOCKING=1  # npulint: ignore[launch-blocking-left-on] TODO: say why\n" in launcher
    compose = (ported.folder / "docker-compose.yml").read_text()
    assert "runtime: nvidia  # npulint: ignore[gpus-for-npu-container] TODO: say why\n" in compose


def test_adding_comments_again_changes_nothing(ported: Project) -> None:
    ported.run("check", "--add-ignore", *ALL)
    files = {path: path.read_bytes() for path in ported.folder.iterdir() if path.is_file()}
    answer = ported.run("check", "--add-ignore", *ALL)
    assert answer.out == "No comment was added: there is no finding to suppress\n"
    assert {path: path.read_bytes() for path in files} == files
    assert ported.run("check", "--format", "json", *ALL).findings == []


def test_a_comment_gets_further_names_and_keeps_its_reason(ported: Project) -> None:
    line = "torch.npu.synchronize()"
    ported.write({"train.py": TRAIN.replace(line, f"{line}  # npulint: ignore[some-other-check] measured")})
    ported.run("check", "--add-ignore", "--min-severity=note", "--ignore", "hygiene")
    text = (ported.folder / "train.py").read_text()
    assert "# npulint: ignore[some-other-check, synchronisation-every-step] measured\n" in text


def test_encoding_and_line_ends_stay(ported: Project) -> None:
    text = "# -*- coding: gbk -*-\n# 训练\n" + Project.text(TRAIN).decode()
    data = text.replace("\n", "\r\n").encode("gbk")
    ported.write({"train.py": data})
    ported.run("check", "--add-ignore")
    after = (ported.folder / "train.py").read_bytes()
    assert after != data and re.sub(rb"  # npulint: [^\r]*", b"", after) == data


def test_files_without_comments_are_named(project: Project) -> None:
    cell = {"cell_type": "code", "source": Project.text(TRAIN).decode(), "metadata": {}, "outputs": []}
    book = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    project.write({"train.ipynb": book})
    answer = project.run("check", "--add-ignore")
    assert "at a place that can have no comment" in answer.out and "  train.ipynb:" in answer.out
    assert (project.folder / "train.ipynb").read_text() == book


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_a_link_is_not_followed(ported: Project, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere.py"
    outside.write_bytes(Project.text(TRAIN))
    (ported.folder / "linked.py").symlink_to(outside)
    ported.run("check", "--add-ignore", ".", "linked.py")
    assert outside.read_bytes() == Project.text(TRAIN)


@pytest.mark.parametrize("other", ["--fix", "--diff", "--write-baseline", "--watch"])
def test_comments_are_added_alone(ported: Project, other: str) -> None:
    answer = ported.run("check", "--add-ignore", other)
    assert answer.code == 2 and "cannot be used together" in answer.err


def test_quiet_prints_findings_alone(ported: Project) -> None:
    loud, quiet = ported.run("check"), ported.run("check", "-q")
    assert (quiet.code, quiet.err) == (loud.code, "")
    assert quiet.out.startswith("error[") and quiet.out in loud.out
    assert "Found" not in quiet.out and "Readiness" not in quiet.out and "Programs" not in quiet.out
    rows = ported.run("check", "--quiet", "--format", "concise").out.splitlines()
    assert rows and all(re.match(r"\S+:\d+:\d+: (error|warning): ", row) for row in rows)


def test_quiet_says_nothing_where_nothing_is_found(project: Project) -> None:
    project.write({"train.py": "import torch\n", "npulint.toml": 'ignore = ["no-such-check"]\n'})
    assert project.run("check").err != ""
    answer = project.run("check", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_quiet_changes_no_other_report_and_hides_no_error(ported: Project) -> None:
    for name in ("json", "markdown"):
        plain = ported.run("check", "--format", name).out
        assert ported.run("check", "--quiet", "--format", name).out == plain
    ported.run("check", "--quiet", "--output", "json=report.json")
    assert len(json.loads((ported.folder / "report.json").read_text())["findings"]) > 0
    answer = ported.run("check", "--quiet", "nowhere.py")
    assert (answer.code, answer.err) == (2, "error: nowhere.py: does not exist\n")


def test_quiet_writes_a_baseline_without_words(ported: Project) -> None:
    answer = ported.run("check", "--quiet", "--write-baseline")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert (ported.folder / "npulint-baseline.json").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("--fix-only",), 0, id="what is left counts for nothing"),
        pytest.param(("--fix-only", "--exit-non-zero-on-fix"), 1, id="files were changed"),
        pytest.param(("--fix-only", "--exit-non-zero-on-fix", "--exit-zero"), 0, id="exit zero takes precedence"),
        pytest.param(("--fix", "--fail-on", "never", "--exit-non-zero-on-fix"), 1, id="with --fix"),
        pytest.param(("--fix", "--fail-on", "never"), 0, id="without it"),
    ],
)
def test_exit_codes_after_fixes(ported: Project, words: tuple[str, ...], code: int) -> None:
    assert ported.run("check", "--unsafe-fixes", *words).code == code
    assert ".cuda()" not in (ported.folder / "train.py").read_text()
    assert ported.run("check", "--unsafe-fixes", *words).code == 0


def test_fixes_alone_report_no_findings(ported: Project) -> None:
    answer = ported.run("check", "--fix-only", "--unsafe-fixes")
    assert re.fullmatch(
        r"Fixed \d+ findings? in \d files?(?: \(\d+ places?\))?\n(?:\d+ could not.*\n(?:  .*\n)+)?", answer.out
    )
    assert ported.run("check", "--fix-only", "--unsafe-fixes", "--quiet").out == ""


def test_fixes_alone_of_standard_input(project: Project) -> None:
    source = Project.text(TRAIN)
    answer = project.run("check", "-", "--fix-only", "--unsafe-fixes", stdin=source)
    assert (answer.code, answer.err) == (0, "")
    assert "batch.npu()" in answer.out


def test_found_fixable_and_fixed_count_findings(ported: Project) -> None:
    before = ported.run("check", "--format", "json", *ALL).document["summary"]
    text = ported.run("check", *ALL).out
    assert f"Found {before['findings']} findings" in text
    assert f"{sum(before['fixable'].values())} fixable with --fix --unsafe-fixes\n" in text
    fixed = ported.run("check", "--fix-only", "--unsafe-fixes").out
    left = ported.run("check", "--format", "json", *ALL).document["summary"]["findings"]
    assert int(fixed.split()[1]) <= sum(before["fixable"].values())
    assert int(fixed.split()[1]) + left >= before["findings"] - 1


def test_hidden_findings_are_told_among_the_fixable(ported: Project) -> None:
    shown = ported.run("check", "--format", "json", "--min-severity", "warning").document["summary"]["fixable"]
    all_of_them = ported.run("check", "--format", "json", *ALL).document["summary"]["fixable"]
    unseen = sum(all_of_them.values()) - sum(shown.values())
    assert unseen > 0 and f"; {unseen} of them not shown\n" in ported.run("check").out


def test_standard_input_alone_reads_nothing_else(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"train.py": TRAIN, ".git/config": "", "README.md": "x"})
    source = b"import torch\ntorch.ones(3).cuda()\n"

    def refused(*_: object) -> list[object]:
        raise AssertionError("nothing else is read")

    monkeypatch.setattr("npulint.commands.check.pipeline.context_files", refused)
    answer = project.run("check", "-", "--format", "json", *ALL, stdin=source)
    assert {one["path"] for one in answer.findings} == {"stdin.py"}
    assert [one["entry"] for one in answer.document["programs"]] in ([], ["stdin.py"])


def test_a_name_says_which_project_standard_input_belongs_to(project: Project) -> None:
    project.write(
        {
            "a/train.py": TRAIN,
            "a/README.md": "x",
            "b/train.py": TRAIN,
            "b/README.md": "x",
            "other.py": "import torch\n",
        }
    )
    words = ("check", "-", "--format", "json", *ALL, "--stdin-filename")
    source = b"import torch\ntorch.ones(3).cuda()\n"
    inside = project.run(*words, "a/new.py", stdin=source).document["programs"]
    assert {one["entry"] for one in inside} <= {"a/train.py", "a/new.py"}
    alone = project.run(*words, "new.py", stdin=source).document["programs"]
    assert not {one["entry"] for one in alone} & {"a/train.py", "b/train.py"}


def test_a_file_in_no_project_is_checked_without_the_folders_below(project: Project) -> None:
    project.write({"train.py": TRAIN, "below/README.md": "x", "below/train.py": TRAIN})
    entered = run_pipeline(Settings(paths=("train.py",), cache=False)).programs
    assert [one.entry for one in entered] == ["train.py"]


def test_progress_ends_with_the_files_of_the_summary(project: Project) -> None:
    project.write({"train.py": TRAIN, "setup.py": "from setuptools import setup\nsetup()\n", "broken.py": b"\xff\x00"})
    steps: list[tuple[int, int]] = []
    result = run_pipeline(Settings(cache=False), lambda done, total: steps.append((done, total)))
    assert steps[-1] == (result.summary.files, result.summary.files)
    assert all(done <= total for done, total in steps)


def fake_library(changes: list[set[tuple[int, str]]]) -> ModuleType:
    """A stand-in for watchfiles: these changes, then Ctrl-C."""
    module: Any = ModuleType("watchfiles")

    def watch(*paths: str, watch_filter: Any, debounce: int, step: int) -> Iterator[set[tuple[int, str]]]:
        assert debounce >= step > 0 and paths
        for some in changes:
            seen = {one for one in some if watch_filter(*one)}
            if seen:
                yield seen
        raise KeyboardInterrupt

    module.watch = watch
    return module  # type: ignore[no-any-return]


def test_watching_checks_again_and_ends_well(ported: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [{(1, "train.py"), (1, "run.sh")}, {(1, "log.bin")}, {(1, ".git/index.py")}]
    monkeypatch.setitem(sys.modules, "watchfiles", fake_library(changes))
    answer = ported.run("check", "--watch", "--format", "concise")
    assert answer.code == 0
    assert answer.out.count("Found ") == 2 and answer.out.count("Watching for changes; Ctrl-C ends\n") == 2
    assert re.search(r"\n\d\d:\d\d:\d\d  2 files changed\n", answer.out)
    assert "Traceback" not in answer.err


def test_watching_without_the_library(ported: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    answer = ported.run("check", "--watch")
    assert (answer.code, answer.err) == (
        2,
        "error: --watch needs the package watchfiles: pip install 'npulint[watch]'\n",
    )


@pytest.mark.parametrize("words", [("-",), ("--format", "json"), ("--fix",), ("--add-ignore",)])
def test_what_cannot_be_watched(ported: Project, words: tuple[str, ...]) -> None:
    answer = ported.run("check", "--watch", *words)
    assert answer.code == 2 and "cannot be used together" in answer.err


def test_a_mistake_in_the_configuration_does_not_end_the_watch(
    ported: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    library: Any = fake_library([{(1, "npulint.toml")}])
    inner = library.watch

    def watch(*paths: str, **options: Any) -> Iterator[set[tuple[int, str]]]:
        ported.write({"npulint.toml": "ignre = []\n"})
        yield from inner(*paths, **options)

    library.watch = watch
    monkeypatch.setitem(sys.modules, "watchfiles", library)
    answer = ported.run("check", "--watch")
    assert (answer.code, "unknown key `ignre`" in answer.err) == (0, True)


@pytest.mark.slow
def test_the_library_reports_real_changes(ported: Project) -> None:
    pytest.importorskip("watchfiles")
    words = [sys.executable, "-u", "-m", "npulint", "check", "--watch", "--format", "concise"]
    with subprocess.Popen(words, cwd=ported.folder, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        lines = iter(watching.stdout.readline, "")
        assert any("Watching" in line for line in lines)
        time.sleep(0.5)
        ported.write({"more.py": "import torch\n"})
        assert any("1 file changed" in line for line in lines)
        watching.send_signal(2)
        watching.communicate(timeout=20)
        assert watching.returncode == 0


@pytest.mark.parametrize(
    ("path", "counted"),
    [
        ("train.py", True),
        ("a/run.sh", True),
        ("npulint.toml", True),
        (".gitignore", True),
        ("conf/a.yaml", True),
        ("model.ckpt.tmp", False),
        (".git/hooks/a.py", False),
    ],
)
def test_what_counts_as_a_change(path: str, counted: bool) -> None:
    assert counts(path) is counted
