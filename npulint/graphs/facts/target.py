"""The target environment of a graph."""

from __future__ import annotations

import msgspec

from npulint.data.supported import SupportedOps, snapshot


class Target(msgspec.Struct, frozen=True):
    """The declared releases (empty: not known) and the operators that the adapter of TensorFlow takes to the NPU."""

    torch: str = ""
    adapter: str = ""
    cann: str = ""
    soc: str = ""
    supported: SupportedOps = msgspec.field(default_factory=snapshot)
