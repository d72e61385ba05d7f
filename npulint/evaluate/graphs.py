"""What a run tells about each graph beside its findings."""

from __future__ import annotations

from npulint.assemble.programs import Program
from npulint.facts.model import Fact
from npulint.findings import GraphSummary

_PLACES = {f"{word}_nodes": word for word in ("device", "aicpu", "host", "unknown")}
_VERDICTS = {word: word for word in ("npu", "decomposes", "cpu", "error", "custom", "unknown")}
_COUNTED = {"tensorflow": _PLACES, "torch": _VERDICTS}
"""By framework the attributes of the fact ``graph`` that count operators, with the words of summaries."""


def summarise_graph(program: Program) -> GraphSummary:
    """What is known about the graph that a program is, from its fact ``graph``."""
    framework = program.attrs["framework"]
    fact = next((one for one in program.index.of_kind("graph") if one.path == program.entry), None)
    if fact is None:
        return GraphSummary(program.entry, program.attrs["graph"], framework)
    return GraphSummary(
        path=program.entry,
        form=program.attrs["graph"],
        framework=framework,
        version=fact.get_text("version"),
        nodes=_number(fact, "size"),
        functions=_number(fact, "functions"),
        trains=program.attrs["trains"] == "yes",
        counts={word: _number(fact, key) for key, word in _COUNTED[framework].items() if _number(fact, key)},
        clusters=_number(fact, "clusters"),
        left=_number(fact, "left_behind"),
        listed=fact.get_text("list"),
        release=fact.get_text("release"),
        assumed=fact.get("assumed") == "yes",
    )


def _number(fact: Fact, key: str) -> int:
    value = fact.get(key)
    return value if isinstance(value, int) else 0
