"""Facts about a machine."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import Flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact
from npulint.runs.read.machine.snapshot import ToolState


@fact_kind("machine_tool")
class MachineTool(FileFact):
    """How ``npu-smi info`` ended on a machine; the name is npu-smi."""

    state: ToolState
    message: str
    """The first line that it printed; a dash if none."""
    devices: int
    """The devices that it shows."""
    expected: int
    """The devices that there should be, by boards on the PCI bus or device files; 0 if unknown."""
    lacking: int
    """The devices that it does not show, outside containers, to which often only some are passed."""


@fact_kind("machine_driver")
class MachineDriver(FileFact):
    """The driver of a machine; the name is its version, or a dash."""

    installed: Flag
    boards: int
    """Ascend boards on the PCI bus."""
    container: Flag
    firmware: str
    """The installed firmware; a dash if unknown."""
    firmware_fits: Flag
    """Whether the driver works with the firmware."""
    firmware_range: str
    """The releases of the firmware that it works with."""
    libraries: Flag
    """Whether the loader finds the libraries of the driver."""


@fact_kind("machine_toolkit")
class MachineToolkit(FileFact):
    """A CANN toolkit in use, or the only one; the name is its version."""

    folder: str
    arch: str
    arch_fits: Flag
    """Whether it is for the processor of the machine."""
    machine: str
    """The processor of the machine."""
    chip: str
    """The chip of the machine; a dash if unknown."""
    kernels: str
    """The chips whose compiled operators are installed; a dash if none."""
    kernels_fit: Literal["yes", "no", "none", "unknown"]
    """Whether the compiled operators are for the chip; none: there are no compiled operators."""
    driver: str
    driver_fits: Flag
    """Whether the driver and the toolkit name each other as compatible."""


@fact_kind("machine_toolkits")
class MachineToolkits(FileFact):
    """The environment of CANN on a machine; the name is CANN."""

    installed: int
    """The number of toolkits."""
    versions: str
    script: str
    """The set_env.sh of the newest one."""
    boards: int
    """Devices or boards of the machine."""
    loaded: Flag
    """Whether set_env.sh was executed: ASCEND_HOME_PATH is set."""
    home: str
    """ASCEND_HOME_PATH; a dash if not set."""
    home_exists: Flag
    mixed: str
    """A folder of another release in LD_LIBRARY_PATH or PYTHONPATH; a dash if none."""
    mixed_in: str
    """The variable that names that folder."""


@fact_kind("machine_device")
class MachineDevice(FileFact):
    """A device of a machine; the name is its number."""

    chip: str
    health: str
    used_mb: int
    memory_mb: int
    used_share: float
    """Percentage of device memory in use."""
    processes: str
    """The processes on it; a dash if none is shown."""


@fact_kind("machine_node")
class MachineNode(FileFact):
    """A device file of a machine; the name is its path."""

    present: Flag
    usable: Flag
    """Whether the user may read and write it."""
    group: str
    user: str
    container: Flag
    cards: int
    """The number of /dev/davinci* with a number."""


@fact_kind("machine_limit", ("shared_memory", "open_files", "disk"))
class MachineLimit(FileFact):
    """A limit of a machine: MB of shared memory or free disk, number of open files."""

    amount: float
    about: str
    """The folder; a dash for others."""
    container: Flag
    for_npu: Flag
    """Whether the machine has anything of Ascend."""


@fact_kind("machine_variable")
class MachineVariable(FileFact):
    """An environment variable of a machine that names what the machine may not have."""

    value: str
    problem: Literal["none", "no-interface", "other-address", "no-device", "loopback", "no-folder"]
    has: str
    """What the machine has of this kind."""
    lacking: str
    """The part of the value that it does not have; a dash if none."""


@fact_kind("machine_port")
class MachinePort(FileFact):
    """A port on which a process of a machine listens although collective communication needs it; the name is the
    number."""

    purpose: Literal["hccl", "master"]
    """What it is needed for."""


@fact_kind("machine_rank_table")
class MachineRankTable(FileFact):
    """The rank table of a machine; the name is its path."""

    problem: Literal["none", "missing", "unreadable", "invalid", "ranks", "server", "devices", "unfinished"]
    detail: str


@fact_kind("machine_packages")
class MachinePackages(FileFact):
    """The Python packages of a machine; the name is python."""

    version: str
    torch: str
    """The release; a dash if not installed."""
    torch_npu: str
    tensorflow: str
    cuda: str
    """Packages of CUDA that are installed; a dash if none."""
    lacking: str
    """Packages that CANN imports and that are not installed; a dash if none."""
    atb_user: str
    """An installed package that needs NNAL; a dash if none."""
    nnal_loaded: Flag
    """Whether the set_env.sh of NNAL was executed."""
    nnal: str
    """The folder of NNAL; a dash if not installed."""
    boards: int
    """Devices or boards of the machine."""


@fact_kind("machine_operator")
class MachineOperator(FileFact):
    """An operator that was run on the device; the name is torch_npu."""

    state: Literal["ok", "failed", "timeout"]
    message: str
