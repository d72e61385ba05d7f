"""Which parts a comparison looks for in each item of the pre-tuning checklist, and where it finds them.

The columns of ``compare_parts.csv``:

``item``, ``part``  a part of a training configuration, and its item (`npulint.facts.recipe.ITEMS`).
``source``          where a program may have it: ``call`` (calls of the recipe tables, options, constants and entries of
                    configuration files), ``formula``, ``adapter`` (settings of the NPU adapter), ``variable`` (of the
                    environment), ``argument`` (of a training framework, in a file or on a command line), ``launcher``
                    (options of distributed launchers), ``option`` or ``order`` (the order of the calls of a step).
``names``           the names there; an argument may have its default (``name=default``).
"""

from __future__ import annotations

import csv
import io
from functools import cache
from typing import Literal, cast

import msgspec

from npulint.data import table

Source = Literal["call", "formula", "adapter", "variable", "argument", "launcher", "option", "order"]


class PartSource(msgspec.Struct, frozen=True):
    """One place where a program may have a part of an item."""

    item: str
    part: str
    source: Source
    names: tuple[str, ...] = ()


class KnownArgument(msgspec.Struct, frozen=True):
    """An argument of a training framework: its part and, if it is known (`has_default`), its default."""

    part: str
    default: object = None
    has_default: bool = False


@cache
def part_sources() -> tuple[PartSource, ...]:
    """The rows of the table."""
    rows = csv.DictReader(io.StringIO(table("compare_parts.csv").decode()))
    return tuple(
        PartSource(row["item"], row["part"], cast("Source", row["source"]), tuple(row["names"].split())) for row in rows
    )


@cache
def parts_by_name(source: Source) -> dict[str, str]:
    """The part of each name of a source."""
    return {name: row.part for row in part_sources() if row.source == source for name in row.names}


@cache
def known_arguments() -> dict[str, KnownArgument]:
    """The arguments of training frameworks, by name."""
    arguments = {}
    for text, part in parts_by_name("argument").items():
        name, equals, default = text.partition("=")
        arguments[name] = KnownArgument(part, _plain(default), bool(equals))
    return arguments


def _plain(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if set(text) & set(".e") else int(text)
    except ValueError:
        return text
