"""Which names of libraries are classes whose attributes are known."""

from __future__ import annotations

import builtins
import sys
from typing import Final

_KNOWN: Final = frozenset(
    (
        "typing.Generic typing.Protocol typing.NamedTuple typing.TypedDict typing_extensions.TypedDict abc.ABC"
        " enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag types.SimpleNamespace argparse.Namespace"
        " collections.OrderedDict collections.defaultdict contextlib.AbstractContextManager"
    ).split()
)
_KEEPING: Final = sys.stdlib_module_names | {"torch", "torchvision", "pytorch_lightning", "lightning", "transformers"}
_TYPES: Final = frozenset(
    f"builtins.{name}"
    for name, builtin in vars(builtins).items()
    if isinstance(builtin, type) and name not in ("type", "property", "super")
)


def is_known_base(name: str) -> bool:
    """Whether nothing but what is modelled comes from a base class."""
    return name in _KNOWN or name in _TYPES


def keeps_attributes(name: str) -> bool:
    """Whether instances of classes that extend it have the attributes that they are given: a class of a library may
    have a ``__setattr__`` of its own, which those of the standard library and of torch and what builds on it do not use
    for plain values."""
    return is_known_base(name) or name.partition(".")[0] in _KEEPING


def is_class_name(name: str) -> bool:
    """Whether a name of a library is a class of which instances are made here."""
    return name in _TYPES or name in _KNOWN
