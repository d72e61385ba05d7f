"""The form of a snapshot: what is installed and set on a machine. What is absent could not be found out."""

from __future__ import annotations

from typing import Literal

import msgspec

FORMAT = 1
ToolState = Literal["ok", "failed", "absent", "timeout"]


class Host(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The operating system and its limits."""

    name: str = ""
    arch: str = ""
    system: str = ""
    container: str | None = None
    """docker, kubernetes, lxc or another word; empty outside containers."""
    cpus: int | None = None
    memory_gb: float | None = None
    shared_memory_mb: float | None = None
    open_files: int | None = None
    hugepages: int | None = None
    user: str = ""
    root: bool | None = None
    groups: list[str] = []


class Disk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A folder that runs write to."""

    path: str
    free_mb: float


class Package(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An installed package of Ascend: driver, firmware or a toolkit."""

    version: str = ""
    inner: str = ""
    """The internal version, such as V100R001C23SPC001B231."""
    compatible: list[str] = []
    """Internal versions of the counterpart that it works with."""
    path: str = ""
    arch: str = ""
    active: bool = False
    """Of a toolkit whether ASCEND_HOME_PATH means it."""
    kernels: list[str] | None = None
    """Of a toolkit the chips whose compiled operators are installed."""


class Driver(Package, frozen=True, kw_only=True, omit_defaults=True):
    """The driver. `firmware`: the first and the last release of the firmware that it works with."""

    installed: bool = True
    firmware: list[str] = []


class Tool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How ``npu-smi info`` ended."""

    state: ToolState
    message: str = ""
    version: str = ""


class Device(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A device as npu-smi shows it."""

    id: int
    npu: int
    chip: int = 0
    name: str = ""
    health: str = ""
    memory_used_mb: int = 0
    memory_mb: int = 0
    processes: list[str] = []


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A device file. `usable`: the user may read and write it."""

    name: str
    present: bool = True
    usable: bool | None = None
    group: str = ""


class Network(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What collective communication needs of the network."""

    interfaces: list[str] | None = None
    addresses: list[str] | None = None
    listening: list[int] | None = None
    own_name_at: list[str] = []
    """The addresses of the machine's own name in /etc/hosts."""


class Python(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The interpreter in which the training runs, and its packages."""

    version: str = ""
    path: str = ""
    packages: dict[str, str] | None = None


class RankTable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file that RANK_TABLE_FILE names."""

    path: str
    problem: str = ""
    """missing, unreadable, invalid (no JSON), or empty."""
    status: str = ""
    servers: list[str] = []
    ranks: list[int] = []
    devices: list[int] = []
    """Device ids of this machine's server, of the only server, or none."""


class Operator(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an operator ran on the device, in a process of its own."""

    state: Literal["ok", "failed", "timeout"]
    message: str = ""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that was found out about a machine."""

    npulint_machine: int
    host: Host | None = None
    boards: int | None = None
    """Ascend boards on the PCI bus."""
    chip: str = ""
    driver: Driver | None = None
    firmware: Package | None = None
    toolkits: list[Package] | None = None
    tool: Tool | None = None
    devices: list[Device] | None = None
    nodes: list[Node] | None = None
    environment: dict[str, str] | None = None
    missing_paths: dict[str, list[str]] = {}
    """Per variable the folders in it that do not exist."""
    driver_libraries: bool | None = None
    """Whether the loader finds the libraries of the driver."""
    nnal: list[str] | None = None
    """Folders of NNAL (ATB)."""
    network: Network | None = None
    disks: list[Disk] = []
    rank_table: RankTable | None = None
    python: Python | None = None
    operator: Operator | None = None


def encoded(snapshot: Snapshot) -> str:
    """A snapshot as text, each member on a line of its own."""
    return msgspec.json.format(msgspec.json.encode(snapshot), indent=2).decode() + "\n"


def decoded(data: bytes) -> Snapshot:
    """A snapshot from its text. Raises `ValueError`."""
    snapshot = msgspec.json.decode(data, type=Snapshot)
    if snapshot.npulint_machine != FORMAT:
        raise ValueError(f"format {snapshot.npulint_machine}")
    return snapshot
