"""The baseline through the command line: what it knows, what it does not, how it shrinks and never grows by itself."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.project_support import Answer, Project

FILE = "npulint-baseline.json"
TRAIN = """\
import tensorflow as tf
from npu_bridge.npu_init import *


def model(x):
    y = tf.nn.dropout(x, 0.5)
    return y


def train():
    loss = model(tf.ones([4]))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(step)


if __name__ == '__main__':
    train()
"""
DROPOUT = "native-dropout"


@pytest.fixture
def accepted(project: Project) -> Project:
    """A project whose findings are all in its baseline."""
    project.write({"train.py": TRAIN, "README.md": "x"})
    assert project.run("check", "--write-baseline").code == 0
    return project


def fresh(project: Project, *words: str) -> list[tuple[str, str, int]]:
    """Check, path and line of the findings that the baseline does not know."""
    return [(f["name"], f["path"], f["line"]) for f in check(project, *words).findings]


def check(project: Project, *words: str) -> Answer:
    return project.run("check", "--format=json", "--no-cache", *words)


def entries(project: Project) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((project.folder / FILE).read_text())["findings"]
    return found


def test_what_is_accepted_is_not_reported_but_counted(accepted: Project) -> None:
    answer = check(accepted)
    known = answer.document["summary"]["known"]
    assert answer.code == 0 and answer.findings == [] and known == len(entries(accepted)) > 2
    text = accepted.run("check").out
    assert f"No new findings: 1 file checked; {known} recorded in the baseline" in text
    assert f"没有新增问题：已检查 1 个文件；{known} 个已记录在基线中" in accepted.run("check", "--lang=zh").out


def test_reports_tell_what_the_baseline_silences_unless_they_shall_not(accepted: Project) -> None:
    results = json.loads(accepted.run("check", "--format=sarif").out)["runs"][0]["results"]
    assert {one["kind"] for result in results for one in result["suppressions"]} == {"external"}
    assert json.loads(accepted.run("check", "--format=sarif", "--no-silenced").out)["runs"][0]["results"] == []


def test_the_file_reads_well(accepted: Project) -> None:
    lines = (accepted.folder / FILE).read_text().split("\n")
    assert lines[0] == '{"version": 1, "findings": [' and lines[-2:] == ["]}", ""]
    (row,) = [json.loads(line.rstrip(",")) for line in lines[1:-2] if DROPOUT in line]
    assert (row["path"], row["line"], row["scope"]) == ("train.py", "y = tf.nn.dropout(x, 0.5)", "model")
    assert "dropout" in row["message"]
    assert accepted.run("check", "--write-baseline").code == 0
    assert (accepted.folder / FILE).read_text().split("\n") == lines


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# one\n# two\n\n" + TRAIN, id="lines above"),
        pytest.param(TRAIN.replace("    y =", "    y  =   "), id="other blanks"),
        pytest.param(TRAIN.replace("    return y", "    z = y\n    return z"), id="lines below"),
        pytest.param(TRAIN.replace("def model", "def unused():\n    pass\n\n\ndef model"), id="another function"),
        pytest.param(
            TRAIN.replace("def model(x):\n    y = tf.nn.dropout(x, 0.5)\n    return y\n\n\n", "").replace(
                "if __name__", "def model(x):\n    y = tf.nn.dropout(x, 0.5)\n    return y\n\n\nif __name__"
            ),
            id="the function at another place",
        ),
        pytest.param(TRAIN.replace("\n", "\r\n"), id="other line ends"),
    ],
)
def test_an_edit_elsewhere_brings_nothing_back(accepted: Project, text: str) -> None:
    accepted.write({"train.py": text.encode()})
    assert fresh(accepted) == []


def test_a_renamed_file_brings_nothing_back(accepted: Project) -> None:
    os.rename(accepted.folder / "train.py", accepted.folder / "train_gan.py")
    assert fresh(accepted) == []
    (accepted.folder / "src").mkdir()
    os.rename(accepted.folder / "train_gan.py", accepted.folder / "src" / "train.py")
    assert fresh(accepted) == []


def test_a_function_that_moves_to_another_file_brings_nothing_back(accepted: Project) -> None:
    head, _, rest = TRAIN.partition("def model")
    body, _, tail = rest.partition("\n\n\n")
    accepted.write({"net.py": f"{head}def model{body}\n", "train.py": f"{head}from net import model\n\n\n{tail}"})
    assert fresh(accepted) == []
    assert "is fixed" not in accepted.run("check").err


def test_one_more_of_the_same_is_reported(project: Project) -> None:
    top = "    y = tf.nn.top_k(x, tf.shape(x)[0] // 2)\n"
    text = TRAIN.replace("    y = tf.nn.dropout(x, 0.5)\n", top)
    project.write({"train.py": text})
    project.run("check", "--write-baseline")
    assert fresh(project) == []
    project.write({"train.py": text.replace(top, top * 2)})
    assert fresh(project) == [("top-k-of-unknown-k", "train.py", 7)]


def test_one_more_place_of_a_finding_that_speaks_for_many_is_reported(accepted: Project) -> None:
    line = "    y = tf.nn.dropout(x, 0.5)\n"
    accepted.write({"train.py": TRAIN.replace(line, line + line.replace("0.5", "0.9"))})
    assert fresh(accepted) == [(DROPOUT, "train.py", 7)]
    assert accepted.run("check", "--write-baseline").out.endswith(" (1 added, 0 removed)\n")
    assert [entry.get("places", 1) for entry in entries(accepted) if entry["check"] == DROPOUT] == [1, 1]
    accepted.write({"train.py": TRAIN})
    assert fresh(accepted) == []
    accepted.run("check", "--prune-baseline")
    assert [entry.get("places", 1) for entry in entries(accepted) if entry["check"] == DROPOUT] == [1]


def test_the_same_in_another_file_is_reported(accepted: Project) -> None:
    accepted.write({"other.py": TRAIN})
    found = fresh(accepted)
    assert (DROPOUT, "other.py", 6) in found and {path for _, path, _ in found} == {"other.py"}


def test_another_check_at_a_known_line_is_reported(accepted: Project) -> None:
    accepted.write({"train.py": TRAIN.replace("tf.Session()", "tf.Session(config=npu_config_proto())")})
    accepted.run("check", "--write-baseline")
    accepted.write({"train.py": TRAIN})
    assert fresh(accepted) != []


def test_what_is_fixed_is_told_and_pruned(accepted: Project) -> None:
    before = entries(accepted)
    accepted.write({"train.py": TRAIN.replace("tf.nn.dropout(x, 0.5)", "npu_ops.dropout(x, 0.5)")})
    assert "1 entry of npulint-baseline.json is fixed: --prune-baseline removes it" in accepted.run("check").err
    assert entries(accepted) == before, "a check alone writes nothing"
    answer = accepted.run("check", "--prune-baseline")
    assert "1 fixed entry removed from npulint-baseline.json" in answer.err
    assert [e for e in before if e["check"] != DROPOUT] == entries(accepted)
    accepted.write({"train.py": TRAIN})
    assert [name for name, _, _ in fresh(accepted)] == [DROPOUT], "once fixed, it is new"


def test_pruning_never_adds(accepted: Project) -> None:
    line = "    y = tf.nn.dropout(x, 0.5)\n"
    accepted.write({"train.py": TRAIN.replace(line, line + line.replace("0.5", "0.9"))})
    before = entries(accepted)
    assert accepted.run("check", "--prune-baseline", "--fail-on=note").code == 1
    assert entries(accepted) == before


def test_writing_tells_what_was_added_and_removed(accepted: Project) -> None:
    accepted.write({"train.py": TRAIN.replace("x, 0.5", "x, 0.9")})
    n = len(entries(accepted))
    answer = accepted.run("check", "--write-baseline")
    assert answer.out == f"npulint-baseline.json contains {n} findings (1 added, 1 removed)\n"
    assert fresh(accepted) == []


def test_a_partial_run_neither_forgets_nor_prunes_what_it_does_not_see(accepted: Project) -> None:
    accepted.write({"other/main.py": TRAIN})
    accepted.run("check", "--write-baseline")
    accepted.run("check", "--prune-baseline")  # one entry for advice that both programs get
    everything = entries(accepted)
    for words in (["train.py"], ["other"], ["--select=loss_scale"], ["--exclude=other", "."]):
        assert accepted.run("check", "--prune-baseline", *words).code == 0
        assert entries(accepted) == everything
        assert accepted.run("check", "--write-baseline", *words).code == 0
        assert entries(accepted) == everything
        assert fresh(accepted, *words) == []


def test_a_file_that_cannot_be_read_keeps_its_entries(accepted: Project) -> None:
    before = entries(accepted)
    accepted.write({"train.py": TRAIN + "\n((("})
    accepted.run("check", "--prune-baseline")
    assert entries(accepted) == before
    assert [name for name, _, _ in fresh(accepted)] == ["syntax-error"]
    accepted.run("check", "--write-baseline")
    assert fresh(accepted) == [] and len(entries(accepted)) == len(before) + 1


def test_the_baseline_is_no_list_of_operators(project: Project) -> None:
    project.write({"ops_info.json": '{"black-list": {"to-add": ["Xlog1py"]}, "mist": {}}', "train.py": TRAIN})
    assert [f["path"] for f in check(project).findings if f["topic"] == "mixlist"] != []
    project.run("check", "--write-baseline")
    assert "black-list" in (project.folder / FILE).read_text()
    assert fresh(project) == []
    report = project.run("check", "--format=json", "--isolated").out
    project.write({"report.json": report.encode()})
    assert fresh(project) == []


def test_a_deleted_file_leaves_the_baseline(accepted: Project) -> None:
    (accepted.folder / "train.py").unlink()
    accepted.write({"empty.py": ""})
    accepted.run("check", "--prune-baseline")
    assert entries(accepted) == []


def test_a_run_from_elsewhere_means_the_same(accepted: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(accepted.folder.parent)
    name = accepted.folder.name
    assert fresh(accepted, "--baseline", f"{name}/{FILE}", name) == []
    accepted.write({"npulint.toml": f'baseline = "{FILE}"'})
    assert fresh(accepted, name) == []
    monkeypatch.chdir(accepted.folder)
    (accepted.folder / "sub").mkdir()
    monkeypatch.chdir(accepted.folder / "sub")
    assert fresh(accepted, "..") == []


def test_what_a_comment_silences_is_not_accepted_as_well(project: Project) -> None:
    project.write({"train.py": TRAIN.replace("0.5)", "0.5)  # npulint: ignore[native-dropout] measured")})
    project.run("check", "--write-baseline")
    assert DROPOUT not in [entry["check"] for entry in entries(project)]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        pytest.param(b"{", "not a valid baseline", id="broken"),
        pytest.param(b"[" * 100_000, "not a valid baseline", id="nested"),
        pytest.param(b'{"version": 1, "findings": [{"path": 1}]}', "not a valid baseline", id="wrong types"),
        pytest.param(b'{"version": 9, "findings": []}', "version 9", id="of the future"),
    ],
)
def test_a_bad_baseline_is_an_error_and_stays_as_it_is(accepted: Project, content: bytes, word: str) -> None:
    accepted.write({FILE: content})
    for words in ([], ["--write-baseline"], ["--prune-baseline"]):
        answer = accepted.run("check", *words)
        assert answer.code == 2 and word in answer.err and FILE in answer.err
    assert (accepted.folder / FILE).read_bytes() == content


def test_a_baseline_that_is_not_there(project: Project) -> None:
    project.write({"train.py": TRAIN})
    assert project.run("check", "--baseline=nope.json").code == 2
    answer = project.run("check", "--prune-baseline")
    assert answer.code == 2 and "--write-baseline creates one" in answer.err
    assert project.run("check", "--write-baseline", "--prune-baseline").code == 2
    assert list(project.folder.glob("*.json")) == []


def test_a_baseline_may_have_a_name_of_its_own(project: Project) -> None:
    project.write({"train.py": TRAIN})
    assert project.run("check", "--write-baseline", "--baseline=debt.json").code == 0
    assert fresh(project, "--baseline=debt.json") == [] and fresh(project) != []


def test_isolated_uses_none(accepted: Project) -> None:
    assert fresh(accepted, "--isolated") != []


def test_the_file_keeps_its_mode_and_a_link_stays_a_link(accepted: Project) -> None:
    shared = accepted.folder / "shared.json"
    os.rename(accepted.folder / FILE, shared)
    shared.chmod(0o640)
    (accepted.folder / FILE).symlink_to(shared)
    accepted.write({"train.py": TRAIN.replace("x, 0.5", "x, 0.9")})
    assert accepted.run("check", "--write-baseline").code == 0
    assert (accepted.folder / FILE).is_symlink() and shared.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in accepted.folder.iterdir() if path.name.endswith(".npulint")] == []


def test_a_link_to_nothing_is_not_followed(project: Project, tmp_path: Path) -> None:
    project.write({"train.py": TRAIN})
    (project.folder / FILE).symlink_to(tmp_path / "new.json")
    assert project.run("check", "--write-baseline").code == 2
    assert not (tmp_path / "new.json").exists()


def test_what_a_killed_run_left_is_removed_by_the_next_that_writes(project: Project) -> None:
    left = f".{FILE}.0123456789abcdef.npulint"
    project.write({"train.py": TRAIN, left: b"half"})
    assert project.run("check", "--write-baseline").code == 0
    assert not (project.folder / left).exists()


def test_a_baseline_that_cannot_be_written_is_an_error(project: Project) -> None:
    project.write({"train.py": TRAIN})
    answer = project.run("check", "--write-baseline", "--baseline=no/such/folder.json")
    assert answer.code == 2 and "cannot be written" in answer.err
