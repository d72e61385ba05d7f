"""Operator types of one purpose taken together: what `run_family` tells, from whichever table has times per type."""

from __future__ import annotations

from functools import lru_cache

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.kernel_words import CUBE, FOREACH, HOST_CORE, LAYOUT
from npulint.read.artifacts.quantities import micro, share

_FAMILIES = (
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
def family_of(type_: str) -> str:
    """What operators of this type are for: layout matrix foreach cast sum resize random stack python patches input
    arithmetic, or other."""
    return next((name for name, pattern in _FAMILIES if pattern.fullmatch(type_)), "other")


class _Family:
    def __init__(self) -> None:
        self.count = self.line = 0
        self.rank = 0
        self.total = self.host = 0.0
        self.longest = -1.0
        self.node = ""
        self.types: dict[str, int] = {}


class Families:
    """All families of a table."""

    def __init__(self) -> None:
        self._found: dict[str, _Family] = {}

    def add(
        self, type_: str, core: str, rank: int, count: int, total: float, longest: float, line: int, node: str
    ) -> None:
        """Kernels of a type: its rank by total time, how many, µs of all and of the longest, and where that stands."""
        name = family_of(type_)
        if name == "other":
            return
        family = self._found.setdefault(name, _Family())
        family.count += count
        family.total += total
        family.rank = min(family.rank or rank, rank)
        family.host += total if core == HOST_CORE else 0.0
        family.types[type_] = family.types.get(type_, 0) + count
        if longest > family.longest:
            family.longest, family.line, family.node = longest, line, node

    def facts(self, path: str, form: str, compute: float, extra: dict[str, dict[str, object]]) -> list[Fact]:
        """A `run_family` for each, by name; `extra` are further attributes of some."""
        return [
            GenericFact("run_family", name, path, Span.at(family.line), _attrs(family, form, compute) | more)
            for name, family in sorted(self._found.items())
            for more in (extra.get(name, {}),)
        ]


def _attrs(family: _Family, form: str, compute: float) -> dict[str, object]:
    types = [f"{type_} {count} ×" for type_, count in family.types.items()]
    return {
        "form": form,
        "covered": "no",
        "count": family.count,
        "types": ", ".join(types[:_TYPES]) + (" …" if len(types) > _TYPES else ""),
        "total_us": micro(family.total),
        "share": share(family.total, compute),
        "rank": family.rank,
        "max_us": micro(max(family.longest, 0.0)),
        "node": family.node,
        "aicpu_us": micro(family.host),
    }
