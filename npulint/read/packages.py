"""Facts about the packages that a project requires, from requirements, Dockerfiles and launchers."""

from __future__ import annotations

from typing import Literal

from npulint.data.frameworks import framework
from npulint.data.version_matrix import adapter_for, has_adapter, nearest_adapted
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact
from npulint.read.requirement import build, excludes_from

Via = Literal["requirements", "pyproject", "pipfile", "setup", "conda", "shell", "dockerfile"]

_ADAPTED = {
    "torch": "torch",
    "pytorch": "torch",
    "tensorflow": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
}
"""The packages of the frameworks that there are adapters for."""

# The first release with wheels for Python 3.8, as the package index lists them; none has a source distribution.
_FIRST_FOR_PYTHON38 = {"tensorflow": "2.2", "tensorflow-gpu": "2.2"}


@fact_kind("dependency")
class Dependency(FileFact):
    """A package is required or installed; the name is the package, in lower case and with `-` between its words."""

    version: str
    """The version specifier as written, without spaces; empty without one."""
    via: Via
    """What requires it."""
    group: str = ""
    """The extra or group that it belongs to, empty for what is always installed."""
    other_index: bool = False
    """Whether the same file names another package index."""
    beside_npu: bool = False
    """Whether the same file requires `torch-npu`, and is thus for NPU servers."""
    marked: bool = False
    """Whether an environment marker (``; python_version < "3.8"``) decides about it."""
    step: int = 0
    """The number of the command that installs it, among those of its file; 0 in a list of requirements."""

    @attribute
    def build(self) -> str:
        """The local version, after a plus sign; empty without one."""
        return build(self.version)

    @attribute
    def adapter(self) -> str:
        """Of `torch` in one known release, the specifier of the torch-npu package for it; empty if there is none."""
        return adapter_for(self.version) if self.name == "torch" else ""

    @attribute
    def adapter_exists(self) -> Flag:
        """Of PyTorch and TensorFlow whether an adapter for the NPU exists for a release that is allowed; unknown also
        where later ones than those that are known are allowed."""
        adapted = _ADAPTED.get(self.name)
        return flag(has_adapter(adapted, self.version)) if adapted else "unknown"

    @attribute
    def adapted(self) -> str:
        """Of PyTorch and TensorFlow the releases with an adapter just below and above those that are allowed, where
        none of these has one: ``2.1.0, 2.2.0``; otherwise a dash."""
        if self.adapter_exists != "no":
            return "-"
        return ", ".join(nearest_adapted(_ADAPTED[self.name], self.version))

    @attribute
    def before_python38(self) -> bool:
        """Whether it is a package without source distribution of which only releases for Python 3.7 or older are
        allowed."""
        first = _FIRST_FOR_PYTHON38.get(self.name)
        return first is not None and excludes_from(self.version, first)

    @attribute
    def npu_since(self) -> str:
        """Of a framework the first release with NPU support; empty if unknown."""
        record = framework(self.name.replace("-", "_"))
        return record.since if record is not None and record.support == "native" else ""

    @attribute
    def before_npu(self) -> bool:
        """Whether it is a framework of which only releases without NPU support are allowed."""
        return self.npu_since != "" and excludes_from(self.version, self.npu_since)


@fact_kind("python_version", names=("python",))
class PythonVersion(FileFact):
    """The interpreter is of certain releases; the name is python."""

    version: str
    """The version specifier."""
    via: Via
    """What installs or requires it."""


@fact_kind("requirements_file")
class RequirementsFile(FileFact):
    """A requirements file is installed or included; the name is its path as written."""

    via: Via
    """What installs it."""
    step: int = 0
    """The number of the command that installs it, among those of its file; 0 in a list of requirements."""


@fact_kind("package_index")
class PackageIndex(FileFact):
    """CUDA builds of packages are fetched from an address, which is the name."""

    cuda: str
    """The CUDA release as written."""
    wheel: bool
    """Whether the address is that of one package."""
    via: Via
    """What fetches them."""
    guarded: bool = False
    """Whether a condition of a shell script decides about it."""

    @attribute
    def serves(self) -> Literal["mmcv", "other"]:
        """What is fetched: mmcv from the index of OpenMMLab, or another package, mostly PyTorch."""
        return "mmcv" if "openmmlab." in self.name else "other"
