"""Small projects in the styles of today, one file each, and what is done to them (``small/NAME.yaml``).

A mutation is a list: its name, the parts of which a row may speak, a file, the text that stands there once, and what
replaces it. With ``elsewhere`` at the end the value is written in another file than the one that is changed."""

from __future__ import annotations

from functools import cache
from typing import Any

import yaml

from tests.mutations.table import HERE, Case, Edit, Files, edited

_ELSEWHERE = "elsewhere"


class SmallCase(Case):
    """A mutation of a small project."""

    def sides(self) -> tuple[Files, Files]:
        """The reference and the migrated project. Raises ValueError where an edit does not fit."""
        before = small_sources(self.program)
        return before, edited(before, self.edits)


def small_programs() -> list[str]:
    """The names of the small projects."""
    return sorted(path.stem for path in (HERE / "small").glob("*.yaml"))


def small_sources(program: str) -> Files:
    """The files of a small project."""
    return dict(_table(program)["files"])


@cache
def _table(program: str) -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load((HERE / "small" / f"{program}.yaml").read_text(encoding="utf-8"))
    return table


def small_mutations() -> list[tuple[SmallCase, bool]]:
    """Everything that changes a training of a small project, and whether its value is written in another file."""
    found = []
    for program in small_programs():
        for name, parts, file, old, new, *more in _table(program)["mutations"]:
            words = (parts,) if isinstance(parts, str) else tuple(parts)
            case = SmallCase(program, name, words, (Edit(file, str(old), str(new)),))
            found.append((case, _ELSEWHERE in more))
    return found
