"""Projects kept in memory say what a fresh run says, whatever was edited, saved, made or deleted before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import npulint.commands.session
from npulint.commands.check.pipeline import run
from npulint.commands.check.project_runner import evaluate_project
from npulint.commands.session import Checked, Session
from npulint.core.errors import CatalogueError, ConfigError
from npulint.discover.files import discover
from npulint.discover.kinds import SourceFile
from npulint.discover.projects import group
from npulint.facts.model import FileFacts, decode, encode
from npulint.judge.baseline import save_baseline
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.judge.postprocess.baseline import EntryBuilder
from npulint.judge.postprocess.finalize import FOR_EDITORS
from npulint.judge.postprocess.record import RawResults
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.read.files import load, read
from tests.project_support import ROOT

BAD = """\
import tensorflow as tf
import helper
config = tf.ConfigProto()
with tf.Session(config=config) as s:
    s.run(x)
"""
HELPER = "import tensorflow as tf\n\ndef loss(x):\n    return tf.nn.dropout(x, 0.5)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in the working directory."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"requirements.txt": "tensorflow\n", "train.py": BAD, "helper.py": HELPER})
    return tmp_path


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def settings(**changes: object) -> Settings:
    return msgspec.structs.replace(Settings(cache=False), **changes)


def fresh(*paths: str, **changes: object) -> dict[str, list[Finding]]:
    """What a run says, by path."""
    found: dict[str, list[Finding]] = {}
    for one in run(settings(paths=paths or (".",), **changes), order=FOR_EDITORS).findings:
        found.setdefault(one.path, []).append(one)
    return found


def told(checked: Checked) -> dict[str, list[Finding]]:
    """The same of a session."""
    return {path: found for path, found in checked.findings.items() if found}


def names(checked: Checked, path: str) -> list[str]:
    return [one.name for one in checked.findings[path]]


# Each is one project; the folder of configurations has several.
EXAMPLES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != "configured")
EXAMPLES += ["configured/trainer", "configured/lightning"]


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_step_of_typing_in_an_example_says_what_a_run_says(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line after line goes from the end of each file, which is now and then no Python in between."""
    monkeypatch.chdir(tmp_path)
    home = ROOT / "examples" / example
    files = {str(p.relative_to(home)): p.read_bytes() for p in home.rglob("*") if p.is_file()}
    files = {
        name: data for name, data in files.items() if not name.endswith((".pt2", ".csv"))
    }  # editors read no graphs, and no runs
    write(tmp_path, {**files, "README.md": "a project"})
    session = Session(settings(paths=(".",)))
    for name in [name for name in files if name.endswith(".py")]:
        lines = files[name].splitlines(keepends=True)
        for left in range(len(lines), 0, -max(1, len(lines) // 6)):
            data = b"".join(lines[:left])
            session.change(name, data)
            (tmp_path / name).write_bytes(data)
            checked, expected = session.check(name), fresh()
            broken = [one.name for one in expected.get(name, ())] == ["syntax-error"]
            assert checked.findings[name] == expected.get(name, [])
            assert broken or told(checked) == expected
        session.change(name, None)
        (tmp_path / name).write_bytes(files[name])
        assert told(session.check(name)) == fresh()


@pytest.mark.parametrize("example", EXAMPLES)
def test_facts_stay_as_they_were_read(example: str) -> None:
    """Judging adds nothing to them, and those that come back from a cache are judged like those that were read."""
    catalogue = load_catalogue((), whole=False)
    for root, sources in group(discover([str(ROOT / "examples" / example)]).files).items():
        facts = [read(load(source)) for source in sources]
        before = [encode(one) for one in facts]
        first = evaluate_project(root, facts, catalogue, Settings())
        assert [encode(one) for one in facts] == before
        remembered = [decode(data) for data in before]
        assert evaluate_project(root, remembered, catalogue, Settings()) == first


def test_remembered_facts_are_written_out_alike() -> None:
    """What the reader does not model is no longer the same object when it comes back."""
    text = b"""\
import torch

def train(model, loader, opt):
    for x, m in loader:
        y = x[m.eq(2), :].view(-1)
        loss = model(y).sum()
        loss.backward()
        opt.step()

if __name__ == '__main__':
    train(a, b, torch.optim.SGD(a.parameters()))
"""
    facts = read(load(SourceFile("train.py", "python", "train.py", ".", len(text)), text))
    again = decode(encode(facts))
    catalogue = load_catalogue((), whole=False)
    first, second = (evaluate_project(".", [one], catalogue, Settings()).findings for one in (facts, again))
    assert first == second
    assert any("[" in one.message and one.name == "mask-selection" for one in first)


def test_an_edit_counts_before_it_is_saved(folder: Path) -> None:
    session = Session(settings(paths=(str(folder),)))
    assert told(session.check("train.py")) == fresh()
    session.change(str(folder / "train.py"), b"import helper\n")
    after = session.check("train.py")
    write(folder, {"train.py": "import helper\n"})
    assert told(after) == fresh()
    assert after.findings["train.py"] == []
    write(folder, {"train.py": BAD})
    session.change("train.py", None)
    assert told(session.check(str(folder / "train.py"))) == fresh()


def test_nothing_is_judged_again_while_nothing_changes(folder: Path) -> None:
    session = Session(settings(paths=(".",)))
    first = session.check("train.py")
    assert session.check("helper.py") is first
    session.change("helper.py", HELPER.encode())
    session.change("helper.py", HELPER.encode() + b"\n")
    assert session.check("helper.py") is not first


def test_what_changes_on_disk_is_noticed_untold(folder: Path) -> None:
    session = Session(settings(paths=(".",)))
    session.check("train.py")
    write(
        folder, {"helper.py": HELPER.replace("dropout", "relu"), "more.py": "import tensorflow as tf\ntf.Session()\n"}
    )
    assert told(session.check("train.py")) == fresh()
    (folder / "more.py").unlink()
    assert told(session.check("train.py")) == fresh()


def test_what_looks_the_same_on_disk_is_read_again_when_told(folder: Path) -> None:
    session = Session(settings(paths=(".",)))
    before = os.stat("helper.py")
    first = session.check("train.py")
    write(folder, {"helper.py": HELPER.replace("dropout", "softmax")})
    os.utime("helper.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    session.touched([str(folder)])
    assert told(session.check("train.py")) == fresh() != told(first)


def test_a_file_half_typed_only_says_so(folder: Path) -> None:
    """The others are judged as before: `train.py` still knows what `helper` is, and no suppression becomes useless."""
    write(folder, {"helper.py": HELPER.replace("0.5)", "0.5)  # npulint: ignore[native-dropout]")})
    session = Session(settings(paths=(".",)))
    before = session.check("train.py")
    assert before.findings["train.py"]
    text = (folder / "helper.py").read_text()
    session.change("helper.py", (text + "def more(:\n").encode())
    broken = session.check("train.py")
    assert names(broken, "helper.py") == ["syntax-error"]
    assert {**broken.findings, "helper.py": []} == {**before.findings, "helper.py": []}
    assert broken.programs == before.programs
    session.change("helper.py", (text + "def more():\n    pass\n").encode())
    after = session.check("train.py")
    assert after.findings == before.findings
    session.change("helper.py", b"\xff\xfe\x00")
    assert names(session.check("train.py"), "helper.py") == ["file-not-read"]


def test_only_what_code_says_is_judged_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for a word in a comment, and not for each letter in a file that stays broken; what is told is of now."""
    session = Session(settings(paths=(".",)))
    session.check("train.py")
    judged: list[int] = []

    def judge(root: str, files: list[FileFacts], *of: Any) -> RawResults:
        judged.append(1)
        return evaluate_project(root, files, *of)

    monkeypatch.setattr(npulint.commands.session, "evaluate_project", judge)
    silent = HELPER.replace("0.5)", "0.5)  # npulint: ignore[native-dropout]")
    session.change("helper.py", silent.encode())
    checked = session.check("train.py")
    write(folder, {"helper.py": silent})
    assert told(checked) == fresh()
    session.change("helper.py", (silent + "def more(:\n").encode())
    first = session.check("train.py").findings["helper.py"]
    session.change("helper.py", ("\n" + silent + "def more(:\n").encode())
    second = session.check("train.py").findings["helper.py"]
    assert [one.span.line for one in (*first, *second)] == [5, 6]
    assert judged == [1]  # for the comment that is new
    session.change("helper.py", silent.replace("dropout(x", "relu(x").encode())
    session.check("train.py")
    assert judged == [1, 1]


def test_what_is_undone_is_not_judged_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[int] = []

    def judge(root: str, files: list[FileFacts], *of: Any) -> RawResults:
        judged.append(len(files))
        return evaluate_project(root, files, *of)

    monkeypatch.setattr(npulint.commands.session, "evaluate_project", judge)
    session = Session(settings(paths=(".",)))
    texts = [BAD, BAD + "y = tf.nn.dropout(x, 0.5)\n", BAD + "def half(\n", BAD.replace("helper", "other")]
    said = []
    for text in texts:
        session.change("train.py", text.encode())
        said.append(session.check("train.py"))
    assert len(judged) == 3  # of the half typed text the facts before
    for text, before in zip(texts[::-1], said[::-1], strict=True):
        session.change("train.py", text.encode())
        if text != texts[2]:  # its last good facts are now later ones
            assert session.check("train.py") == before
    assert len(judged) == 3


def test_places_in_a_half_typed_file_are_not_told(folder: Path) -> None:
    """They may have moved."""
    write(folder, {
        "train.py": "import torch\nfrom helper import step\nmodel = torch.nn.Linear(1, 1).cuda()\n"
                    "opt = torch.optim.SGD(model.parameters())\nfor x in y:\n    step(model, x.cuda()).backward()\n"
                    "    opt.step()\n",
        "helper.py": "import torch\n\ndef step(model, x):\n    return model(x.cuda())\n",
    })  # fmt: skip
    session = Session(settings(paths=(".",)))

    def related() -> set[str]:
        found = session.check("train.py").findings["train.py"]
        return {place.path for one in found for place in one.related if one.name == "cuda-not-migrated"}

    assert related() == {"helper.py", "train.py"}
    session.change("helper.py", b"\n\n\ndef (\n")
    assert related() == {"train.py"}


def test_a_file_that_never_could_be_read_is_judged_as_by_a_run(folder: Path) -> None:
    write(folder, {"helper.py": "def (\n"})
    session = Session(settings(paths=(".",)))
    assert told(session.check("train.py")) == fresh()


def test_an_unsaved_new_file_takes_part(folder: Path) -> None:
    session = Session(settings(paths=(".",)))
    assert session.check("other.py").findings == {"other.py": []}
    session.change("other.py", BAD.encode())
    session.change("lists.json", b'{"black-list": {"to-add": ["Cast"]}}')
    checked = session.check("other.py")
    write(folder, {"other.py": BAD, "lists.json": '{"black-list": {"to-add": ["Cast"]}}'})
    assert set(checked.findings) == {"other.py", "train.py", "helper.py", "requirements.txt", "lists.json"}
    assert told(checked) == fresh()
    session.change("lists.json", b"{}")
    assert "lists.json" not in session.check("other.py").findings


def test_a_new_file_in_a_new_folder_takes_part(folder: Path) -> None:
    session = Session(settings(paths=(str(folder),)))
    session.change("new/deep/other.py", BAD.encode())
    session.change("node_modules/other.py", BAD.encode())
    checked = session.check("train.py")
    write(folder, {"new/deep/other.py": BAD, "node_modules/other.py": BAD})
    assert told(checked) == fresh()
    assert names(checked, "new/deep/other.py")


def test_files_come_and_go(folder: Path) -> None:
    session = Session(settings(paths=(".",)))
    session.check("train.py")
    os.rename("helper.py", "assistant.py")
    session.touched(["helper.py", "assistant.py"])
    checked = session.check("train.py")
    assert told(checked) == fresh()
    assert "assistant.py" in checked.findings and "helper.py" not in checked.findings
    os.unlink("train.py")
    session.touched(["train.py"])
    assert session.check("train.py").findings == {"train.py": []}
    assert told(session.check("assistant.py")) == fresh()


def test_a_folder_becomes_a_project(folder: Path) -> None:
    write(folder, {"part/train.py": BAD, "part/helper.py": HELPER})
    session = Session(settings(paths=(".",)))
    assert set(session.check("part/train.py").findings) >= {"train.py", "part/train.py"}
    write(folder, {"part/npulint.toml": ""})
    session.touched(["part/npulint.toml"])
    part = session.check("part/train.py")
    assert (part.root, set(part.findings)) == ("part", {"part/train.py", "part/helper.py"})
    whole = session.check("train.py")
    assert set(whole.findings) == {"train.py", "helper.py", "requirements.txt"}
    assert {**told(part), **told(whole)} == fresh()


def test_git_begins_to_ignore_a_file(folder: Path) -> None:
    (folder / ".git").mkdir()
    session = Session(settings(paths=(".",)))
    assert "helper.py" in session.check("train.py").findings
    write(folder, {".gitignore": "helper.py\n"})
    session.touched([".gitignore"])
    assert "helper.py" not in session.check("train.py").findings
    session.change("helper.py", HELPER.encode())
    assert "helper.py" not in session.check("train.py").findings
    alone = session.check("helper.py")
    assert (set(alone.findings), told(alone)) == ({"helper.py"}, fresh("helper.py"))


def test_excluded_files_are_judged_when_asked_about_as_a_run_judges_them(folder: Path) -> None:
    write(folder, {"old/legacy.py": BAD})
    session = Session(settings(paths=(".",), extend_exclude=("old",)))
    alone = session.check("old/legacy.py")
    assert told(alone) == fresh("old/legacy.py", extend_exclude=("old",)) != {}
    session.reconfigure(settings(paths=(".",), extend_exclude=("old",), force_exclude=True))
    assert session.check("old/legacy.py").findings == {"old/legacy.py": []}
    session.reconfigure(settings(paths=(".",)))
    assert told(session.check("old/legacy.py")) == fresh()


def test_files_outside_of_the_workspace_are_judged_with_those_beside_them(folder: Path) -> None:
    away = folder.parent / "away"
    write(away, {"train.py": BAD, "helper.py": HELPER, "deep/other.py": BAD})
    for paths in ((".",), ()):
        session = Session(settings(paths=paths))
        alone = session.check(str(away / "train.py"))
        path = str(away / "train.py")
        assert (set(alone.findings), told(alone)) == ({path}, fresh(path))
        session.change(str(away / "helper.py"), b"")
        write(away, {"helper.py": ""})
        assert told(session.check(path)) == fresh(path)
        write(away, {"helper.py": HELPER})


def test_two_folders_of_one_workspace(folder: Path) -> None:
    away = folder.parent / "second"
    write(away, {"train.py": BAD, "requirements.txt": "tensorflow\n"})
    session = Session(settings(paths=(str(folder), str(away))))
    found = {**told(session.check("train.py")), **told(session.check(str(away / "train.py")))}
    assert found == fresh(".", str(away))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"x = 1\n" * 400_000, id="too large"),
        pytest.param(b"x = '\xff\xff'\n", id="undecodable"),
        pytest.param(b"x = 1\0\n", id="NUL"),
        pytest.param(b'print "x"\n', id="Python 2"),
        pytest.param(b"", id="empty"),
    ],
)
def test_what_cannot_be_read_is_told_like_by_a_run(folder: Path, data: bytes) -> None:
    session = Session(settings(paths=(".",)))
    session.change("other.py", data)
    typed = session.check("train.py")
    session.change("other.py", None)
    write(folder, {"other.py": data})
    session.touched(["other.py"])
    assert told(session.check("train.py")) == told(typed) == fresh()
    assert session.check("train.py").unread == run(settings(paths=(".",))).unreadable


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_fifo_is_not_waited_for(folder: Path) -> None:
    session = Session(settings(paths=(".",)))
    os.mkfifo("helper2.py")
    assert told(session.check("train.py")) == fresh()
    assert session.check("helper2.py").findings["helper2.py"]


def test_a_folder_is_no_file(folder: Path) -> None:
    assert told(Session(settings(paths=(".",))).check(str(folder))) == {}


def test_settings_change(folder: Path) -> None:
    session = Session(settings(paths=(".",)))
    english = session.check("train.py")
    session.reconfigure(settings(paths=(".",), lang="zh"))
    assert told(session.check("train.py")) == fresh(lang="zh") != told(english)
    session.reconfigure(settings(paths=(".",), select=("native-dropout",)))
    assert told(session.check("train.py")) == fresh(select=("native-dropout",))
    session.reconfigure(settings(paths=(".",), select=("nonsense",)))
    with pytest.raises(ConfigError):
        session.check("train.py")
    write(folder, {"own/broken.yaml": "code: [\n"})
    with pytest.raises(CatalogueError):
        session.reconfigure(settings(paths=(".",), checks=("own",)))
    session.reconfigure(settings(paths=(".",)))
    assert told(session.check("train.py")) == told(english)


def test_the_baseline_is_looked_up_each_time(folder: Path) -> None:
    given = settings(paths=(".",), baseline="base.json")
    write(folder, {"base.json": '{"version": 1, "findings": []}'})
    session = Session(given)
    before = session.check("train.py")
    assert told(before) == fresh(baseline="base.json") != {}
    result = run(given)
    place = EntryBuilder("", FileLines())
    save_baseline("base.json", [place.entry(one) for one in result.findings], "en")
    after = session.check("train.py")
    assert told(after) == fresh(baseline="base.json") == {}
    assert {one.by for one in after.suppressed} == {"baseline"}
