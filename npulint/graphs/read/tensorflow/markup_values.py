"""Attribute values, from the fields of an AttrValue in text format. All raise `ValueError` for invalid input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npulint.graphs.read.protobuf import numbers
from npulint.graphs.read.protobuf.limits import DIMENSIONS, LIST, TEXT
from npulint.graphs.read.protobuf.literals import integer, real, text, truth, unescaped
from npulint.graphs.read.protobuf.markup import Entries
from npulint.graphs.read.tensorflow.attributes import UNSET
from npulint.graphs.read.tensorflow.types import number_of, word

_REALS = frozenset(("float_val", "double_val"))
_INTEGERS = frozenset(("half_val", "int_val", "int64_val", "bool_val", "uint32_val", "uint64_val"))
_NUMBERS = _REALS | _INTEGERS
_RAW = 128  # bytes, as written, of contents that may be a single number


def value(fields: Entries) -> Any:
    """The value of the last field of an AttrValue; `UNSET` if there is none."""
    found: Any = UNSET
    for name, raw in fields:
        found = _list(raw) if name == "list" else _one(name, raw)
    return found


def _one(name: str, raw: Any) -> Any:
    read = _KINDS.get(name)
    if read is None:
        raise ValueError(name)
    return read(raw)


def _list(fields: Entries) -> list[Any]:
    return [_one(name, raw) for name, raw in _message(fields)[:LIST]]


def _message(raw: Any) -> Entries:
    if type(raw) is not list:
        raise ValueError(raw)
    return raw


def _word(raw: Any) -> str:
    if type(raw) is not str:
        raise ValueError(raw)
    return raw


def type_of(raw: Any) -> str:
    """An element type: by its name, or its number."""
    known = number_of(_word(raw))
    return word(integer(raw) if known is None else known)


def function(fields: Entries, line: int) -> dict[str, str]:
    """A function, from the fields of a NameAttrList."""
    return {"function": next((text(raw) for name, raw in reversed(fields) if name == "name"), "")}


def shape(raw: Any) -> list[int] | None:
    """The dimensions of a TensorShapeProto; None for an unknown rank."""
    sizes: list[int] = []
    for name, one in _message(raw):
        if name == "unknown_rank" and truth(_word(one)):
            return None
        if name == "dim" and len(sizes) < DIMENSIONS:
            sizes.append(next((integer(_word(size)) for key, size in reversed(_message(one)) if key == "size"), 0))
    return sizes


def tensor(raw: Any) -> dict[str, Any]:
    """The description of a TensorProto that is kept."""
    dtype = "invalid"
    sizes: list[int] | None = []
    stored = b""
    first: int | float | None = None
    for name, one in _message(raw):
        if name == "dtype":
            dtype = type_of(one)
        elif name == "tensor_shape":
            sizes = shape(one)
        elif name == "tensor_content":
            stored = b"".join(unescaped(part[:_RAW]) for part in one[:_RAW]) if type(one) is tuple else b""
        elif name in _NUMBERS and first is None:
            first = _number(name, _word(one))
    return numbers.described(dtype, sizes, stored, first)


def _number(name: str, raw: str) -> int | float:
    if name in _REALS:
        return numbers.single(real(raw)) if name == "float_val" else real(raw)
    return int(truth(raw)) if name == "bool_val" else integer(raw)


_KINDS: dict[str, Callable[[Any], Any]] = {
    "s": lambda raw: text(raw, TEXT),
    "i": lambda raw: integer(_word(raw)),
    "f": lambda raw: numbers.single(real(_word(raw))),
    "b": lambda raw: truth(_word(raw)),
    "type": type_of,
    "shape": shape,
    "tensor": tensor,
    "func": lambda raw: raw,
    "placeholder": lambda raw: {"placeholder": text(raw, TEXT)},
}
