"""Name patterns: ``*`` is one dotted segment, ``**`` any number of them."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=2048)
def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a name pattern."""
    parts = re.split(r"(\*\*|\*)", pattern)
    body = "".join({"**": ".*", "*": "[^.]*"}.get(part, re.escape(part)) for part in parts)
    if pattern.endswith(".**"):
        body = body.removesuffix(r"\..*") + r"(?:\..*)?"
    if pattern.startswith("**."):
        body = r"(?:.*\.)?" + body.removeprefix(r".*\.")
    return re.compile(body.replace(r"\..*\.", r"\.(?:.*\.)?") + r"\Z", re.DOTALL)


@lru_cache(maxsize=50_000)
def matches(pattern: str, name: str) -> bool:
    """Whether a canonical name matches a pattern. Usual patterns need no regular expression."""
    if "*" not in pattern:
        return pattern == name
    if pattern.count("*") == 2 and pattern.endswith(".**"):
        return name == pattern[:-3] or name.startswith(pattern[:-2])
    if pattern.count("*") == 2 and pattern.startswith("**."):
        return name == pattern[3:] or name.endswith(pattern[2:])
    return compiled(pattern).match(name) is not None


@lru_cache(maxsize=2048)
def last_segment(pattern: str) -> str:
    """The literal last segment of a pattern; empty if it contains a star."""
    last = pattern.rpartition(".")[2]
    return "" if "*" in last else last
