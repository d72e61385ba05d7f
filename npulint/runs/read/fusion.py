"""Results of the fusion engine: `fusion_result.json` (concatenated objects, one per graph; runs append)."""

from __future__ import annotations

from typing import Any, BinaryIO

import msgspec

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.json_objects import NotJsonError, documents, text_of
from npulint.runs.read.numbers import whole

_SECTIONS = ("graph_fusion", "ub_fusion")


@fact_kind("run_fusion")
class FusionPass(FileFact):
    """A fusion pass that ran (fusion_result)."""

    effect: int
    """How often it changed something, in all graphs."""


class _Pass(msgspec.Struct):
    """A pass over all graphs of a file: number of effects by graph (of a repeated graph the last)."""

    line: int
    graphs: dict[str, int] = {}


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """A `run_fusion` for each pass of a `fusion_result.json`, most effects first. Raises `NotJsonError`."""
    text = text_of(stream)
    passes: dict[tuple[str, str], _Pass] = {}
    for start, end, value in documents(text):
        for graph in value if isinstance(value, list) else [value]:
            if isinstance(graph, dict):
                _graph(text, (start, end), graph, passes)
    if not passes and not any(section in text for section in _SECTIONS):
        raise NotJsonError("no fusion result")
    effects = [(-sum(fusion_pass.graphs.values()), key, fusion_pass.line) for key, fusion_pass in passes.items()]
    return [FusionPass(name, path, Span.at(line), -effect) for effect, (_, name), line in sorted(effects)]


def _graph(text: str, place: tuple[int, int], graph: dict[str, Any], passes: dict[tuple[str, str], _Pass]) -> None:
    name = graph.get("session_and_graph_id")
    if not isinstance(name, str):
        name = f"{graph.get('sessionId', '')}_{graph.get('graphId', '')}"
    for section in _SECTIONS:
        members = graph.get(section)
        for member, times in members.items() if isinstance(members, dict) else ():
            if not isinstance(times, dict):
                continue
            fusion_pass = passes.get((section, member))
            if fusion_pass is None:
                fusion_pass = passes[section, member] = _Pass(_line(text, place, member), {})
            fusion_pass.graphs[name] = whole(times.get("effect_times")) or 0


def _line(text: str, place: tuple[int, int], name: str) -> int:
    at = text.find(f'"{name}"', *place)
    return text.count("\n", 0, at if at >= 0 else place[0]) + 1
