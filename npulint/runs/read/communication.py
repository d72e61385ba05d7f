"""Collective operators in a profile: packet sizes by link type.

Sources: `communication.json` of torch_npu and msprof, `cluster_communication.json` of msprof-analyze. One megabyte is
10^6 bytes there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.json_objects import parsed
from npulint.runs.read.quantities import number, share
from npulint.runs.read.rows import Seen

LIMIT = 32 << 20
"""Maximum bytes of a document."""

_TIME = "Communication Time Info"
_BANDWIDTH = "Communication Bandwidth Info"
_TOTAL = "Total Op Info"
_DEPTH = 8
_NAMES = 200
_MB = 1e6
_SMALL = (1.0, 16.0)  # MB
_ALIGNED = 512
_PARTS = ("HCCS", "PCIE", "SIO")
_RETRIED_MS = 4000.0  # a lost packet of RDMA is sent again after about four seconds
_KIND = lazy_compile(r"hcom_([A-Za-z]{1,40})_")


def _amount(value: object) -> float:
    """A time or a size; negative values become 0."""
    return max(number(value) or 0.0, 0.0)


@fact_kind("run_link")
class LinkTraffic(FileFact):
    """Packets over one kind of link between devices (communication); the name is HCCS PCIE SIO SDMA or RDMA."""

    engine: Literal["sdma", "rdma"]
    packets: int
    megabytes: float
    bandwidth: float
    """In GB/s."""
    unaligned: float
    """Percent of packets whose size is not a multiple of 512 bytes."""
    below_1_mb: float
    """In percent of packets."""
    below_16_mb: float
    """In percent of packets."""


@fact_kind("run_collective")
class CollectiveOperator(FileFact):
    """A collective operator that sends packets whose size is not a multiple of 512 bytes, or by RDMA for seconds
    (communication); the name is its kind (allReduce, allGather…)."""

    operator: str
    """As it is written, without the group."""
    unaligned: int
    """Packets over links between devices of a server."""
    packets: int
    megabytes: float
    elapsed_ms: float
    rdma_ms: float
    """The time of transfers by RDMA."""


class _Link:
    """Traffic over one type of link."""

    def __init__(self) -> None:
        self.packets = self.unaligned = 0
        self.size = self.time = 0.0
        self.small = [0 for _ in _SMALL]

    def add(self, info: dict[str, object]) -> None:
        self.size += _amount(info.get("Transit Size(MB)"))
        self.time += _amount(info.get("Transit Time(ms)"))
        sizes = info.get("Size Distribution")
        for size, counted in sizes.items() if isinstance(sizes, dict) else ():
            megabytes = number(size)
            count = int(number(counted[0]) or 0) if isinstance(counted, list) and counted else 0
            if megabytes is None or megabytes <= 0 or count <= 0:
                continue
            self.packets += count
            self.unaligned += count if round(megabytes * _MB) % _ALIGNED else 0
            for place, bound in enumerate(_SMALL):
                self.small[place] += count if megabytes < bound else 0


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_link` for each type of link. Raises `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError("larger than 32 MB")
    text, document = parsed(data)
    del data
    links: dict[str, _Link] = {}
    collectives: list[Fact] = []
    for name, info in _operators(document):
        seen.rows += 1
        collective = _collective(name, info, path, text) if len(collectives) < _NAMES else None
        collectives += [collective] if collective is not None else []
        bandwidth = info.get(_BANDWIDTH)
        for link, figures in bandwidth.items() if isinstance(bandwidth, dict) else ():
            if isinstance(figures, dict) and len(links) < _NAMES:
                links.setdefault(str(link)[:20], _Link()).add(figures)
    return [*_of_links(links, path, text), *collectives]


def _collective(name: str, info: dict[str, object], path: str, text: str) -> Fact | None:
    """A `run_collective`, if the operator is worth a word."""
    times, bandwidth = info.get(_TIME), info.get(_BANDWIDTH)
    local, rdma = _Link(), _Link()
    for link, figures in bandwidth.items() if isinstance(bandwidth, dict) else ():
        if isinstance(figures, dict) and link in (*_PARTS, "RDMA"):
            (rdma if link == "RDMA" else local).add(figures)
    if not local.unaligned and rdma.time < _RETRIED_MS:
        return None
    elapsed = _amount(times.get("Elapse Time(ms)")) if isinstance(times, dict) else 0.0
    operator = name.partition("@")[0][:_NAMES]
    kind = _KIND.match(operator)
    return CollectiveOperator(
        kind[1] if kind is not None else operator,
        path,
        Span.at(_line(text, name)),
        operator=operator,
        unaligned=local.unaligned,
        packets=local.packets,
        megabytes=round(local.size + rdma.size, 3),
        elapsed_ms=round(elapsed, 3),
        rdma_ms=round(rdma.time, 3),
    )


def _operators(document: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """(name, record) of every operator; in files of a cluster there is a record for each rank."""
    open_: list[tuple[str, dict[str, object], int]] = [("", document, 0)]
    while open_:
        name, table, depth = open_.pop()
        for key, value in reversed(table.items()):
            if not isinstance(value, dict) or key == _TOTAL or depth >= _DEPTH:
                continue
            if _TIME in value or _BANDWIDTH in value:
                yield name if key.isdecimal() else key, value
            else:
                open_.append((key, value, depth + 1))


def _line(text: str, word: str) -> int:
    at = text.find(f'"{word}"')
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _of_links(links: dict[str, _Link], path: str, text: str) -> list[Fact]:
    facts: list[Fact] = []
    parts = any(links[name].packets for name in _PARTS if name in links)
    for name, link in sorted(links.items()):
        if not link.packets or (name == "SDMA" and parts):
            continue  # SDMA sums up the others but RDMA
        fact = LinkTraffic(
            name,
            path,
            Span.at(_line(text, name)),
            "rdma" if name == "RDMA" else "sdma",
            link.packets,
            round(link.size, 3),
            round(link.size / link.time, 2) if link.time > 0 else 0.0,
            share(link.unaligned, link.packets),
            *(share(count, link.packets) for count in link.small),
        )
        facts.append(fact)
    return facts
