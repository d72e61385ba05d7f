"""Version ranges such as ``>=1.15,<2`` for versions that need not follow PEP 440 (``7.0.RC1.alpha003``)."""

from __future__ import annotations

import re
from functools import lru_cache

from npulint.core.lazy_regex import lazy_compile

_PART = lazy_compile(r"\d+|[a-z]+", re.IGNORECASE)
_CLAUSE = lazy_compile(r"^\s*(>=|<=|==|!=|>|<)?\s*(\S+)\s*$")
_RANKS = {"alpha": -3, "alph": -3, "a": -3, "beta": -2, "b": -2, "rc": -1}


def key(version: str) -> tuple[int, ...]:
    """A sort key: numbers by value, pre-release words below them."""
    return tuple(int(p) if p.isdigit() else _RANKS.get(p.lower(), 0) for p in _PART.findall(version.lstrip("rv")))


@lru_cache(maxsize=512)
def within(version: str, versions: str) -> bool:
    """Whether `version` is in the range; a shorter version stands for all that begin with it."""
    return all(_clause(key(version), clause) for clause in versions.split(",") if clause.strip())


def _clause(version: tuple[int, ...], clause: str) -> bool:
    match = _CLAUSE.match(clause)
    if match is None:
        raise ValueError(f"not a version range: {clause!r}")
    bound = key(match[2])
    if len(version) == 1 and len(bound) > 1 and version[0] == bound[0]:
        return True
    width = max(len(version), len(bound))
    left = version + (0,) * (width - len(version))
    right = bound + (0,) * (width - len(bound))
    return {
        ">=": left >= right,
        "<=": left <= right,
        ">": left > right,
        "<": left < right,
        "!=": left != right,
        "==": left[: len(bound)] == bound,
    }[match[1] or "=="]
