"""What the fusion engine did, and what it was told to do.

Sources: `fusion_result.json` (one object per graph, glued together, appended by every run) and files of fusion
switches (JSON, or a line ``Pass:off`` each).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.json_objects import NotJsonError, documents, text_of
from npulint.read.artifacts.numbers import whole

_SECTIONS = {"graph_fusion": "graph", "ub_fusion": "buffer"}
_SWITCHES = {"GraphFusion": "graph", "UBFusion": "buffer"}
_SWITCH = lazy_compile(r"\s*([A-Za-z]\w{0,199})\s*[:=]\s*(on|off)\s*$")


class _Pass(msgspec.Struct):
    """A pass over all graphs of a file: times it matched and had an effect, by graph (a graph that is there again
    counts once, as it was last)."""

    line: int
    graphs: dict[str, tuple[int, int]] = {}


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """`run_fusion` for each pass of a `fusion_result.json`, those that changed most first. Raises `NotJsonError`."""
    text = text_of(stream)
    passes: dict[tuple[str, str], _Pass] = {}
    for start, end, value in documents(text):
        for graph in value if isinstance(value, list) else [value]:
            if isinstance(graph, dict):
                _graph(text, (start, end), graph, passes)
    if not passes and not any(section in text for section in _SECTIONS):
        raise NotJsonError("no fusion result")
    return [_fact(path, *entry) for entry in sorted(passes.items(), key=lambda entry: (-_effect(entry[1]), entry[0]))]


def _graph(text: str, place: tuple[int, int], graph: dict[str, Any], passes: dict[tuple[str, str], _Pass]) -> None:
    name = graph.get("session_and_graph_id")
    if not isinstance(name, str):
        name = f"{graph.get('sessionId', '')}_{graph.get('graphId', '')}"
    for section, what in _SECTIONS.items():
        members = graph.get(section)
        for member, times in members.items() if isinstance(members, dict) else ():
            if not isinstance(times, dict):
                continue
            known = passes.get((what, member))
            if known is None:
                known = passes[what, member] = _Pass(_line(text, place, member), {})
            known.graphs[name] = (whole(times.get("match_times")) or 0, whole(times.get("effect_times")) or 0)


def _line(text: str, place: tuple[int, int], name: str) -> int:
    at = text.find(f'"{name}"', *place)
    return text.count("\n", 0, at if at >= 0 else place[0]) + 1


def _effect(told: _Pass) -> int:
    return sum(effect for _, effect in told.graphs.values())


def _fact(path: str, key: tuple[str, str], told: _Pass) -> Fact:
    match, effect = sum(match for match, _ in told.graphs.values()), _effect(told)
    attrs = {"what": key[0], "match": match, "effect": effect, "graphs": len(told.graphs)}
    attrs["state"] = "effect" if effect else "idle" if match else "unmatched"
    attrs["graph"] = max(told.graphs, key=lambda name: told.graphs[name][1])
    return GenericFact("run_fusion", key[1], path, Span.at(told.line), attrs)


def read_switches(stream: BinaryIO, path: str) -> list[Fact]:
    """`run_fusion_switch` for each pass that a switch file turns on or off. Raises `NotJsonError`."""
    text = text_of(stream)
    found = list(_switches(text))
    if not found:
        raise NotJsonError("no fusion switch")
    return [
        GenericFact("run_fusion_switch", name, path, Span.at(line), {"what": what, "value": value})
        for line, name, what, value in found
    ]


def _switches(text: str) -> Iterator[tuple[int, str, str, str]]:
    if text.lstrip()[:1] != "{":
        for line, part in enumerate(text.split("\n"), 1):
            match = _SWITCH.match(part)
            if match:
                yield line, match[1], "any", match[2]
        return
    for start, end, value in documents(text):
        switches = value.get("Switch") if isinstance(value, dict) else None
        for section, what in _SWITCHES.items():
            members = switches.get(section) if isinstance(switches, dict) else None
            for name, state in members.items() if isinstance(members, dict) else ():
                if state in ("on", "off"):
                    yield _line(text, (start, end), name), name, what, state
