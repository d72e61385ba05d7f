"""The names below ``torch.cuda``: their NPU counterparts, and their behaviour without CUDA."""

from __future__ import annotations

import re
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.model.running.guards import tests_itself
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import Scope

CUDA = "torch.cuda."
# Public names of torch.cuda that torch_npu.npu does not have; transfer_to_npu leaves them as they are.
_MISSING = frozenset(
    "nvtx nccl comm cudart jiterator tunable profiler sparse streams get_arch_list get_gencode_flags "
    "list_gpu_processes memory_usage device_memory_used temperature power_draw clock_rate is_tf32_supported "
    "current_solver_handle caching_allocator_enable CUDAPluggableAllocator ComplexFloatStorage ComplexDoubleStorage "
    "get_stream_from_external GreenContext has_magma has_half check_error CudaError".split()
)
# Functions that return nothing, zero or False without CUDA, or that are deferred until CUDA is initialised.
_HARMLESS = frozenset(
    "is_available device_count is_initialized manual_seed manual_seed_all seed seed_all empty_cache memory_allocated "
    "max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached memory_stats "
    "set_rng_state set_rng_state_all amp stream".split()
)
_OTHERWISE = {
    "nvtx": "torch_npu.npu.mstx",
    "CUDAGraph": "torch.npu.NPUGraph",
    "CUDAPluggableAllocator": "torch_npu.npu.NPUPluggableAllocator",
    "DoubleTensor": "torch.npu.FloatTensor",
}
Group = Literal["amp", "random", "memory", "stream", "profiler", "other"]
_GROUPS: tuple[tuple[Group, re.Pattern[str]], ...] = (
    ("amp", lazy_compile(r"^amp\b")),
    ("random", lazy_compile(r"seed|rng_state")),
    ("memory", lazy_compile(r"memory|^empty_cache$|^ipc_collect$")),
    ("stream", lazy_compile(r"stream|Stream|Event|synchronize|[gG]raph")),
    ("profiler", lazy_compile(r"^(?:nvtx|profiler|cudart)\b")),
)
TENSOR_TYPE = lazy_compile(r"^torch\.cuda\.(?:\w+\.)?\w+(?:Tensor|Storage)$")
AVAILABLE = frozenset((f"{CUDA}is_available", f"{CUDA}device_count"))
CAPABILITY = frozenset(
    (
        f"{CUDA}get_device_capability",
        f"{CUDA}get_device_properties",
        "torch.npu.get_device_capability",
        "torch.npu.get_device_properties",
    )
)


def part(name: str) -> str:
    """The member of torch.cuda in a canonical name (``amp`` of ``torch.cuda.amp.autocast``)."""
    return name.removeprefix(CUDA).partition(".")[0]


def counterpart(name: str) -> str:
    """The NPU name of a member of torch.cuda; ``none`` if there is none."""
    member = part(name)
    if member in _OTHERWISE:
        return _OTHERWISE[member] + name.removeprefix(CUDA + member)
    return "none" if member in _MISSING else f"torch.npu.{name.removeprefix(CUDA)}"


def covered(name: str) -> Flag:
    """Whether transfer_to_npu replaces a member of torch.cuda."""
    member = part(name)
    return "no" if member in _MISSING else "unknown" if member.startswith("_") else "yes"


def breaks(name: str) -> Flag:
    """Whether calling a member of torch.cuda raises where torch has no CUDA."""
    member = part(name)
    return "no" if member in _HARMLESS else "unknown" if member.startswith("_") or "()" in name else "yes"


def group(name: str) -> Group:
    """The group of a member of torch.cuda: amp, random, memory, stream, profiler or other."""
    rest = name.removeprefix(CUDA)
    return next((word for word, pattern in _GROUPS if pattern.search(rest)), "other")


@once_per_file
def ported(scope: Scope) -> bool:
    """Whether a file names the NPU anywhere, so that it has been migrated."""
    imported = (record.module for record in scope.module.code.imports)
    if scope.module.calls_of("npu") or any(name.startswith(("torch_npu", "torch.npu")) for name in imported):
        return True
    return any(name.startswith(("torch.npu.", "torch_npu.")) for name in scope.call_names)


@once_per_file
def script(scope: Scope) -> bool:
    """Whether a file is an entry script: nothing imports it, or it has code below ``__main__``."""
    if scope.module.main_guards:
        return not tests_itself(scope)
    return scope.path not in scope.context.project.imported_paths
