"""The tables of a survey: their columns, and texts that are hostile to spreadsheets."""

from __future__ import annotations

import csv
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from npulint.survey import tables
from npulint.survey.model import FindingRow, Job, Part, ReadinessRow
from npulint.survey.parts import prepare, read_part, write_part
from npulint.survey.tables import TABLES, columns, parts_of, write_tables
from tests.survey_support import broken, row
from tests.tools import missing

DOCUMENTS = Path(__file__).parent.parent / "docs"


def _finding(project: str, path: str) -> FindingRow:
    words = {"severity": "error", "confidence": "high", "category": "functional", "topic": "x", "program": ""}
    numbers = {"line": 3, "column": 1, "places": 2}
    texts = {"code": "NPU1", "name": "cuda", "fix": "safe", "message": "=1+1", "fingerprint": "f"}
    return FindingRow(project=project, path=path, **words, **numbers, **texts)  # type: ignore[arg-type]


@pytest.fixture
def survey(tmp_path: Path) -> tuple[str, list[Job]]:
    """The folder of a survey with two parts, and three jobs."""
    prepare(str(tmp_path), False)
    item = ReadinessRow(
        project="a", program="t.py", framework="torch", state="partial", item="i", title="t", status="passed"
    )
    one = Part(
        digest="d", project=row("a", blockers=("NPU1", "NPU2")), findings=(_finding("a", "=x.py"),), readiness=(item,)
    )
    write_part(str(tmp_path), "a", one)
    write_part(str(tmp_path), "b", Part(project=broken("b", "time", "> 3 s")))
    return str(tmp_path), [Job(name, name, name, "") for name in "abc"]


def test_parts_are_read_as_they_were_written(survey: tuple[str, list[Job]]) -> None:
    out, jobs = survey
    found = list(parts_of(out, jobs))
    assert [one.project.status for one in found] == ["checked", "failed", "failed"]
    assert found[0].project.blockers == ("NPU1", "NPU2")


def test_texts_that_are_no_unicode_are_kept_as_escapes(survey: tuple[str, list[Job]]) -> None:
    out, _ = survey
    write_part(out, "a", Part(project=row("a", commit="\ud800"), findings=(_finding("a", "\udcff.py"),)))
    part = read_part(out, "a")
    assert part is not None and (part.project.commit, part.findings[0].path) == ("\\ud800", "\\udcff.py")


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 99, "project": {}}'])
def test_a_damaged_part_is_none(survey: tuple[str, list[Job]], damage: bytes) -> None:
    out, _ = survey
    (Path(out) / "parts" / "a.json").write_bytes(damage)
    assert read_part(out, "a") is None


def test_csv_has_all_rows_in_order_and_no_formulas(survey: tuple[str, list[Job]]) -> None:
    out, jobs = survey
    assert sum(1 for _ in write_tables(out, parts_of(out, jobs))) == 3
    with open(Path(out) / "projects.csv", encoding="utf-8", newline="") as stream:
        projects = list(csv.DictReader(stream))
    assert [one["project"] for one in projects] == ["a", "b", "c"]
    assert list(projects[0]) == list(columns("projects"))
    assert projects[0]["blockers"] == "NPU1 NPU2" and projects[0]["effort_low"] == "0.0"
    assert projects[1]["effort_low"] == "" and projects[1]["detail"] == "> 3 s"
    with open(Path(out) / "findings.csv", encoding="utf-8", newline="") as stream:
        (finding,) = csv.DictReader(stream)
    assert (finding["path"], finding["message"]) == ("'=x.py", "'=1+1")


def test_parquet_has_the_same(survey: tuple[str, list[Job]]) -> None:
    if importlib.util.find_spec("pyarrow") is None:
        missing("pyarrow")
    read = importlib.import_module("pyarrow.parquet").read_table
    out, jobs = survey
    list(write_tables(out, parts_of(out, jobs)))
    projects = read(Path(out) / "projects.parquet")
    assert projects.column_names == list(columns("projects"))
    assert projects["blockers"].to_pylist() == [["NPU1", "NPU2"], [], []]
    assert projects["effort_low"].to_pylist() == [0.0, None, None]
    assert read(Path(out) / "findings.parquet")["path"].to_pylist() == ["=x.py"]
    assert read(Path(out) / "readiness.parquet").num_rows == 1


def test_tables_that_are_not_finished_leave_the_old_ones(survey: tuple[str, list[Job]]) -> None:
    out, jobs = survey
    list(write_tables(out, parts_of(out, jobs)))
    before = (Path(out) / "projects.csv").read_bytes()

    def ending() -> Iterator[Part]:
        yield Part(project=row("other"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(write_tables(out, ending()))
    assert (Path(out) / "projects.csv").read_bytes() == before
    assert not [one for one in Path(out).iterdir() if one.name.startswith(".")]


def test_without_pyarrow_there_is_csv_alone(survey: tuple[str, list[Job]], monkeypatch: pytest.MonkeyPatch) -> None:
    out, jobs = survey
    monkeypatch.setattr(tables, "has_parquet", lambda: False)
    list(write_tables(out, parts_of(out, jobs)))
    assert sorted(one.name for one in Path(out).glob("*.*")) == [
        "findings.csv",
        "projects.csv",
        "readiness.csv",
        "survey.json",
    ]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_column_is_documented(lang: str) -> None:
    text = (DOCUMENTS / lang / "survey.md").read_text(encoding="utf-8")
    for name in TABLES:
        assert f"`{name}`" in text
        assert [column for column in columns(name) if f"`{column}`" not in text] == []
