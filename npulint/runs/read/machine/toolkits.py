"""Facts about the toolkits (CANN) of a machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Literal

from npulint.data.chips import chip
from npulint.facts.attributes import flag
from npulint.facts.model import Fact, Span
from npulint.runs.read.machine.facts import MachineToolkit, MachineToolkits
from npulint.runs.read.machine.snapshot import Package, Snapshot

# Releases of drivers, firmware and toolkits.

_NUMBERS = re.compile(r"\d+")
_SERIES = re.compile(r"V\d+R\d+C\d+")


def ordered(release: str) -> tuple[int, ...]:
    """A release as numbers.

    >>> ordered("7.7.0.1.231") < ordered("8.9.9"), ordered("8.2.RC1") < ordered("8.2.0.RC2")
    (True, True)
    """
    return tuple(map(int, _NUMBERS.findall(release)))


def within(release: str, first: str, last: str) -> bool:
    """Whether a release lies between two, by as many numbers as these have.

    >>> within("7.7.0.1.231", "7.0.0", "8.9.9"), within("6.4.12.1", "7.0.0", "7.2.99")
    (True, False)
    """
    size = len(ordered(first))
    return ordered(first) <= ordered(release)[:size] <= ordered(last)


def series(inner: str) -> str:
    """The series of an internal version, by which packages name each other as compatible.

    >>> series("V100R001C23SPC001B231")
    'V100R001C23'
    """
    match = _SERIES.match(inner)
    return match.group() if match else ""


def compatible(own: str, of_own: list[str], other: str, of_other: list[str]) -> bool | None:
    """Whether one of two internal versions is in the other's list; None where neither list is known."""
    if not series(own) or not series(other) or not (of_own or of_other):
        return None
    return series(own) in of_other or series(other) in of_own or series(own) == series(other)


# Where the parts of a snapshot stand.


class Places:
    """The lines of a snapshot, by the words that begin its parts."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self._lines = text.split("\n")

    def at(self, *words: str) -> Span:
        """The line of the last word, each looked for behind the one before."""
        line = 0
        for word in words:
            quoted = f'"{word}"'
            line = next((number for number in range(line, len(self._lines)) if quoted in self._lines[number]), line)
        return Span.at(line + 1)

    def nth(self, part: str, word: str, number: int) -> Span:
        """The line of the member `word` of the entry `number` (from 0) of a list."""
        begin = self.at(part).line
        lines = [line for line in range(begin, len(self._lines)) if f'"{word}":' in self._lines[line]]
        return Span.at(lines[number] + 1) if number < len(lines) else self.at(part)


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
    newest = max(snapshot.toolkits, key=lambda toolkit: ordered(toolkit.version), default=None)
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
