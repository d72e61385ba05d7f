"""The element types of TensorFlow, by number and by name (tensorflow/core/framework/types.proto)."""

from __future__ import annotations

_WORDS = {
    0: "invalid",
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    26: "float8_e4m3fnuz",
    27: "float8_e4m3b11fnuz",
    28: "float8_e5m2fnuz",
    29: "int4",
    30: "uint4",
    31: "int2",
    32: "uint2",
    33: "float4_e2m1fn",
}
_SPELT = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
_REFERENCE = 100  # offset of reference types


def word(number: int) -> str:
    """The type with this number: ``float16``; ``float16_ref`` for a reference, ``type_99`` for an unknown one."""
    known = _WORDS.get(number)
    if known is not None:
        return known
    referred = _WORDS.get(number - _REFERENCE) if number > _REFERENCE else None
    return f"{referred}_ref" if referred else f"type_{number}"


_NUMBERS = {f"DT_{_SPELT.get(name, name.upper())}": number for number, name in _WORDS.items()}
_NUMBERS |= {f"{name}_REF": number + _REFERENCE for name, number in _NUMBERS.items() if number}


def number_of(name: str) -> int | None:
    """The number of a type by its name in the text format: ``DT_HALF``; None if unknown."""
    return _NUMBERS.get(name)
