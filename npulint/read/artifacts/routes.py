"""What each route between two cards carried, and how fast: the slowest one beside the others of its kind.

Sources: `communication_matrix.json` of torch_npu and msprof, `cluster_communication_matrix.json` of msprof-analyze.
One megabyte is 10^6 bytes there, so megabytes per millisecond are GB/s.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.communication import LIMIT
from npulint.read.artifacts.json_objects import parsed
from npulint.read.artifacts.quantities import number
from npulint.read.artifacts.rows import Seen

_TYPE = "Transport Type"
_TOTAL = "Total Op Info"
_DEPTH = 8
_TYPES = 20
_LEAST, _MOST = 1e-9, 1e12
_ROUTES = 100_000
_ENOUGH = 4  # routes, below which the middle says little
_SIZES = (1.0, 4.0, 16.0)  # MB: transfers of one range are compared, for latency makes small ones slow
_EXCERPT = lazy_compile(r"-(?:top|middle|bottom)\d*(?=@|$)")
_WHOLE = lazy_compile(r"-total(?=@|$)")
_STEP = lazy_compile(r"step\d*")
_PAIR = lazy_compile(r"\d{1,7}-\d{1,7}")

_Place = tuple[str, str]  # an operator, or the group of a rank's own numbers; and the route


class _Route:
    """What went from one card to another; `op` is the operator that did so first."""

    def __init__(self, op: str) -> None:
        self.op = op
        self.size = self.time = 0.0

    @property
    def bandwidth(self) -> float:
        """In GB/s."""
        return self.size / self.time


class _Transport:
    """All routes of one type of transport, by the range of sizes that their transfers are in."""

    def __init__(self) -> None:
        self.size = self.time = 0.0
        self.ranges: list[dict[_Place, _Route]] = [{} for _ in range(len(_SIZES) + 1)]

    def add(self, place: _Place, op: str, size: float, time: float) -> None:
        self.size += size
        self.time += time
        routes = self.ranges[sum(size >= bound for bound in _SIZES)]
        route = routes.get(place)
        if route is None and len(routes) < _ROUTES:
            route = routes[place] = _Route(op)
        if route is not None:
            route.size += size
            route.time += time

    def compared(self) -> dict[_Place, _Route]:
        """The routes that can be compared: of the range in which most is carried, without those that carry less than
        half of what is usual."""
        best = max(self.ranges, key=lambda one: (len(one) >= _ENOUGH, sum(route.size for route in one.values())))
        usual = median(route.size for route in best.values())
        return {place: route for place, route in best.items() if route.size >= usual / 2}


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_route` for each type of transport. Of a file beyond 32 MB nothing is read. Raises `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        seen.note = "unread"
        return []
    text, document = parsed(data)
    del data
    found: dict[str, _Transport] = {}
    for group, op, routes in _operators(document):
        seen.rows += 1
        for pair, info in routes.items():
            kind = info.get(_TYPE) if isinstance(info, dict) and _PAIR.fullmatch(pair) else None
            if not isinstance(info, dict) or not isinstance(kind, str) or not kind:
                continue
            size, time = number(info.get("Transit Size(MB)")), number(info.get("Transit Time(ms)"))
            if size is not None and time is not None and 0 < size < _MOST and _LEAST < time < _MOST:
                kind = kind.upper()[:20]
                if kind in found or len(found) < _TYPES:
                    found.setdefault(kind, _Transport()).add((group, pair), op, size, time)
    return [_fact(kind, transport, path, text) for kind, transport in sorted(found.items())]


def _operators(document: dict[str, object]) -> Iterator[tuple[str, str, dict[str, object]]]:
    """(group, operator, routes) of every operator. The numbers of a rank's own file count within a group of ranks,
    those of a cluster's through all, so that they have no group."""
    own = any(_STEP.fullmatch(key) for key in document)
    open_: list[tuple[dict[str, object], int]] = [(document, 0)]
    while open_:
        table, depth = open_.pop()
        inner = {key: value for key, value in table.items() if isinstance(value, dict) and key != _TOTAL}
        summed = any(_WHOLE.search(op) for op in inner)
        deeper = []
        for op, value in inner.items():
            if any(isinstance(one, dict) and _TYPE in one for one in value.values()):
                if not (summed and _EXCERPT.search(op)):
                    yield op.partition("@")[2][:200] if own else "", op, value
            elif depth < _DEPTH:
                deeper.append((value, depth + 1))
        open_ += reversed(deeper)


def _fact(kind: str, transport: _Transport, path: str, text: str) -> Fact:
    routes = transport.compared()
    usual = median(route.bandwidth for route in routes.values())
    (group, pair), slowest = min(routes.items(), key=lambda item: (item[1].bandwidth, item[0]))
    line = _line(text, slowest.op, pair)
    attrs: dict[str, object] = {
        "routes": len(routes),
        "megabytes": round(sum(route.size for route in routes.values()), 3),
        "milliseconds": round(sum(route.time for route in routes.values()), 3),
        "total_mb": round(transport.size, 3),
        "total_ms": round(transport.time, 3),
        "bandwidth": round(usual, 2),
        "slowest": pair,
        "slowest_mb": round(slowest.size, 3),
        "slowest_bandwidth": round(slowest.bandwidth, 2),
        "ratio": round(slowest.bandwidth / usual, 2),
        "example": slowest.op[:200],
    }
    if group:
        attrs["group"] = group
    return GenericFact("run_route", kind, path, Span.at(line), attrs)


def _line(text: str, op: str, pair: str) -> int:
    """The line at which the operator says something about the route."""
    at = text.find(f'"{pair}"', max(text.find(f'"{op}"'), 0))
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
