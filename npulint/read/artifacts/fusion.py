"""Results and switches of the fusion engine.

Sources: `fusion_result.json` (concatenated objects, one per graph; runs append) and fusion switch files (JSON, or lines
``Pass:off``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

import msgspec

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.json_objects import NotJsonError, documents, text_of
from npulint.read.artifacts.numbers import whole

_SECTIONS = ("graph_fusion", "ub_fusion")
_SWITCHES = ("GraphFusion", "UBFusion")
_SWITCH = lazy_compile(r"\s*([A-Za-z]\w{0,199})\s*[:=]\s*(on|off)\s*$")


_State = Literal["on", "off"]


@fact_kind("run_fusion")
class FusionPass(FileFact):
    """A fusion pass that ran (fusion_result)."""

    effect: int
    """How often it changed something, in all graphs."""


@fact_kind("run_fusion_switch")
class FusionSwitch(FileFact):
    """A fusion pass, or ALL, that a file switches on or off (fusion_switch)."""

    value: _State


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
    found = [(-sum(one.graphs.values()), key, one.line) for key, one in passes.items()]
    return [FusionPass(name, path, Span.at(line), -effect) for effect, (_, name), line in sorted(found)]


def _graph(text: str, place: tuple[int, int], graph: dict[str, Any], passes: dict[tuple[str, str], _Pass]) -> None:
    name = graph.get("session_and_graph_id")
    if not isinstance(name, str):
        name = f"{graph.get('sessionId', '')}_{graph.get('graphId', '')}"
    for section in _SECTIONS:
        members = graph.get(section)
        for member, times in members.items() if isinstance(members, dict) else ():
            if not isinstance(times, dict):
                continue
            known = passes.get((section, member))
            if known is None:
                known = passes[section, member] = _Pass(_line(text, place, member), {})
            known.graphs[name] = whole(times.get("effect_times")) or 0


def _line(text: str, place: tuple[int, int], name: str) -> int:
    at = text.find(f'"{name}"', *place)
    return text.count("\n", 0, at if at >= 0 else place[0]) + 1


def read_switches(stream: BinaryIO, path: str) -> list[Fact]:
    """A `run_fusion_switch` for each pass that a switch file turns on or off. Raises `NotJsonError`."""
    text = text_of(stream)
    found = list(_switches(text))
    if not found:
        raise NotJsonError("no fusion switch")
    return [FusionSwitch(name, path, Span.at(line), value) for line, name, value in found]


def _switches(text: str) -> Iterator[tuple[int, str, _State]]:
    if text.lstrip()[:1] != "{":
        for line, part in enumerate(text.split("\n"), 1):
            match = _SWITCH.match(part)
            if match:
                yield line, match[1], "on" if match[2] == "on" else "off"
        return
    for start, end, value in documents(text):
        switches = value.get("Switch") if isinstance(value, dict) else None
        for section in _SWITCHES:
            members = switches.get(section) if isinstance(switches, dict) else None
            for name, state in members.items() if isinstance(members, dict) else ():
                if state in ("on", "off"):
                    yield _line(text, (start, end), name), name, state
