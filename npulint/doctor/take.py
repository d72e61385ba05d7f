"""Takes the snapshot of a machine."""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from npulint.core.errors import NpulintError
from npulint.core.processes import own_interpreter
from npulint.core.texts import say
from npulint.doctor import host, installed
from npulint.doctor.host import name_of
from npulint.doctor.machine import Machine, Ran
from npulint.runs.read.machine.snapshot import FORMAT, Device, Node, Operator, Python, RankTable, Snapshot, Tool

# Probes of the devices: what ``npu-smi info`` shows, and the device files.

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
_SHOWN_DEVICES = 200


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
    return Tool(state="failed", message=message[:_SHOWN_DEVICES]), None


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
    of_devices = [_node(machine, name) for name in sorted(names, key=lambda name: int(name[12:]))]
    needed = [_node(machine, name) for name in _NEEDED]
    return [*of_devices, *needed] if of_devices or any(node.present for node in needed) else []


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


# Probes of the Python interpreter: its packages by their metadata; nothing is imported.

_LIMIT = 10.0
_METADATA = re.compile(r"(.+?)-([^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info")
_ASK = "import json,sys;print(json.dumps([sys.version.split()[0],sys.path]))"
_ADD = (
    "import torch,torch_npu;torch.npu.set_device(0);"
    "print('sum',float((torch.ones(8).npu()+torch.ones(8).npu()).sum().cpu()))"
)
_SUM = "sum 16.0"
_SHOWN = 300


def python(machine: Machine, interpreter: str = "", lang: str = "en") -> Python:
    """The interpreter and its packages; without `interpreter` the one that runs npulint. Raises `NpulintError`."""
    version, folders, path = sys.version.split()[0], sys.path, own_interpreter()
    if interpreter:
        ran = machine.run([interpreter, "-c", _ASK], _LIMIT)
        try:
            version, folders = json.loads((ran.output if ran else "").strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise NpulintError(say(lang, "doctor.interpreter", path=interpreter)) from None
        path = interpreter
    return Python(version=version, path=path, packages=packages(folders))


def packages(folders: list[str]) -> dict[str, str]:
    """The installed packages in folders, by the names of their metadata; the first of a name counts, as in imports."""
    versions: dict[str, str] = {}
    for folder in filter(os.path.isabs, folders):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            match = _METADATA.fullmatch(name)
            if match:
                versions.setdefault(re.sub(r"[-_.]+", "-", match.group(1)).lower(), match.group(2))
    return dict(sorted(versions.items()))


def operator(machine: Machine, interpreter: str, limit: float) -> Operator:
    """Add two tensors on the first device, in a process of its own."""
    ran = machine.run([interpreter or own_interpreter(), "-c", _ADD], limit)
    if ran is None:
        return Operator(state="failed", message=interpreter)
    if ran.code is None:
        return Operator(state="timeout", message=f"{limit:g} s")
    if ran.code == 0 and _SUM in ran.output:
        return Operator(state="ok")
    lines = [line.strip() for line in ran.output.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception)\b", line)]
    return Operator(state="failed", message=(named or lines or [f"exit code {ran.code}"])[-1][:_SHOWN])


# The probe of the rank table, in its versions 1.0 and 1.2 (server_list).


def rank_table(machine: Machine, own: set[str]) -> RankTable | None:
    """The file that RANK_TABLE_FILE names; `own` are the addresses of the machine."""
    path = machine.environ.get("RANK_TABLE_FILE", "")
    if not path:
        return None
    text = machine.read(path if path.startswith("/") else os.path.abspath(path))
    if text is None:
        return RankTable(path=path, problem="unreadable" if machine.exists(path) else "missing")
    try:
        table = json.loads(text)
        servers = _servers(table)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return RankTable(path=path, problem="invalid")
    names = [str(server.get("server_id", "")) for server in servers]
    mine = {*own, name_of(machine)}
    here = [server for server in servers if str(server.get("server_id")) in mine] or (
        servers if len(servers) == 1 else []
    )
    return RankTable(
        path=path,
        status=str(table.get("status", "")),
        servers=names,
        ranks=[int(device["rank_id"]) for server in servers for device in server.get("device", ())],
        devices=[int(device["device_id"]) for server in here for device in server.get("device", ())],
    )


def _servers(table: Any) -> list[dict[str, Any]]:
    """The servers of a table, whose devices have ids. Raises one of the errors of wrong shapes."""
    servers: list[dict[str, Any]] = list(table.get("server_list") or ())
    for server in servers:
        for device in server.get("device", ()):
            int(device["rank_id"])
            int(device["device_id"])
    return servers


def take(machine: Machine, interpreter: str = "", deep: float | None = None, lang: str = "en") -> Snapshot:
    """Everything that can be found out about a machine; with `deep`, a number of seconds, also whether an operator
    runs. Raises `NpulintError` for an interpreter that does not run."""
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(npu_smi, machine)  # it takes longer than all other probes
        boards, chip = installed.boards(machine)
        network = host.network(machine)
        snapshot = Snapshot(
            npulint_machine=FORMAT,
            host=host.host(machine),
            boards=boards,
            driver=installed.driver(machine),
            firmware=installed.firmware(machine),
            toolkits=installed.toolkits(machine),
            nodes=nodes(machine),
            environment=host.environment(machine),
            missing_paths=host.missing_paths(machine),
            driver_libraries=installed.driver_libraries(machine),
            nnal=installed.nnal(machine),
            network=network,
            disks=host.disks(machine),
            rank_table=rank_table(machine, set(network.addresses or ())),
            python=python(machine, interpreter, lang),
            operator=None if deep is None else operator(machine, interpreter, deep),
        )
        tool, devices = asked.result()
    return msgspec.structs.replace(snapshot, tool=tool, devices=devices, chip=_chip(devices or [], chip))


def _chip(devices: list[Device], board: str) -> str:
    """The chip: as npu-smi names it, except on the third generation, which it calls Ascend910 like the first."""
    named = next((device.name for device in devices if device.name), "")
    if named not in ("", "Ascend910"):
        return named
    return board or ("910C" if any(device.chip for device in devices) else "")
