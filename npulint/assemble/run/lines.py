"""From the line of code that a profile or a log names, as the machine that ran it spells it, to the project's file."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.graph.source_mapping import Files
from npulint.facts.graph import NodeFrame
from npulint.facts.model import Fact

PLACED = frozenset(("run_wait", "run_line", "run_host", "run_event", "run_compared", "run_statistic"))
"""Kinds of facts that may name a line of the user's code: `file` and `source_line`, or `source` with both."""


def with_places(facts: Iterable[Fact], context: Context) -> list[Fact]:
    """The facts, in their order; those that name a line of the project's own code know its file (`at`) and the line
    there (`at_line`). A line that the project has not, or not for sure, has neither."""
    return [_with_place(fact, context) if fact.kind in PLACED else fact for fact in facts]


def _with_place(fact: Fact, context: Context) -> Fact:
    frame = _frame(fact)
    files = context.memoize(Files, lambda: Files(context.project))
    module = None if frame is None else files.likely(frame)
    if frame is None or module is None or module.path.endswith(".ipynb"):
        return fact
    return msgspec.structs.replace(fact, attrs={**fact.attrs, "at": module.path, "at_line": frame.line})


def _frame(fact: Fact) -> NodeFrame | None:
    file, line = fact.attrs.get("file"), fact.attrs.get("source_line")
    if file is None:
        file, _, number = str(fact.attrs.get("source") or "").rpartition(":")
        line = int(number) if number.isdecimal() and len(number) < 10 else None
    if not isinstance(file, str) or not file or not isinstance(line, int) or line < 1:
        return None
    function = fact.attrs.get("function")
    return NodeFrame(file, line, function if isinstance(function, str) else "")
