"""Facts about the packages that a project requires, from requirements, Dockerfiles and launchers."""

from __future__ import annotations

from typing import Literal

from npulint.data.frameworks import framework
from npulint.data.torch_npu_packages import adapter_for
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact
from npulint.read.requirement import build, excludes_from

Via = Literal["requirements", "pyproject", "pipfile", "setup", "conda", "shell", "dockerfile"]


@fact_kind("dependency")
class Dependency(FileFact):
    """A package is required or installed; the name is the package, in lower case and with `-` between its words."""

    version: str
    """The version specifier as written, without spaces; empty without one."""
    via: Via
    """What requires it."""
    torch: str | None = None
    """Of `torch-npu` the specifier of the torch that the same file requires."""
    pairs: Flag | None = None
    """Of `torch-npu` whether the releases of the two belong together."""
    beside_npu: bool = False
    """Whether the same file requires `torch-npu`, and is thus for NPU servers."""

    @attribute
    def build(self) -> str:
        """The local version, after a plus sign; empty without one."""
        return build(self.version)

    @attribute
    def adapter(self) -> str:
        """Of `torch` in one known release, the specifier of the torch-npu package for it; empty if there is none."""
        return adapter_for(self.version) if self.name == "torch" else ""

    @attribute
    def npu_since(self) -> str:
        """Of a framework the first release with NPU support; empty if unknown."""
        known = framework(self.name.replace("-", "_"))
        return known.since if known is not None and known.support == "native" else ""

    @attribute
    def before_npu(self) -> bool:
        """Whether it is a framework of which only releases without NPU support are allowed."""
        return self.npu_since != "" and excludes_from(self.version, self.npu_since)


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
