"""The errors that npulint raises for its user to read, never for a bug."""

from __future__ import annotations

from collections.abc import Sequence


class NpulintError(Exception):
    """Something the user can put right; the text is ready to be printed."""


class ConfigError(NpulintError):
    """Options or configuration that cannot be used. `problems` holds one line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type[ConfigError], tuple[tuple[str, ...]]]:
        return type(self), (self.problems,)  # worker processes hand it on
