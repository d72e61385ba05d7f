"""Reads of device values in well-known libraries: why they happen, and which option of the library avoids them.

The table is ``library_waits.csv``. `frame` is a regular expression for the file of the library from its package;
`function` one for the function (empty: any), `causes` what reads the value (empty: anything). The first row that holds
for the innermost frame applies, then the one for the next frame."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec

_FRAME = re.compile(r"(?P<path>.+):\d+ in (?:.*\.)?(?P<function>[^.]+)")


class LibraryWait(msgspec.Struct, frozen=True):
    """A read in a library. The texts are in English and Chinese; `source` is ``owner/repository:path``."""

    frame: str
    function: str
    causes: str
    why_en: str
    why_zh: str
    remedy_en: str
    remedy_zh: str
    source: str

    def why(self, lang: str) -> str:
        """Why the library reads the value."""
        return self.why_zh if lang == "zh" else self.why_en

    def remedy(self, lang: str) -> str:
        """What to set so that it does not."""
        return self.remedy_zh if lang == "zh" else self.remedy_en

    def holds(self, path: str, function: str, cause: str) -> bool:
        """Whether the row is about this frame."""
        if not re.fullmatch(self.frame, path) or (self.causes and cause not in self.causes.split()):
            return False
        return not self.function or re.fullmatch(self.function, function) is not None


@cache
def library_waits() -> tuple[LibraryWait, ...]:
    """All rows, in the order in which they are tried."""
    text = files(__package__).joinpath("library_waits.csv").read_text(encoding="utf-8")
    return tuple(LibraryWait(**row) for row in csv.DictReader(text.splitlines()))


def library_wait(frames: Iterable[str], cause: str = "") -> LibraryWait | None:
    """What is known about a read in these frames, innermost first (``torch/optim/adam.py:12 in Adam.step``).

    >>> library_wait(["torch/distributions/distribution.py:71 in Distribution.__init__"]).remedy("en")[:21]
    'Pass `validate_args=F'
    """
    for frame in frames:
        match = _FRAME.match(frame)
        if match is None:
            continue
        for row in library_waits():
            if row.holds(match["path"], match["function"], cause):
                return row
    return None
