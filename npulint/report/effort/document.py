"""The estimated effort as sentences and tables that every format for people renders."""

from __future__ import annotations

import msgspec

from npulint.core.texts import count, say
from npulint.data.effort import weight, weights
from npulint.judge.effort import Effort, FileEffort, Hours
from npulint.judge.summaries.verdict import Verdict
from npulint.report.document.markdown import Writer
from npulint.report.document.model import Cell, Label, PlaceCell, StackedBar, Table
from npulint.report.terminal import Paint, cells, escape_control_chars, leading, prose, wrap
from npulint.report.verdict import told

PARTS = ("automatic", "review", "decide")


def sentences(effort: Effort, lang: str) -> list[str]:
    """The hours and shares of a project, and what they leave out."""
    if not effort.items:
        return [say(lang, "effort.none")]
    hand = {f"hand_{name}": text for name, text in _told(effort.by_hand).items()}
    hours = say(lang, "effort.hours", **_told(effort.hours), **hand)
    share = say(lang, "effort.share", **dict(zip(PARTS, effort.shares(), strict=True)))
    return [hours, share, say(lang, "effort.limits")]


def shown(hours: float) -> str:
    """Hours with the digits that an estimate has."""
    return f"{hours:.0f}" if hours >= 10 else f"{hours:.1f}".removesuffix(".0")


def in_range(hours: Hours, lang: str) -> str:
    """The likely hours and their range; of nothing no range."""
    told = _told(hours)
    return say(lang, "effort.range", **told) if hours.high else told["likely"]


def _told(hours: Hours) -> dict[str, str]:
    """The values of sentences about hours."""
    return {name: shown(value) for name, value in msgspec.structs.asdict(hours).items()}


def by_file(effort: Effort, lang: str, bars: bool = False) -> Table:
    """The files, those with most work first, with a bar of their parts if wanted."""
    heads: list[Cell] = [say(lang, "effort.file")]
    heads += [Label(say(lang, "effort.parts"), "unseen")] if bars else []
    heads += [
        Label(say(lang, f"effort.{part}"), f"key {part}") if bars else say(lang, f"effort.{part}") for part in PARTS
    ]
    heads += [say(lang, f"effort.{word}") for word in ("lines", "left", "by-hand")]
    most = max((_items(file) for file in effort.files), default=0)
    rows = [_row(file, lang, most if bars else 0) for file in effort.files]
    return Table(say(lang, "effort.files"), heads, rows, "chart effort", "effort.more", titled=True, wide=True)


def _items(file_effort: FileEffort) -> int:
    return file_effort.automatic + file_effort.review + file_effort.decide


def _row(file_effort: FileEffort, lang: str, most: int) -> list[Cell]:
    numbers = [getattr(file_effort, part) for part in PARTS]
    told = say(lang, "list.and").join(
        f"{say(lang, f'effort.{part}')} {number}" for part, number in zip(PARTS, numbers, strict=True)
    )
    bar: list[Cell] = [StackedBar(list(zip(PARTS, numbers, strict=True)), most, told)] if most else []
    hours = [in_range(file_effort.hours, lang), in_range(file_effort.by_hand, lang)]
    return [PlaceCell(file_effort.path), *bar, *map(str, numbers), str(file_effort.lines), *hours]


def formula(lang: str) -> list[str]:
    """How the estimate is made, in two sentences."""
    fitted = {name: f"{weight(name).value:g}" for name in ("place", "file", "projects", "correlation", "factor")}
    speed = weight("lines_per_hour")
    assumed = {name: f"{weight(name).value:g}" for name in ("reading", "decision")}
    bounds = {name: f"{getattr(speed, name):g}" for name in ("low", "high")}
    return [
        say(lang, "effort.formula.lines", **fitted),
        say(lang, "effort.formula.hours", likely=f"{speed.value:g}", **bounds, **assumed),
    ]


def weight_table(lang: str) -> Table:
    """The weights with their sources."""
    rows: list[list[Cell]] = []
    for effort_weight in weights():
        value = f"{effort_weight.value:g}"
        if effort_weight.low != effort_weight.high:
            value = say(
                lang, "effort.range", likely=value, low=f"{effort_weight.low:g}", high=f"{effort_weight.high:g}"
            )
        rows.append(
            [
                say(lang, f"effort.weight.{effort_weight.name}"),
                value,
                say(lang, f"effort.source.{effort_weight.source}"),
            ]
        )
    heads = [say(lang, f"effort.{word}") for word in ("weight", "value", "source")]
    return Table(say(lang, "effort.formula"), heads, rows)


# The estimated effort as a short text for a terminal, and as Markdown.

_FILES = 10  # listed
_LIMIT = 1024 * 1024  # bytes of Markdown


def text(effort: Effort, verdict: Verdict, lang: str, color: bool, width: int, verbose: bool = False) -> str:
    """The sentences, and a line for each of the files with most work; all files and the formula with `verbose`."""
    paint = Paint(color)
    lines = [paint("bold", say(lang, "effort.title"))]
    for sentence in [told(verdict, lang), *sentences(effort, lang)]:
        lines += [f"  {line}" for line in wrap(sentence.replace("`", ""), max(width - 2, 0))]
    files = effort.files if verbose else effort.files[:_FILES]
    numbers = [in_range(file.hours, lang) for file in files]
    room = max(map(cells, numbers), default=0)
    lines += ["", paint("bold", say(lang, "effort.files"))] if files else []
    for file_effort, hours in zip(files, numbers, strict=True):
        parts = say(lang, "list.and").join(
            f"{say(lang, f'effort.{part}')} {getattr(file_effort, part)}" for part in PARTS
        )
        parts = say(lang, "effort.places", list=parts)
        pad = " " * (room - cells(hours))
        lines.append(f"  {hours}{pad}  {escape_control_chars(leading(file_effort.path))}  {paint('dim', parts)}")
    if len(files) < len(effort.files):
        lines.append(f"  {count(lang, 'effort.more', len(effort.files) - len(files))}")
    if verbose:
        lines += ["", paint("bold", say(lang, "effort.formula"))]
        lines += [f"  {line}" for sentence in formula(lang) for line in wrap(sentence, max(width - 2, 0))]
    return "\n".join(lines) + "\n"


def markdown(effort: Effort, verdict: Verdict, lang: str) -> str:
    """The sentences, a table of all files, and the formula with its weights."""
    writer = Writer(lang, _LIMIT)
    parts = [f"# {say(lang, 'effort.title')}", prose(told(verdict, lang)), *map(prose, sentences(effort, lang))]
    parts += [writer.section(by_file(effort, lang))] if effort.files else []
    parts += [f"## {say(lang, 'effort.formula')}", *map(prose, formula(lang))]
    table = weight_table(lang)
    return "\n\n".join([*parts, *writer.table(table.heads, table.rows)]) + "\n"
