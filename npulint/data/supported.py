"""The operators that the adapter of TensorFlow takes to the NPU."""

from __future__ import annotations

import msgspec


class SupportedOps(msgspec.Struct, frozen=True):
    """A list of operator types. `gray` ones stay on the host in mixed computing. `source` says whose list it is: the
    path of an installation's own, or empty for the recorded snapshot; `release` that of CANN, or the month of the
    snapshot."""

    ops: frozenset[str] = frozenset()
    gray: frozenset[str] = frozenset()
    source: str = ""
    release: str = ""


def snapshot() -> SupportedOps:
    """The recorded list."""
    return SupportedOps()
