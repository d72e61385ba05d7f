"""Names for the numbers of element types, layouts and memory formats in exported programs."""

from __future__ import annotations

from types import MappingProxyType

ELEMENT_TYPES = MappingProxyType(
    {
        1: "uint8",
        2: "int8",
        3: "int16",
        4: "int32",
        5: "int64",
        6: "float16",
        7: "float32",
        8: "float64",
        9: "complex32",
        10: "complex64",
        11: "complex128",
        12: "bool",
        13: "bfloat16",
        28: "uint16",
        29: "float8_e4m3fn",
        30: "float8_e5m2",
        31: "float8_e4m3fnuz",
        32: "float8_e5m2fnuz",
        33: "float8_e8m0fnu",
        34: "uint32",
        35: "uint64",
    }
)
LAYOUTS = MappingProxyType(
    {
        1: "sparse_coo",
        2: "sparse_csr",
        3: "sparse_csc",
        4: "sparse_bsr",
        5: "sparse_bsc",
        6: "mkldnn",
        7: "strided",
    }
)
MEMORY_FORMATS = MappingProxyType(
    {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d", 4: "preserve_format"}
)
UNKNOWN = "unknown"

C10_TYPES = MappingProxyType(
    {
        0: "uint8",
        1: "int8",
        2: "int16",
        3: "int32",
        4: "int64",
        5: "float16",
        6: "float32",
        7: "float64",
        8: "complex32",
        9: "complex64",
        10: "complex128",
        11: "bool",
        12: "qint8",
        13: "quint8",
        14: "qint32",
        15: "bfloat16",
        23: "float8_e5m2",
        24: "float8_e4m3fn",
        25: "float8_e5m2fnuz",
        26: "float8_e4m3fnuz",
        27: "uint16",
        28: "uint32",
        29: "uint64",
    }
)
"""The numbers of element types in TorchScript code, which differ from those of exported programs."""
