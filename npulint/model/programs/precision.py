"""The record of a program's precision, which answers for all that speaks about it."""

from __future__ import annotations

from typing import Literal

import msgspec

Precision = Literal["mixed", "fp16", "origin", "default", "unknown"]
Computed = Literal["float16", "bfloat16", "float32", "chip", "unknown"]
Lowered = Literal["float16", "bfloat16", "float32", "planned", "unknown"]
_HALF_BY_DEFAULT = ("910A", "310P")  # chips whose default mode is allow_fp32_to_fp16


class ProgramPrecision(msgspec.Struct, frozen=True):
    """What the settings of a program say of its precision."""

    kind: Precision = "unknown"
    """The kind of mode that is set; `default` if none is."""
    gradients: Computed = "unknown"
    """The type of the gradients of matrix operators; `chip` if the default of the chip decides."""
    operators: Lowered = "unknown"
    """The type that the mode lowers other operators to."""

    def gradients_on(self, soc: str) -> Computed:
        """The type of the gradients on a generation of chips; empty: not known."""
        if self.gradients != "chip" or not soc:
            return self.gradients
        return "float16" if soc in _HALF_BY_DEFAULT else "float32"
