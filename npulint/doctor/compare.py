"""Differences of two machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from npulint.runs.read.machine.snapshot import Snapshot

_OWN = frozenset(
    """host.name host.shared_memory_mb host.memory_gb network.addresses network.listening network.own_name_at
    environment.RANK environment.LOCAL_RANK environment.NODE_RANK environment.HCCL_IF_IP environment.JOB_ID
    python.path disks""".split()
)
"""What differs between machines of one job."""
_VARYING = frozenset(("memory_used_mb", "processes"))


class Difference(msgspec.Struct, frozen=True):
    """A value that differs; a dash stands for one that a machine does not have."""

    part: str
    here: str
    there: str


def differences(here: Snapshot, there: Snapshot) -> list[Difference]:
    """What differs between two machines and should not within one job, in the order of the snapshot."""
    ours, others = dict(_flat(msgspec.to_builtins(here))), dict(_flat(msgspec.to_builtins(there)))
    keys = dict.fromkeys([*ours, *others])
    pairs = ((key, ours.get(key, "-"), others.get(key, "-")) for key in keys if not _is_own(key))
    return [Difference(*pair) for pair in pairs if pair[1] != pair[2]]


def _is_own(key: str) -> bool:
    return key.rpartition(".")[2] in _VARYING or any(key == one or key.startswith(f"{one}.") for one in _OWN)


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _flat(member, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, member in enumerate(value):
            yield from _flat(member, f"{key}.{_label(member, number)}")
    else:
        yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _label(member: dict[str, Any], number: int) -> str:
    """What identifies an entry of a list: a path or number, so that both machines call it the same."""
    return str(member.get("path") or member.get("name", "") if "present" in member else member.get("path") or number)
