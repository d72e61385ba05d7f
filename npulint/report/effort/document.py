"""The estimated effort as sentences and tables that every format for people renders."""

from __future__ import annotations

import msgspec

from npulint.core.texts import say
from npulint.data.effort import weight, weights
from npulint.judge.effort import Effort, FileEffort, Hours
from npulint.report.document.model import Cell, Label, PlaceCell, StackedBar, Table

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
