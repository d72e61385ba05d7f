"""The record of a program's precision, which answers for all that speaks about it."""

from __future__ import annotations

from typing import Literal

import msgspec

from npulint.facts.attributes import Flag

Precision = Literal["mixed", "fp16", "origin", "default", "unknown"]
Computed = Literal["float16", "bfloat16", "float32", "chip", "unknown"]
Lowered = Literal["float16", "bfloat16", "float32", "planned", "unknown"]
_HALF_BY_DEFAULT = ("910A", "310P")  # chips whose default mode is allow_fp32_to_fp16


class ProgramPrecision(msgspec.Struct, frozen=True):
    """What a program says of its precision: its settings, and for PyTorch its code and the arguments of frameworks."""

    kind: Precision = "unknown"
    """The kind of mode that is set; `default` if none is."""
    gradients: Computed = "unknown"
    """The type of the gradients of matrix operators; `chip` if the default of the chip decides."""
    operators: Lowered = "unknown"
    """The type that the mode lowers other operators to."""
    parameters: Computed = "unknown"
    """The type of the parameters that the optimizer updates; of PyTorch programs."""
    scaled: Flag = "unknown"
    """Whether the loss is scaled; of PyTorch programs."""

    def gradients_on(self, soc: str) -> Computed:
        """The type of the gradients on a generation of chips; empty: not known."""
        if self.gradients != "chip" or not soc:
            return self.gradients
        return "float16" if soc in _HALF_BY_DEFAULT else "float32"
