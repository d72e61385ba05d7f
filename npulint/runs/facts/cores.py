"""How many cores kernels could have used, where the profile names its device."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.runs.read.environment import ProfiledDevice
from npulint.runs.read.kernel_groups import OperatorKernels
from npulint.runs.read.kernel_words import idle_share, waves_of

_KINDS = {"AI_CORE": "cores", "MIX_AIC": "cores", "AI_VECTOR_CORE": "vector_cores", "MIX_AIV": "vector_cores"}


def with_cores(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; `cores`, `idle` and `waves` of `run_op` follow the devices of the profile, where
    all of these agree. Otherwise they stay what the kernels themselves show."""
    facts = list(facts)
    devices = {(fact.cores, fact.vector_cores) for fact in facts if isinstance(fact, ProfiledDevice)}
    if len(devices) != 1:
        return facts
    known = dict(zip(("cores", "vector_cores"), devices.pop(), strict=True))
    return [_with_cores(fact, known) if isinstance(fact, OperatorKernels) else fact for fact in facts]


def _with_cores(fact: OperatorKernels, known: dict[str, float | None]) -> OperatorKernels:
    cores = known.get(_KINDS.get(fact.core, ""))
    if not isinstance(cores, int) or cores <= 0:
        return fact
    idle, waves = idle_share(fact.block, cores), waves_of(fact.block, cores)
    return msgspec.structs.replace(fact, cores=cores, idle=idle, waves=waves)
