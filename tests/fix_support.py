"""Sources with a marked place, and what a step makes of them."""

from __future__ import annotations

from itertools import accumulate

from npulint.facts.model import Span
from npulint.findings import Change, Edit, Step
from npulint.fix.edits import coherent
from npulint.fix.imports import united
from npulint.fix.model import Plan, Refused, Text
from npulint.fix.plan import planned
from npulint.fix.python import plan

PATH = "m.py"


def marked(source: str) -> tuple[str, Span]:
    """The source without its marks ``«…»``, and the place between them; without marks the beginning of the file."""
    text = source.replace("«", "").replace("»", "")
    if "«" not in source:
        return text, Span()
    start = source.index("«")
    end = source.index("»") - 1
    return text, span(text, start, end)


def span(text: str, start: int, end: int) -> Span:
    """The place of a range of offsets."""

    def place(offset: int) -> tuple[int, int]:
        return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1

    return Span(*place(start), *place(end))


def applied(text: str, edits: tuple[Edit, ...] | list[Edit]) -> str:
    """The text with its edits made; at one place in their order."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + column - 1

    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        start = offset(edit.span.line, edit.span.column)
        text = text[:start] + edit.text + text[offset(edit.span.end_line, edit.span.end_column) :]
    return text


def stepped(source: str, verb: str, words: dict[str, str]) -> str:
    """What one step makes of a marked source; ``refused: reason`` where it is not taken."""
    text, place = marked(source)
    file = Text(PATH, "python", text)
    try:
        found = plan(Step(verb, PATH, place, words), file)
        edits = coherent(found.edits) + (united(file, found.imports) if found.imports else ())
    except Refused as refused:
        return f"refused: {refused.reason}"
    return applied(text, edits)


def changed(source: str, *steps: tuple[str, dict[str, str]]) -> str:
    """What a change of several steps about the marked place makes of a source."""
    text, place = marked(source)
    file = Text(PATH, "python", text)
    change = Change("unsafe", tuple(Step(verb, PATH, place, words) for verb, words in steps))
    try:
        found: Plan = planned(change, lambda _: file)
        edits = found.edits + (united(file, found.imports) if found.imports else ())
    except Refused as refused:
        return f"refused: {refused.reason}"
    return applied(text, edits)
