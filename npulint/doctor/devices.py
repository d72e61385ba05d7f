"""Probes of the devices: what ``npu-smi info`` shows, and the device files."""

from __future__ import annotations

import os
import re

from npulint.doctor.machine import Machine, Ran
from npulint.read.artifacts.machine.snapshot import Device, Node, Tool

LIMIT = 5.0
"""Seconds for npu-smi."""
_NEEDED = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
_PLACES = ("npu-smi", "/usr/local/sbin/npu-smi", "/usr/local/bin/npu-smi")
_VERSION = re.compile(r"npu-smi\s+\S+\s+Version:\s*(\S+)")
_CHIP = re.compile(r"\|\s*(\d+)\s+([\w-]*\d[\w-]*)\s*\|\s*(\w+)\s*\|\s*[\d.NA/-]+\s")
_MEMORY = re.compile(r"\|\s*(\d+)(?:\s+(\d+))?\s*\|\s*[0-9A-Fa-f]{4}:[0-9A-Fa-f:.]+\s*\|(.*)\|")
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_PROCESS = re.compile(r"\|\s*(\d+)\s+(\d+)\s*\|\s*(\d+)\s*\|\s*(\S*)[^|]*\|\s*(\d+)\s*\|")
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
    rows: list[dict[str, str]] = []
    processes: dict[tuple[int, int], list[str]] = {}
    head: re.Match[str] | None = None
    for line in text.splitlines():
        process = _PROCESS.search(line)
        memory = _MEMORY.search(line)
        if memory is not None and head is not None:
            used, total = next(((a, b) for a, b in reversed(_PAIR.findall(memory.group(3))) if b != "0"), ("0", "0"))
            rows.append(dict(npu=head[1], name=head[2], health=head[3], chip=memory[1], used=used, total=total))
        elif process is not None:
            npu, chip, pid, name, _ = process.groups()
            processes.setdefault((int(npu), int(chip)), []).append(f"{pid} {name}".strip())
        else:
            head = _CHIP.search(line) or head
    return [
        Device(
            id=number,
            npu=int(row["npu"]),
            chip=int(row["chip"]),
            name=row["name"],
            health=row["health"],
            memory_used_mb=int(row["used"]),
            memory_mb=int(row["total"]),
            processes=processes.get((int(row["npu"]), int(row["chip"])), []),
        )
        for number, row in enumerate(rows)
    ]


def nodes(machine: Machine) -> list[Node]:
    """The device files of the driver: those of devices, and those that are always needed."""
    names = [f"/dev/{name}" for name in machine.names("/dev") or () if re.fullmatch(r"davinci\d+", name)]
    found = [_node(machine, name) for name in sorted(names, key=lambda name: int(name[12:]))]
    needed = [_node(machine, name) for name in _NEEDED]
    return [*found, *needed] if found or any(one.present for one in needed) else []


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
