"""How many cores the chips have, on which the kernels of profiles run.

Source: the platform configurations of CANN (``Ascend*.ini``: ``ai_core_cnt`` and ``vector_core_cnt``), published in
hicann/runtime (``src/platform/platform_config``). Chips without vector cores of their own count theirs as AI Cores."""

from __future__ import annotations

import msgspec


class ChipCores(msgspec.Struct, frozen=True):
    """The AI (cube) and vector cores of the chips whose SoC versions begin like one of `socs` (without ``Ascend``)."""

    socs: tuple[str, ...]
    cube: int
    vector: int


CHIP_CORES = (
    ChipCores(("910A", "910ProA", "910PremiumA"), 32, 0),
    ChipCores(("910B", "910ProB"), 30, 0),  # of the first generation; no number follows the B
    ChipCores(("910B1", "910B2", "910B2C"), 24, 48),
    ChipCores(("910B3", "910B4", "910B4-1"), 20, 40),
    ChipCores(("910_9381", "910_9382", "910_9391", "910_9392"), 24, 48),
    ChipCores(("910_9362", "910_9363", "910_9372"), 20, 40),
    ChipCores(("950PR_957", "950DT_957"), 28, 56),
    ChipCores(("950PR_958", "950DT_958"), 32, 64),
    ChipCores(("950PR_9599", "950DT_959", "950DT_95A"), 36, 72),
    ChipCores(("310P1",), 10, 8),
    ChipCores(("310P3", "310P5", "310P7"), 8, 7),
)
"""All chips of servers."""

_SEEN = frozenset((25, 50))  # of early 910B1 boards in profiles
CORE_COUNTS = frozenset(
    {chip_cores.cube for chip_cores in CHIP_CORES} | {chip_cores.vector for chip_cores in CHIP_CORES} | _SEEN
) - {0, 7}
"""The numbers of cores that a chip may have."""
MOST_CORES = max(CORE_COUNTS)
"""No chip has more of one kind."""
