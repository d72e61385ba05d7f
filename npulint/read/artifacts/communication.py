"""Collective operators in a profile: packet sizes by link type.

Sources: `communication.json` of torch_npu and msprof, `cluster_communication.json` of msprof-analyze. One megabyte is
10^6 bytes there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Literal

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.read.artifacts.json_objects import parsed
from npulint.read.artifacts.quantities import number, share
from npulint.read.artifacts.rows import Seen

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
    for info in _operators(document):
        seen.rows += 1
        bandwidth = info.get(_BANDWIDTH)
        for link, figures in bandwidth.items() if isinstance(bandwidth, dict) else ():
            if isinstance(figures, dict) and len(links) < _NAMES:
                links.setdefault(str(link)[:20], _Link()).add(figures)
    return _of_links(links, path, text)


def _operators(document: dict[str, object]) -> Iterator[dict[str, object]]:
    """The record of every operator, below an optional level for ranks."""
    open_: list[tuple[dict[str, object], int]] = [(document, 0)]
    while open_:
        table, depth = open_.pop()
        for key, value in reversed(table.items()):
            if not isinstance(value, dict) or key == _TOTAL or depth >= _DEPTH:
                continue
            if _TIME in value or _BANDWIDTH in value:
                yield value
            else:
                open_.append((value, depth + 1))


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
