"""The generations of Ascend chips that differ in what programs may do on them, and the names by which files mean them.

Sources: Ascend/pytorch (``torch_npu/csrc/framework/interface/EnvVariables.cpp``, ``docs/zh/api``), op-plugin
(``set_compile_mode``), the tags of Ascend/cann-container-image, and triton-ascend
(``third_party/ascend/backend/runtime/utils.py``: unified buffers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from npulint.core.lazy_regex import lazy_compile


class Chip(msgspec.Struct, frozen=True):
    """One generation. `generation` is what Huawei's documents call it, `names` match the beginnings of its SoC versions
    (without ``Ascend``). `trains`: people train on it today; a project that specifies no chip is judged for these.
    `unified_buffer`: the memory of a vector core in KiB, 0 where npulint does not know it."""

    name: str
    generation: str
    names: str
    trains: bool = False
    bfloat16: bool = True
    unified_buffer: int = 0


CHIPS = (
    Chip("910B", "A2", r"910B|A2\b", trains=True, unified_buffer=192),
    Chip("910C", "A3", r"910C|910_9|A3\b", trains=True, unified_buffer=192),
    Chip("910A", "A1", r"910|A1\b", bfloat16=False),
    Chip("950", "950", r"950|A5\b", unified_buffer=256),
    Chip("310P", "310P", r"310P", bfloat16=False),
)
"""All generations; names are tried in this order, so that ``910`` alone is the first generation."""

OLD_CHIPS = frozenset(chip.name for chip in CHIPS if not chip.bfloat16)
"""The chips without bfloat16, on which operators are compiled online by default."""

_VERSIONS = lazy_compile(
    r"910(?:A|Pro[AB]?|Premium[AB]?)?|910B\d?[A-Z]?|910C\d?|910_9\d{0,3}|950(?:PR|DT)?(?:_\w+)?|310(?:P|B)?\d?|[67]10\w*|A[1235]",
    re.IGNORECASE,
)
"""All SoC versions, also of chips that nobody trains on. What follows a hyphen or ``Vir`` is a part of a chip."""
_MAKER = lazy_compile(r"\Aascend[-_ ]?|\Aatlas (?:\d{3}[TI]? )?(?=A\d\b)", re.IGNORECASE)
_PART = lazy_compile(r"(?:-\w+|vir\d+)\Z", re.IGNORECASE)

_BEGINNINGS = tuple((chip, lazy_compile(chip.names, re.IGNORECASE)) for chip in CHIPS)


def chip(soc: str) -> str:
    """The name of the generation that a SoC version belongs to; empty for others.

    >>> chip("Ascend910B1"), chip("910_9391"), chip("A5"), chip("Ascend310P3"), chip("310")
    ('910B', '910C', '950', '310P', '')
    """
    soc_chip = _found(soc)
    return soc_chip.name if soc_chip is not None else ""


def is_soc(name: str) -> bool:
    """Whether there is a SoC version, or a generation, of this name.

    >>> [is_soc(one) for one in ("Ascend910B1", "910_9391", "a2", "310P3Vir01", "Atlas 800T A2", "910X", "Atlas 800")]
    [True, True, True, True, True, False, False]
    """
    return _VERSIONS.fullmatch(_PART.sub("", without_maker(name))) is not None


def soc_names() -> tuple[str, ...]:
    """The names by which people specify a chip: of generations, and what the documents call them."""
    return tuple(dict.fromkeys(name for soc_chip in CHIPS for name in (soc_chip.name, soc_chip.generation)))


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names of generations without duplicates, those that train first.

    >>> in_order(["950", "310P", "910A"])
    ('910A', '950', '310P')
    """
    return tuple(sorted(set(names), key=lambda name: (name == "310P", name)))


def generation(soc: str) -> str:
    """What Huawei's documents call the generation of a SoC version (A1, A2, A3, 950, 310P); empty for others.

    >>> generation("910B"), generation("910A")
    ('A2', 'A1')
    """
    soc_chip = _found(soc)
    return soc_chip.generation if soc_chip is not None else ""


def _found(soc: str) -> Chip | None:
    name = without_maker(soc)
    return next((soc_chip for soc_chip, begins in _BEGINNINGS if begins.match(name)), None)


def without_maker(name: str) -> str:
    """A SoC version without ``Ascend``; the generation (``A2``) of the name of a product (``Atlas 800T A2``).

    >>> without_maker("Ascend910B1"), without_maker("Atlas 900 A3"), without_maker("Atlas A2")
    ('910B1', 'A3', 'A2')
    """
    return _MAKER.sub("", name)


# The memory of Ascend chips, as one process sees it: that of a chip, for A3 that of a die.

GIB = 1 << 30


class ChipMemory(msgspec.Struct, frozen=True):
    """The memory of the SoC versions whose name begins as `names` says (or of a generation of that name), in GiB;
    `source` says where it is from. Targets name generations, so texts (``step.chip``) name their exceptions."""

    names: str
    gib: int
    source: str

    @property
    def capacity(self) -> int:
        """Its bytes."""
        return self.gib * GIB


MEMORIES = (
    ChipMemory("910B4-1", 64, "npu-smi info of 910B4-1, HBM-Usage"),
    ChipMemory("910B4", 32, "npu-smi info of 910B4, HBM-Usage 32768 MB (Ascend/ModelZoo-PyTorch)"),
    ChipMemory("910B", 64, "npu-smi info of 910B1, 910B2, 910B3: HBM-Usage 65536 MB"),
    ChipMemory("910C", 64, "npu-smi info of an Atlas 900 A3, HBM-Usage 65536 MB"),
    ChipMemory("910A", 32, "Atlas 300T training card, technical white paper: 32 GB HBM"),
    ChipMemory("310P", 24, "Atlas 300I Pro, technical white paper: 24 GB LPDDR4X"),
)
"""Tried in this order. Of others (950) the memory is not recorded."""


def chip_memory(soc: str) -> ChipMemory | None:
    """The memory of a SoC version or of a generation; None if it is not recorded.

    >>> chip_memory("Ascend910B4").gib, chip_memory("910B3").gib, chip_memory("A3").gib, chip_memory("910A").gib
    (32, 64, 64, 32)
    """
    exact = without_maker(soc).upper()
    names = (exact, chip(soc))
    return next((memory for name in names if name for memory in MEMORIES if name.startswith(memory.names)), None)
