"""What a container is started with, however that is written."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.container_images import Software, software_of
from npulint.facts.attributes import flag
from npulint.facts.model import Fact, Span
from npulint.read.containers.facts import NONE, Access, GpuRequest, SharedMemory, StartedBy, StartedContainer

_NPU = lazy_compile(r"/dev/davinci(?:\d+|\*)")
_NODES = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
_OTHER_NODES = frozenset(("/dev/ummu", "/dev/uburma", "/dev/svm0"))  # of the 950, and of modules without a host
_DRIVER = "/usr/local/Ascend/driver"
_TOOLKIT = "/usr/local/Ascend"
_RUNTIME_VARIABLES = frozenset(("ASCEND_VISIBLE_DEVICES", "ASCEND_RUNTIME_OPTIONS"))


PROGRAM = lazy_compile(
    r"(?<![\w.-])(?:i?python[\d.]*|torchrun|accelerate|deepspeed|llamafactory-cli|swift)\s|\.(?:py|sh)\b"
)
"""What the command of a container that trains contains."""


class StartedWith(msgspec.Struct):
    """What a container is started with. `mounts` are folders and files in the container. `open`: options that are not
    known may add to it."""

    image: str
    span: Span
    build_images: tuple[str, ...] = ()
    """Images that it is built from, as arguments of the build name them."""
    devices: list[str] = []
    mounts: list[str] = []
    runtime: str = ""
    variables: set[str] = set()
    plugin: bool = False
    """Whether a device plugin of Kubernetes passes NPUs."""
    resource: str = ""
    """The NPUs that it requests from that plugin."""
    privileged: bool = False
    host_memory: bool = False
    memory_size: bool = False
    gpus: list[tuple[str, Span]] = []
    """Requests for NVIDIA GPUs."""
    program: bool = False
    """Whether its command is a program, such as a Python script."""
    open: bool = False
    guarded: bool = False


def container_facts(containers: Iterable[StartedWith], path: str, by: StartedBy) -> list[Fact]:
    """The facts of the containers that one file starts."""
    started_withs = list(containers)
    access = [_access(started_with) for started_with in started_withs]
    facts: list[Fact] = []
    for place, (started_with, npus) in enumerate(zip(started_withs, access, strict=True)):
        beside = any(other in ("devices", "runtime") for at, other in enumerate(access) if at != place)
        facts.append(_container(started_with, path, by, npus, beside))
        facts += [
            GpuRequest(
                name, path, span, by, started_with.image, _software(started_with), npus, started_with.guarded, beside
            )
            for name, span in started_with.gpus
        ]
    return facts


def _container(started_with: StartedWith, path: str, by: StartedBy, npus: Access, beside: bool) -> StartedContainer:
    explicit = npus in ("devices", "all")
    return StartedContainer(
        started_with.image or "*",
        path,
        started_with.span,
        by,
        npus,
        gpus=started_with.gpus[0][0] if started_with.gpus else NONE,
        several=sum(bool(_NPU.fullmatch(device)) for device in started_with.devices) > 1,
        missing_nodes=_missing(started_with) if npus == "devices" else NONE,
        driver=flag(_mounted(started_with, _DRIVER)) if explicit and by != "kubernetes" else "unknown",
        hidden=_hiding(started_with),
        shared_memory=_shared_memory(started_with),
        program=started_with.program,
        guarded=started_with.guarded,
        beside_npu=beside,
        software=_software(started_with),
        resource=started_with.resource or NONE,
    )


def _software(started_with: StartedWith) -> Software:
    kinds = {software_of(image) for image in (started_with.image, *started_with.build_images)} - {"other", "unknown"}
    if len(kinds) == 1:
        return kinds.pop()
    return "unknown" if kinds or started_with.build_images else software_of(started_with.image)


def _access(started_with: StartedWith) -> Access:
    if started_with.plugin or started_with.runtime == "ascend" or started_with.variables & _RUNTIME_VARIABLES:
        return "runtime"
    if started_with.privileged or any(mount.rstrip("/") == "/dev" for mount in started_with.mounts):
        return "all"
    if any(map(_NPU.fullmatch, started_with.devices)):
        return "devices"
    return "unknown" if started_with.open or any("*" in device for device in started_with.devices) else "none"


def _missing(started_with: StartedWith) -> str:
    """The device files that are not passed; none if unknown options may pass them."""
    if started_with.open or any("*" in re.sub(r"/dev/davinci\*$", "", device) for device in started_with.devices):
        return NONE
    given = {*started_with.devices, *started_with.mounts}
    if given & _OTHER_NODES:
        return NONE
    return ", ".join(node for node in _NODES if node not in given) or NONE


def _mounted(started_with: StartedWith, wanted: str) -> bool | None:
    """Whether a folder of the host, or a part of it, is mounted; None if unknown options may mount it."""
    for mount in started_with.mounts:
        path = mount.rstrip("/") or "/"
        if path == wanted or path.startswith(f"{wanted}/") or (wanted.startswith(f"{path}/") and path != "/usr"):
            return True
    return None if started_with.open or any(mount.startswith("*") for mount in started_with.mounts) else False


def _hiding(started_with: StartedWith) -> str:
    """The mount over the folder that holds toolkit and driver."""
    return next((mount for mount in started_with.mounts if mount.rstrip("/") == _TOOLKIT), NONE)


def _shared_memory(started_with: StartedWith) -> SharedMemory:
    if started_with.host_memory or any(mount.rstrip("/") in ("/dev/shm", "/dev") for mount in started_with.mounts):
        return "host"
    if started_with.memory_size:
        return "given"
    return "unknown" if started_with.open else "default"
