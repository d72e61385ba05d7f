"""Sources with a marked place, and what a step makes of them."""

from __future__ import annotations

from npulint.facts.model import Span
from npulint.fix.edits import coherent
from npulint.fix.imports import merged_imports
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.plan import planned
from npulint.fix.python import plan
from npulint.fix.source import edited_text
from npulint.judge.findings import FixEdit, FixStep

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


def stepped(source: str, verb: str, words: dict[str, str]) -> str:
    """What one step makes of a marked source; ``refused: reason`` where it is not taken."""
    text, place = marked(source)
    file = Text(PATH, "python", text)
    try:
        found = plan(FixStep(verb, PATH, place, words), file)
        edits = coherent(found.edits) + (merged_imports(file, found.imports) if found.imports else ())
    except FixRefused as refused:
        return f"refused: {refused.reason}"
    return edited_text(text, edits)


def changed(source: str, *steps: tuple[str, dict[str, str]]) -> str:
    """What a change of several steps about the marked place makes of a source."""
    text, place = marked(source)
    file = Text(PATH, "python", text)
    change = FixEdit("unsafe", tuple(FixStep(verb, PATH, place, words) for verb, words in steps))
    try:
        found: Plan = planned(change, lambda _: file)
        edits = found.edits + (merged_imports(file, found.imports) if found.imports else ())
    except FixRefused as refused:
        return f"refused: {refused.reason}"
    return edited_text(text, edits)
