"""The Markdown back end of report documents, with a size limit."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from npulint.core.texts import count, say
from npulint.report.document import model
from npulint.report.terminal import code, link, prose

_ADDRESS = ("https://", "http://")
_STRESSED = ("failed", "differs")


def size(text: str) -> int:
    """The bytes of a text and the blank line after it."""
    return len(text.encode("utf-8", "backslashreplace")) + 2


def fitting(parts: Iterable[str], room: int) -> list[str]:
    """The first parts that fit into `room` bytes together."""
    fitted = []
    for part in parts:
        room -= size(part)
        if room < 0:
            break
        fitted.append(part)
    return fitted


class Writer:
    """Renders blocks into at most `room` bytes and counts the rows that are `cut`. `sources` is the URL of the working
    directory in the repository."""

    def __init__(self, lang: str, room: int, sources: str = "") -> None:
        self._lang = lang
        self._room = room
        self._sources = f"{sources.rstrip('/')}/" if sources.startswith(_ADDRESS) else ""
        self.cut = 0

    def section(self, table: model.Table) -> str:
        """A table below its title, with the number of omitted rows."""
        title = f"## {table.title}"
        self._room -= size(title)
        parts = [title, *self.table(table.heads, table.rows)]
        more = [count(self._lang, table.more, self.cut)] if table.more and self.cut else []
        return "\n\n".join([*parts, *more])

    def table(self, heads: Sequence[model.Cell], rows: Sequence[Sequence[model.Cell]]) -> list[str]:
        """A table of the rows that fit; empty if none does."""
        head = "\n".join((self._row(heads), self._row(["---"] * len(heads))))
        shown = fitting(map(self._row, rows), self._room - size(head))
        self._room -= sum(map(size, (head, *shown))) if shown else 0
        self.cut += len(rows) - len(shown)
        return ["\n".join([head, *shown])] if shown else []

    def checklist(self, checklist: model.Checklist) -> list[str]:
        """Both programs, a table of items, then both sides of each difference by item."""
        between = " → ".join(code(each.entry) for each in checklist.programs)
        heads = [say(self._lang, f"compare.heading.{word}") for word in ("item", "result", "rows", "look")]
        rows = [
            (model.Prose(item.title), item.status, item.numbers, model.Prose(item.look)) for item in checklist.items
        ]
        parts = [
            f"## {checklist.title}: {between}\n\n{prose(checklist.tally)}\n\n{self._programs(checklist)}",
            *self.table(heads, rows),
        ]
        parts += [part for item in checklist.items for part in self._details(item)]
        return [*parts, *([prose(checklist.hidden)] if checklist.hidden else [])]

    def _programs(self, checklist: model.Checklist) -> str:
        lines = []
        for each in checklist.programs:
            place = say(self._lang, "problem.detail", text=say(self._lang, f"compare.heading.{each.role}"), detail="")
            aside = say(self._lang, "aside", text=prose(each.traits))
            lines.append(f"- {place.rstrip()} {code(each.entry)}{aside}")
        lines += [f"- {prose(checklist.why)}"] if checklist.why else []
        return "\n".join(lines)

    def _details(self, item: model.ChecklistEntry) -> list[str]:
        """Both sides of an item that is not just consistent."""
        heads = [say(self._lang, f"compare.heading.{word}") for word in ("what", "reference", "migrated")]
        parts = self.table(heads, [self._sides(row) for row in item.rows]) if item.rows else []
        parts += ["\n".join(f"- {self._inline(place)}" for place in item.places)] if item.places else []
        return [f"### {prose(item.title)}", *parts] if parts else []

    def _sides(self, row: model.DifferenceRow) -> Sequence[model.Cell]:
        absent = say(self._lang, "compare.absent")
        answer = say(self._lang, "aside", text=say(self._lang, f"compare.answer.{row.answer}"))
        what = row.what + ("" if row.answer == "differs" else answer)
        remarks = [model.Note(text) for text in (row.reason, row.also) if text]
        return [model.Prose(what), *remarks], row.reference or absent, row.migrated or absent

    def _row(self, cells: Sequence[model.Cell]) -> str:
        return f"| {' | '.join(map(self._cell, cells))} |"

    def _cell(self, cell: model.Cell) -> str:
        parts = cell if isinstance(cell, Sequence) and not isinstance(cell, str) else (cell,)
        return " ".join(filter(None, map(self._inline, parts)))

    def _inline(self, inline: model.Inline) -> str:
        match inline:
            case str(text) | model.Prose(text) | model.Note(text):
                return prose(text, cell=True)
            case model.CodeCell(text, url):
                return link(code(text, cell=True), url)
            case model.Status(word, text):
                return f"**{text}**" if word in _STRESSED else text
            case model.PlaceCell(path, span, check=check):
                shown = self._link(f"{path}:{span.line}", inline) if span.line else code(path, cell=True)
                return f"{shown} {code(check, cell=True)}".rstrip()
            case model.ValueCell():
                return self._value(inline)
            case model.Label(text) | model.StackedBar(text=text):
                return prose(text, cell=True)

    def _value(self, value_cell: model.ValueCell) -> str:
        text = code(value_cell.text, cell=True)
        if value_cell.place is None:
            return text
        shown = self._link(f"{value_cell.place.label}:{value_cell.place.span.line}", value_cell.place)
        return f"{text}<br>{' → '.join([shown, *(code(step, cell=True) for step in value_cell.steps)])}"

    def _link(self, shown: str, place: model.PlaceCell) -> str:
        """The place, linked to its line if the file lies below the working directory."""
        plain = posixpath.normpath(place.path) if place.path else ""
        below = plain and not plain.startswith(("/", "..", "\\")) and ":" not in plain.partition("/")[0]
        if not below:
            return code(shown, cell=True)
        address = quote(plain.encode("utf-8", "backslashreplace"), safe="/")
        return f"[{code(shown, cell=True)}]({self._sources}{address}#L{place.span.line})"
