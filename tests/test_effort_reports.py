"""The estimate of a port's effort in all formats, and the command that prints it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from npulint.data.effort import weights
from npulint.hosts.cli.main import main
from npulint.judge.effort import Effort
from npulint.judge.effort.estimate import counted
from npulint.judge.summaries.verdict import Verdict
from npulint.report.document.model import StackedBar
from npulint.report.effort.document import by_file, formula, markdown, sentences, shown, text, weight_table
from npulint.report.effort.record import document
from npulint.report.terminal import cells
from tests.html_support import tree
from tests.port_samples import DDP

SHAPES = ("text", "json", "markdown", "html")
MANY = counted(
    [((f"folder/file{number}.py", line), line % 2 == 0) for number in range(12) for line in range(number + 1)],
    [("folder/file3.py", "NPU2101")],
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, code in DDP.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_command_prints_the_estimate(
    project: Path, shape: str, lang: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["effort", ".", "--format", shape, "--lang", lang]) == 0
    printed = capsysbinary.readouterr().out.decode()
    assert "main.py" in printed
    if shape == "json":
        read = json.loads(printed)
        assert read["review"] > 0 and read["hours"]["low"] < read["hours"]["likely"] < read["hours"]["high"]
        assert sum(read["shares"].values()) == 100 and len(read["weights"]) == len(weights())


def test_the_page_is_well_formed_and_needs_nothing_else(
    project: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    main(["effort", ".", "--format", "html", "--lang", "en"])
    page = capsysbinary.readouterr().out.decode()
    tree(page)
    assert 'id="effort"' in page and "https://" not in page


def test_a_project_without_work_says_so(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "plain.py").write_text("print(1)\n", encoding="utf-8")
    for shape in SHAPES:
        assert main(["effort", str(tmp_path), "--format", shape, "--lang", "en"]) == 0
    assert capsysbinary.readouterr().out.decode().count("No work was found") == 3


def test_the_workbook_has_the_project_its_files_findings_and_the_formula(project: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    assert main(["effort", ".", "--lang", "en", "--output", "xlsx=effort.xlsx", "--output", "json=effort.json"]) == 0
    book = openpyxl.load_workbook(io.BytesIO((project / "effort.xlsx").read_bytes()))
    assert book.sheetnames == ["Project", "Files", "Findings", "Formula"]
    read = json.loads((project / "effort.json").read_text(encoding="utf-8"))
    assert [cell.value for cell in book["Project"][2]][1:5] == [
        read[key] for key in ("automatic", "review", "decide", "lines")
    ]
    assert [row[0].value for row in book["Files"].iter_rows(min_row=2)] == [one["path"] for one in read["files"]]
    assert book["Formula"].max_row > len(weights())


def test_no_text_of_the_project_becomes_a_formula_of_the_workbook() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    from npulint.report.effort.workbook import workbook

    evil = counted([(("=cmd|' /C calc'!A0.py", 1), True)], [])
    book = openpyxl.load_workbook(io.BytesIO(workbook(evil, (), "en")))
    cell = book["Files"]["A2"]
    assert (cell.data_type, cell.value) == ("s", "=cmd|' /C calc'!A0.py")


def test_without_openpyxl_the_extra_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["effort", ".", "--lang", "en", "--output", "xlsx=effort.xlsx"]) == 2
    assert "npulint[xlsx]" in capsys.readouterr().err and not (project / "effort.xlsx").exists()


def test_a_short_text_lists_the_files_with_most_work_and_all_of_them_when_asked() -> None:
    short, whole = (text(MANY, Verdict(), "en", False, 100, verbose=more) for more in (False, True))
    assert "file11.py" in short and "file0.py" not in short and "2 files" in short
    assert "file0.py" in whole and formula("en")[0][:30] in whole
    assert all(cells(line) <= 80 for line in text(MANY, Verdict(), "zh", False, 80).splitlines()[:6])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_weight_is_in_the_report_with_its_source(lang: str) -> None:
    table = weight_table(lang)
    assert len(table.rows) == len(weights())
    told = " ".join(formula(lang))
    assert all(f"{one.value:g}" in told for one in weights())
    assert all(part in markdown(MANY, Verdict(), lang) for part in (sentences(MANY, lang)[1], table.title))


def test_the_record_is_the_sum_of_its_files() -> None:
    read = document(MANY, Verdict(), "en")
    for key in ("automatic", "review", "decide", "lines"):
        assert read[key] == sum(one[key] for one in read["files"]) > 0


def test_bars_are_as_long_as_the_work() -> None:
    bars = [row[1] for row in by_file(MANY, "en", bars=True).rows if isinstance(row[1], StackedBar)]
    assert (
        len(bars) == 12
        and all(bar.whole == 12 for bar in bars)
        and max(sum(share for _, share in bar.parts) for bar in bars) == 12
    )


@pytest.mark.parametrize(
    ("hours", "told"), [(0, "0"), (0.04, "0"), (0.96, "1"), (2.04, "2"), (9.94, "9.9"), (41.6, "42")]
)
def test_hours_have_few_digits(hours: float, told: str) -> None:
    assert shown(hours) == told


def test_no_work_has_no_table() -> None:
    assert "|" not in markdown(Effort(), Verdict(), "en").split("##")[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_plan_of_a_port_tells_its_effort(
    project: Path, lang: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    told = {}
    for shape in ("json", "text", "markdown"):
        main(["port", ".", "--format", shape, "--lang", lang])
        told[shape] = capsysbinary.readouterr().out.decode()
    read = json.loads(told["json"])
    places = {(one["path"], one["line"]) for step in read["steps"] for item in step["items"] for one in item["places"]}
    assert read["effort"]["automatic"] + read["effort"]["review"] == len(places) > 0
    main(["effort", ".", "--format", "json", "--lang", lang])
    alone = json.loads(capsysbinary.readouterr().out)
    assert {key: alone[key] for key in read["effort"]} == read["effort"]
    share = f"{read['effort']['shares']['review']} %" if lang == "en" else f"{read['effort']['shares']['review']}%"
    assert share in told["text"] and share in told["markdown"]
