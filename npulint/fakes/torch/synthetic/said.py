"""What was made up, for the report."""

from __future__ import annotations

_said: dict[str, None] = {}


def say(what: str) -> None:
    """Note that this was made up, once."""
    _said[what] = None


def made_up() -> list[str]:
    """What was made up so far, in order."""
    return list(_said)
