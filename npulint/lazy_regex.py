"""Regular expressions that are compiled when they are first used.

Compiling all patterns of the package takes longer than checking a small file; a run needs few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "search", "fullmatch", "sub", "split", "findall", "finditer", "pattern", "flags")


class _Pattern:
    """Stands for a compiled pattern; after the first use it holds that pattern's own methods."""

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
    """As `re.compile`, but a mistake in `pattern` (`re.error`) shows at the first use."""
    return cast("re.Pattern[AnyStr]", _Pattern(pattern, flags))
