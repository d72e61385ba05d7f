"""Which operators a fact about a run is about: their types, and the nodes of the graph that they are."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact

OPERATORS = {
    "run_op": ("name", "node"),
    "run_op_total": ("name", ""),
    "run_repeated": ("name", "node"),
    "run_aicpu": ("name", "name"),
    "run_compared": ("type", "name"),
    "run_statistic": ("type", "name"),
    "run_overflow": ("type", "op"),
    "run_family": ("types", "node"),
    "run_event": ("subjects", ""),
}
"""Kinds of facts about operators: the attributes that tell type and node. Several types stand in a list, of which the
node is the first; in logs an operator may bear the name of a node."""
_WITHOUT = frozenset(("matrix", "foreach", "input"))  # of no call of their own: whole model, optimizer, data pipeline
_NUMBER = lazy_compile(r"_\d+$")
_CODE = lazy_compile(r"[A-Z]{1,3}[A-Z0-9]?\d{4,}|\d+")
_BRACKETED = lazy_compile(
    r"\[([A-Za-z][\w.-]{0,200}(?:/[\w.-]{1,200}){1,40})\]"
)  # a node, where CANN names its type as well
_LISTED = 8  # types of a list that are looked for


def operators(fact: Fact) -> list[tuple[str, str]]:
    """Type and node of the operators that a fact is about; nothing for a fact about something else."""
    if fact.kind not in OPERATORS or (fact.kind == "run_family" and fact.name in _WITHOUT):
        return []
    first, second = OPERATORS[fact.kind]
    words, node = [_word(fact, first)], _word(fact, second)
    if first in ("types", "subjects"):
        words = [part.split(" ", 1)[0] for part in words[0].split(", ")[:_LISTED] if not _CODE.fullmatch(part)]
    named = [(type_of(word), node if place == 0 else "") for place, word in enumerate(words)]
    if fact.kind == "run_event":
        spelt = _BRACKETED.search(fact.get_text("quote"))
        named = [(type_of(word), spelt[1] if spelt and len(words) == 1 else word) for word in words]
    return list(dict.fromkeys(pair for pair in named if any(pair)))


def _word(fact: Fact, key: str) -> str:
    value = fact.name if key == "name" else fact.get_text(key)
    return value if value != "-" else ""


def type_of(name: str) -> str:
    """The type that an operator's name tells, where it bears that of a node: it is the last part, without a number."""
    return _NUMBER.sub("", name.rpartition("/")[2])
