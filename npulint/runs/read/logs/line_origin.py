"""The time and rank of a log line."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile

_TIME = lazy_compile(rb"(\d{4}-\d\d-\d\d)[- T](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?")
_LINE_RANK = lazy_compile(rb"\bRankID:(\d{1,5})\b")
_NAME_RANK = lazy_compile(r"(?i)(?:^|[^a-z])(?:rank|worker)[-_]?(\d{1,5})(?![\d])")
_PLOG = lazy_compile(rb"\[(?:ERROR|WARNING|INFO|DEBUG|EVENT|TRACE)\] [A-Z][A-Z_]{1,15}\(\d+,[^)\n]{0,64}\):")


def time_of(line: bytes) -> str:
    """The timestamp in a line, as ``2024-11-28 11:59:30.645``, or an empty string."""
    match = _TIME.search(line[:400])
    if match is None:
        return ""
    fraction = (match[3] or b"0").decode()[:3].ljust(3, "0")
    return f"{match[1].decode()} {match[2].decode()}.{fraction}"


def rank_of(line: bytes) -> str:
    """The rank in a line of torch_npu, or an empty string."""
    match = _LINE_RANK.search(line)
    return match[1].decode() if match else ""


def rank_by_name(path: str) -> str:
    """The rank in the path of a log (``worker-3/rank-0.txt``: the file name takes precedence)."""
    matches: list[re.Match[str]] = [match for part in path.split("/") for match in _NAME_RANK.finditer(part)]
    return matches[-1][1] if matches else ""


def is_plog(data: bytes, end: int) -> bool:
    """Whether the bytes up to `end` contain a plog line."""
    return _PLOG.search(data, 0, end) is not None
