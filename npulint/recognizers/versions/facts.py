"""Facts about packages that a project installs together on NPU servers."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import Flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact


@fact_kind("version_conflict")
class VersionConflict(FileFact):
    """A package is installed together with a release of another that it does not work with; the name is the
    package."""

    version: str
    """The version specifier as written."""
    other: str
    """The other package; also python and cann."""
    other_version: str
    """The version of the other one as written."""
    needs: str
    """What the release of the package needs of the other one."""
    fits: str
    """The newest releases of the package that work with the other one; a dash if none is known."""
    other_place: str
    """Where the other one is written, as path:line; empty for a declared release."""


@fact_kind("installed_together")
class InstalledTogether(FileFact):
    """Two packages are installed that overwrite each other's files; the name is the one for the NPU."""

    other: str
    """The other package."""
    other_place: str
    """Where the other one is written, as path:line; empty for a declared release."""


@fact_kind("uninstallable")
class Uninstallable(FileFact):
    """A package cannot be installed on the machines that the file is for; the name is the package."""

    version: str
    """The version specifier as written."""
    why: Literal["development_build", "no_aarch64_wheel"]
    """What is missing."""
    instead: str = ""
    """The package to install instead; a dash if none is known."""
    aarch64: Flag | None = None
    """Whether the file is certainly for Arm processors."""
