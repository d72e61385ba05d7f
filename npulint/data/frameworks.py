"""Training frameworks: which bring NPU support, and which of them place the model and its data on the device."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import known_prefix, lazy_table

Support = Literal["native", "none", "transfer"]
_TRAINER = lazy_compile(r"(?:Trainer|Runner|DataParallel|Accelerator|PartialState|notebook_launcher|\.build_runner)$")
Places = Literal["yes", "trainer", "no"]


class Framework(msgspec.Struct, frozen=True, array_like=True):
    """How a framework supports the NPU: ``native`` (by itself), ``none`` (it knows no NPU), ``transfer`` (an adaptor
    that replaces the functions of CUDA); whether a program that imports it leaves the choice of the device to it
    (``trainer``: one that uses a class that trains, see `is_trainer`); the first version that does so (empty: not
    recorded)."""

    support: Support
    places: Places
    since: str


_tables = lazy_table("frameworks.json", dict[str, Framework])


def framework(name: str) -> Framework | None:
    """The framework of a dotted name, by the longest recorded prefix; None if unknown."""
    return _tables().get(known_prefix(name, _tables()))


def is_trainer(name: str) -> bool:
    """Whether a dotted name is, by its last segment, a class that trains a model that it is given."""
    return _TRAINER.search(name) is not None


def chooses_device(name: str) -> bool:
    """Whether what is imported by this name puts the model on the NPU by itself."""
    record = framework(name)
    if record is None or record.support != "native":
        return False
    return record.places == "yes" or (record.places == "trainer" and is_trainer(name))


@cache
def adaptors() -> tuple[str, ...]:
    """The modules that replace the functions of CUDA, directly or by an import."""
    return tuple(name for name, record in _tables().items() if record.support == "transfer")
