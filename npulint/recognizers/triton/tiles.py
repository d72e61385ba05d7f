"""Triton kernels whose tiles do not fit into the unified buffer of a vector core."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.data.chips import CHIPS
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.triton.code import (
    Sizes,
    TritonLaunch,
    configurations,
    has_version_for_npu,
    kernels,
    launches,
)
from npulint.recognizers.triton.liveness import Need, peak, uses_matrix_unit

_BUFFER = min(chip.unified_buffer for chip in CHIPS if chip.trains)
_VECTOR_CORES = 2  # of an AI core, between which a kernel with matrix products may divide its tiles


@fact_kind("triton_tiles")
class TritonTiles(PlaceFact):
    """The block sizes of a Triton kernel are known, and with them the tiles that it needs at the same time; the name is
    the kernel's. The place is its first configuration, without tuning the launch."""

    _kernel: Scope
    _need: Need
    blocks: str
    """The block sizes, such as ``BLOCK_M=128, BLOCK_N=256``; of a tuned kernel those that need least."""

    @attribute
    def kib(self) -> int:
        """The memory that a vector core needs for them at least, in KiB; of a tuned kernel in the configuration that
        needs least."""
        return self._need.size // self._cores // 1024

    @attribute
    def buffer(self) -> int:
        """The unified buffer of a vector core of A2 and A3 in KiB."""
        return _BUFFER

    @attribute
    def fits(self) -> Flag:
        """Whether they may fit there: tiles that fill it leave no room for anything else."""
        return flag(self.kib < _BUFFER)

    @attribute
    def shapes(self) -> str:
        """The tiles, such as ``3 × 128×256``; each element counts with the least width that it may have."""
        found = ["×".join(map(str, tile.shape)) for tile in self._need.tiles if tile.size]
        return ", ".join(f"{found.count(fromkey)} × {fromkey}" for fromkey in dict.fromkeys(found))

    @attribute
    def matrix(self) -> Flag:
        """Whether the kernel multiplies matrices, so that two vector cores may share its tiles."""
        return flag(self._cores > 1)

    @property
    def _cores(self) -> int:
        return _VECTOR_CORES if uses_matrix_unit(self._kernel) else 1


@recognizes_in_modules
def triton_tiles(module: Scope) -> Iterator[TritonTiles]:
    """The kernels of one module whose block sizes are known, one fact for each place that chooses them."""
    seen: set[CallSite] = set()
    for kernel in () if has_version_for_npu(module) else kernels(module):
        tuned = configurations(kernel)
        if tuned is None:
            continue
        for launch in (
            triton_launch for triton_launch in launches(module.context) if triton_launch.kernel.name == kernel.name
        ):
            place = tuned[0].call if tuned else launch.call
            chosen = [triton_config.sizes for triton_config in tuned] or [launch.sizes]
            if place not in seen and all(chosen):
                seen.add(place)
                yield _smallest(kernel, launch, place, chosen)


def _smallest(kernel: Scope, launch: TritonLaunch, place: CallSite, chosen: list[Sizes]) -> TritonTiles:
    """The fact about the configuration that needs least."""
    needs = [(peak(kernel, {**launch.sizes, **sizes}), sizes) for sizes in chosen]
    need, sizes = min(needs, key=lambda one: one[0].size)
    blocks = [f"{name}={size}" for name, size in sizes.items() if name in kernel.parameters]
    return TritonTiles(place.scope, place.span, kernel.last_name, kernel, need, ", ".join(blocks))
