"""Traffic and bandwidth of each route between two devices: the slowest one compared with others of its kind.

Sources: `communication_matrix.json` of torch_npu and msprof, `cluster_communication_matrix.json` of msprof-analyze. One
megabyte is 10^6 bytes there, so megabytes per millisecond are GB/s."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import BinaryIO

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.communication import LIMIT
from npulint.runs.read.json_objects import parsed
from npulint.runs.read.quantities import number
from npulint.runs.read.rows import Seen

_TYPE = "Transport Type"
_TOTAL = "Total Op Info"
_DEPTH = 8
_TYPES = 20
_LEAST, _MOST = 1e-9, 1e12
_ROUTES = 100_000
_ENOUGH = 4  # routes; the median of fewer is not significant
_SIZES = (1.0, 4.0, 16.0)  # MB: transfers are compared within a range, because latency dominates small ones
_EXCERPT = lazy_compile(r"-(?:top|middle|bottom)\d*(?=@|$)")
_WHOLE = lazy_compile(r"-total(?=@|$)")
_STEP = lazy_compile(r"step\d*")
_PAIR = lazy_compile(r"\d{1,7}-\d{1,7}")

_Place = tuple[str, str]  # an operator or group of a rank, and the route


@fact_kind("run_route")
class SlowestRoute(FileFact):
    """The slowest route of one type of transport between devices (communication_matrix); the name is HCCS RDMA PCIE
    SDMA SIO or LOCAL. Transfers are compared within one range of sizes (below 1, 4, 16 MB, or more), in which most is
    carried, because latency makes small ones slow."""

    routes: int
    """How many are compared: none that carries less than half of what is usual."""
    megabytes: float
    """What these carry."""
    bandwidth: float
    """The median of the routes in GB/s."""
    slowest: str
    """The route from-to, by numbers of ranks within the group or cluster."""
    slowest_mb: float
    slowest_bandwidth: float
    ratio: float
    """Of its bandwidth to the median."""


class _Route:
    """The traffic from one device to another; `op` is the first operator."""

    def __init__(self, op: str) -> None:
        self.op = op
        self.size = self.time = 0.0

    @property
    def bandwidth(self) -> float:
        return self.size / self.time


class _Transport:
    """The routes of one transport type by size range of transfers."""

    def __init__(self) -> None:
        self.ranges: list[dict[_Place, _Route]] = [{} for _ in range(len(_SIZES) + 1)]

    def add(self, place: _Place, op: str, size: float, time: float) -> None:
        routes = self.ranges[sum(size >= bound for bound in _SIZES)]
        route = routes.get(place)
        if route is None and len(routes) < _ROUTES:
            route = routes[place] = _Route(op)
        if route is not None:
            route.size += size
            route.time += time

    def compared(self) -> dict[_Place, _Route]:
        """The comparable routes: of the size range with the most traffic, without those with less than half of the
        usual traffic."""
        best = max(
            self.ranges, key=lambda routes: (len(routes) >= _ENOUGH, sum(route.size for route in routes.values()))
        )
        usual = median(route.size for route in best.values())
        return {place: route for place, route in best.items() if route.size >= usual / 2}


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_route` for each transport type. Files over 32 MB are not read. Raises `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        seen.note = "unread"
        return []
    text, document = parsed(data)
    del data
    transports: dict[str, _Transport] = {}
    for group, op, routes in _operators(document):
        seen.rows += 1
        for pair, info in routes.items():
            kind = info.get(_TYPE) if isinstance(info, dict) and _PAIR.fullmatch(pair) else None
            if not isinstance(info, dict) or not isinstance(kind, str) or not kind:
                continue
            size, time = number(info.get("Transit Size(MB)")), number(info.get("Transit Time(ms)"))
            if size is not None and time is not None and 0 < size < _MOST and _LEAST < time < _MOST:
                kind = kind.upper()[:20]
                if kind in transports or len(transports) < _TYPES:
                    transports.setdefault(kind, _Transport()).add((group, pair), op, size, time)
    return [_fact(kind, transport, path, text) for kind, transport in sorted(transports.items())]


def _operators(document: dict[str, object]) -> Iterator[tuple[str, str, dict[str, object]]]:
    """(group, operator, routes) of every operator. In a rank's own file rank numbers are relative to a group; in a
    cluster's file they are global and the group is empty."""
    own = any(_STEP.fullmatch(key) for key in document)
    open_: list[tuple[dict[str, object], int]] = [(document, 0)]
    while open_:
        table, depth = open_.pop()
        inner = {key: value for key, value in table.items() if isinstance(value, dict) and key != _TOTAL}
        summed = any(_WHOLE.search(op) for op in inner)
        deeper = []
        for op, value in inner.items():
            if any(isinstance(route, dict) and _TYPE in route for route in value.values()):
                if not (summed and _EXCERPT.search(op)):
                    yield op.partition("@")[2][:200] if own else "", op, value
            elif depth < _DEPTH:
                deeper.append((value, depth + 1))
        open_ += reversed(deeper)


def _fact(kind: str, transport: _Transport, path: str, text: str) -> Fact:
    routes = transport.compared()
    usual = median(route.bandwidth for route in routes.values())
    (_, pair), slowest = min(routes.items(), key=lambda item: (item[1].bandwidth, item[0]))
    line = _line(text, slowest.op, pair)
    return SlowestRoute(
        kind,
        path,
        Span.at(line),
        routes=len(routes),
        megabytes=round(sum(route.size for route in routes.values()), 3),
        bandwidth=round(usual, 2),
        slowest=pair,
        slowest_mb=round(slowest.size, 3),
        slowest_bandwidth=round(slowest.bandwidth, 2),
        ratio=round(slowest.bandwidth / usual, 2),
    )


def _line(text: str, op: str, pair: str) -> int:
    """The line of an operator's entry for the route."""
    at = text.find(f'"{pair}"', max(text.find(f'"{op}"'), 0))
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
