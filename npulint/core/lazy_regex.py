"""Regular expressions that are compiled on first use: compiling all patterns takes longer than checking a small
file."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "search", "fullmatch", "sub", "split", "findall", "finditer", "pattern", "flags")


class _Pattern:
    """Placeholder for a compiled pattern; on first use it takes over that pattern's methods."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_compile(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but an invalid `pattern` raises `re.error` only on first use."""
    return cast("re.Pattern[AnyStr]", _Pattern(pattern, flags))
