"""The estimated effort as a workbook: the project, its files, the findings, and the formula. This needs openpyxl (the
extra ``xlsx``)."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.data.effort import weights
from npulint.judge.effort import Effort, FileEffort
from npulint.judge.findings import Finding
from npulint.report.effort.document import PARTS, formula, sentences
from npulint.report.terminal import escape_control_chars

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_WIDEST = 80  # characters of a column
_LONG = 32_000  # characters of a cell


def workbook(effort: Effort, findings: Sequence[Finding], lang: str) -> bytes:
    """The file. Raises `NpulintError` without openpyxl."""
    if importlib.util.find_spec("openpyxl") is None:
        raise NpulintError(say(lang, "effort.no-openpyxl"))
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in (
        ("project", _project(effort, lang)),
        ("files", _files(effort, lang)),
        ("findings", _findings(findings, lang)),
        ("formula", _formula(lang)),
    ):
        _filled(book.create_sheet(say(lang, f"effort.sheet.{name}")), rows)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _filled(sheet: Worksheet, rows: Iterable[Sequence[object]]) -> None:
    """Write rows below a bold heading, each column as wide as its longest cell. Texts are never formulas."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    widths: dict[int, int] = {}
    for number, row in enumerate(rows, 1):
        for place, value in enumerate(row, 1):
            cell = sheet.cell(number, place)
            if isinstance(value, str):
                cell.value = escape_control_chars(value)[:_LONG]
                cell.data_type = "s"
            else:
                cell.value = value
            cell.font = Font(bold=number == 1)
            widths[place] = max(widths.get(place, 0), len(str(value)) + 2)
    for place, width in widths.items():
        sheet.column_dimensions[get_column_letter(place)].width = min(width, _WIDEST)
    sheet.freeze_panes = "A2"


def _heads(lang: str) -> list[str]:
    bounds = [say(lang, f"effort.{word}") for word in ("low", "high")]
    hours = [text for word in ("left", "by-hand") for text in (say(lang, f"effort.{word}"), *bounds)]
    return [say(lang, f"effort.{word}") for word in ("file", *PARTS, "lines")] + hours


def _numbers(effort: Effort | FileEffort) -> list[Any]:
    hours = [round(value, 2) for part in (effort.hours, effort.by_hand) for value in (part.likely, part.low, part.high)]
    return [*(getattr(effort, part) for part in PARTS), effort.lines, *hours]


def _project(effort: Effort, lang: str) -> Iterator[Sequence[object]]:
    yield _heads(lang)
    yield say(lang, "effort.project"), *_numbers(effort)
    yield ()
    yield from ((sentence,) for sentence in sentences(effort, lang))


def _files(effort: Effort, lang: str) -> Iterator[Sequence[object]]:
    yield _heads(lang)
    yield from ((file.path, *_numbers(file)) for file in effort.files)


def _findings(findings: Sequence[Finding], lang: str) -> Iterator[Sequence[object]]:
    heads = ("severity", "check", "place", "message")
    yield *(say(lang, f"markdown.{word}") for word in heads), say(lang, "fix").capitalize()
    for finding in findings:
        place = f"{finding.path}:{finding.span.line}"
        yield (
            say(lang, f"severity.{finding.severity}"),
            f"{finding.name} ({finding.code})",
            place,
            finding.message,
            finding.fix.text,
        )


def _formula(lang: str) -> Iterator[Sequence[object]]:
    yield [say(lang, f"effort.{word}") for word in ("weight", "value", "low", "high", "source")]
    for weight in weights():
        source = say(lang, f"effort.source.{weight.source}")
        yield say(lang, f"effort.weight.{weight.name}"), weight.value, weight.low, weight.high, source
    yield ()
    yield from ((sentence,) for sentence in formula(lang))
