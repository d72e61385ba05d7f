"""Probes of what is installed: driver, firmware, toolkits (CANN), NNAL, boards."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator

from npulint.doctor.machine import Machine, pairs
from npulint.runs.read.machine.snapshot import Driver, Package
from npulint.runs.read.machine.toolkits import ordered

_DEFAULT = "/usr/local/Ascend"
_SERIES = re.compile(r"V\d+R\d+C\d+")
_RANGE = re.compile(r"\[([\d.]+),([\d.]+)\]")
_RELEASE = re.compile(r"\d+\.\d[\w.-]*")
_INFO = re.compile(r"ascend_(?:toolkit|nnae|nnrt)_install\.info")
_KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
_BOARDS = {"0xd100": "310", "0xd500": "310P", "0xd801": "910A", "0xd802": "910B", "0xd803": "910C"}
_SPLIT = (8, 5)
_VENDOR = "0x19e5"
_LIBRARY = "libascend_hal.so"
_LOADER_FOLDERS = ("/lib64", "/usr/lib64", "/usr/local/lib", "/usr/lib")


def driver_folder(machine: Machine) -> str:
    """The folder below which driver and firmware are installed."""
    return pairs(machine.read("/etc/ascend_install.info") or "").get("Driver_Install_Path_Param", _DEFAULT)


def driver(machine: Machine) -> Driver:
    """The driver."""
    folder = f"{driver_folder(machine)}/driver"
    text = machine.read(f"{folder}/version.info")
    if text is None:
        return Driver(installed=machine.exists(f"{folder}/lib64"), path=folder)
    fields = pairs(text)
    span = _RANGE.search(fields.get("compatible_version_fw", ""))
    return Driver(
        version=fields.get("package_version") or fields.get("Version", ""),
        inner=fields.get("Innerversion", ""),
        compatible=_SERIES.findall(fields.get("compatible_version", "")),
        path=folder,
        firmware=list(span.groups()) if span else [],
    )


def firmware(machine: Machine) -> Package | None:
    """The firmware, if its files are seen; containers rarely have them."""
    folder = f"{driver_folder(machine)}/firmware"
    fields = pairs(machine.read(f"{folder}/version.info") or "")
    return Package(version=fields["Version"], path=folder) if fields.get("Version") else None


def boards(machine: Machine) -> tuple[int | None, str]:
    """The number of Ascend boards on the PCI bus and their chip."""
    base = "/sys/bus/pci/devices"
    names = machine.names(base)
    if names is None:
        return None, ""
    ours = [name for name in names if (machine.read(f"{base}/{name}/vendor") or "").strip() == _VENDOR]
    ids = [(machine.read(f"{base}/{our}/device") or "").strip() for our in ours]
    chips = [_BOARDS[device_id] for device_id in ids if device_id in _BOARDS]
    return len(chips), chips[0] if chips else ""


def toolkits(machine: Machine) -> list[Package]:
    """All installed toolkits, without the links to them."""
    home = machine.environ.get("ASCEND_HOME_PATH", "")
    current = _home_of(machine, home)
    by_path: dict[str, Package] = {}
    for folder in _toolkit_folders(machine, home):
        package = _toolkit(machine, folder)
        if package is not None and package.path not in by_path:
            by_path[package.path] = package
    return [
        Package(
            version=package.version,
            inner=package.inner,
            compatible=package.compatible,
            path=package.path,
            arch=package.arch,
            kernels=package.kernels,
            active=bool(current) and package.path in (current, machine.real(home)),
        )
        for package in by_path.values()
    ]


def _home_of(machine: Machine, home: str) -> str:
    """The folder that ASCEND_HOME_PATH means: ``latest`` has links to the parts of a release."""
    if not home:
        return ""
    for part in ("runtime", "compiler", "toolkit", "opp"):
        if machine.exists(f"{home}/{part}"):
            return posixpath.dirname(machine.real(f"{home}/{part}"))
    return machine.real(home)


def _bases(machine: Machine) -> tuple[str, str]:
    """Where CANN and NNAL are installed by default: for all users, and for one."""
    return _DEFAULT, f"{machine.environ.get('HOME', '/root')}/Ascend"


def _toolkit_folders(machine: Machine, home: str) -> Iterator[str]:
    for base in _bases(machine):
        for kind in ("ascend-toolkit", "nnae", "nnrt"):
            for name in machine.names(f"{base}/{kind}") or ():
                if _RELEASE.fullmatch(name):
                    yield f"{base}/{kind}/{name}"
        for name in machine.names(base) or ():
            if name.startswith("cann-") or name == "cann":
                yield f"{base}/{name}"
    if home:
        yield _home_of(machine, home)


def _toolkit(machine: Machine, folder: str) -> Package | None:
    real = machine.real(folder)
    for below in (real, *(f"{real}/{name}" for name in machine.names(real) or () if name.endswith("-linux"))):
        info = next((name for name in machine.names(below) or () if _INFO.fullmatch(name)), None)
        if info is not None:
            fields = pairs(machine.read(f"{below}/{info}") or "")
            return Package(
                version=fields.get("version", ""),
                inner=fields.get("innerversion", ""),
                compatible=_SERIES.findall(fields.get("compatible_version", "")),
                path=real,
                arch=fields.get("arch", ""),
                kernels=_kernels(machine, fields.get("version", ""), (real, below)),
            )
    return None


def _kernels(machine: Machine, release: str, folders: Iterable[str]) -> list[str] | None:
    """The chips whose compiled operators are installed; None where it cannot be told: since 8.5 the operators come in
    several packages, which may use other folders."""
    seen = False
    for folder in folders:
        seen = seen or machine.exists(f"{folder}/opp")
        names = machine.names(f"{folder}/{_KERNELS}")
        if names is not None:
            return [name for name in names if name.startswith("ascend")]
    return [] if seen and ordered(release)[:2] < _SPLIT else None


def nnal(machine: Machine) -> list[str]:
    """Folders of NNAL."""
    return [f"{base}/nnal/atb" for base in _bases(machine) if machine.exists(f"{base}/nnal/atb/set_env.sh")]


def driver_libraries(machine: Machine) -> bool | None:
    """Whether the loader finds the driver's libraries; None without a driver."""
    folder = f"{driver_folder(machine)}/driver/lib64"
    if not machine.exists(folder):
        return None
    searched = [directory for directory in machine.environ.get("LD_LIBRARY_PATH", "").split(":") if directory]
    listed = ["/etc/ld.so.conf", *(f"/etc/ld.so.conf.d/{name}" for name in machine.names("/etc/ld.so.conf.d") or ())]
    for path in listed:
        searched += [line.strip() for line in (machine.read(path) or "").splitlines() if line.startswith("/")]
    return any(machine.exists(os.path.join(directory, _LIBRARY)) for directory in (*searched, *_LOADER_FOLDERS))
