"""The fact kinds that classes declare, as queries name them: attributes are fields and `attribute` methods."""

from __future__ import annotations

import pkgutil
import types
from functools import cache
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from npulint.facts.attributes import attribute
from npulint.facts.kinds import FACT_CLASSES, FACT_NAMES
from npulint.facts.model import Fact

Values = frozenset[str]
ANY: Values = frozenset()
"""The words of an attribute, or the names of facts, that may be anything."""

# All modules of these packages are imported recursively, so that their classes are declared.
_PACKAGES = ("npulint.recognizers", "npulint.graphs.facts", "npulint.runs.facts", "npulint.runs.read")
# Other modules that declare kinds.
_MODULES = (
    "npulint.model.programs.resources",
    "npulint.model.programs.program_fact",
    "npulint.recognizers.configured_programs",
    "npulint.model.programs.launch_options",
    "npulint.read.chip_names",
    "npulint.read.containers.facts",
    "npulint.read.dockerfile",
    "npulint.read.cuda",
    "npulint.read.mixlist",
    "npulint.recognizers.versions.conflicts",
    "npulint.read.packages",
    "npulint.read.shell.slurm",
    "npulint.read.launcher_facts",
    "npulint.commands.training_config.repeatability",
    "npulint.commands.compare.facts",
)


class Kind(msgspec.Struct, frozen=True):
    """One fact kind. `attributes` maps each attribute to its possible words (none: any value); `arguments` says whether
    its facts are calls, so that `args` can be queried. `names` are the possible fact names (none: any)."""

    attributes: dict[str, Values]
    arguments: bool = False
    names: Values = ANY


@cache
def fact_kinds() -> dict[str, Kind]:
    """The kinds of all fact classes by name."""
    for package in _PACKAGES:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    for name in _MODULES:
        import_module(name)
    return {kind: _kind(classes, FACT_NAMES.get(kind, ANY)) for kind, classes in FACT_CLASSES.items()}


def _kind(classes: list[type[Fact]], names: Values) -> Kind:
    """The kind of these classes, with the attributes of all. Its names are `names`, or those of fields `name` that are
    ``Literal``."""
    attributes: dict[str, Values] = {}
    literal = [_words(get_type_hints(cls).get("name")) for cls in classes]
    for cls in classes:
        for name, words in attributes_of(cls).items():
            others = attributes.get(name)
            attributes[name] = words if others is None else words | others if words and others else ANY
    return Kind(
        attributes,
        arguments=any(cls.is_call for cls in classes),
        names=names or (frozenset().union(*literal) if all(literal) else ANY),
    )


def attributes_of(cls: type[Fact]) -> dict[str, Values]:
    """The attributes of a class by name, with their possible words (none: any value)."""
    fields = get_type_hints(cls)
    return {name: _words(_hint(cls, name, fields)) for name in sorted(cls.attribute_names())}


def _hint(cls: type[Fact], name: str, fields: dict[str, Any]) -> Any:
    member = getattr(cls, name)
    return get_type_hints(member.work)["return"] if isinstance(member, attribute) else fields[name]


def _words(hint: Any) -> Values:
    """The words of a type: of ``Literal``, ``bool`` and unions of these; empty for other types."""
    if hint is bool:
        return frozenset(("yes", "no"))
    if get_origin(hint) is Literal:
        return frozenset(map(str, get_args(hint)))
    if get_origin(hint) in (Union, types.UnionType):
        parts = [_words(get_arg) for get_arg in get_args(hint) if get_arg is not type(None)]
        return frozenset().union(*parts) if all(parts) else ANY
    return ANY
