"""Functions and modules that PyTorch no longer has."""

from __future__ import annotations

import msgspec

from npulint.data import lazy_table


class Removed(msgspec.Struct, frozen=True, array_like=True):
    """A removed interface: the first of the releases with torch_npu that surely lacks it, and the replacement. With an
    `argument` (``name|position``) only calls without it are gone."""

    gone: str
    instead: str
    argument: str


removed_interfaces = lazy_table("torch_removed.json", dict[str, Removed])
