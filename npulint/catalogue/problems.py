"""What can be wrong with a check file, each with its place."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.errors import NpulintError
from npulint.suggest import closest_match


class CatalogueProblem(msgspec.Struct, frozen=True, order=True):
    """One mistake in a check file. Line and column count from 1."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class CatalogueError(NpulintError):
    """The catalogue cannot be used; `problems` holds every mistake that was found, in file order."""

    def __init__(self, problems: Iterable[CatalogueProblem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(p) for p in self.problems))

    def __reduce__(self) -> tuple[type[CatalogueError], tuple[tuple[CatalogueProblem, ...]]]:
        return type(self), (self.problems,)  # worker processes hand it on


def suggestion(word: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` or nothing, for a word that is not in a closed set."""
    near = closest_match(word, known)
    return f" (did you mean '{near}'?)" if near else ""
