"""`Origin`, a line of the code that something of a run comes from."""

from __future__ import annotations

from typing import Literal

import msgspec

from npulint.facts.model import Span


class Origin(msgspec.Struct, frozen=True):
    """A line of the program that something of a run comes from, and `how` that is known: scope (it names the node
    `word`), call (it calls the interface `word`), period (something happens there every `word` steps)."""

    path: str
    span: Span
    how: Literal["scope", "call", "period"]
    word: str
