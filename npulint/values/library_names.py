"""Which names of libraries are classes whose attributes are known."""

from __future__ import annotations

import builtins
from typing import Final

_KNOWN: Final = frozenset(
    (
        "typing.Generic typing.Protocol typing.NamedTuple typing.TypedDict typing_extensions.TypedDict abc.ABC"
        " enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag types.SimpleNamespace argparse.Namespace"
        " collections.OrderedDict collections.defaultdict contextlib.AbstractContextManager"
    ).split()
)
_TYPES: Final = frozenset(
    f"builtins.{name}"
    for name, one in vars(builtins).items()
    if isinstance(one, type) and name not in ("type", "property", "super")
)


def is_known_base(name: str) -> bool:
    """Whether nothing but what is modelled comes from a base class."""
    return name in _KNOWN or name in _TYPES


def is_class_name(name: str) -> bool:
    """Whether a name of a library is a class of which instances are made here."""
    return name in _TYPES or name in _KNOWN
