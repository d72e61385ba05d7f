"""Normalised terms of kernel tables: core types, data types, and families of operator types."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.data.chip_cores import CORE_COUNTS, MOST_CORES

HOST_CORE = "AI_CPU"
CUBE = lazy_compile(r"(?:Batch|Grouped)?Mat[Mm]ul.*|Conv[23]D.*|Gemm.*|FullyConnection.*")
"""Types that run on the matrix unit."""

LAYOUT = lazy_compile(
    r"TransData(?:RNN)?|Transpose[DV2]*|Five2Four|Four2Five|NonZeroWithValueShapeTrans|TransposeBatchMatMul"
)
"""Types that only change format or layout."""

OPTIMIZER = lazy_compile(
    r"(?:Mul|Muls|Add|Adds|AddV2|AddN|Addcdiv|Addcmul|Axpy|AxpyV2|Sub|Div|RealDiv|Sqrt|Rsqrt|Square|Pow|Power|Maximum"
    r"|Lerp|Neg|Reciprocal|ZerosLike|Assign|AssignAdd|AssignSub|Foreach\w+)"
)
"""Types that unfused optimizers consist of."""

FOREACH = lazy_compile(r"Foreach\w+")

_COMMUNICATION = frozenset(("HCCL", "COMMUNICATION", "HCOM", "LCCL"))
_COLLECTIVE = lazy_compile(r"hcom_\w*|Hcom[A-Z]\w*|allreduce\w*", 2)
_INPUT = lazy_compile(r"\w*GetNext\w*|QueueDequeue\w*|MEMCPY(?:_ASYNC)?|DataQueue\w*", 2)
_CORES = {
    "AICORE": "AI_CORE",
    "AICPU": HOST_CORE,
    "KERNEL_AICORE": "AI_CORE",
    "KERNEL_AICPU": HOST_CORE,
    "KERNEL_AIVEC": "AI_VECTOR_CORE",
    "AIV": "AI_VECTOR_CORE",
    "AIC": "AI_CORE",
    "NA": "N/A",
    "": "N/A",
}
_DTYPES = {"FLOAT32": "FLOAT", "BFLOAT16": "BF16", "HALF": "FLOAT16", "FLOAT64": "DOUBLE", "NA": "", "N/A": ""}
_INDEX = frozenset(("INT32", "INT64", "UINT32", "UINT64", "BOOL", "STRING", ""))
_WIDE = frozenset(("INT64", "UINT64", "DOUBLE", "BOOL", "COMPLEX64", "COMPLEX128"))


def core_of(text: str) -> str:
    """A normalised core type: AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, DSA_SQE, COMMUNICATION, N/A; others
    unchanged."""
    core = text.upper()
    return "COMMUNICATION" if core in _COMMUNICATION else _CORES.get(core, core)


def is_communication(core: str, type_: str) -> bool:
    """Whether a row is a collective operator, which does not count as computing."""
    return core == "COMMUNICATION" or (core == "N/A" and bool(_COLLECTIVE.fullmatch(type_)))


def is_input(type_: str) -> bool:
    """Whether kernels of a type take the next batch of data."""
    return bool(_INPUT.fullmatch(type_))


def is_multicore(core: str) -> bool:
    """Whether kernels on this core type use several cores: not random numbers and the AI CPU."""
    return core not in ("DSA_SQE", HOST_CORE, "COMMUNICATION", "N/A")


def dtypes_of(text: str) -> tuple[str, ...]:
    """The normalised data types of a cell (``DT_FLOAT16;INT32``): FLOAT16, BF16, FLOAT, DOUBLE, INT32 …"""
    if not text:
        return ()
    dtypes = []
    for part in text.split(";"):
        name = part.strip(' "').upper().removeprefix("DT_")
        dtypes.append(_DTYPES.get(name, name))
    return tuple(dtypes)


def data_dtype(dtypes: tuple[str, ...]) -> str:
    """The type of the first input that is data, not sizes or indices; empty if there is none."""
    return next((dtype for dtype in dtypes if dtype not in _INDEX), "")


def wide_of(dtypes: tuple[str, ...]) -> tuple[str, ...]:
    """The wide types, for which operators often have no AI Core kernel."""
    return tuple(sorted(_WIDE.intersection(dtypes)))


def cores_behind(largest: int) -> int:
    """The number of cores of a chip whose kernels use at most `largest`; 0 if undetermined."""
    return largest if largest in CORE_COUNTS else 0


def waves_of(block: int, cores: int) -> int:
    """How often the cores of a chip are occupied by `block` equal parts, at least: of all chips if `cores` is 0."""
    return -(-block // (cores or MOST_CORES))


def idle_share(block: int, cores: int) -> float:
    """The percentage of idle core slots when `block` equal parts run on `cores` in waves."""
    if block <= 0 or cores <= 0:
        return 0.0
    slots = -(-block // cores) * cores
    return round(100.0 * (slots - block) / slots, 1)
