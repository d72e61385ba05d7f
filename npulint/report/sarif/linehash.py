"""The hash of a line (`primaryLocationLineHash`) by which GitHub tracks a finding across changes.

It must equal the one that GitHub's upload action computes, which warns about differences; uploads via the API compute
none. It is the polynomial hash to base 37, in 64 bits, of the next hundred UTF-16 units from the start of the line,
without blanks and tabs, in hexadecimal. The last line is followed by the unit FFFF, then zeros. The number after the
colon counts equal hashes from the start of the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from npulint.core.lazy_regex import lazy_compile

_UNITS = 100
_BASE = 37
_MASK = 2**64 - 1
_WIDE = lazy_compile("[\U00010000-\U0010ffff]")  # two units each


def line_hashes(lines: Sequence[str], numbers: Collection[int]) -> dict[int, str]:
    """The hashes of the `numbers` lines (from 1) of a file; missing lines are omitted."""
    last = min(max(numbers, default=0), len(lines))
    needed = "\n".join(lines[: last + _UNITS])  # the window of the last line ends there
    text = _units(needed.replace(" ", "").replace("\t", ""))
    squeezed = text.split("\n", last)[:last]
    text += "\uffff" if last + _UNITS >= len(lines) else "\n"
    seen: Counter[str] = Counter()
    hashes: dict[int, str] = {}
    start = 0
    for number, line in enumerate(squeezed, 1):
        window = text[start : start + _UNITS]
        seen[window] += 1
        if number in numbers:
            hashes[number] = f"{_hash(window):x}:{seen[window]}"
        start += len(line) + 1
    return hashes


def _units(text: str) -> str:
    """The text with one character per UTF-16 unit."""
    return text if text.isascii() else _WIDE.sub(_pair, text)


def _pair(match: re.Match[str]) -> str:
    code = ord(match.group()) - 0x10000
    return chr(0xD800 + (code >> 10)) + chr(0xDC00 + (code & 0x3FF))


def _hash(window: str) -> int:
    value = 0
    for char in window:
        value = value * _BASE + ord(char) & _MASK
    return value * pow(_BASE, _UNITS - len(window), _MASK + 1) & _MASK
