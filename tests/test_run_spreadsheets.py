"""Comparisons in spreadsheets, with openpyxl and without."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from npulint.facts.model import Problem
from npulint.runs.read import read_artifact

HEAD = (
    *("NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape", "Bench Tensor Shape"),
    *("Cosine", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio", "Five Thousandths Err Ratio"),
    *("NPU max", "NPU min", "NPU mean", "NPU l2norm", "Bench max", "Bench min", "Bench mean", "Bench l2norm"),
    *("Accuracy Reached or Not", "Err_message"),
)


def compared(cosine: float) -> tuple[object, ...]:
    """A row: names, types, shapes, differences, statistics of both sides, verdict."""
    name, dtype, shape, statistics = "Functional.conv2d.0.forward.output.0", "torch.float16", "[2, 3]", (1, 0, 0.5, 1)
    return (name, name, dtype, dtype, shape, shape, cosine, 0.5, 0.1, 0.9, 0.9, *statistics, *statistics, "Yes", "")


def book(path: Path, *sheets: tuple[str, list[tuple[object, ...]]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets:
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_the_sheet_with_a_comparison_is_read(tmp_path: Path) -> None:
    rows = [HEAD, compared(0.999), compared(0.51)]
    path = book(tmp_path / "compare_result_20240601.xlsx", ("notes", [("text", "x")]), ("result", rows))
    found = read_artifact(str(path), str(path))
    assert isinstance(found, list)
    source, whole = found[0], next(one for one in found if one.kind == "run_comparison")
    assert (source.get("form"), source.get("rows"), source.get("note")) == ("comparison", 2, "")
    assert (whole.get("outputs"), whole.get("below")) == (2, 1)


def test_a_book_without_a_comparison_is_not_used(tmp_path: Path) -> None:
    path = book(tmp_path / "compare_result_1.xlsx", ("notes", [("text", "x")]))
    found = read_artifact(str(path), str(path))
    assert isinstance(found, list)
    assert found[0].get("note") == "unread"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + b"\xff" * 200])
def test_damaged_books_are_problems(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "compare_result_1.xlsx"
    path.write_bytes(b"PK\x03\x04" + content)
    assert read_artifact(str(path), str(path)) == Problem(
        str(path), "artifact-damaged", "spreadsheet: File is not a zip file"
    )


def test_books_that_unpack_to_too_much_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openpyxl")
    monkeypatch.setattr("npulint.runs.read.spreadsheets._UNPACKED", 1000)
    path = tmp_path / "compare_result_1.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 100_000)
    found = read_artifact(str(path), str(path))
    assert isinstance(found, Problem)
    assert "larger than such files are" in found.detail


def test_without_openpyxl_the_form_to_save_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.runs.read.spreadsheets.can_read", lambda: False)
    path = tmp_path / "compare_result_1.xlsx"
    path.write_bytes(b"PK\x03\x04")
    assert read_artifact(str(path), str(path)) == Problem(str(path), "artifact-spreadsheet")


@pytest.mark.parametrize("name", ["performance_comparison_result_20240601.xlsx", "mstt_advisor_20240601.xlsx"])
def test_results_of_another_tool_are_no_profiles(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04")
    assert read_artifact(str(path), str(path)) == Problem(str(path), "artifact-of-analysis")
