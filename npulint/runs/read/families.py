"""Aggregates operator types by purpose into `run_family` facts, for all tables with times per type."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.runs.read.kernel_sequences import OfComputing
from npulint.runs.read.kernel_words import CUBE, FOREACH, HOST_CORE, LAYOUT
from npulint.runs.read.quantities import micro, share

Family = Literal[
    "layout", "matrix", "foreach", "cast", "sum", "resize", "random", "stack", "python", "patches", "input",
    "arithmetic", "other"
]  # fmt: skip
"""Families of operator types: layout are TransData, Transpose and the like, stack those of hand-written loops."""

TableForm = Literal["kernel_table", "op_statistic"]

_FAMILIES: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("layout", LAYOUT),
    ("matrix", CUBE),
    ("foreach", FOREACH),
    ("cast", lazy_compile(r"Cast")),
    ("sum", lazy_compile(r"ReduceSumD?")),
    (
        "resize",
        lazy_compile(r"(?:Sync)?Resize(?:Nearest|Bilinear|Bicubic|Area|Linear|Trilinear|Grad|D)\w*|Resize|Upsample\w*"),
    ),
    (
        "random",
        lazy_compile(r"\w*Random\w*|Drop[Oo]ut(?!DoMask)\w*|Multinomial\w*|\w*Bernoulli\w*|\w*TruncatedNormal\w*"),
    ),
    ("stack", lazy_compile(r"Stack(?:Push|Pop|Close)?(?:V2)?|TensorArray\w*|TensorList\w*")),
    ("python", lazy_compile(r"(?:Eager)?PyFunc(?:Stateless)?")),
    ("patches", lazy_compile(r"ExtractImagePatches|ExtractVolumePatches")),
    ("input", lazy_compile(r"\w*GetNext\w*|QueueDequeue\w*")),
    (
        "arithmetic",
        lazy_compile(r"Adds?(?:V2|N)?|Sub|Muls?|Div|RealDiv|FloorDiv|FloorMod|Mod|Square|Pow|Neg|Abs|Reduce\w+|Cumsum"),
    ),
)
_TYPES = 6


@lru_cache(maxsize=4096)
def family_of(type_: str) -> Family:
    """The family of an operator type."""
    return next((name for name, pattern in _FAMILIES if pattern.fullmatch(type_)), "other")


@fact_kind("run_family")
class OperatorFamily(OfComputing):
    """A family of operator types in a kernel table or in op_statistic."""

    name: Family
    form: TableForm
    types: str
    """The types with their numbers of kernels."""
    total_us: float
    rank: int
    """By total time, of the first of its types."""
    max_us: float
    node: str
    """The longest kernel (op_statistic: its type)."""
    aicpu_us: float
    """What the AI CPU takes of the time."""
    float_share: float | None = None
    """Of matrix in a kernel table: percent of its time on float32 data."""
    hf32_share: float | None = None
    """Percent of this that may use HF32."""
    covered: bool = False
    """Whether a kernel table in the folder has the same information."""


class _Family:
    def __init__(self) -> None:
        self.line = self.rank = 0
        self.total = self.host = 0.0
        self.longest = -1.0
        self.node = ""
        self.types: dict[str, int] = {}


class Families:
    """The families of a table."""

    def __init__(self) -> None:
        self._found: dict[Family, _Family] = {}

    def add(
        self, type_: str, core: str, rank: int, count: int, total: float, longest: float, line: int, node: str
    ) -> None:
        """Add the kernels of a type: its rank by total time, their number, total and maximum time in µs, and their
        place."""
        name = family_of(type_)
        if name == "other":
            return
        family = self._found.setdefault(name, _Family())
        family.total += total
        family.rank = min(family.rank or rank, rank)
        family.host += total if core == HOST_CORE else 0.0
        family.types[type_] = family.types.get(type_, 0) + count
        if longest > family.longest:
            family.longest, family.line, family.node = longest, line, node

    def facts(
        self, path: str, form: TableForm, compute: float, matrix: tuple[float | None, float | None] = (None, None)
    ) -> list[OperatorFamily]:
        """A `run_family` for each family, by name; `matrix` are the shares of float32 and HF32 in that of matrices."""
        return [
            _fact(name, family, path, form, compute, matrix if name == "matrix" else (None, None))
            for name, family in sorted(self._found.items())
        ]


def _fact(
    name: Family,
    family: _Family,
    path: str,
    form: TableForm,
    compute: float,
    shares: tuple[float | None, float | None],
) -> OperatorFamily:
    types = [f"{type_} {count} ×" for type_, count in family.types.items()]
    return OperatorFamily(
        name,
        path,
        Span.at(family.line),
        form=form,
        types=", ".join(types[:_TYPES]) + (" …" if len(types) > _TYPES else ""),
        total_us=micro(family.total),
        share=share(family.total, compute),
        rank=family.rank,
        max_us=micro(max(family.longest, 0.0)),
        node=family.node,
        aicpu_us=micro(family.host),
        float_share=shares[0],
        hf32_share=shares[1],
    )
