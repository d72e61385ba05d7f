"""Triton kernels whose tiles do not fit into the unified buffer of a vector core."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from npulint.data.chips import CHIPS
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.code import Op, Ref
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.arithmetic import COMPARISONS
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.triton.code import (
    Sizes,
    TritonLaunch,
    configurations,
    has_version_for_npu,
    kernels,
    launches,
    number,
)
from npulint.recognizers.triton.shapes import Tile, Tiles, is_instruction, member, operands, tile

# How much memory on the chip a Triton kernel needs at least: the tiles that are alive at the same time.

_STORES = ("store", "atomic_add", "atomic_max", "atomic_min")
_MOST = 400  # steps of a kernel that are looked at


class Step(msgspec.Struct, frozen=True, eq=False):
    """One step of a kernel in text order: an assignment to `target`, or a call that writes to memory (no target)."""

    target: str
    value: Expr
    scope: Scope
    line: int

    @property
    def names(self) -> list[str]:
        """The variables that it uses."""
        return [part.written for part in self.value.mentioned if part.written]

    @property
    def product(self) -> bool:
        """Whether it only adds a product to its target: ``total += tl.dot(a, b)``."""
        value, call = self.value, self.value.call
        added = value.operands("+")
        if call is not None:
            total = call.argument("acc", 2)
            return member(call) == "dot" and (total is None or total.written == self.target)
        names = [expr for expr in added if expr.written == self.target]
        return len(names) == 1 and any(expr.call is not None and member(expr.call) == "dot" for expr in added)


class Need(msgspec.Struct, frozen=True):
    """What a kernel needs at one place: the bytes, and the tiles."""

    size: int = 0
    tiles: tuple[Tile, ...] = ()


class Life(msgspec.Struct, frozen=True):
    """Where a variable holds a tile that is still needed: after `first` and before `last`, by numbers of steps."""

    name: str
    first: int
    last: int


def uses_matrix_unit(kernel: Scope) -> bool:
    """Whether a kernel multiplies matrices."""
    return any(member(call) in ("dot", "dot_scaled") for call in kernel.calls)


def peak(kernel: Scope, sizes: Sizes) -> Need:
    """The place of a kernel that needs most memory for the vector unit, with what it needs at least."""
    steps = [step for step in _steps(kernel) if _runs(step.scope, kernel, sizes)]
    if len(steps) > _MOST:
        return Need()
    lives = _lives(steps)
    in_matrix_unit = _sums_of_products(steps)
    tiles: Tiles = {}
    best = Need()
    for index, step in enumerate(steps):
        alive = {life.name for life in lives if life.first < index < life.last}
        held = {name: tiles.get(name) for name in alive - in_matrix_unit}
        for instruction in _instructions(step):
            best = max(best, _need(instruction, held, tiles, sizes, in_matrix_unit), key=lambda need: need.size)
        if step.target:
            tiles[step.target] = tile(step.value, tiles, sizes)
    return best


def _steps(kernel: Scope) -> list[Step]:
    steps = [
        _assignment(local_assignment)
        for local_assignment in kernel.local_assignments
        if local_assignment.target.isidentifier()
    ]
    steps += [_write(call) for call in kernel.calls if member(call) in _STORES]
    return sorted(steps, key=lambda step: (step.line, step.value.call is not None))


def _assignment(site: AssignmentSite) -> Step:
    """An assignment; ``x += y`` as ``x + y``, for what it needs is the same for every operator."""
    added = site.value.operands("+=")
    value = site.value.sibling(Op("+", (Ref(site.target), added[0].value))) if added else site.value
    return Step(site.target, value, site.scope, site.line)


def _write(call: CallSite) -> Step:
    return Step("", call.result, call.scope, call.line)


def _runs(scope: Scope, kernel: Scope, sizes: Sizes) -> bool:
    """Whether a block surely runs with these sizes."""
    around = scope
    while around.block != kernel.block:
        if around.kind in ("if", "else"):
            test = _truth(around.test, sizes)
            if test is None or test != (around.kind == "if"):
                return False
        if around.kind not in ("if", "else", "loop") or around.parent is None:
            return False
        around = around.parent
    return True


def _truth(test: Expr, sizes: Sizes) -> bool | None:
    """Whether a condition on sizes holds; None if unknown."""
    if test.operator not in COMPARISONS:
        answer = number(test, sizes)
        return None if answer is None else bool(answer)
    sides = [size for operand in test.operands() if (size := number(operand, sizes)) is not None]
    return COMPARISONS[test.operator](*sides) if len(sides) == 2 else None


def _lives(steps: list[Step]) -> list[Life]:
    """The lives of all variables. A tile that is loaded begins to live where it is used first, as late as it can be."""
    set_at: dict[str, list[int]] = defaultdict(list)
    used_at: dict[str, list[int]] = defaultdict(list)
    for index, step in enumerate(steps):
        for name in dict.fromkeys(step.names):
            used_at[name].append(index)
        if step.target:
            set_at[step.target].append(index)
    return [life for name in set_at for life in _lives_of(name, steps, set_at[name], used_at.get(name, []))]


def _lives_of(name: str, steps: list[Step], set_at: list[int], used_at: list[int]) -> Iterator[Life]:
    for begin, end in zip(set_at, [*set_at[1:], len(steps)], strict=True):
        uses = [index for index in used_at if begin < index <= end]
        if uses:
            call = steps[begin].value.call
            loaded = call is not None and member(call) == "load"
            yield Life(name, uses[0] - loaded if loaded else begin, uses[-1])
    for begin, end in _loops(steps):
        before = any(index < begin for index in set_at)
        inside = [index for index in used_at if begin <= index <= end]
        anew = [index for index in set_at if begin <= index <= end]
        if before and inside and not anew:
            yield Life(name, begin - 1, end + 1)
        elif before and inside and inside[0] <= anew[0]:  # carried from one iteration to the next
            yield Life(name, anew[-1], end + 1)
            yield Life(name, begin - 1, inside[0])


def _loops(steps: list[Step]) -> list[tuple[int, int]]:
    """The first and the last step of each loop."""
    loops: dict[int, list[int]] = defaultdict(list)
    for index, step in enumerate(steps):
        for around in step.scope.ancestors:
            if around.kind == "loop":
                loops[around.block].append(index)
    return [(indices[0], indices[-1]) for indices in loops.values()]


def _sums_of_products(steps: list[Step]) -> set[str]:
    """The variables that sum up products in a loop without being used otherwise in it."""
    products = set()
    for candidate in steps:
        loop = candidate.scope.loop
        if candidate.target and candidate.product:
            inside = [
                step for step in steps if loop is not None and step.scope.is_inside(loop) and step is not candidate
            ]
            if all(candidate.target not in step.names and step.target != candidate.target for step in inside):
                products.add(candidate.target)
    return products


def _instructions(step: Step) -> list[Expr]:
    """The instructions of the vector unit in a step, inner ones included."""
    if step.product:
        return []
    return _inner(step.value)


@walker(depth=40, otherwise=list)
def _inner(value: Expr) -> list[Expr]:
    exprs = [value] if is_instruction(value) else []
    return exprs + [inner for operand in operands(value) for inner in _inner(operand)]


def _need(instruction: Expr, held: Tiles, tiles: Tiles, sizes: Sizes, in_matrix_unit: set[str]) -> Need:
    """What an instruction needs: its operands, what else is alive, and its result where that can replace no operand."""
    alive = {name: kept for name, kept in held.items() if kept is not None and kept.size}
    taken: dict[str, Tile] = {}
    for index, operand in enumerate(operands(instruction)):
        operand_tile = tile(operand, tiles, sizes)
        if (
            operand_tile is not None
            and operand_tile.size
            and operand.written not in alive
            and operand.written not in in_matrix_unit
        ):
            taken[operand.written or str(index)] = operand_tile
    every = [*alive.values(), *taken.values()]
    result = tile(instruction, tiles, sizes)
    if result is not None and all(result.size > replaced.size for replaced in taken.values()):
        every.append(result)
    return Need(sum(needed.size for needed in every), tuple(every))


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
        shapes = ["×".join(map(str, tile.shape)) for tile in self._need.tiles if tile.size]
        return ", ".join(f"{shapes.count(shape)} × {shape}" for shape in dict.fromkeys(shapes))

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
    need, sizes = min(needs, key=lambda needed: needed[0].size)
    blocks = [f"{name}={size}" for name, size in sizes.items() if name in kernel.parameters]
    return TritonTiles(place.scope, place.span, kernel.last_name, kernel, need, ", ".join(blocks))
