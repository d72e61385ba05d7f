"""The elements of report documents. Texts are in the report language and not escaped; back ends do that."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.facts.model import Span

# inline elements; a plain `str` is shown as it is


class Prose(msgspec.Struct, frozen=True):
    """Text with code in backticks."""

    text: str


class CodeCell(msgspec.Struct, frozen=True):
    """A name or expression, linked to an URL or anchor (``#name``) if there is one."""

    text: str
    url: str = ""


class Note(msgspec.Struct, frozen=True):
    """A remark about what precedes it; may be empty."""

    text: str


class Label(msgspec.Struct, frozen=True):
    """A column head: `style` is the CSS class of its content, or ``unseen`` for screen readers only."""

    text: str
    style: str


class Status(msgspec.Struct, frozen=True):
    """The status of a checklist item: a `word` that selects the colour, and its text."""

    word: str
    text: str


class PlaceCell(msgspec.Struct, frozen=True):
    """A line of a file, or the whole file (line 0). `label` is a shorter path to show; `check` and `code` identify the
    finding there."""

    path: str
    span: Span = Span(0, 0, 0, 0)
    label: str = ""
    check: str = ""
    code: str = ""


class ValueCell(msgspec.Struct, frozen=True):
    """A value of a program, its place, and the names through which it is passed."""

    text: str
    place: PlaceCell | None = None
    steps: Sequence[str] = ()


class StackedBar(msgspec.Struct, frozen=True):
    """A stacked bar: named parts, the value of the full width (at least), and a textual alternative."""

    parts: Sequence[tuple[str, float]]
    whole: float
    text: str


Inline = str | Prose | CodeCell | Note | Label | Status | PlaceCell | ValueCell | StackedBar
Cell = Inline | Sequence[Inline]


# blocks


class Table(msgspec.Struct, frozen=True):
    """Rows below heads. `more` is the text key for omitted rows, `style` a CSS class. The title, with a `note`, is
    visible when `titled`; a `wide` table may need scrolling."""

    title: str
    heads: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    style: str = "list"
    more: str = "html.rows.cut"
    titled: bool = False
    note: str = ""
    wide: bool = False


class Facts(msgspec.Struct, frozen=True):
    """Labelled short texts."""

    rows: Sequence[tuple[str, Cell]]


class Paragraph(msgspec.Struct, frozen=True):
    """A paragraph with a CSS class."""

    cell: Cell
    style: str = ""


class Folded(msgspec.Struct, frozen=True):
    """Blocks that a click on the summary shows."""

    summary: str
    blocks: Sequence[Block]


class Section(msgspec.Struct, frozen=True):
    """Blocks below a heading; `name` is the anchor."""

    name: str
    title: str
    blocks: Sequence[Block]


Block = Table | Facts | Paragraph | Folded | Section


# checklists


class DifferenceRow(msgspec.Struct, frozen=True):
    """A compared value, the answer (differs, note, unknown or same), and the value of each side. `reason` says what the
    difference does to the loss, `also` where else it is."""

    what: str
    answer: str
    reference: ValueCell | None
    migrated: ValueCell | None
    reason: str = ""
    also: str = ""


class ChecklistEntry(msgspec.Struct, frozen=True):
    """A checklist item: status, counts in words, what needs review, the failing places, and the compared rows. `notes`
    describe omitted rows, `equal` are the equal ones. Items of smaller `weight` come first."""

    name: str
    title: str
    status: Status
    numbers: str = ""
    look: str = ""
    places: Sequence[PlaceCell] = ()
    rows: Sequence[DifferenceRow] = ()
    same: Sequence[DifferenceRow] = ()
    notes: Sequence[str] = ()
    equal: int = 0
    weight: int = 0


class ProgramEntry(msgspec.Struct, frozen=True):
    """A program of a checklist: role (reference or migrated), entry script, and properties in words."""

    role: str
    entry: str
    traits: str


class Checklist(msgspec.Struct, frozen=True):
    """The compared items of a pair of programs, with a sentence that counts them by status, one that says why these
    programs are compared, and one about rows that are hidden (empty: none)."""

    title: str
    tally: str
    programs: Sequence[ProgramEntry]
    items: Sequence[ChecklistEntry]
    why: str = ""
    hidden: str = ""
