"""Code that is to run on any accelerator: what replaces CUDA there, and which code is for one device on purpose."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Literal, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.data.accelerator_names import accelerator_names
from npulint.data.names import npu_members
from npulint.model.running.own_classes import class_names
from npulint.model.running.own_helpers import own_helpers
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.torch import device_names

_CUDA = "torch.cuda."
_FIRST = (2, 6)  # the release with torch.accelerator, and with torch.get_device_module without an argument
_DEVICE = "torch.accelerator.current_accelerator()"
_WORD = r"(?:cuda|nvidia|rocm|amd|hip|cupy|nccl|tensorrt|cutlass)"
_FOR_GPU = lazy_compile(rf"(?i)(?:^|[_\-./]){_WORD}(?:$|[_\-./0-9])")
_GPU_CLASS = lazy_compile(r"(?i)_*(?:cuda|rocm|nvidia|nccl|hip)(\w+)$")
_OTHER_DEVICES = ("npu", "cpu", "xpu", "hpu", "mlu", "mps", "musa", "tpu", "ascend")

By = Literal["helper", "accelerator", "none"]


class Instead(NamedTuple):
    """What is written instead of a use of CUDA: an expression, what it belongs to, the import of a helper, and whether
    it takes its place as it is."""

    text: str = "none"
    by: By = "none"
    statement: str = ""
    same: bool = False


def instead_of(name: str, context: Context, call: CallSite | None) -> Instead:
    """What is written instead of a member of torch.cuda."""
    member = name.removeprefix(_CUDA)
    row = accelerator_names().get(member)
    on_npu = device_names.part(name) in npu_members() and device_names.covered(name) == "yes"
    for helper in own_helpers(context) if on_npu else ():
        if own := helper.member(member):  # which may return something else, such as an object for a pair
            return Instead(own, "helper", helper.statement, call is not None and row is not None and row.same)
    release = context.torch_release
    if row is not None and (release is None or release >= row.since):
        plain = call is not None and not call.keywords and not call.starred
        return Instead(row.instead, "accelerator", "", row.same and plain and release is not None)
    if not on_npu:
        return Instead()
    too_old = release is not None and release < _FIRST
    module = "getattr(torch, device.type)" if too_old else "torch.get_device_module()"
    return Instead(f"{module}.{member}", "accelerator")


def device_instead(context: Context) -> Instead:
    """What is written instead of ``"cuda"`` as a device."""
    for helper in own_helpers(context):
        if helper.device:
            return Instead(helper.device, "helper", helper.statement)
    return Instead(_DEVICE, "accelerator")


def is_device_specific(scope: Scope) -> bool:
    """Whether code is for one kind of device on purpose: the name of its file or folder says so, its class is one of
    several (``CudaPlatform``, ``CpuPlatform``), or the file chooses the device for the rest of the project."""
    classes = (ancestor for ancestor in scope.ancestors if ancestor.kind == "class")
    return _is_file_of_one(scope) or any(_is_one_of_several(owner) for owner in classes)


def _is_one_of_several(owner: Scope) -> bool:
    match = _GPU_CLASS.match(owner.last_name)
    return match is not None and any(
        f"{word}{match[1].lower()}" in class_names(owner.context) for word in _OTHER_DEVICES
    )


@once_per_file
def _is_file_of_one(module: Scope) -> bool:
    path = _below(module.context.project.root, module.path)
    if _FOR_GPU.search(path.removesuffix(".py")):
        return True
    return module.path in _choosing(module.context)


@once
def _choosing(context: Context) -> frozenset[str]:
    """The files that the helpers of the project are imported from, and those next to one that is named for another
    device."""
    homes = frozenset[str]().union(*(helper.paths for helper in own_helpers(context)))
    folders = {posixpath.dirname(path) for path in homes}
    beside = {folder for folder in folders if _has_variants(context.project.modules, folder)}
    return homes | {path for path in context.project.modules if posixpath.dirname(path) in beside}


def _has_variants(paths: Iterable[str], folder: str) -> bool:
    """Whether a folder has modules for several devices: ``cuda_accelerator.py`` and ``npu_accelerator.py``."""
    names = (posixpath.basename(path).removesuffix(".py") for path in paths if posixpath.dirname(path) == folder)
    words = {word for name in names for word in name.lower().split("_")}
    return len(words.intersection(("cuda", *_OTHER_DEVICES))) > 1


def _below(root: str, path: str) -> str:
    return path if root in ("", ".") else posixpath.relpath(path, root)
