"""Reads the snapshot of a machine as facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Literal

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
    MachinePackages,
    MachinePort,
    MachineRankTable,
    MachineTool,
    MachineVariable,
)
from npulint.runs.read.machine.snapshot import Network, RankTable, Snapshot, decoded
from npulint.runs.read.machine.toolkits import Places, machines_devices, within

# Facts about the network of a machine, and about the rank table.

NONE = "-"
_PORTS = 16  # that HCCL uses from its first one on
_FIRST_PORT = 60000
_VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
_Problem = Literal["none", "no-interface", "other-address", "no-device", "loopback", "no-folder"]


def network(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """Variables that name what the machine may not have, and ports in use."""
    environment, network = snapshot.environment or {}, snapshot.network or Network()
    problems = {
        "HCCL_SOCKET_IFNAME": _interface(environment.get("HCCL_SOCKET_IFNAME", ""), network),
        "HCCL_IF_IP": _address(environment.get("HCCL_IF_IP", ""), network),
        "MASTER_ADDR": _master(environment, snapshot, network),
        _VISIBLE: _visible(environment.get(_VISIBLE, ""), snapshot),
    }
    for name, (problem, has, lacking) in problems.items():
        if name in environment:
            yield _variable(name, environment[name], problem, has, lacking, places)
    for name, missing in snapshot.missing_paths.items():
        if name != "ASCEND_HOME_PATH":
            yield _variable(name, environment.get(name, ""), "no-folder", NONE, missing[0], places)
    yield from _ports(environment, network, places)


def _variable(name: str, value: str, problem: _Problem, has: str, lacking: str, places: Places) -> MachineVariable:
    span = places.at("environment", name)
    return MachineVariable(
        name, places.path, span, value=value, problem=problem, has=has or NONE, lacking=lacking or NONE
    )


def _interface(value: str, network: Network) -> tuple[_Problem, str, str]:
    """HCCL takes prefixes: ``eth``, ``^eth`` (all others), ``=eth0`` (exactly), several with commas."""
    has = network.interfaces
    wanted = [part.strip() for part in value.lstrip("^=").split(",") if part.strip()]
    if has is None or not wanted or value.startswith("^"):
        return "none", "", ""
    exact = value.startswith("=")
    if any(interface == part or (not exact and interface.startswith(part)) for part in wanted for interface in has):
        return "none", "", ""
    return "no-interface", ", ".join(has), value


def _address(value: str, network: Network) -> tuple[_Problem, str, str]:
    if network.addresses is None or not value or value in network.addresses:
        return "none", "", ""
    return "other-address", ", ".join(network.addresses), value


def _master(environment: dict[str, str], snapshot: Snapshot, network: Network) -> tuple[_Problem, str, str]:
    """The name of the machine itself must not lead to a loopback address when other machines use it."""
    value = environment.get("MASTER_ADDR", "")
    own = snapshot.host.name if snapshot.host else ""
    several = environment.get("NNODES", environment.get("PET_NNODES", "1")) not in ("", "1")
    loopback = [address for address in network.own_name_at if address.startswith("127.") or address == "::1"]
    if several and value and value == own and loopback:
        return "loopback", ", ".join(network.own_name_at), loopback[0]
    return "none", "", ""


def _visible(value: str, snapshot: Snapshot) -> tuple[_Problem, str, str]:
    ids = [int(part) for part in re.findall(r"\d+", value)]
    if not snapshot.devices or not ids:
        return "none", "", ""
    has = {device.id for device in snapshot.devices}
    beyond = [device_id for device_id in ids if device_id not in has and device_id >= len(has)]
    if beyond:
        return "no-device", ", ".join(map(str, sorted(has))), ", ".join(map(str, beyond))
    return "none", "", ""


def _ports(environment: dict[str, str], network: Network, places: Places) -> Iterator[Fact]:
    if network.listening is None:
        return
    base = environment.get("HCCL_IF_BASE_PORT", "")
    first = int(base) if base.isdigit() else _FIRST_PORT
    master = environment.get("MASTER_PORT", "")
    for port in network.listening:
        purpose: Literal["hccl", "master"] | None = None
        if first <= port < first + _PORTS:
            purpose = "hccl"
        elif str(port) == master:
            purpose = "master"
        if purpose is not None:
            yield MachinePort(str(port), places.path, places.at("network", "listening"), purpose=purpose)


def rank_table(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """The rank table, with its first problem."""
    table = snapshot.rank_table
    if table is not None:
        problem, detail = _problem(table, snapshot)
        yield MachineRankTable(table.path, places.path, places.at("rank_table"), problem=problem, detail=detail or NONE)


_TableProblem = Literal["none", "missing", "unreadable", "invalid", "ranks", "server", "devices", "unfinished"]


def _problem(table: RankTable, snapshot: Snapshot) -> tuple[_TableProblem, str]:
    if table.problem in ("missing", "unreadable"):
        return ("missing" if table.problem == "missing" else "unreadable"), table.path
    if table.status and table.status != "completed":
        return "unfinished", table.status
    if table.problem or not table.ranks:
        return "invalid", table.path
    if sorted(table.ranks) != list(range(len(table.ranks))):
        twice = sorted({rank for rank in table.ranks if table.ranks.count(rank) > 1})
        lacking = sorted(set(range(len(table.ranks))) - set(table.ranks))
        return "ranks", ", ".join(map(str, twice or lacking))
    addresses = snapshot.network.addresses if snapshot.network else None
    own = {*(addresses or ()), snapshot.host.name if snapshot.host else ""}
    if addresses and table.servers and not own & set(table.servers):
        return "server", ", ".join(table.servers)
    has = {device.id for device in snapshot.devices or ()}
    beyond = sorted({device for device in table.devices if device not in has})
    if has and beyond:
        return "devices", ", ".join(map(str, beyond))
    return "none", ""


# Facts about the Python packages of a machine.

_OF_TOOLKIT = ("numpy", "decorator", "attrs", "psutil", "scipy", "pyyaml")
"""What the compiler of operators imports, by CANN's installation guide."""
_OF_CUDA = ("nvidia-cuda-runtime", "nvidia-cublas", "nvidia-cudnn", "nvidia-nccl")
_NEED_ATB = ("vllm-ascend", "mindspeed", "mindspeed-llm", "mindspeed-mm", "mindie-torch")


def packages(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """The packages of the interpreter."""
    python = snapshot.python
    if python is None or python.packages is None:
        return
    has, environment = python.packages, snapshot.environment
    cuda = [name for name in has if name.startswith(_OF_CUDA)]
    lacking = [name for name in _OF_TOOLKIT if name not in has] if snapshot.toolkits else []
    yield MachinePackages(
        "python",
        places.path,
        places.at("python"),
        version=python.version or NONE,
        torch=has.get("torch", NONE),
        torch_npu=has.get("torch-npu", NONE),
        tensorflow=has.get("tensorflow", NONE),
        cuda=", ".join(cuda[:2]) or NONE,
        lacking=", ".join(lacking) or NONE,
        atb_user=next((name for name in _NEED_ATB if name in has), NONE),
        nnal_loaded=flag(None if environment is None else "ATB_HOME_PATH" in environment),
        nnal=next(iter(snapshot.nnal or ()), NONE),
        boards=machines_devices(snapshot),
    )


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
    cards = sum(node.present and node.name[-1].isdigit() for node in nodes)
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
