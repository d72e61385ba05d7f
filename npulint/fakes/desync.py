"""Collectives that not all ranks of a group called: each rank's calls are compared in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from npulint.facts.graph import NodeFrame
from npulint.fakes.orders import Called
from npulint.fakes.ranks import Part

_WAITING = frozenset(("time", "stuck", "error"))
_THERE = frozenset(("time", "stuck", "end", "exit", "error"))
"""Ends that say where a rank really was: the others were ended with it."""
_NAMES = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "allgather_base": "all_gather_into_tensor",
    "reduce_scatter_base": "reduce_scatter_tensor",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all_single",
}


class Desync(msgspec.Struct, frozen=True):
    """A collective that ranks called and others did not: its name, the lines of the call, and where each rank stands,
    as text."""

    name: str
    frames: tuple[NodeFrame, ...]
    standing: str


def desync(parts: Sequence[Part]) -> Desync | None:
    """The first collective on which ranks differ, if that can be said."""
    for calls in _by_group(parts).values():
        found = _first_difference(calls, {part.ended.rank: part for part in parts})
        if found is not None:
            return found
    return None


def _by_group(parts: Sequence[Part]) -> Mapping[object, dict[int, list[Called]]]:
    """The calls of each group, by rank."""
    groups: dict[object, dict[int, list[Called]]] = {}
    for part in parts:
        for call in part.called:
            found = groups.setdefault((call.group, call.members), {rank: [] for rank in call.members})
            found.setdefault(call.rank, []).append(call)
    return groups


def _first_difference(calls: Mapping[int, list[Called]], parts: Mapping[int, Part]) -> Desync | None:
    for place in range(max(map(len, calls.values()))):
        now = {rank: own[place] for rank, own in calls.items() if place < len(own)}
        absent = [rank for rank in calls if rank not in now]
        if len({_sign(called) for called in now.values()}) > 1:
            return _described(now, absent, calls, parts)
        if absent:
            ends = {rank: parts[rank].ended.how for rank in calls if rank in parts}
            waits = any(ends.get(rank) in _WAITING for rank in now)
            there = all(ends.get(rank) in _THERE - {"error"} for rank in absent)
            return _described(now, absent, calls, parts) if waits and there else None
    return None


def _sign(call: Called) -> tuple[str, int, str]:
    return call.name, call.size, call.dtype


def _described(
    now: Mapping[int, Called],
    absent: Sequence[int],
    calls: Mapping[int, list[Called]],
    parts: Mapping[int, Part],
) -> Desync:
    """The call whose line the other ranks never reach, and where all are."""
    odd = min(now, key=lambda rank: (_others(rank, now[rank], calls), now[rank].backward, rank))
    words = [
        f"rank {rank}: {_NAMES.get(called.name, called.name)}{_size(called)} at {_at(called.frames)}"
        for rank, called in now.items()
    ]
    words += [f"rank {rank}: at {_at(parts[rank].ended.standing)}" for rank in absent if rank in parts]
    chosen = now[odd]
    return Desync(_NAMES.get(chosen.name, chosen.name), chosen.frames, "; ".join(sorted(words)))


def _others(rank: int, call: Called, calls: Mapping[int, list[Called]]) -> int:
    """How many other ranks have a call at this line."""
    return sum(
        any(called.frames[-1:] == call.frames[-1:] for called in own) for other, own in calls.items() if other != rank
    )


def _size(call: Called) -> str:
    return f" of {call.size} {call.dtype}" if call.size >= 0 else ""


def _at(frames: Sequence[NodeFrame]) -> str:
    return f"{frames[-1].path.replace(chr(92), '/').rpartition('/')[2]}:{frames[-1].line}" if frames else "its end"
