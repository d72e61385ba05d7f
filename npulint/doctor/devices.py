"""Probes of the devices: what ``npu-smi info`` shows, and the device files."""

from __future__ import annotations

import os
import re

import msgspec

from npulint.doctor.machine import Machine, Ran
from npulint.runs.read.machine.snapshot import Device, Node, Tool

LIMIT = 5.0
"""Seconds for npu-smi."""
_NEEDED = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
_PLACES = ("npu-smi", "/usr/local/sbin/npu-smi", "/usr/local/bin/npu-smi")
_VERSION = re.compile(r"npu-smi\s+\S+\s+Version:\s*(\S+)")
_CHIP = re.compile(r"\|\s*(\d+)\s+([\w-]*\d[\w-]*)\s*\|\s*(\w+)\s*\|\s*[\d.NA/-]+\s")
_MEMORY = re.compile(r"\|\s*(\d+)(?:\s+\d+)?\s*\|\s*[0-9A-Fa-f]{4}:[0-9A-Fa-f:.]+\s*\|(.*)\|")
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_PROCESS = re.compile(r"\|\s*(\d+)\s+(\d+)\s*\|\s*(\d+)\s*\|\s*(\S*)[^|]*\|\s*\d+\s*\|")
_TROUBLE = re.compile(r"(?i)fail|error|denied|not |ret is|-\d{4}")
_NOISE = "DrvMngGetConsoleLogLevel"
_SHOWN = 200


def npu_smi(machine: Machine) -> tuple[Tool, list[Device] | None]:
    """How ``npu-smi info`` ended, and the devices that it shows."""
    ran: Ran | None = None
    for place in _PLACES:
        ran = machine.run([place, "info"], LIMIT)
        if ran is not None:
            break
    if ran is None:
        return Tool(state="absent"), None
    if ran.code is None:
        return Tool(state="timeout"), None
    devices = parsed(ran.output)
    version = _VERSION.search(ran.output)
    if devices or (ran.code == 0 and version):
        return Tool(state="ok", version=version.group(1) if version else ""), devices
    lines = [line.strip() for line in ran.output.splitlines() if line.strip() and _NOISE not in line]
    message = next((line for line in lines if _TROUBLE.search(line)), lines[0] if lines else f"exit code {ran.code}")
    return Tool(state="failed", message=message[:_SHOWN]), None


def parsed(text: str) -> list[Device]:
    """The devices in the table of ``npu-smi info``: two rows for each, then a table of processes."""
    devices: list[Device] = []
    processes: dict[tuple[int, int], list[str]] = {}
    head: re.Match[str] | None = None
    for line in text.splitlines():
        process, memory = _PROCESS.search(line), _MEMORY.search(line)
        if memory is not None and head is not None:
            devices.append(_device(len(devices), head, memory))
        elif process is not None:
            npu, chip, pid, name = process.groups()
            processes.setdefault((int(npu), int(chip)), []).append(f"{pid} {name}".strip())
        else:
            head = _CHIP.search(line) or head
    return [
        msgspec.structs.replace(device, processes=processes.get((device.npu, device.chip), [])) for device in devices
    ]


def _device(number: int, head: re.Match[str], row: re.Match[str]) -> Device:
    """A device from its two rows. The last pair is device memory; where it is 0 / 0, memory is in the one before."""
    pairs = [(int(used), int(total)) for used, total in _PAIR.findall(row.group(2))]
    used, total = next((pair for pair in reversed(pairs) if pair[1]), (0, 0))
    npu, name, health = head.groups()
    return Device(
        id=number,
        npu=int(npu),
        chip=int(row.group(1)),
        name=name,
        health=health,
        memory_used_mb=used,
        memory_mb=total,
    )


def nodes(machine: Machine) -> list[Node]:
    """The device files of the driver: those of devices, and those that are always needed."""
    names = [f"/dev/{name}" for name in machine.names("/dev") or () if re.fullmatch(r"davinci\d+", name)]
    found = [_node(machine, name) for name in sorted(names, key=lambda name: int(name[12:]))]
    needed = [_node(machine, name) for name in _NEEDED]
    return [*found, *needed] if found or any(node.present for node in needed) else []


def _node(machine: Machine, name: str) -> Node:
    place = machine.at(name)
    try:
        group = os.stat(place).st_gid
    except OSError:
        return Node(name=name, present=False)
    try:
        import grp

        named = grp.getgrgid(group).gr_name
    except (ImportError, KeyError):
        named = str(group)
    return Node(name=name, usable=machine.usable(place), group=named)
