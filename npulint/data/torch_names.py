"""Canonical names of PyTorch, torch_npu and apex members.

The canonical name is the shortest public one: ``torch.nn.Conv2d`` for ``torch.nn.modules.conv.Conv2d``,
``torch.optim.AdamW`` for ``torch.optim.adamw.AdamW``, ``torch.npu.set_device`` for ``torch_npu.npu.set_device``.
"""

from __future__ import annotations

from functools import cache, lru_cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import known_prefix, lazy_table

ROOTS = frozenset(("torch", "torch_npu", "apex"))
# Modules of one class each, named after it: the parent package exports the class.
_HOMES = lazy_compile(
    r"^(torch\.nn)\.modules\.(?:[a-z_0-9]+\.)?([A-Z]\w*)"
    r"|^((?:torch|apex|torch_npu)\.optim(?:izers)?)\.(?!lr_scheduler|swa_utils)[a-z_0-9]+\.([A-Z]\w*)"
)


class _Names(msgspec.Struct, frozen=True):
    aliases: dict[str, str]
    stars: dict[str, list[str]]
    npu: list[str]


_names = lazy_table("torch_names.json", _Names)


@lru_cache(maxsize=1 << 15)
def canonical_torch(name: str) -> str:
    """The canonical form of a dotted name below one of `ROOTS`; anything after a call or subscript is kept."""
    end = min((at for at in (name.find("("), name.find("[")) if at >= 0), default=len(name))
    head, tail = name[:end], name[end:]
    aliases = _names().aliases
    known = known_prefix(head, aliases)
    head = aliases[known] + head[len(known) :] if known else head
    return _HOMES.sub(r"\1\3.\2\4", head) + tail


@cache
def star_names(module: str) -> frozenset[str]:
    """Names that ``from module import *`` binds; empty for an unrecorded module."""
    return frozenset(_names().stars.get(canonical_torch(module), ()))


@cache
def npu_members() -> frozenset[str]:
    """Members of ``torch.npu`` in any recorded release of torch_npu."""
    return frozenset(_names().npu)
