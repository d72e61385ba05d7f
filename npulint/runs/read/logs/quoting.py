"""Log excerpts for reports: one line, without names of people and machines."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile

LONGEST = 200

_HIDDEN = (
    (lazy_compile(r"(?i)(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])"), "<mac>"),
    (lazy_compile(r"(?i)((?:/|\b[a-z]:\\)(?:home\d?|users)[/\\])[^/\\\s:'\",;)\]]+"), r"\1<user>"),
    (lazy_compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,4}"), "<user>"),
    (lazy_compile(r"(?i)(?<![a-z0-9])(?:hw|[a-z]{0,3}wx|[a-z])\d{6,9}(?![a-z0-9])"), "<user>"),
    (lazy_compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"), "<ip>"),
    (lazy_compile(r"(?i)(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}(?::?[0-9a-f]{1,4})(?![\w:])"), "<ip>"),
)
_CONTROL = lazy_compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


def quoted(text: str, longest: int = LONGEST) -> str:
    """The text on one line of at most `longest` characters; home folders, user ids and addresses are redacted."""
    line = _CONTROL.sub(" ", text[: 4 * longest]).strip()
    for pattern, instead in _HIDDEN:
        line = pattern.sub(instead, line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def around(text: str, at: int) -> str:
    """The quoted text; if `at` is far inside a long line, the part around it from a word boundary."""
    begin = at - 40
    if len(text) <= LONGEST or at < LONGEST // 2:
        return quoted(text)
    blank = text.find(" ", begin, at)
    return quoted("… " + text[blank + 1 if blank >= 0 else at :])
