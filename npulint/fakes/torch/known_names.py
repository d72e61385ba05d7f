"""Names of torch_npu that its fake lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npulint.data.aten import plugin_operators
from npulint.data.libraries import retired_op
from npulint.fakes.torch.errors import NotSimulated

_OTHERS = frozenset(
    "HiFloat8Tensor _C _afd asd distributed dynamo empty_with_format empty_with_swapped_memory erase_stream "
    "float4_e1m2fn_x2 float4_e2m1fn_x2 float8_e4m3fn float8_e5m2 float8_e8m0fnu hifloat8 matmul_checksum meta "
    "new_device onnx op_plugin testing unsupported_dtype version".split()
)


def answering(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of the package: operators that torch_npu has raise when they are called, its other names at
    once, and unknown names as in any module."""

    def attribute(name: str) -> Any:
        if name in plugin_operators() or (not name.startswith("__") and retired_op(name) is not None):
            return _lacking(f"{package}.{name}")
        if name in _OTHERS:
            raise NotSimulated(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute


def _lacking(name: str) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(name)

    return called
