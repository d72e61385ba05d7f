"""CANN error codes: their formats and the explanations below them."""

from __future__ import annotations

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.logs.lines import decoded
from npulint.runs.read.logs.quoting import quoted

_SHAPES = lazy_compile(rb"\b([EW][0-9A-Z][0-9]{4})(?::|\):)|'errCode': '([EW][0-9A-Z][0-9]{4})'")
_HEADS = (("said_cause", b"Possible Cause:"), ("said_solution", b"Solution:"), ("trace", b"TraceBack"))
_SOURCE = lazy_compile(rb"\[rank[0-9]{1,5}\]: ?|\([^()\n]{1,60} pid=[^()\n]{1,40}\) ")
_LINES = 16
SIZE = "size:"
"""Contained in the trace line that states the requested memory size."""


class Said(msgspec.Struct):
    """The explanation below the first line of a message."""

    said_cause: str = ""
    said_solution: str = ""
    trace: str = ""


def codes_of(line: bytes) -> list[str]:
    """The codes that a line reports, in order; mere mentions are excluded."""
    return list(dict.fromkeys((match[1] or match[2]).decode() for match in _SHAPES.finditer(line)))


def _without_source(line: bytes) -> bytes:
    """A line without the rank or process prefix of launchers."""
    match = _SOURCE.match(line)
    return line if match is None else line[match.end() :]


def said(line: bytes, after: bytes) -> Said:
    """The cause, the solution and the first trace line after a line with a code; preferably the trace line with the
    requested memory size. Without any of these, the next line counts as trace if it is indented."""
    found = Said()
    waiting = first = ""
    for raw in (line, *after.lstrip(b"\r\n").split(b"\n", _LINES)[:_LINES]):
        part = raw if raw is line else _without_source(raw)
        if raw is not line and not part[:1].isspace():
            break
        if waiting and not found.trace:
            found.trace = quoted(decoded(part))
            waiting = ""
        if found.trace and SIZE not in found.trace and SIZE.encode() in part:
            found.trace = quoted(decoded(part))
        for name, head in _HEADS:
            _, there, rest = part.partition(head)
            if there and name == "trace":
                waiting = name
            elif there and not getattr(found, name):
                setattr(found, name, quoted(decoded(rest.partition(b"Solution:")[0])))
        first = first or (quoted(decoded(part)) if raw is not line else "")
    if found == Said():
        found.trace = first
    return found
