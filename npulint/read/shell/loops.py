"""The number of iterations of shell loops, by their headers."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.read.shell.commands import ParsedCommand
from npulint.read.shell.values import HOLE, Variables

_BRACES = lazy_compile(r"\{(-?\d+)\.\.(-?\d+)\}")
_SEQUENCE = lazy_compile(r"\s*seq(?:\s+(-?\d+))?\s+(-?\d+)\s*")
_COUNTED = lazy_compile(r"\(*\s*\w+\s*=\s*(\$?\w+)\s*;\s*\w+\s*(<=?)\s*(\$?\w+)\s*;\s*(?:\w+\+\+|\+\+\w+)\s*\)*")
_MOST = 4096


def rounds(header: ParsedCommand, text: str, variables: Variables) -> int:
    """The iterations of the for loop that `header`, written `text`, begins; 0 if unknown."""
    counted = _COUNTED.search(text)
    if counted is not None:
        first, last = (_number(word, header, variables) for word in counted.group(1, 3))
        return 0 if first is None or last is None else _within(last - first + (counted[2] == "<="))
    words = header.words
    if len(words) < 4 or words[2].literal != "in":
        return 0
    if len(words) == 4:
        literal = words[3].literal or ""
        code = words[3].parts[0].text if len(words[3].parts) == 1 and words[3].parts[0].kind == "code" else ""
        match = _BRACES.fullmatch(literal) or _SEQUENCE.fullmatch(code)
        if match:
            return _within(int(match[2]) - int(match[1] or 1) + 1)
    fields = variables.fields(words[3:], header)
    return 0 if any(HOLE in field.text or "{" in field.text for field in fields) else _within(len(fields))


def _number(word: str, header: ParsedCommand, variables: Variables) -> int | None:
    text = word
    if not word.isdigit():
        text, _ = variables.value(word.removeprefix("$"), header, header.words[0].start)
    return int(text) if text.isdigit() else None


def _within(count: int) -> int:
    return count if 0 < count <= _MOST else 0
