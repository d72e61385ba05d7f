"""Facts about the toolkits (CANN) of a machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Literal

from npulint.data.chips import chip
from npulint.facts.attributes import flag
from npulint.facts.model import Fact
from npulint.runs.read.machine.facts import MachineToolkit, MachineToolkits
from npulint.runs.read.machine.places import Places
from npulint.runs.read.machine.snapshot import Package, Snapshot
from npulint.runs.read.machine.versions import compatible, ordered

NONE = "-"
_SEARCHED = ("LD_LIBRARY_PATH", "PYTHONPATH", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH")
_RELEASE = re.compile(r"/(?:ascend-toolkit|nnae|nnrt)/(\d[\w.]*)(?:/|$)|/cann-(\d[\w.]*)(?:/|$)")


def for_npu(snapshot: Snapshot) -> bool:
    """Whether a machine has anything of Ascend."""
    driver = snapshot.driver is not None and snapshot.driver.installed
    return bool(snapshot.boards or snapshot.devices or snapshot.toolkits or driver)


def machines_devices(snapshot: Snapshot) -> int:
    """How many devices or boards a machine has."""
    return len(snapshot.devices or ()) or snapshot.boards or 0


def active(snapshot: Snapshot) -> Package | None:
    """The toolkit in use: that of ASCEND_HOME_PATH, else the only one."""
    packages = snapshot.toolkits or []
    home = (snapshot.environment or {}).get("ASCEND_HOME_PATH", "")
    if home:
        return next(
            (package for package in packages if package.active or (package.path and _same(home, package.path))), None
        )
    return packages[0] if len(packages) == 1 else None


def _same(home: str, path: str) -> bool:
    home, path = posixpath.normpath(home), posixpath.normpath(path)
    return home == path or path.startswith(f"{home}/") or home.startswith(f"{path}/")


def facts(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """The toolkit in use, and what the environment says of toolkits."""
    if snapshot.toolkits is None:
        return
    package = active(snapshot)
    if package is not None:
        yield _toolkit(package, snapshot, places)
    environment = snapshot.environment
    home = (environment or {}).get("ASCEND_HOME_PATH", "")
    newest = max(snapshot.toolkits, key=lambda one: ordered(one.version), default=None)
    variable, folder = _mixed(environment or {}, package)
    yield MachineToolkits(
        "CANN",
        places.path,
        places.at("environment", "ASCEND_HOME_PATH") if home else places.at("toolkits"),
        installed=len(snapshot.toolkits),
        versions=", ".join(toolkit.version for toolkit in snapshot.toolkits) or NONE,
        script=script_of(newest.path) if newest else NONE,
        boards=machines_devices(snapshot),
        loaded=flag(None if environment is None else bool(home)),
        home=home or NONE,
        home_exists=flag(None if not home else "ASCEND_HOME_PATH" not in snapshot.missing_paths),
        mixed=folder or NONE,
        mixed_in=variable or NONE,
    )


def script_of(path: str) -> str:
    """The set_env.sh of a toolkit: beside the folder of its release since CANN 8.5, above it before.

    >>> script_of("/usr/local/Ascend/ascend-toolkit/8.2.RC1")
    '/usr/local/Ascend/ascend-toolkit/set_env.sh'
    >>> script_of("/usr/local/Ascend/cann-8.5.0")
    '/usr/local/Ascend/cann-8.5.0/set_env.sh'
    """
    match = re.match(r"(.*/(?:ascend-toolkit|nnae|nnrt))/", f"{path}/")
    return f"{match.group(1) if match else path}/set_env.sh"


def _toolkit(package: Package, snapshot: Snapshot, places: Places) -> MachineToolkit:
    driver = snapshot.driver if snapshot.driver is not None and snapshot.driver.installed else None
    fits = None if driver is None else compatible(driver.inner, driver.compatible, package.inner, package.compatible)
    machine = snapshot.host.arch if snapshot.host else ""
    return MachineToolkit(
        package.version or NONE,
        places.path,
        places.at("toolkits", package.version),
        folder=package.path or NONE,
        arch=package.arch or NONE,
        arch_fits=flag(package.arch == machine if package.arch and machine else None),
        machine=machine or NONE,
        chip=snapshot.chip or NONE,
        kernels=", ".join(package.kernels or ()) or NONE,
        kernels_fit=_kernels(package, snapshot.chip),
        driver=driver.version if driver is not None and driver.version else NONE,
        driver_fits=flag(fits),
    )


def _kernels(package: Package, wanted: str) -> Literal["yes", "no", "none", "unknown"]:
    if package.kernels is None:
        return "unknown"
    if not package.kernels:
        return "none"
    generation = chip(wanted)
    if not generation:
        return "unknown"
    return "yes" if generation in {chip(name) for name in package.kernels} else "no"


def _mixed(environment: dict[str, str], package: Package | None) -> tuple[str, str]:
    """The first folder of another release that a variable names, and that variable."""
    if package is None or not package.version:
        return "", ""
    for variable in _SEARCHED:
        for folder in environment.get(variable, "").split(":"):
            match = _RELEASE.search(folder)
            release = (match.group(1) or match.group(2)) if match else ""
            if release and ordered(release)[:2] != ordered(package.version)[:2]:
                return variable, folder
    return "", ""
