"""Shapes of the tiles that a Triton kernel computes with, as far as its block sizes are known."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import msgspec

from npulint.facts.code import Const
from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.triton.code import Sizes, number, triton_name

LANGUAGE = "triton.language."
_WIDTHS = {
    **dict.fromkeys(("float32", "int32", "uint32"), 4),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float64", "int64", "uint64"), 8),
}
_HALF = 2  # the least width of a floating point number in arithmetic
# Functions of floating point numbers, element by element.
_MATH = frozenset("exp exp2 log log2 sqrt rsqrt sqrt_rn sin cos tanh sigmoid erf softmax fdiv div_rn".split())
_ELEMENTWISE = frozenset("maximum minimum where abs fma clamp cast math".split()) | _MATH
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "in", "is"))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**", "neg"))
_REDUCTIONS = frozenset("sum max min xor_sum argmax argmin reduce".split())


class Tile(msgspec.Struct, frozen=True):
    """A tile: its `shape`, the least number of bytes of an element, and whether its elements are `data`: loaded or
    computed from loaded ones, and no indices, from which the compiler only computes addresses."""

    shape: tuple[int, ...]
    width: int = 1
    data: bool = True

    @property
    def size(self) -> int:
        """Its least number of bytes in memory on the chip."""
        return prod(self.shape) * self.width if self.data else 0


Tiles = dict[str, "Tile | None"]
"""The tiles that variables hold; None for a variable of which nothing is known."""


def member(call: CallSite) -> str:
    """The name of what a call calls in the language of Triton (``dot``); empty for other calls."""
    name = triton_name(call.name)
    return name.removeprefix(LANGUAGE) if name.startswith(LANGUAGE) and "()" not in name else ""


def tile(value: Expr, tiles: Tiles, sizes: Sizes) -> Tile | None:
    """The tile that an expression gives; None if it is a scalar or unknown."""
    if value.written:
        return tiles.get(value.written)
    call = value.call
    if call is not None:
        return _of_call(call, tiles, sizes)
    if value.operator == "[]":
        return _of_subscript(value, tiles, sizes)
    if value.operator in _ARITHMETIC:
        broadcast = _broadcast([tile(operand, tiles, sizes) for operand in value.operands()])
        halves = any(isinstance(operand.literal, float) for operand in value.operands()) or value.operator == "/"
        return _at_least(broadcast, _HALF) if halves else broadcast
    return None


def operands(value: Expr) -> list[Expr]:
    """What an instruction takes: operands of arithmetic, arguments of a call, the object of a method."""
    call = value.call
    if call is None:
        return value.operands()
    receiver = call.receiver
    return [*([] if receiver is None or member(call) else [receiver]), *call.arguments]


def is_instruction(value: Expr) -> bool:
    """Whether an expression is computed by the vector unit: arithmetic, mathematical functions, reductions."""
    call = value.call
    if call is not None:
        name = member(call).rpartition(".")[2]
        return name in _ELEMENTWISE or name in _REDUCTIONS
    return value.operator in _ARITHMETIC


def _of_call(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    name = member(call)
    if not name:
        return _of_method(call, tiles, sizes)
    last = name.rpartition(".")[2]
    special = _SPECIAL.get(last)
    if special is not None:
        return special(call, tiles, sizes)
    if last in _ELEMENTWISE:
        given = [tile(argument, tiles, sizes) for argument in call.args[last == "where" :]]
        broadcast = _broadcast(given)
        return _at_least(broadcast, _HALF) if last in _MATH else broadcast
    return None


def _of_method(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    receiver = call.receiver
    held = None if receiver is None else tile(receiver, tiles, sizes)
    if held is None:
        return None
    if call.last in ("to", "cast"):
        return _converted(held, call.argument("dtype", 0))
    return held if call.last in ("abs", "exp", "sigmoid") else None


def _converted(held: Tile, kind: Expr | None) -> Tile:
    width = 1 if kind is None else _WIDTHS.get(triton_name(kind.name).removeprefix(LANGUAGE), 1)
    return Tile(held.shape, width, held.data)


def _created(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    shape = _shape(call.argument("shape", 0), sizes)
    kind = call.argument("dtype", 2 if call.last == "full" else 1)
    return None if shape is None else _converted(Tile(shape), kind)


def _like(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    return tile(call.args[0], tiles, sizes) if call.args else None


def _range(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    ends = [number(argument, sizes) for argument in call.args]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[1] <= ends[0]:
        return None
    return Tile((ends[1] - ends[0],), 4, data=False)


def _block_pointer(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    shape = _shape(call.argument("block_shape", 4), sizes)
    return None if shape is None else Tile(shape, 1, data=False)


def _loaded(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    pointers = call.argument("pointer", 0)
    of_pointers = None if pointers is None else tile(pointers, tiles, sizes)
    return None if of_pointers is None else Tile(of_pointers.shape)


def _product(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    sides = [tile(argument, tiles, sizes) for argument in call.args[:2]]
    left, right = sides if len(sides) == 2 else (None, None)
    if left is None or right is None or len(left.shape) != 2 or len(right.shape) != 2:
        return None
    return Tile((left.shape[0], right.shape[1]), 4)


def _transposed(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    held = _like(call, tiles, sizes)
    return Tile(held.shape[::-1], held.width, held.data) if held is not None and len(call.args) == 1 else None


def _reduced(call: CallSite, tiles: Tiles, sizes: Sizes) -> Tile | None:
    held, axis = _like(call, tiles, sizes), call.argument("axis", 1)
    place = None if axis is None else number(axis, sizes)
    if held is None or place is None or not -len(held.shape) <= place < len(held.shape) or len(call.arguments) > 2:
        return None
    left = [size for index, size in enumerate(held.shape) if index != place % len(held.shape)]
    return Tile(tuple(left), held.width, held.data) if left else None


_SPECIAL: dict[str, Callable[[CallSite, Tiles, Sizes], Tile | None]] = {
    **dict.fromkeys(("zeros", "full"), _created),
    **dict.fromkeys(("zeros_like", "multiple_of", "max_contiguous", "advance"), _like),
    **dict.fromkeys(_REDUCTIONS, _reduced),
    "arange": _range,
    "make_block_ptr": _block_pointer,
    "load": _loaded,
    "dot": _product,
    "trans": _transposed,
}


def _shape(value: Expr | None, sizes: Sizes) -> tuple[int, ...] | None:
    shown = [] if value is None else value.displays
    if len(shown) != 1 or not shown[0].items:
        return None
    numbers = [number(item, sizes) for item in shown[0].items]
    lengths = [number for number in numbers if number is not None and number > 0]
    return tuple(lengths) if len(lengths) == len(numbers) else None


def _of_subscript(value: Expr, tiles: Tiles, sizes: Sizes) -> Tile | None:
    """``x[:, None]``: a tile with further dimensions of size 1."""
    holder, key = value.operands()
    held = tile(holder, tiles, sizes)
    if held is None or not key.items:
        return None
    left, shape = list(held.shape), []
    for item in key.items:
        if item.value == Const(None):
            shape.append(1)
        elif item.is_unknown and left:
            shape.append(left.pop(0))
        else:
            return None
    return Tile((*shape, *left), held.width, held.data)


def _broadcast(tiles: list[Tile | None]) -> Tile | None:
    """What arithmetic of some tiles and scalars gives; None without a tile, or for tiles that do not fit together."""
    held = [tile for tile in tiles if tile is not None]
    if not held:
        return None
    rank = max(len(tile.shape) for tile in held)
    padded = [(1,) * (rank - len(tile.shape)) + tile.shape for tile in held]
    shape = tuple(max(sizes) for sizes in zip(*padded, strict=True))
    if any(size not in (1, longest) for lengths in padded for size, longest in zip(lengths, shape, strict=True)):
        return None
    data = any(tile.data for tile in held)
    return Tile(shape, max(tile.width for tile in held if tile.data or not data), data)


def _at_least(held: Tile | None, width: int) -> Tile | None:
    return None if held is None else Tile(held.shape, max(held.width, width), held.data)
