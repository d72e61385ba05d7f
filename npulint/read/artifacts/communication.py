"""Collective operators in a profile: how long they took, how long ranks waited, how large their packets are.

Sources: `communication.json` of torch_npu and msprof, `cluster_communication.json` of msprof-analyze. One megabyte is
10^6 bytes there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.json_objects import parsed
from npulint.read.artifacts.quantities import micro, number, share
from npulint.read.artifacts.rows import Seen

LIMIT = 32 << 20
"""Bytes that are loaded at once."""

_TIME = "Communication Time Info"
_BANDWIDTH = "Communication Bandwidth Info"
_TOTAL = "Total Op Info"
_DEPTH = 8
_NAMES = 200
_NAME = lazy_compile(r"hcom_([A-Za-z]{1,40})|([A-Za-z][A-Za-z0-9]{0,39})")
_MB = 1e6
_SMALL = {"below_1_mb": 1.0, "below_16_mb": 16.0}
_ALIGNED = 512
_PARTS = ("HCCS", "PCIE", "SIO")


def _amount(value: object) -> float:
    """A time or a size, neither of which can be below zero."""
    return max(number(value) or 0.0, 0.0)


class _Collective:
    """Times of all calls of one kind, in ms."""

    def __init__(self) -> None:
        self.count = 0
        self.elapsed = self.transit = self.wait = self.longest = 0.0
        self.example = ""

    def add(self, name: str, times: dict[str, object]) -> None:
        elapsed = _amount(times.get("Elapse Time(ms)"))
        self.count += 1
        self.elapsed += elapsed
        self.transit += _amount(times.get("Transit Time(ms)"))
        self.wait += _amount(times.get("Wait Time(ms)"))
        if elapsed >= self.longest:
            self.longest, self.example = elapsed, name


class _Link:
    """What went over one kind of link."""

    def __init__(self) -> None:
        self.packets = self.unaligned = 0
        self.size = self.time = 0.0
        self.small = dict.fromkeys(_SMALL, 0)

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
            for key, bound in _SMALL.items():
                self.small[key] += count if megabytes < bound else 0


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_collective` for each kind of operator, `run_link` for each kind of link. Raises `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError("larger than 32 MB")
    text, document = parsed(data)
    del data
    collectives: dict[str, _Collective] = {}
    links: dict[str, _Link] = {}
    for name, info in _operators(document):
        seen.rows += 1
        times, bandwidth = info.get(_TIME), info.get(_BANDWIDTH)
        if isinstance(times, dict) and (kind := _kind(name)) and len(collectives) < _NAMES:
            collectives.setdefault(kind, _Collective()).add(name, times)
        for link, figures in bandwidth.items() if isinstance(bandwidth, dict) else ():
            if isinstance(figures, dict) and len(links) < _NAMES:
                links.setdefault(str(link)[:20], _Link()).add(figures)
    return _of_collectives(collectives, path, text) + _of_links(links, path, text)


def _operators(document: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Every operator's record with the operator's name. A rank's number may stand between both."""
    open_: list[tuple[str, dict[str, object], int]] = [("", document, 0)]
    while open_:
        name, table, depth = open_.pop()
        for key, value in reversed(table.items()):
            if not isinstance(value, dict) or key == _TOTAL or depth >= _DEPTH:
                continue
            inner = name if key.isdigit() else key
            if _TIME in value or _BANDWIDTH in value:
                yield inner, value
            else:
                open_.append((inner, value, depth + 1))


def _kind(name: str) -> str:
    """``allReduce`` of ``hcom_allReduce__586_0_1@group``."""
    match = _NAME.match(name)
    return (match.group(1) or match.group(2)) if match is not None else ""


def _line(text: str, word: str) -> int:
    at = text.find(f'"{word}"')
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def _of_collectives(collectives: dict[str, _Collective], path: str, text: str) -> list[Fact]:
    facts: list[Fact] = []
    for kind, found in sorted(collectives.items(), key=lambda item: (-item[1].elapsed, item[0])):
        line = _line(text, found.example)
        attrs: dict[str, object] = {
            "count": found.count,
            "total_us": micro(found.elapsed * 1000),
            "max_us": micro(found.longest * 1000),
            "transit_us": micro(found.transit * 1000),
            "wait_us": micro(found.wait * 1000),
            "wait_share": share(found.wait, found.elapsed),
            "example": found.example[:200],
        }
        facts.append(GenericFact("run_collective", kind, path, Span.at(line), attrs))
    return facts


def _of_links(links: dict[str, _Link], path: str, text: str) -> list[Fact]:
    facts: list[Fact] = []
    parts = any(links[name].packets for name in _PARTS if name in links)
    for name, link in sorted(links.items()):
        if not link.packets or (name == "SDMA" and parts):
            continue  # SDMA sums up the others but RDMA
        line = _line(text, name)
        attrs: dict[str, object] = {
            "engine": "rdma" if name == "RDMA" else "sdma",
            "packets": link.packets,
            "megabytes": round(link.size, 3),
            "bandwidth": round(link.size / link.time, 2) if link.time > 0 else 0.0,
            "unaligned": share(link.unaligned, link.packets),
        }
        attrs.update({key: share(count, link.packets) for key, count in link.small.items()})
        facts.append(GenericFact("run_link", name, path, Span.at(line), attrs))
    return facts
