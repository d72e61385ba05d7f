"""Errors meant for the user of npulint; a bug never raises one of these."""

from __future__ import annotations

from collections.abc import Sequence


class NpulintError(Exception):
    """An error that the user can fix; its text is ready to be printed."""


class ConfigError(NpulintError):
    """Invalid options or configuration. `problems` has one line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type[ConfigError], tuple[tuple[str, ...]]]:
        return type(self), (self.problems,)  # worker processes pickle it
