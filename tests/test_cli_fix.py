"""Fixes from the command line: what is written, shown and said, and with which exit code."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import pytest

from tests.fix_checks import CHECKS, CODES, MODEL, SAFE, WHOLE
from tests.project_support import ROOT, Project
from tests.tools import needed
from tests.write_failures import refuse

MINE = ("--checks", "mine", "--select", ",".join(CODES), "--no-cache")


@pytest.fixture
def mine(project: Project) -> Project:
    return project.write({**{f"mine/{name}": text for name, text in CHECKS.items()}, "model.py": MODEL.encode()})


def text_of(project: Project, name: str = "model.py") -> str:
    return (project.folder / name).read_bytes().decode()


# What is written


def test_safe_fixes_are_written_and_the_rest_is_reported(mine: Project) -> None:
    answer = mine.run("check", "--fix", *MINE)
    assert (answer.code, answer.err, text_of(mine)) == (0, "", SAFE)
    assert "warning[unsafe-call]" in answer.out and "safe-call]:" in answer.out
    assert "error[safe-call]" not in answer.out
    end = "\nFixed 1 finding in 1 file; 1 more with --unsafe-fixes\n1 finding remaining (1 warning) in 1 of 1 file\n"
    assert end in answer.out


def test_unsafe_fixes_are_written_when_asked_for(mine: Project) -> None:
    answer = mine.run("check", "--fix", "--unsafe-fixes", *MINE)
    assert (answer.code, text_of(mine)) == (0, WHOLE)
    assert (
        "\nFixed 2 findings in 1 file\nNo findings remaining: 1 file checked\n\nRemaining manual work\n" in answer.out
    )


def test_a_second_run_changes_nothing(mine: Project) -> None:
    mine.run("check", "--fix", "--unsafe-fixes", *MINE)
    before = (mine.folder / "model.py").stat().st_mtime_ns
    answer = mine.run("check", "--fix", "--unsafe-fixes", *MINE)
    assert (answer.code, (mine.folder / "model.py").stat().st_mtime_ns) == (0, before)
    assert "Nothing was fixed\n" in answer.out


def test_the_exit_code_is_that_of_what_is_left(mine: Project) -> None:
    assert mine.run("check", *MINE).code == 1
    assert mine.run("check", "--fix", "--fail-on", "warning", *MINE).code == 1
    assert mine.run("check", "--fix", "--unsafe-fixes", "--fail-on", "warning", *MINE).code == 0


def test_unsafe_fixes_alone_change_nothing(mine: Project) -> None:
    answer = mine.run("check", "--unsafe-fixes", *MINE)
    assert (answer.code, text_of(mine)) == (1, MODEL)
    assert "[*] 2 fixable with --fix\n" in answer.out


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_written(
    mine: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine.write({"locked.py": MODEL.encode()})
    refuse(monkeypatch, "locked.py", errno.EACCES)
    answer = mine.run("check", "--fix", *MINE)
    assert answer.code == 2
    assert answer.err == "error: locked.py: not fixed: the file cannot be written: Permission denied\n"
    assert (text_of(mine), text_of(mine, "locked.py")) == (SAFE, MODEL)
    assert (
        "\nFixed 1 finding in 1 file; 2 more with --unsafe-fixes\n1 could not be fixed:\n"
        "  locked.py:3  safe-call  the file cannot be written: Permission denied\n"
        "3 findings remaining (1 error, 2 warnings) in 2 of 2 files\n\nRemaining manual work\n"
    ) in answer.out


def test_what_cannot_be_fixed_is_told_with_the_reason(mine: Project) -> None:
    mine.write({"stuck.py": "import torch\n" + "torch.stuck(1)\n" * 7})
    brief = mine.run("check", "--fix", *MINE)
    assert "\n7 could not be fixed:\n  stuck.py:2  stuck-call  the call does not pass this argument\n" in brief.out
    assert "  ... and 2 more: --verbose\n" in brief.out and "stuck.py:8  stuck-call" not in brief.out
    assert (
        "  stuck.py:8  stuck-call  the call does not pass this argument\n"
        in mine.run("check", "--fix", "--verbose", *MINE).out
    )


def test_findings_that_are_not_shown_are_mended_too(mine: Project) -> None:
    mine.write({"model.py": "import torch\ntorch.minor(1)\n"})
    assert "[*] 1 fixable with --fix; 1 of them not shown\n" in mine.run("check", *MINE).out
    mine.run("check", "--fix", *MINE)
    assert text_of(mine) == "import torch\ntorch.major(1)\n"
    mine.write({"model.py": "import torch\ntorch.minor(1)\n"})
    mine.run("check", "--fix", "--min-severity", "warning", *MINE)
    assert text_of(mine) == "import torch\ntorch.minor(1)\n"  # left out by thresholds


# What is shown


def test_a_patch_writes_nothing_and_fails_when_there_is_something_in_it(mine: Project) -> None:
    answer = mine.run("check", "--diff", *MINE)
    assert (answer.code, text_of(mine)) == (1, MODEL)
    assert "--- a/model.py\n+++ b/model.py\n" in answer.out
    assert "-x = torch.old_safe(1)  # 权重\n+x = torch.safe(1)  # 权重\n" in answer.out
    assert answer.err == "--fix would fix 1 finding in 1 file; 1 more with --unsafe-fixes\n"
    assert mine.run("check", "--diff", "--exit-zero", *MINE).code == 0
    assert mine.run("check", "--diff", "--fix", *MINE).out == answer.out
    assert text_of(mine) == MODEL
    mine.run("check", "--fix", *MINE)
    clean = mine.run("check", "--diff", *MINE)
    assert (clean.code, clean.out, clean.err) == (
        0,
        "",
        "--fix would not change anything; 1 more with --unsafe-fixes\n",
    )


def test_the_patch_makes_what_the_fix_makes(mine: Project) -> None:
    patch = mine.run("check", "--diff", "--unsafe-fixes", *MINE).out
    git = needed("git")
    subprocess.run([git, "apply", "-"], input=patch.encode(), cwd=mine.folder, check=True)
    assert text_of(mine) == WHOLE


def test_a_patch_in_the_log_of_github_is_not_obeyed(mine: Project) -> None:
    mine.write({"model.py": 'import torch\n"""\n ::add-mask::x\n"""\ntorch.old_safe(1)\n'})
    first, *patch, last = mine.run("check", "--diff", "--format", "github", *MINE).out.rstrip("\n").split("\n")
    assert first.startswith("::stop-commands::npulint-") and last == f"::{first.removeprefix('::stop-commands::')}::"
    assert patch[0] == "--- a/model.py" and "  ::add-mask::x" in patch
    git = needed("git")
    subprocess.run(
        [git, "apply", "-"], input="\n".join([first, *patch, last, ""]).encode(), cwd=mine.folder, check=True
    )
    assert "torch.safe(1)" in text_of(mine)


def test_a_path_that_is_not_there_is_told_beside_the_patch(mine: Project) -> None:
    answer = mine.run("check", "--diff", *MINE, "nowhere.py")
    assert (answer.code, "error: nowhere.py: does not exist\n" in answer.err) == (2, True)


def test_the_list_of_what_was_fixed(mine: Project) -> None:
    mine.write({"a/other.py": "import torch\ntorch.old_safe(1)\ntorch.old_safe(2)\ntorch.old_unsafe(3)\n"})
    rows = (
        "Fixed 5 findings in 2 files\n"
        "  a/other.py\n    2 × safe-call\n    1 × unsafe-call (may change results)\n"
        "  model.py\n    1 × safe-call\n    1 × unsafe-call (may change results)\n"
    )
    told = mine.run("check", "--diff", "--show-fixes", "--unsafe-fixes", *MINE)
    assert told.err == rows.replace("Fixed 5 findings", "--fix --unsafe-fixes would fix 5 findings")
    assert rows in mine.run("check", "--fix", "--show-fixes", "--unsafe-fixes", *MINE).out


def test_each_finding_shows_the_lines_that_mend_it(mine: Project) -> None:
    answer = mine.run("check", "--show-fixes", *MINE)
    assert "   = change:\n 3 | - x = torch.old_safe(1)  # 权重\n   | + x = torch.safe(1)  # 权重\n" in answer.out
    change = "   | + import torch_npu\n 4 | - y = torch.old_unsafe(x)\n   | + y = torch.new(x)\n"
    assert f"   = change:\n{change}" in answer.out
    assert text_of(mine) == MODEL


def test_findings_that_can_be_mended_are_marked(mine: Project) -> None:
    answer = mine.run("check", *MINE)
    assert "(NPU5190) [*]\n" in answer.out and "(NPU5191)\n" in answer.out
    assert "\n[*] 1 fixable with --fix; 1 more with --unsafe-fixes\n" in answer.out
    assert "(NPU5191) [*]\n" in mine.run("check", "--unsafe-fixes", *MINE).out
    assert "[*]" not in mine.run("check", "--fix", *MINE).out


def test_reports_for_machines_hold_the_edits(mine: Project) -> None:
    found = mine.run("check", "--show-fixes", "--format", "json", *MINE).findings
    assert found[0]["fix"]["edits"] == [
        {"path": "model.py", "line": 3, "column": 5, "end_line": 3, "end_column": 19, "text": "torch.safe"}
    ]
    plain = mine.run("check", "--format", "json", *MINE).findings
    assert ["edits" in one["fix"] for one in plain] == [False, False]
    sarif = json.loads(mine.run("check", "--show-fixes", "--format", "sarif", *MINE).out)
    (change,) = sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "torch.safe"}
    assert "<ins>+ x = torch.safe(1)" in mine.run("check", "--show-fixes", "--format", "html", *MINE).out


def test_what_only_notebooks_have_is_not_counted_as_fixable(mine: Project) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": [MODEL],
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (mine.folder / "model.py").unlink()
    mine.write({"model.ipynb": notebook})
    document = json.loads(mine.run("check", "--format", "json", *MINE).out)
    assert document["findings"] and document["summary"]["fixable"] == {"safe": 0, "unsafe": 0}


def test_reports_for_machines_count_what_can_be_mended(mine: Project) -> None:
    for format_name in ("json", "jsonl", "sarif"):
        answer = mine.run("check", "--format", format_name, *MINE)
        document = json.loads(answer.out.splitlines()[-1] if format_name == "jsonl" else answer.out)
        summary = document["runs"][0]["properties"] if format_name == "sarif" else document
        summary = summary if format_name == "jsonl" else summary["summary"]
        assert summary["fixable"] == {"safe": 1, "unsafe": 1}
        assert "fixed" not in document


def test_reports_say_what_was_fixed(mine: Project) -> None:
    mine.write({"model.py": MODEL + "torch.stuck(1)\n"})
    fixed = [{"code": "NPU5190", "name": "safe-call", "path": "model.py", "line": 3, "applicability": "safe"}]
    refused = [
        {
            "code": "NPU5192",
            "name": "stuck-call",
            "path": "model.py",
            "line": 5,
            "reason": "the call does not pass this argument",
        }
    ]
    answers = {}
    for format_name in ("json", "jsonl", "sarif", "markdown", "html", "concise"):
        mine.write({"model.py": MODEL + "torch.stuck(1)\n"})
        answers[format_name] = mine.run("check", "--fix", "--format", format_name, *MINE).out
    document = json.loads(answers["json"])
    assert (document["fixed"], document["refused"]) == (fixed, refused)
    rows = [json.loads(row) for row in answers["jsonl"].splitlines()]
    assert [row for row in rows if row["kind"] == "fixed"] == [{"kind": "fixed", **fixed[0]}]
    assert [row for row in rows if row["kind"] == "refused"] == [{"kind": "refused", **refused[0]}]
    properties = json.loads(answers["sarif"])["runs"][0]["properties"]
    assert (properties["fixed"], properties["refused"]) == (fixed, refused)
    assert "Fixed 1 finding in 1 file" in answers["markdown"] and "Fixed 1 finding in 1 file\n" not in answers["html"]
    assert '<section id="fixed"' in answers["html"] and "the call does not pass this argument" in answers["html"]
    assert "\nFixed 1 finding in 1 file; 1 more with --unsafe-fixes\n1 could not be fixed:\n" in answers["concise"]


def test_everything_is_said_in_chinese(mine: Project) -> None:
    mine.write({"stuck.py": "import torch\ntorch.stuck(1)\n"})
    more = "；另有 1 个可用 --unsafe-fixes 修复\n"
    assert f"\n[*] 2 个可用 --fix 修复{more}" in mine.run("check", "--lang", "zh", *MINE).out
    patch = mine.run("check", "--diff", "--lang", "zh", *MINE)
    assert patch.err.startswith(f"--fix 可修复 1 个问题，涉及 1 个文件{more}有 1 个未能修复：\n")
    answer = mine.run("check", "--fix", "--lang", "zh", *MINE)
    assert f"\n已修复 1 个问题，涉及 1 个文件{more}有 1 个未能修复：\n" in answer.out
    assert "\n剩余 2 个问题（1 个错误、1 个警告），涉及 2 个文件中的 2 个\n" in answer.out


# Standard input


def test_a_source_from_standard_input_comes_back_mended(mine: Project) -> None:
    answer = mine.run("check", "--fix", *MINE, "-", stdin=MODEL.encode())
    assert (answer.code, answer.out) == (0, SAFE)
    assert "--> stdin.py:4:5" in answer.err and "Fixed 1 finding in 1 file" in answer.err
    assert "4 | y = torch.old_unsafe(x)" in answer.err  # the source as it is now
    whole = mine.run("check", "--fix", "--unsafe-fixes", "--format", "json", *MINE, "-", stdin=MODEL.encode())
    assert (whole.out, json.loads(whole.err)["findings"]) == (WHOLE, [])
    assert text_of(mine) == MODEL


@pytest.mark.parametrize("source", ["import torch\nx = 1\n", "def broken(:\n", ""])
def test_a_source_without_fixes_comes_back_as_it_was(mine: Project, source: str) -> None:
    answer = mine.run("check", "--fix", *MINE, "-", stdin=source.encode())
    assert answer.out == source


def test_bytes_come_back_as_they_were(mine: Project) -> None:
    source = b"# -*- coding: latin-1 -*-\r\nimport torch\r\nx = torch.old_safe(1)  # \xe4"
    command = [sys.executable, "-m", "npulint", "check", "--fix", *MINE, "-"]
    done = subprocess.run(
        command, input=source, cwd=mine.folder, capture_output=True, env={"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.stdout == source.replace(b"old_safe", b"safe"), done.stderr


def test_the_patch_of_standard_input(mine: Project) -> None:
    answer = mine.run("check", "--diff", "--stdin-filename", "model.py", *MINE, "-", stdin=MODEL.encode())
    assert answer.code == 1
    assert answer.out.startswith("--- a/model.py\n+++ b/model.py\n")


def test_standard_output_holds_the_source_or_a_report(mine: Project) -> None:
    answer = mine.run("check", "--fix", "--output", "json=-", *MINE, "-", stdin=MODEL.encode())
    assert (answer.code, answer.err) == (2, "error: --fix - and --output json=- cannot be used together\n")


# Choosing


def test_checks_that_are_never_fixed(mine: Project) -> None:
    answer = mine.run("check", "--fix", "--unsafe-fixes", "--unfixable", "safe-call", *MINE)
    assert answer.code == 1
    assert "old_safe" in text_of(mine) and "torch.new" in text_of(mine)
    assert "error[safe-call]" in answer.out
    mine.write({"model.py": MODEL, "npulint.toml": 'unfixable = ["NPU51"]\n'})
    assert "can be mended" not in mine.run("check", *MINE).out
    unknown = mine.run("check", "--unfixable", "saf-call", *MINE)
    assert unknown.err.startswith("warning: `unfixable` names `saf-call`, which is not a check, topic or category")
    assert unknown.err.endswith("; did you mean `safe-call`?\n")


def test_the_configuration_may_ask_for_fixes(mine: Project) -> None:
    mine.write({"npulint.toml": "fix = true\nunsafe-fixes = true\nshow-fixes = true\n"})
    mine.run("check", "--no-fix", *MINE)
    assert text_of(mine) == MODEL
    mine.run("check", "--show-files", *MINE)
    assert text_of(mine) == MODEL
    assert "created" not in mine.run("check", "--write-baseline", "--baseline", "b.json", *MINE).err
    assert (text_of(mine), (mine.folder / "b.json").exists()) == (MODEL, True)
    mine.run("check", *MINE)
    assert text_of(mine) == WHOLE


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--fix", "--write-baseline"], "--fix and --write-baseline cannot be used together"),
        (["--diff", "--write-baseline"], "--diff and --write-baseline cannot be used together"),
        (["--diff", "--prune-baseline"], "--diff and --prune-baseline cannot be used together"),
        (["--diff", "--output", "json=-"], "--diff and --output cannot be used together"),
    ],
)
def test_what_cannot_be_asked_for_together(mine: Project, words: list[str], complaint: str) -> None:
    answer = mine.run("check", *words, *MINE)
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {complaint}\n")
    assert text_of(mine) == MODEL


def test_what_a_comment_or_the_baseline_silences_is_left_alone(mine: Project) -> None:
    silenced = "import torch\ntorch.old_safe(1)  # npulint: ignore[safe-call] measured\n"
    mine.write({"model.py": silenced, "old.py": "import torch\ntorch.old_safe(1)\n"})
    mine.run("check", "--write-baseline", *MINE)
    mine.run("check", "--fix", *MINE)
    assert (text_of(mine), text_of(mine, "old.py")) == (silenced, "import torch\ntorch.old_safe(1)\n")


def test_the_baseline_forgets_what_was_fixed(mine: Project) -> None:
    mine.run("check", "--write-baseline", *MINE)
    mine.write({"model.py": SAFE})
    answer = mine.run("check", "--fix", "--prune-baseline", *MINE)
    assert answer.code == 0
    entries = json.loads((mine.folder / "npulint-baseline.json").read_bytes())
    assert "NPU5190" not in json.dumps(entries) and "NPU5191" in json.dumps(entries)


def test_a_further_report_is_about_what_is_left(mine: Project) -> None:
    mine.run("check", "--fix", "--output", "json=out.json", *MINE)
    document = json.loads((mine.folder / "out.json").read_bytes())
    assert [one["name"] for one in document["findings"]] == ["unsafe-call"]


# What it costs


@pytest.mark.slow
def test_nothing_of_the_engine_of_fixes_is_loaded_without_need(mine: Project) -> None:
    code = (
        "import sys; from npulint.hosts.cli.main import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    )
    for words, wanted in (([], False), (["--fix"], True)):
        done = subprocess.run(
            [sys.executable, "-c", code, "check", *words, *MINE, "model.py"],
            cwd=mine.folder,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        loaded = [
            name for name in done.stderr.split() if name.startswith(("npulint.fix", "npulint.report.fix_summary"))
        ]
        assert bool(loaded) == wanted, loaded


def test_the_folder_holds_nothing_else_afterwards(mine: Project) -> None:
    before = sorted(str(path) for path in mine.folder.rglob("*"))
    mine.run("check", "--fix", "--unsafe-fixes", *MINE)
    assert sorted(str(path) for path in mine.folder.rglob("*")) == before


def test_the_end_of_the_report_says_what_is_left(mine: Project) -> None:
    port = {
        "train.py": """\
            import torch
            import torch_npu

            model = torch.nn.Linear(4, 4).npu()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(10):
                loss = model(torch.old_unsafe(torch.ones(8, 4)).npu()).sum()
                loss.backward()
                optimizer.step()
                torch.stuck(step)
            """
    }
    mine.write(port)
    (mine.folder / "model.py").unlink()
    answer = mine.run("check", "--fix", "--unsafe-fixes", *MINE)
    begin = "Remaining manual work\n  1. Review the changes: 1 of them may change results\n     git diff\n"
    assert (
        begin + "  2. `torch.stuck` runs in a map function\n     stuck-call: 1 place, at train.py:10\n  3. Check"
        in answer.out
    )
    assert "1 finding remaining (1 error) in 1 of 1 file\n\nRemaining manual work\n" in answer.out
    assert answer.out.index("Remaining manual work\n") > answer.out.index("Programs\n")
    assert "Fixed 1 finding" in answer.out
    mine.write(port)
    chinese = mine.run("check", "--fix", "--unsafe-fixes", "--lang", "zh", *MINE).out
    assert "待人工处理\n  1. 复核修改：其中 1 处可能影响结果\n     git diff\n  2. " in chinese
    again = mine.run("check", "--fix", "--unsafe-fixes", *MINE).out
    assert "Remaining manual work" not in again and "Nothing was fixed" in again
