"""Files of the program's folder that are missing: streams of token numbers and plain text."""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import sys
import tempfile
from typing import Any

from npulint.fakes.torch.synthetic.said import say
from npulint.fakes.torch.synthetic.words import lines
from npulint.live.sources import is_own

_TOKENS = 1 << 20
_HIGHEST = 256  # any vocabulary has that many


def install() -> None:
    """Make up what ``numpy.memmap`` and ``open`` do not find."""
    numpy: Any = importlib.import_module("numpy")
    original = numpy.memmap

    class memmap(original):  # type: ignore[misc, valid-type]
        def __new__(cls, filename: Any, dtype: Any = "uint8", mode: str = "r+", *args: Any, **kwargs: Any) -> Any:
            lacks = isinstance(filename, (str, os.PathLike)) and not os.path.exists(filename)
            if lacks and mode in ("r", "c") and numpy.dtype(dtype).kind == "u" and not kwargs.get("shape"):
                say(f"{os.fspath(filename)}: {_TOKENS} tokens below {_HIGHEST} ({numpy.dtype(dtype)})")
                return numpy.random.default_rng(0).integers(0, _HIGHEST, _TOKENS).astype(dtype)
            return original.__new__(cls, filename, dtype, mode, *args, **kwargs)

    numpy.memmap = memmap
    builtins.open = _open(builtins.open)


def _open(original: Any) -> Any:
    """``open`` that makes up text for the program's own code."""

    @functools.wraps(original)
    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if mode in ("r", "rt") and _lacks_text(file) and is_own(sys._getframe(1).f_code.co_filename):
            say(f"{os.fspath(file)}: text")
            return original(_text(), mode, *args, **kwargs)
        return original(file, mode, *args, **kwargs)

    return opened


def _lacks_text(file: Any) -> bool:
    named = isinstance(file, (str, os.PathLike))
    return named and str(file).endswith(".txt") and not os.path.exists(file)


@functools.cache
def _text() -> str:
    """A file with made-up text."""
    handle, path = tempfile.mkstemp(suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("\n".join(lines(2000)) + "\n")
    return path
