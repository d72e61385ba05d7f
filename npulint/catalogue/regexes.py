"""Restricts the regular expressions of checks to those without catastrophic backtracking."""

from __future__ import annotations

import re

_LONGEST = 300
_UNBOUNDED = 4
_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?:P<\w+>|i?:|P=|P>|<[=!]|i\)|.))?)"
    r"|(?P<close>\))|(?P<bar>\|)|(?P<repeat>(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\})(?P<suffix>[?+]?))|(?P<other>.)",
    re.DOTALL,
)
_PLAIN_GROUPS = ("(", "(?:", "(?i:")


def regex_problem(pattern: str) -> str:
    """Why `pattern` is rejected; empty if it is not. Look-around, backreferences, conditionals, flags other than
    ``(?i)`` and repetitions of repetitions or alternatives are rejected."""
    if len(pattern) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return _Scan().problem(pattern)


class _Scan:
    """A walk over the tokens that tracks for each open group whether its length or path can vary."""

    def __init__(self) -> None:
        self.varies = [False]
        self.last_varies = False
        self.unbounded = 0

    def problem(self, pattern: str) -> str:
        for token in _TOKEN.finditer(pattern):
            found = self._token(token.lastgroup or "", token)
            if found:
                return found
        return f"more than {_UNBOUNDED} open repetitions" if self.unbounded > _UNBOUNDED else ""

    def _token(self, kind: str, token: re.Match[str]) -> str:
        text = token[0]
        if kind == "repeat":
            return self._repeat(text.removesuffix(token["suffix"]), token["suffix"])
        if kind == "open":
            return self._group(text)
        if kind == "close":
            self.last_varies = self.varies.pop()
            self.varies[-1] |= self.last_varies
            return ""
        if kind == "bar":
            self.varies[-1] = True
        self.last_varies = False
        return "backreferences are not allowed" if kind == "escape" and text[1] in "123456789" else ""

    def _group(self, text: str) -> str:
        if text == "(?i)":
            return ""
        if text in _PLAIN_GROUPS or text.startswith("(?P<"):
            self.varies.append(False)
            return ""
        if text.startswith("(?P"):
            return "backreferences are not allowed"
        if text in ("(?=", "(?!", "(?<=", "(?<!"):
            return "look-around is not allowed"
        return f"'{text}' is not allowed"

    def _repeat(self, text: str, suffix: str) -> str:
        if suffix == "+":
            return "possessive repetition is not allowed"
        low, high = _bounds(text)
        if self.last_varies and high != 1:
            return "a repetition around repetitions or alternatives is not allowed"
        self.varies[-1] |= low != high
        self.unbounded += high is None
        self.last_varies = low != high
        return ""


def _bounds(text: str) -> tuple[int, int | None]:
    """The minimum and maximum count of a repetition; None is unlimited."""
    if text in ("*", "+", "?"):
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[text]
    low, comma, high = text[1:-1].partition(",")
    return int(low or 0), int(high) if high else None if comma else int(low)
