"""Values of tensors that are a single number."""

from __future__ import annotations

import math
import struct
from typing import Any

_FLOATS = {"float16": "<e", "float32": "<f", "float64": "<d"}
_INTEGERS = {
    "int8": "<b",
    "uint8": "<B",
    "int16": "<h",
    "uint16": "<H",
    "int32": "<i",
    "uint32": "<I",
    "int64": "<q",
    "uint64": "<Q",
}


def described(dtype: str, shape: list[int] | None, content: bytes, first: int | float | None) -> dict[str, Any]:
    """The description of a tensor: element type and shape, and its value if it is a single number. `content` are its
    bytes, if stored so; else `first` is the first number of its value list (None: empty, which means zero). Half
    precision is listed as bits."""
    description: dict[str, Any] = {"dtype": dtype, "shape": shape}
    if shape is not None and all(size == 1 for size in shape):
        value = _from_bytes(dtype, content) if content else _listed(dtype, first or 0)
        if value is not None:
            description["value"] = value
    return description


def _from_bytes(dtype: str, content: bytes) -> int | float | bool | None:
    if dtype == "bool":
        return content == b"\1" if len(content) == 1 else None
    if dtype == "bfloat16":
        return _bfloat16(content) if len(content) == 2 else None
    form = _FLOATS.get(dtype) or _INTEGERS.get(dtype)
    if form is None or struct.calcsize(form) != len(content):
        return None
    value: int | float = struct.unpack(form, content)[0]
    return value


def _listed(dtype: str, first: int | float) -> int | float | bool | None:
    if dtype == "bool":
        return bool(first)
    if dtype in ("float16", "bfloat16"):
        return _from_bytes(dtype, (int(first) & 0xFFFF).to_bytes(2, "little")) if math.isfinite(first) else None
    if dtype in _FLOATS:
        return float(first)
    return int(first) if dtype in _INTEGERS and math.isfinite(first) else None


def _bfloat16(content: bytes) -> float:
    value: float = struct.unpack("<f", b"\0\0" + content)[0]
    return value


def single(value: float) -> float:
    """A number rounded to float32."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded
