"""Facts about containers that a project starts."""

from __future__ import annotations

import posixpath
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.container_images import Software, chip_of
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact

StartedBy = Literal["command", "compose", "kubernetes"]
Access = Literal["devices", "all", "runtime", "none", "unknown"]
SharedMemory = Literal["host", "given", "default", "unknown"]

_SERVES = lazy_compile(r"(?i)infer|serv(?:e|ing|er)|deploy|triton|mindie|(?<![a-z])tgi(?![a-z])|webui|player")
_RESOURCE = lazy_compile(r"huawei\.com/Ascend(?P<chip>310P|910)(?![0-9A-Za-z])")
NONE = "-"  # in messages, for nothing


@fact_kind("container")
class StartedContainer(FileFact):
    """A script, a Compose file or a Kubernetes manifest starts a container; the name is its image, with ``*`` for what
    is computed."""

    by: StartedBy
    """What starts it: a command such as docker run, a service of Docker Compose, or a pod of Kubernetes."""
    npus: Access
    """How it gets NPUs: device files are passed (`devices`), all devices of the host (`all`: it is privileged), the
    Ascend Docker Runtime or a device plugin passes them (`runtime`), or it gets none (`none`)."""
    gpus: str = NONE
    """What requests NVIDIA GPUs, as written, or `-`."""
    several: bool = False
    """Whether it gets more than one NPU as device files."""
    missing_nodes: str = NONE
    """The device files that each process on an NPU opens in addition to those of the NPUs and that are not passed, or
    `-`."""
    driver: Flag = "unknown"
    """Whether the driver of the host is mounted."""
    hidden: str = NONE
    """The mount that hides the toolkit of the image behind the folder of the host, or `-`."""
    shared_memory: SharedMemory = "unknown"
    """The shared memory: that of the host, a `given` size, the `default` of 64 MB, or unknown."""
    program: bool = False
    """Whether it is started with a program, such as a Python script; otherwise it is interactive, or its image
    decides."""
    guarded: bool = False
    """Whether it is started under some condition only."""
    beside_npu: bool = False
    """Whether another container of the file gets NPUs."""
    software: Software = "unknown"
    """Whether its image is for Ascend or for NVIDIA GPUs (`cuda`), as names show, an `other` one, or unknown."""
    resource: str = NONE
    """The NPUs that it requests from a device plugin, such as `huawei.com/Ascend910`, or `-`."""

    @attribute
    def serves(self) -> bool:
        """Whether it is for inference, as the names of its image and of the file show."""
        return _SERVES.search(f"{posixpath.basename(self.path)} {self.name}") is not None

    @attribute
    def chip(self) -> str:
        """The generation of chips that the image is built for; empty if its name does not say it."""
        return chip_of(self.name)

    @attribute
    def resource_fits(self) -> Flag:
        """Whether the requested NPUs are of the generation that the image is built for: Ascend310P is a separate
        resource, all chips of Ascend 910 share one."""
        requested = _RESOURCE.match(self.resource)
        if requested is None or not self.chip:
            return "unknown"
        is_310p = requested["chip"] == "310P"
        return "yes" if is_310p == (self.chip == "310P") else "no"


@fact_kind("gpu_request")
class GpuRequest(FileFact):
    """A container that is started requests NVIDIA GPUs; the name is the request as written: `--gpus all`, or
    nvidia.com/gpu."""

    by: StartedBy
    """What starts the container."""
    image: str
    """The image of the container."""
    software: Software = "unknown"
    """Whether the image is for Ascend or for NVIDIA GPUs."""
    npus: Access = "unknown"
    """How the container gets NPUs."""
    guarded: bool = False
    """Whether the container is started under some condition only."""
    beside_npu: bool = False
    """Whether another container of the file gets NPUs."""
