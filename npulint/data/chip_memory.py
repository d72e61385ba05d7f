"""The memory of Ascend chips, as one process sees it: that of a chip, for A3 that of a die."""

from __future__ import annotations

import re

import msgspec

from npulint.data.chips import chip

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
    exact = re.sub(r"(?i)^ascend[-_ ]?", "", soc).upper()
    names = (exact, chip(soc))
    return next((one for name in names if name for one in MEMORIES if name.startswith(one.names)), None)
