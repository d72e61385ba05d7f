"""The table of real differences that were listed by hand, and the script that measures a comparison with it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from npulint.facts.recipe import ITEM_OF
from scripts.measure_pairs import TABLE, main, measure, project_root, read_table
from tests.mutations.table import Edit, edited, sources
from tests.project_support import Project

COLUMNS = (
    "case_orig,case_migr,entry_orig,entry_migr,item,part,what,change,reference_path,reference_line,reference_value,"
    "migrated_path,migrated_line,migrated_value,certain,remark"
)


def table() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# The table


def test_the_words_of_the_table_are_known() -> None:
    assert TABLE.read_text(encoding="utf-8").split("\n", 1)[0] == COLUMNS
    for row in table():
        assert ITEM_OF[row["part"]] == row["item"]
        assert row["change"] in ("changed", "removed", "added", "reordered", "equal")
        assert row["certain"] in ("yes", "arguable")
        assert all(row.values()) or not row["remark"]
        assert all(len(row[name]) < 70 for name in ("what", "reference_value", "migrated_value"))


def test_every_place_is_a_line_of_a_file() -> None:
    for row in table():
        for side in ("reference", "migrated"):
            paths, lines = row[f"{side}_path"].split(";"), row[f"{side}_line"].split(";")
            assert len(paths) == len(lines)
            assert paths == lines == ["-"] or all(line.isdigit() and int(line) > 0 for line in lines)
        assert row["reference_path"] != "-" or row["migrated_path"] != "-"


def test_what_is_removed_was_there_and_what_is_changed_is_on_both_sides() -> None:
    for row in table():
        there = row["reference_path"] != "-", row["migrated_path"] != "-"
        assert row["change"] != "removed" or there[0], row
        assert row["change"] != "added" or there[1], row
        assert row["change"] not in ("changed", "reordered") or all(there), row


def test_the_table_is_broad() -> None:
    pairs = read_table()
    kinds = Counter("pt" if "-pt-" in name else "tf" for name, _ in pairs)
    assert kinds["tf"] >= 9 and kinds["pt"] >= 7 and len(pairs) >= 18
    assert all(sum(one.change == "equal" for one in listed) >= 4 for listed in pairs.values())
    assert sum(one.change != "equal" and one.certain for listed in pairs.values() for one in listed) >= 100


# The script


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two projects of which the migrated one differs in two numbers."""
    before = sources("tf_session")
    edits = Edit("train.py", "'seed', 1234", "'seed', 7"), Edit("inputs.py", "shuffle(SHUFFLE_BUFFER)", "shuffle(9)")
    after = edited(before, edits)
    for path, files in (("A-orig", before), ("A-migr/deep/er", after)):
        Project(tmp_path / path).write({name: text.encode() for name, text in files.items()})
    rows = [
        "hyperparameters,seed,--seed,changed,train.py,{seed},1234,train.py,{seed},7,yes,",
        "data,shuffle,shuffle,changed,inputs.py,{buffer},4096,inputs.py,{shuffle},9,arguable,",
        "training,clipping,--clip_norm,changed,train.py,{clip},5.0,train.py,{clip},1.0,yes,not so",
    ]
    numbers = {
        "seed": line(before["train.py"], "'seed', 1234"),
        "clip": line(before["train.py"], "'clip_norm'"),
        "buffer": line(before["inputs.py"], "SHUFFLE_BUFFER ="),
        "shuffle": line(after["inputs.py"], "shuffle(9)"),
    }
    text = "\n".join([COLUMNS, *(f"A-orig,A-migr,train.py,train.py,{row.format(**numbers)}" for row in rows)])
    (tmp_path / "table.csv").write_text(text + "\n", encoding="utf-8")
    return tmp_path


def line(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n") + 1


def test_found_and_missing_differences_are_counted(folder: Path) -> None:
    (listed,) = read_table(folder / "table.csv").values()
    measured = measure(folder, listed)
    assert measured.paired
    assert (measured.share(True), measured.share(False)) == ((1, 2), (1, 1))
    assert (list(measured.unlisted), list(measured.trapped), measured.other) == ([], [], set())


def test_what_is_not_listed_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = folder / "table.csv"
    lines = table.read_text(encoding="utf-8").split("\n")
    table.write_text("\n".join([lines[0], lines[3], ""]), encoding="utf-8")
    assert main([str(folder), "--table", str(table), "--missing", "--unlisted"]) == 0
    out = capsys.readouterr().out
    assert "missing: changed clipping --clip_norm" in out
    assert out.count("    unlisted: ") == 2 and "seed" in out and "shuffle" in out
    assert "certain 0/1 = 0%" in out and "not listed 2" in out


def test_a_row_at_a_place_that_is_listed_as_equal_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = folder / "table.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("--seed,changed", "--seed,equal"), encoding="utf-8")
    assert main([str(folder), "--table", str(table), "--unlisted"]) == 0
    assert "    equal: " in capsys.readouterr().out


def test_projects_that_are_not_there_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder / "A-orig"), "--table", str(folder / "table.csv")]) == 1
    assert "has no project with" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        project_root(folder, ["train.py", "nothing.py"])
