"""Recordings of what npulint reports for projects, and the differences between two of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from npulint.facts.values import PossibleValues
from scripts.pin import main
from scripts.pinning import recording
from scripts.pinning.differences import changes
from scripts.pinning.plain import LONGEST, canonical, plain
from scripts.pinning.projects import Project, content_of, parsed_list
from scripts.pinning.recording import Limits, record, written
from scripts.pinning.store import LIST, Header, store, stored

TRAIN = """\
import torch
from torch.utils.data import DataLoader

RATE = {rate}
model = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
for x, y in DataLoader(DATA, batch_size=8):
    loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
"""
Record = dict[str, Any]
SAME_RECORDS = Project("same")
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def fact(line: int = 3, name: str = "torch.optim.SGD", kind: str = "optimizer", **attributes: Any) -> Record:
    span = [line, 1, line, 9]
    return {"record": "fact", "kind": kind, "name": name, "path": "a.py", "span": span, "attributes": attributes}


def finding(line: int = 3, code: str = "NPU1101", message: str = "No config.", **others: Any) -> Record:
    span = [line, 1, line, 9]
    return {"record": "finding", "code": code, "path": "a.py", "span": span, "message": message, **others}


def values(*of: Any, exact: bool = True) -> Any:
    return plain(PossibleValues(of, exact))


def kinds(old: list[Record], new: list[Record]) -> list[str]:
    return [change.kind for change in changes("p", old, new)]


def write(folder: Path, name: str, records: list[Record], **header: Any) -> None:
    folder.mkdir(exist_ok=True)
    part = folder / "part"
    observed = written(part, records)
    store(folder, Header(Project(name), **{"content": "c", "engine": "e", "body": observed.digest, **header}), [part])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param([fact(), finding()], [finding(), fact()], [], id="the order of records does not matter"),
        pytest.param(
            [fact(rate=values(1))],
            [fact(rate=values(1, exact=False))],
            ["fact optimizer rate: no longer known"],
            id="a value that is not known any more",
        ),
        pytest.param(
            [fact(fixed="unknown")], [fact(fixed="yes")], ["fact optimizer fixed: now known"], id="a known flag"
        ),
        pytest.param(
            [fact(rate=values(1, 2))], [fact(rate=values(2, 1))], ["fact optimizer rate: order"], id="only the order"
        ),
        pytest.param([fact(rate=values(1))], [fact(rate=values(True))], ["fact optimizer rate"], id="1 is not True"),
        pytest.param([fact(rate=1)], [fact(rate=1.0)], ["fact optimizer rate"], id="1 is not 1.0"),
        pytest.param([fact(a="x")], [fact(b="x")], ["fact optimizer a", "fact optimizer b"], id="another attribute"),
        pytest.param([fact(), fact()], [fact()], ["fact optimizer gone"], id="one of two equal facts"),
        pytest.param([fact()], [fact(), fact(line=4)], ["fact optimizer new"], id="a fact at another place"),
        pytest.param([fact()], [fact(name="?SGD")], ["fact optimizer name"], id="a name that is resolved differently"),
        pytest.param(
            [fact(line=4, a="x"), fact(line=3, a="x")],
            [fact(line=3, a="y"), fact(line=4, a="x")],
            ["fact optimizer a"],
            id="facts are compared with those at their own place",
        ),
        pytest.param([finding()], [finding(line=5)], ["finding NPU1101 span"], id="a finding that has moved"),
        pytest.param([finding()], [finding(message="Other.")], ["finding NPU1101 message"], id="another message"),
        pytest.param(
            [finding(edits="aa")], [finding(edits="bb")], ["finding NPU1101 edits"], id="a fix with other edits"
        ),
        pytest.param(
            [finding()],
            [finding(code="NPU1102")],
            ["finding NPU1101 gone", "finding NPU1102 new"],
            id="a finding of another check",
        ),
    ],
)
def test_a_difference_is_named_by_what_differs(old: list[Record], new: list[Record], expected: list[str]) -> None:
    assert kinds(old, new) == expected
    assert bool(kinds(new, old)) == bool(expected)


def test_a_compared_value_is_named_by_the_part_and_the_side_that_differs() -> None:
    def row(**reference: Any) -> Record:
        side = {"path": "r.py", "span": [1, 1, 1, 2], "text": "1", "provenance": []}
        sides = {"reference": {**side, **reference}, "migrated": side, "near": {}}
        return {"record": "row", "programs": ["r.py", "r.py"], "part": "rate", "what": "lr", "argument": "", **sides}

    (change,) = changes("p", [row()], [row(provenance=[["r.py", 1, 1, 1, 2, "RATE"]])])
    assert (change.kind, change.place) == ("row rate reference.provenance", "r.py:1")
    assert (change.old, change.new) == ("[]", '[["r.py",1,1,1,2,"RATE"]]')


def test_an_argument_is_named_where_it_is_passed() -> None:
    old, new = ({**fact(kind="call"), "arguments": {"lr": values(rate), "0": values(2)}} for rate in (1, 2))
    (change,) = changes("p", [old], [new])
    assert (change.kind, change.place) == ("fact call argument", "a.py:3 torch.optim.SGD(lr)")


def test_the_end_of_a_long_text_counts_although_it_is_not_kept() -> None:
    texts = [plain("x" * LONGEST + end) for end in ("yy", "yz")]
    assert texts[0] != texts[1]
    assert max(map(len, texts)) <= LONGEST
    lists = [plain([*range(1000), end]) for end in (1, 2)]
    assert lists[0] != lists[1]
    assert len(canonical(lists[0])) < 1000
    assert plain([float("nan"), 2**60, "\ud800", {"b"}]) == ["nan", str(2**60), "\\ud800", ["b"]]


def test_a_list_has_folders_pairs_and_targets() -> None:
    projects = [Project("a"), Project("a", "b"), Project("c", "", ("torch=2.7", "soc=910B"))]
    assert parsed_list("".join(f"{project.line()}\n" for project in projects)) == projects


def test_the_content_of_a_project_is_that_of_its_files_and_their_names(tmp_path: Path) -> None:
    (tmp_path / "p" / "in").mkdir(parents=True)
    (tmp_path / "p" / "in" / "a.py").write_text("1")
    digests = [content_of(Project("p"), tmp_path).digest]
    (tmp_path / "p" / "in" / "a.py").write_text("2")
    digests.append(content_of(Project("p"), tmp_path).digest)
    (tmp_path / "p" / "in" / "a.py").rename(tmp_path / "p" / "in" / "b.py")
    digests.append(content_of(Project("p"), tmp_path).digest)
    assert len(set(digests)) == 3
    assert content_of(Project("p"), tmp_path).digest == digests[-1]
    with pytest.raises(NotADirectoryError):
        content_of(Project("p", "missing"), tmp_path)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two projects, and a recording of them and of their comparison."""
    folder = tmp_path_factory.mktemp("pin")
    for name, rate in (("gpu", 0.1), ("npu", 0.2)):
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(TRAIN.format(rate=rate))
    assert main(["record", str(folder / "out"), "gpu", "npu", "--pair", "gpu", "npu", "--root", str(folder)]) == 0
    return folder


def test_a_recording_has_findings_facts_readiness_and_compared_values(recorded: Path) -> None:
    files = stored(recorded / "out")
    assert sorted(map(str, files)) == ["gpu", "gpu -> npu", "npu"]
    assert not any(file.header.failures for file in files.values())
    records = list(files[Project("gpu")].records())
    optimizer = next(row for row in records if row["record"] == "fact" and row["name"] == "torch.optim.SGD")
    assert optimizer["path"] == "train.py"
    assert optimizer["arguments"]["lr"] == values(0.1)
    assert optimizer["attributes"]["active"] == "yes"
    assert any(row["record"] == "finding" and row["changes"] for row in records)
    assert {row["item"] for row in records if row["record"] == "readiness"} > {"device"}
    rows = [row for row in files[Project("gpu", "npu")].records() if row["record"] == "row"]
    rate = next(row for row in rows if row["change"] == "changed")
    assert [rate[side]["text"] for side in ("reference", "migrated")] == ["0.1", "0.2"]
    assert [link[-1] for link in rate["migrated"]["provenance"]] == ["RATE"]


def test_what_has_not_changed_is_kept_and_what_has_is_recorded_again(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = recorded / "out", tmp_path / "new"
    shutil.copytree(old, new)
    for name in ("gpu", "npu"):
        shutil.copytree(recorded / name, tmp_path / name)
    before = {path.name: path.stat().st_mtime_ns for path in new.glob("*.gz")}
    with (tmp_path / "npu" / "train.py").open("a") as stream:
        stream.write("\n")
    assert main(["record", str(new), "--list", str(new / LIST), "--resume", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("2 projects, 1 pairs, 0 with failures")
    after = {path.name: path.stat().st_mtime_ns for path in new.glob("*.gz")}
    assert len(after) == 3
    assert len(before.items() & after.items()) == 1  # that of gpu
    assert main(["compare", str(old), str(new)]) == 1
    assert "2  project with another content" in capsys.readouterr().out


def test_a_part_that_fails_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(project: Project, root: Path) -> Iterator[Record]:
        yield fact()
        raise ValueError("wrong")

    def never_ends(project: Project, root: Path) -> Iterator[Record]:
        while True:
            pass

    parts = {"check": lambda project, root: iter([finding()]), "facts": fails, "slow": never_ends}
    monkeypatch.setattr(recording, "OF_A_PROJECT", parts)
    header = record(tmp_path, SAME_RECORDS, tmp_path, Header(SAME_RECORDS, "c", "e"), Limits(seconds=1))
    assert header.counts == {"finding": 1}
    assert header.failures["facts"].startswith("ValueError: wrong (test_pin.py:")
    assert header.failures["slow"].startswith("out of time")
    assert list(stored(tmp_path)[SAME_RECORDS].records()) == [finding()]


def test_records_that_one_side_lacks_because_it_failed_are_no_differences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "old", "a", [finding(), fact()])
    write(tmp_path / "new", "a", [finding()], failures={"facts": "out of time"})
    assert main(["compare", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    lines = capsys.readouterr().out.split("\n")
    assert [line.split()[:4] for line in lines if "projects)" in line] == [["1", "project", "fails:", "facts"]]


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """Two recordings: an attribute differs twice, a finding is gone once, a project is in the old one only."""
    old, new = tmp_path / "old", tmp_path / "new"
    write(old, "a", [fact(rate=values(1)), fact(4, rate=values(1)), finding()])
    write(new, "a", [fact(rate=values(2)), fact(4, rate=values(2))])
    write(old, "b", [fact(rate=values(1))])
    write(new, "b", [fact(rate=values(1))])
    write(old, "c", [])
    return ["compare", str(old), str(new)]


def test_differences_are_listed_by_kind_the_most_frequent_first(
    two: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*two, "--examples", "1", "--all", str(tmp_path / "all.jsonl")]) == 1
    lines = capsys.readouterr().out.split("\n")
    assert lines[:4] == [
        "      2  fact optimizer rate  (1 projects)",
        "           a  a.py:3",
        '             - {"exact":true,"symbol":"","values":[1]}',
        '             + {"exact":true,"symbol":"","values":[2]}',
    ]
    assert lines[-2] == "4 differences in 2 of 3 projects"
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [row["place"] for row in rows] == ["a.py:3", "a.py:4", "a.py:3", ""]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--code", "NPU11"], 1),
        (["--code", "NPU2"], 0),
        (["--kind", "rate"], 2),
        (["--kind", "fact"], 2),
        (["--kind", "optimizer rate", "--kind", "project"], 3),
        (["--kind", "opti"], 0),
        (["--project", "b"], 0),
        (["--common"], 3),
    ],
)
def test_filters_choose_differences(
    two: list[str], words: list[str], expected: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*two, *words]) == (1 if expected else 0)
    assert capsys.readouterr().out.rstrip("\n").split("\n")[-1].startswith(f"{expected} differences")


def test_a_missing_folder_or_recording_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", str(tmp_path / "out"), str(tmp_path / "missing")]) == 2
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 2
    assert "missing: not a folder" in capsys.readouterr().err
