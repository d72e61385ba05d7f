"""Summaries of graphs for reports."""

from __future__ import annotations

from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import WholeGraph
from npulint.judge.findings import GraphSummary
from npulint.recognizers.programs import Program

_PLACES = {f"{word}_nodes": word for word in ("device", "aicpu", "host", "unknown")}
_VERDICTS = {word: word for word in ("npu", "decomposes", "cpu", "error", "custom", "unknown")}
_PARSED = {word: word for word in ("parsed", "unparsed", "private")}
_COUNTED = {"tensorflow": _PLACES, "torch": _VERDICTS, "onnx": _PARSED}
"""Per framework, attributes of the fact ``graph`` that count operators, and their keys in summaries."""


def summarise_graph(program: Program) -> GraphSummary:
    """The summary of a graph program, from its fact ``graph``."""
    framework, form = program.fact.framework, program.fact.graph or ""
    facts = [whole_graph for whole_graph in program.index.of_kind("graph") if isinstance(whole_graph, WholeGraph)]
    fact = next((whole_graph for whole_graph in facts if whole_graph.path == program.entry), None)
    if fact is None:
        return GraphSummary(program.entry, form, framework)
    return GraphSummary(
        path=program.entry,
        form=form,
        framework=framework,
        version=fact.version,
        nodes=fact.size,
        functions=fact.functions,
        trains=program.fact.trains,
        counts={word: _number(fact, key) for key, word in _COUNTED[framework].items() if _number(fact, key)},
        clusters=_number(fact, "clusters"),
        left=_number(fact, "left_behind"),
        opset=_number(fact, "opset"),
        listed=fact.get_text("list"),
        release=fact.release,
        assumed=fact.get("assumed") == "yes",
    )


def _number(fact: Fact, key: str) -> int:
    value = fact.get(key)
    return value if isinstance(value, int) else 0
