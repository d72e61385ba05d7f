"""Deletes entries of mappings in YAML files."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.fix.model import FixRefused
from npulint.judge.findings import Edit

_ENTRY = lazy_compile(
    r"(?P<indent> *)[\w.+/-]+:[ \t]+"
    r"(?P<value>\"[^\"\\]*\"|'[^'\\]*'|[\w.+/-][^\[\]{}&*|>\"'#]*)\s*(?:#.*)?\Z"
)


def without_entry(path: str, line: int, start: int, lines: list[str]) -> Edit:
    """Delete the entry whose value begins at a place (both from 0); a mapping without another is empty afterwards.
    Raises `FixRefused` (``joined``) if more than the entry stands in its line, or its value in others."""
    entry = _ENTRY.match(lines[line])
    if entry is None or not entry.start("value") <= start < entry.end("value"):
        raise FixRefused("joined")
    if not line:
        raise FixRefused("joined")
    following = next((one for one in lines[line + 1 :] if one.strip()), "")
    if len(following) - len(following.lstrip(" ")) > len(entry["indent"]):
        raise FixRefused("joined")
    if line + 1 < len(lines):
        return Edit(path, Span(line + 1, 1, line + 2, 1), "")
    return Edit(path, Span(line, len(lines[line - 1]) + 1, line + 1, len(lines[line]) + 1), "")
