"""Reads the snapshot of a machine as facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from npulint.facts.attributes import Flag, flag
from npulint.facts.model import Fact
from npulint.runs.read.json_objects import LIMIT
from npulint.runs.read.machine import toolkits
from npulint.runs.read.machine.facts import (
    MachineDevice,
    MachineDriver,
    MachineLimit,
    MachineNode,
    MachineOperator,
    MachineTool,
)
from npulint.runs.read.machine.network import network, rank_table
from npulint.runs.read.machine.places import Places
from npulint.runs.read.machine.python import packages
from npulint.runs.read.machine.snapshot import Snapshot, decoded
from npulint.runs.read.machine.versions import within

NONE = "-"


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """The facts of a snapshot. Raises `ValueError`."""
    data = stream.read(LIMIT)
    try:
        snapshot = decoded(data)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from None
    return list(facts(snapshot, Places(data.decode("utf-8", "replace"), path)))


def facts(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """Everything that a snapshot says."""
    yield from _tool(snapshot, places)
    yield from _driver(snapshot, places)
    yield from toolkits.facts(snapshot, places)
    yield from _devices(snapshot, places)
    yield from _nodes(snapshot, places)
    yield from _limits(snapshot, places)
    yield from network(snapshot, places)
    yield from rank_table(snapshot, places)
    yield from packages(snapshot, places)
    if snapshot.operator is not None:
        operator = snapshot.operator
        span = places.at("operator")
        yield MachineOperator("torch_npu", places.path, span, state=operator.state, message=operator.message or NONE)


def _container(snapshot: Snapshot) -> Flag:
    return flag(None if snapshot.host is None or snapshot.host.container is None else bool(snapshot.host.container))


def _tool(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    tool = snapshot.tool
    if tool is None:
        return
    shown = len(snapshot.devices or ())
    files = sum(node.present and node.name[-1].isdigit() for node in snapshot.nodes or ())
    per_npu = max((device.chip for device in snapshot.devices or ()), default=0) + 1
    expected = files or (snapshot.boards or 0) * per_npu
    yield MachineTool(
        "npu-smi",
        places.path,
        places.at("tool"),
        state=tool.state,
        message=tool.message or NONE,
        devices=shown,
        expected=expected,
        lacking=max(expected - shown, 0) if shown and _container(snapshot) == "no" else 0,
    )


def _driver(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    driver = snapshot.driver
    if driver is None:
        return
    firmware = snapshot.firmware.version if snapshot.firmware else ""
    fits = within(firmware, *driver.firmware) if firmware and len(driver.firmware) == 2 else None
    yield MachineDriver(
        driver.version or NONE,
        places.path,
        places.at("driver"),
        installed=flag(driver.installed),
        boards=snapshot.boards or 0,
        container=_container(snapshot),
        firmware=firmware or NONE,
        firmware_fits=flag(fits),
        firmware_range=" - ".join(driver.firmware) or NONE,
        libraries=flag(snapshot.driver_libraries),
    )


def _devices(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    for number, device in enumerate(snapshot.devices or ()):
        yield MachineDevice(
            str(device.id),
            places.path,
            places.nth("devices", "id", number),
            chip=device.name or NONE,
            health=device.health or NONE,
            used_mb=device.memory_used_mb,
            memory_mb=device.memory_mb,
            used_share=round(100 * device.memory_used_mb / device.memory_mb, 1) if device.memory_mb else 0.0,
            processes=", ".join(device.processes) or NONE,
        )


def _nodes(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    nodes = snapshot.nodes or ()
    cards = sum(one.present and one.name[-1].isdigit() for one in nodes)
    for node in nodes:
        yield MachineNode(
            node.name,
            places.path,
            places.at("nodes", node.name),
            present=flag(node.present),
            usable=flag(node.usable),
            group=node.group or NONE,
            user=(snapshot.host.user if snapshot.host else "") or NONE,
            container=_container(snapshot),
            cards=cards,
        )


def _limits(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    host = snapshot.host
    container, ours = _container(snapshot), flag(toolkits.for_npu(snapshot))
    amounts = [("disk", disk.free_mb, disk.path, places.at("disks", disk.path)) for disk in snapshot.disks]
    if host is not None and host.shared_memory_mb is not None:
        amounts.append(("shared_memory", host.shared_memory_mb, "/dev/shm", places.at("host", "shared_memory_mb")))
    if host is not None and host.open_files is not None and host.open_files >= 0:  # -1: unlimited
        amounts.append(("open_files", host.open_files, NONE, places.at("host", "open_files")))
    for name, amount, about, span in amounts:
        yield MachineLimit(
            name, places.path, span, amount=float(amount), about=about, container=container, for_npu=ours
        )
