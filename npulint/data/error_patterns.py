"""Known messages in training logs, with causes and fixes."""

from __future__ import annotations

from functools import cache

import msgspec

from npulint.data import table


class Pattern(msgspec.Struct, frozen=True):
    """One message. `kind`: fatal, error, warning, info, note, context (harmless unless a failure follows), series (one
    value of a loss scale) or ignore (noise). Every match of `regex` contains one of the `literals`. `cause` and `fix`
    are sentences in English and Chinese; `check` is the check that finds the cause in the code, if any; `finding` the
    run check that reports it. `umbrella`: irrelevant next to another error; `echo`: follows from the failure of another
    rank; `subject`: group 1 distinguishes occurrences; `general`: programs without an NPU print it as well. `example`
    is a matching line."""

    id: str
    kind: str
    regex: str
    literals: tuple[str, ...]
    cause: tuple[str, str]
    fix: tuple[str, str]
    example: str
    check: str = ""
    finding: str = ""
    umbrella: bool = False
    echo: bool = False
    subject: bool = False
    general: bool = False


@cache
def patterns() -> dict[str, Pattern]:
    """All messages by id."""
    return {pattern.id: pattern for pattern in msgspec.json.decode(table("error_patterns.json"), type=list[Pattern])}
