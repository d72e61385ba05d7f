"""The tables of mutations and equalities, and the two sides that they make."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent
Files = dict[str, str]
"""Texts by path."""
NEAR = 3  # lines that a place may be away from what was changed


class Edit(NamedTuple):
    """Replaces a text that stands in a file so many times."""

    file: str
    old: str
    new: str
    times: int = 1


class Case(NamedTuple):
    """Something that is done to a program. `both` is done to either side first; `parts` are the words of a recipe of
    which a row may speak, none for an equality."""

    program: str
    name: str
    parts: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    both: tuple[Edit, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    add: tuple[tuple[str, str], ...] = ()

    def sides(self) -> tuple[Files, Files]:
        """The reference and the migrated project. Raises ValueError where an edit does not fit."""
        before = edited(sources(self.program), self.both)
        names = dict(self.rename)
        moved = {names.get(path, path): text for path, text in before.items()}
        return before, edited(moved, self.edits) | dict(self.add)


class Place(NamedTuple):
    """Lines of a file, from 1, both included."""

    path: str
    first: int
    last: int

    def near(self, path: str, line: int) -> bool:
        """Whether a line is not further away than a few lines. In a launcher a value is written in one line and used in
        another: any of them will do."""
        anywhere = self.path.endswith(".sh")
        return _same(self.path, path) and (anywhere or self.first - NEAR <= line <= self.last + NEAR)


def _same(inner: str, path: str) -> bool:
    return path == inner or path.endswith(f"/{inner}")


def edited(files: Files, edits: Iterable[Edit]) -> Files:
    """The files after some edits. Raises ValueError where a text is not there exactly as often as it should be."""
    result = dict(files)
    for edit in edits:
        if result[edit.file].count(edit.old) != edit.times:
            raise ValueError(f"{edit.file} has {edit.old!r} {result[edit.file].count(edit.old)} times")
        result[edit.file] = result[edit.file].replace(edit.old, edit.new)
    return result


def programs() -> list[str]:
    """The names of the programs."""
    return sorted(path.name for path in (HERE / "programs").iterdir() if path.is_dir())


@cache
def _read(program: str) -> tuple[tuple[str, str], ...]:
    root = HERE / "programs" / program
    files = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return tuple((path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in files)


def sources(program: str) -> Files:
    """The files of a program."""
    return dict(_read(program))


def entry(program: str) -> str:
    """The script that is started."""
    return str(_table(program)["entry"])


@cache
def _table(program: str) -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load((HERE / f"{program}.yaml").read_text(encoding="utf-8"))
    return table


def mutations() -> list[Case]:
    """Everything that changes a training."""
    return [_case(program, row) for program in programs() for row in _table(program)["mutations"]]


def equalities() -> list[Case]:
    """Everything by hand that does not change a training."""
    return [_case(program, row) for program in programs() for row in _table(program)["equalities"]]


@cache
def _code_table(program: str) -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load((HERE / "code" / f"{program}.yaml").read_text(encoding="utf-8"))
    return table


def code_mutations() -> list[Case]:
    """Changes of a training in code that is no call of a table."""
    return [_case(program, row) for program in programs() for row in _code_table(program)["mutations"]]


def code_equalities() -> list[Case]:
    """Other ways to write code that is no call of a table."""
    return [_case(program, row) for program in programs() for row in _code_table(program)["equalities"]]


def _case(program: str, row: dict[str, Any]) -> Case:
    part = row.get("part", [])
    edits = row["edits"] if "edits" in row else [row, *row.get("more", [])]
    return Case(
        program,
        row["name"],
        (part,) if isinstance(part, str) else tuple(part),
        tuple(map(_edit, edits)),
        tuple(map(_edit, row.get("both", []))),
        tuple(row.get("rename", {}).items()),
        tuple(row.get("add", {}).items()),
    )


def _edit(row: dict[str, Any]) -> Edit:
    return Edit(row["file"], row["old"], row["new"], row.get("count", 1))


def changed_places(before: Files, after: Files) -> tuple[list[Place], list[Place]]:
    """What was changed: places of the reference and of the migrated side."""
    left: list[Place] = []
    right: list[Place] = []
    for path in sorted(before.keys() & after.keys()):
        old, new = before[path].split("\n"), after[path].split("\n")
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                left.append(Place(path, i1 + 1, max(i2, i1 + 1)))
                right.append(Place(path, j1 + 1, max(j2, j1 + 1)))
    return left, right
