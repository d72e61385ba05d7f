"""The placeholders in texts of checks: ``{name}``, ``{total_us:time}``, and ``{device|0}`` for arguments of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from re import Match

import msgspec

from npulint.core.lazy_regex import lazy_compile

_PLACEHOLDER = lazy_compile(r"\{([a-z_][a-z0-9_]*)(?:\|([0-9]+))?(?::([a-z]+))?\}")
_MEANT = lazy_compile(r"\{([A-Za-z_][^\s{}]*)\}")
"""What an author means as a placeholder. Code in texts has a quote or a blank: ``{"NPU": 1}``, ``{k: v}``."""


class Placeholder(msgspec.Struct, frozen=True):
    """One placeholder: an attribute or argument `name`, the `form` in which a number is shown, and the `position` at
    which a call may be given the argument instead of by keyword (-1: by keyword only)."""

    name: str
    form: str = ""
    position: int = -1

    @classmethod
    def of(cls, match: Match[str]) -> Placeholder:
        """The placeholder that a match of the grammar stands for."""
        return cls(match[1], match[3] or "", int(match[2]) if match[2] else -1)


def substitute(text: str, value: Callable[[Placeholder], str | None]) -> str:
    """`text` with the value of each placeholder in its place; one whose value is None stays."""
    if "{" not in text:
        return text

    def replaced(match: Match[str]) -> str:
        shown = value(Placeholder.of(match))
        return match[0] if shown is None else shown

    return _PLACEHOLDER.sub(replaced, text)


def written(text: str) -> Iterator[tuple[str, Placeholder | None]]:
    """What stands between the braces of everything in a text that is meant as a placeholder, with the placeholder; None
    for one that nothing would fill, since it is misspelt."""
    for match in _MEANT.finditer(text):
        valid = _PLACEHOLDER.fullmatch(match[0])
        yield match[1], None if valid is None else Placeholder.of(valid)
