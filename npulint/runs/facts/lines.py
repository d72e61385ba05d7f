"""From the line of code that a profile or a log names, as the machine that ran it spells it, to the project's file."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.graph import NodeFrame
from npulint.facts.model import Fact
from npulint.graphs.facts.source_mapping import Files
from npulint.model.values.context import Context
from npulint.runs.read.frames import LineFact


def with_places(facts: Iterable[Fact], context: Context) -> list[Fact]:
    """The facts, in their order; those that name a line of the project's own code know its file (`at`) and the line
    there (`at_line`). A line that the project has not, or not for sure, has neither."""
    return [_with_place(fact, context) if isinstance(fact, LineFact) else fact for fact in facts]


def _with_place(fact: LineFact, context: Context) -> LineFact:
    if not fact.file or not fact.source_line or fact.source_line < 1:
        return fact
    files = context.memoize(Files, lambda: Files(context.project))
    module = files.likely(NodeFrame(fact.file, fact.source_line, fact.function or ""))
    if module is None or module.path.endswith(".ipynb"):
        return fact
    return msgspec.structs.replace(fact, at=module.path, at_line=fact.source_line)
