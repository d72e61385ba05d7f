"""Errors meant for the user of npulint; a bug never raises one of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.core.suggest import closest_match


class NpulintError(Exception):
    """An error that the user can fix; its text is ready to be printed."""


class ConfigError(NpulintError):
    """Invalid options or configuration. `problems` has one line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type[ConfigError], tuple[tuple[str, ...]]]:
        return type(self), (self.problems,)  # worker processes pickle it


# Problems in check files, with their places.


class CatalogueProblem(msgspec.Struct, frozen=True, order=True):
    """A problem in a check file. Line and column count from 1."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class CatalogueError(NpulintError):
    """An invalid catalogue; `problems` holds all that were found, in file order."""

    def __init__(self, problems: Iterable[CatalogueProblem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(p) for p in self.problems))

    def __reduce__(self) -> tuple[type[CatalogueError], tuple[tuple[CatalogueProblem, ...]]]:
        return type(self), (self.problems,)  # worker processes pickle it


def suggestion(word: str, words: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for a word outside of a closed set, or empty."""
    near = closest_match(word, words)
    return f" (did you mean '{near}'?)" if near else ""
