"""What the calls of ``reveal_value`` and ``reveal_runs`` in a project see."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from npulint.running.engine import Engine
from npulint.running.machine import Exhausted, Unbounded
from npulint.running.sources import Sources


class Start(NamedTuple):
    """How a program is started: the script or the module, its words (None: any), the variables that are set."""

    script: str
    words: tuple[str | None, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    module: str = ""


class Probe(NamedTuple):
    """A call of ``reveal_value`` or ``reveal_runs``."""

    path: str
    line: int
    kind: str


_MOST_RECURSIVE: Final = 16  # functions without a bound of which a program is executed again
_NAMES: Final = frozenset(("reveal_value", "reveal_runs"))


def probes_of(sources: Sources) -> list[Probe]:
    """The probes in the Python files of a project."""
    found = []
    for path in sorted(sources.texts):
        tree = sources.tree(path) if path.endswith(".py") else None
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMES:
                found.append(Probe(path, node.lineno, node.func.id.removeprefix("reveal_")))
    return sorted(found)


def revealed(sources: Sources, starts: Sequence[Start]) -> list[dict[str, Any]]:
    """An answer for each probe, for all of these starts together."""
    probes = probes_of(sources)
    answers: list[list[dict[str, Any]]] = [_of_start(sources, probes, start) for start in starts]
    return [_merged([each[index] for each in answers]) for index in range(len(probes))]


def _of_start(sources: Sources, probes: list[Probe], start: Start) -> list[dict[str, Any]]:
    engine, complete = executed(sources, start)
    return [_answer(engine, probe, complete and not engine.lost) for probe in probes]


def executed(sources: Sources, start: Start) -> tuple[Engine, bool]:
    """The execution of a start, and whether it was followed to its end."""
    recursive: set[ast.AST] = set()
    while True:
        engine = Engine(sources, dict(start.environment), recursive=frozenset(recursive))
        try:
            engine.start(start.script, start.words, start.module)
        except Unbounded as error:
            recursive.add(error.node)
            if len(recursive) <= _MOST_RECURSIVE:
                continue
            return engine, False
        except (Exhausted, RecursionError):
            return engine, False
        return engine, True


def _answer(engine: Engine, probe: Probe, complete: bool) -> dict[str, Any]:
    base: dict[str, Any] = {"path": probe.path, "line": probe.line, "kind": probe.kind}
    place = (probe.path, probe.line)
    if probe.kind == "runs":
        return {**base, "answer": _runs(engine, place) if complete else "maybe"}
    shown = engine.probes.shown.get(place)
    if not complete or shown is None or shown.values is None:
        return {**base, "certain": False, "values": [], "reason": shown.reason if shown else ""}
    values: list[object] = []
    for value in shown.values:
        plain = _json(value)
        if not any(_same(plain, one) for one in values):
            values.append(plain)
    return {**base, "certain": True, "values": values, "reason": shown.reason}


def _runs(engine: Engine, place: tuple[str, int]) -> str:
    if place not in engine.probes.visited:
        return "no"
    return "yes" if engine.surely_runs(place) else "maybe"


def _merged(answers: list[dict[str, Any]]) -> dict[str, Any]:
    first = answers[0]
    if len(answers) == 1:
        return first
    if first["kind"] == "runs":
        each = {one["answer"] for one in answers}
        return {**first, "answer": each.pop() if len(each) == 1 else "maybe"}
    reached = [one for one in answers if one["certain"] or not one.get("unreached")]
    if not all(one["certain"] for one in reached) or not reached:
        return {**first, "certain": False, "values": []}
    values: list[object] = []
    for one in reached:
        values += [value for value in one["values"] if not any(_same(value, other) for other in values)]
    return {**first, "certain": True, "values": values}


def _json(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, (list, tuple, range)):
        return {"$object": "range"} if isinstance(value, range) else [_json(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_json(one) for one in value), key=repr)
    if isinstance(value, dict):
        return {str(key): _json(one) for key, one in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"$object": type(value).__name__}


def _same(left: object, right: object) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
