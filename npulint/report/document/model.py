"""The parts of a report. Their texts are in the language of the reader and as they came: back ends escape them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.facts.model import Span

# what stands in a line or in a cell; a plain `str` is shown as it is


class Prose(msgspec.Struct, frozen=True):
    """Text in which backticks enclose code."""

    text: str


class Code(msgspec.Struct, frozen=True):
    """A name or an expression, leading to an address of the web or to an anchor (``#name``); nothing where it is
    empty."""

    text: str
    url: str = ""


class Note(msgspec.Struct, frozen=True):
    """A remark about what stands before it; nothing where it is empty."""

    text: str


class Label(msgspec.Struct, frozen=True):
    """The head of a column: `style` is the class of what it names, or ``unseen`` where only readers of the page that
    cannot see it need it."""

    text: str
    style: str


class Status(msgspec.Struct, frozen=True):
    """The answer for an item of a checklist: its `word` for colours and its text."""

    word: str
    text: str


class Place(msgspec.Struct, frozen=True):
    """A line of a file, or a whole file (line 0). `label` is a shorter path to show, `check` the name and `code` the
    code of the finding there."""

    path: str
    span: Span = Span(0, 0, 0, 0)
    label: str = ""
    check: str = ""
    code: str = ""


class Value(msgspec.Struct, frozen=True):
    """A value of a program, where it is written, and the names that it is passed on by."""

    text: str
    place: Place | None = None
    steps: Sequence[str] = ()


class Bar(msgspec.Struct, frozen=True):
    """A stacked bar: parts by name, what the full width stands for (at least), and the same in words."""

    parts: Sequence[tuple[str, float]]
    whole: float
    text: str


Inline = str | Prose | Code | Note | Label | Status | Place | Value | Bar
Cell = Inline | Sequence[Inline]


# blocks


class Table(msgspec.Struct, frozen=True):
    """Rows below heads. `more` is the key of the sentence about rows that are left out, `style` a class of the page.
    The title, with a `note`, is seen where it is `titled`; a `wide` table may have no room on a page."""

    title: str
    heads: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    style: str = "list"
    more: str = "html.rows.cut"
    titled: bool = False
    note: str = ""
    wide: bool = False


class Facts(msgspec.Struct, frozen=True):
    """Short texts, each with its label."""

    rows: Sequence[tuple[str, Cell]]


class Paragraph(msgspec.Struct, frozen=True):
    """A paragraph, with a class of the page."""

    cell: Cell
    style: str = ""


class Folded(msgspec.Struct, frozen=True):
    """Blocks behind a line that is to be clicked on."""

    summary: str
    blocks: Sequence[Block]


class Section(msgspec.Struct, frozen=True):
    """Blocks below a heading; `name` is its anchor."""

    name: str
    title: str
    blocks: Sequence[Block]


Block = Table | Facts | Paragraph | Folded | Section


# checklists


class Difference(msgspec.Struct, frozen=True):
    """A thing that was compared, the answer (differs, note, unknown or same), and the value of each side."""

    what: str
    answer: str
    reference: Value | None
    migrated: Value | None


class Item(msgspec.Struct, frozen=True):
    """An item of a checklist: its answer, how many differences there are in words, what a person has to look at, the
    places that speak against it, and both sides of what was compared. `notes` count the rows that are left out, `equal`
    those that are the same."""

    name: str
    title: str
    status: Status
    numbers: str = ""
    look: str = ""
    places: Sequence[Place] = ()
    rows: Sequence[Difference] = ()
    same: Sequence[Difference] = ()
    notes: Sequence[str] = ()
    equal: int = 0


class Program(msgspec.Struct, frozen=True):
    """A program of a checklist: its role (reference or migrated), its entry script and its traits in words."""

    role: str
    entry: str
    traits: str


class Checklist(msgspec.Struct, frozen=True):
    """The items that were compared for a pair of programs, and in a sentence how many of them have which answer."""

    title: str
    tally: str
    programs: Sequence[Program]
    items: Sequence[Item]
