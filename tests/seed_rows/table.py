"""The table: a base program for each pitfall, in bad and correct form, and its spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import dedent, indent

import msgspec

from tests.seed_rows.sources import Files
from tests.seed_rows.styles import STRUCTURES, Style
from tests.seed_rows.values import VALUES

ROWS = Path(__file__).parent / "rows"
PROGRAMS = Path(__file__).parent / "programs.yaml"
NOT_FIXED = "notebook"
"""The style that no fix changes: a notebook is saved with its results."""
STYLES: dict[str, Style] = {**STRUCTURES, **VALUES}
GROUPS = {"values": tuple(VALUES), "structures": tuple(STRUCTURES)}
_HERE = re.compile(r"# (or )?here\b")


def filled(text: str, slots: Mapping[str, str]) -> str:
    """A program with its slots filled; those without anything disappear."""
    for name, part in slots.items():
        line = next((one for one in text.split("\n") if one.strip() == f"<{name}>"), "")
        margin = line[: len(line) - len(line.lstrip())]
        text = text.replace(line, indent(dedent(part).strip(), margin)) if line else text
    return re.sub(r"^\s*<\w+>\n", "", text, flags=re.M).replace("@here", "# here")


class Base(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A correct program with slots, and what stands in them."""

    slots: dict[str, str]
    text: str


@cache
def programs() -> dict[str, Base]:
    """The correct programs by name."""
    return msgspec.yaml.decode(PROGRAMS.read_bytes(), type=dict[str, Base])


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pitfall: the program with its slots, or the name of one of ``programs.yaml``, what stands in them in bad and in
    correct form, and the checks of which one must speak at the line with ``@here``. `places` are lines that cannot be
    marked in the program, as ``path:line``; `without` gives for a style, or for all of ``values``, why it does not
    apply; `open` for a style why it is not reported yet; `by_hand` why its fix is refused."""

    checks: tuple[str, ...]
    program: str
    bad: dict[str, str] = {}
    good: dict[str, str] = {}
    target: dict[str, str] = {}
    files: Files = {}
    bad_files: Files = {}
    good_files: Files = {}
    places: tuple[str, ...] = ()
    without: dict[str, str] = {}
    open: dict[str, str] = {}
    by_hand: dict[str, str] = {}

    def text(self, bad: bool) -> str:
        """The program in one of its forms, its value marked."""
        base = programs().get(self.program)
        text, slots = (base.text, base.slots) if base else (self.program, {})
        return filled(text, {**slots, **(self.bad if bad else self.good)})

    def rendered(self, style: str, bad: bool) -> Files:
        """The files of one form in a style. Raises `DoesNotApplyError`."""
        return {**self.files, **(self.bad_files if bad else self.good_files), **STYLES[style](self.text(bad))}

    def excused(self, style: str) -> str:
        """Why a style does not apply, empty if it does."""
        groups = (name for name, styles in GROUPS.items() if style in styles)
        return next((self.without[name] for name in (style, *groups) if name in self.without), "")


def lines_of(files: Files) -> set[tuple[str, int]]:
    """The marked lines."""
    return {
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if _HERE.search(line)
    }


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the table: a pitfall in several cases by their name."""

    title: str
    cases: dict[str, Case]


@cache
def table() -> dict[str, Case]:
    """All cases by the name of their row and their own name."""
    found: dict[str, Case] = {}
    for path in sorted(ROWS.glob("*.yaml")):
        row = msgspec.yaml.decode(path.read_bytes(), type=Row)
        found |= {f"{path.stem}: {name}": case for name, case in row.cases.items()}
    return found


def spellings() -> Iterator[tuple[str, str]]:
    """Every case with every style that applies to it."""
    for name, case in table().items():
        for style in STYLES:
            if not case.excused(style):
                yield name, style
