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
    access = [_access(one) for one in started_withs]
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


def _container(one: StartedWith, path: str, by: StartedBy, npus: Access, beside: bool) -> StartedContainer:
    explicit = npus in ("devices", "all")
    return StartedContainer(
        one.image or "*",
        path,
        one.span,
        by,
        npus,
        gpus=one.gpus[0][0] if one.gpus else NONE,
        several=sum(bool(_NPU.fullmatch(device)) for device in one.devices) > 1,
        missing_nodes=_missing(one) if npus == "devices" else NONE,
        driver=flag(_mounted(one, _DRIVER)) if explicit and by != "kubernetes" else "unknown",
        hidden=_hiding(one),
        shared_memory=_shared_memory(one),
        program=one.program,
        guarded=one.guarded,
        beside_npu=beside,
        software=_software(one),
        resource=one.resource or NONE,
    )


def _software(one: StartedWith) -> Software:
    known = {software_of(image) for image in (one.image, *one.build_images)} - {"other", "unknown"}
    if len(known) == 1:
        return known.pop()
    return "unknown" if known or one.build_images else software_of(one.image)


def _access(one: StartedWith) -> Access:
    if one.plugin or one.runtime == "ascend" or one.variables & _RUNTIME_VARIABLES:
        return "runtime"
    if one.privileged or any(mount.rstrip("/") == "/dev" for mount in one.mounts):
        return "all"
    if any(map(_NPU.fullmatch, one.devices)):
        return "devices"
    return "unknown" if one.open or any("*" in device for device in one.devices) else "none"


def _missing(one: StartedWith) -> str:
    """The device files that are not passed; none if unknown options may pass them."""
    if one.open or any("*" in re.sub(r"/dev/davinci\*$", "", device) for device in one.devices):
        return NONE
    given = {*one.devices, *one.mounts}
    if given & _OTHER_NODES:
        return NONE
    return ", ".join(node for node in _NODES if node not in given) or NONE


def _mounted(one: StartedWith, wanted: str) -> bool | None:
    """Whether a folder of the host, or a part of it, is mounted; None if unknown options may mount it."""
    for mount in one.mounts:
        path = mount.rstrip("/") or "/"
        if path == wanted or path.startswith(f"{wanted}/") or (wanted.startswith(f"{path}/") and path != "/usr"):
            return True
    return None if one.open or any(mount.startswith("*") for mount in one.mounts) else False


def _hiding(one: StartedWith) -> str:
    """The mount over the folder that holds toolkit and driver."""
    return next((mount for mount in one.mounts if mount.rstrip("/") == _TOOLKIT), NONE)


def _shared_memory(one: StartedWith) -> SharedMemory:
    if one.host_memory or any(mount.rstrip("/") in ("/dev/shm", "/dev") for mount in one.mounts):
        return "host"
    if one.memory_size:
        return "given"
    return "unknown" if one.open else "default"
