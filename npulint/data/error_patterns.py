"""Messages of training logs: how each is recognised, what causes it and what helps."""

from __future__ import annotations

from functools import cache

import msgspec

from npulint.data import table


class Pattern(msgspec.Struct, frozen=True):
    """One message. `kind`: fatal, error, warning, info, note, context (harmless unless a failure follows), series (one
    value of a loss scale) or ignore (known noise). Every match of `regex` holds one of the `literals`. `cause` and
    `fix` are sentences in English and Chinese; `check` names the check that finds the cause in the code, if there is
    one; `finding` the check of a run that tells of it. `umbrella`: says nothing beside another error; `echo`: follows
    from the failure of another rank; `subject`: what the first group matches is worth counting apart; `general`:
    programs without an NPU print it as well. `example` is a line that it matches."""

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
    """All messages by their id."""
    return {one.id: one for one in msgspec.json.decode(table("error_patterns.json"), type=list[Pattern])}
