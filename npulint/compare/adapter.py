"""Compares the NPU adapter options that decide numbers, and the mixed precision lists, of two programs."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.cursors import Scope
from npulint.assemble.programs import Program
from npulint.compare.difference import Difference, SideValue, of_both, of_one
from npulint.data.recipe import setting_parts
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.training_config.provenance.tracer import Tracer

_LIST = "mixlist_entry"


def of_adapter(reference: Program, migrated: Program, first: Tracer, second: Tracer) -> Iterator[Difference]:
    """The differences between the adapter settings of two programs under the starts that the tracers follow. Settings
    missing from a reference that does not use the NPU are part of any migration and not reported."""
    ported = reference.attrs["npu"] == "yes"
    parts = setting_parts()
    yield from _settings(_by_name(reference, parts, first), _by_name(migrated, parts, second), parts, ported)
    if ported:
        yield from _lists(reference, migrated)


def _settings(
    first: dict[str, Fact], second: dict[str, Fact], parts: dict[str, str], ported: bool
) -> Iterator[Difference]:
    for name in dict.fromkeys((*first, *second)):
        one, other = first.get(name), second.get(name)
        left, right = _value(one), _value(other)
        if one is not None and other is not None:
            if left is not None and right is not None:
                yield of_both(parts[name], left == right, name, "", _mark(one, left), _mark(other, right))
        elif other is None and one is not None:
            yield of_one(parts[name], "removed", name, "", _mark(one, left))
        elif other is not None:
            yield of_one(parts[name], "added", name, "", _mark(other, right), adapter=not ported)


def _by_name(program: Program, parts: dict[str, str], tracer: Tracer) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    for fact in program.index.of_kind("setting"):
        wanted = parts.get(fact.name, "seed") != "seed"
        if wanted and fact.get("active") != "no" and not _is_off(fact, tracer):
            found.setdefault(fact.name, fact)
    return found


def _is_off(fact: Fact, tracer: Tracer) -> bool:
    """Whether the options passed at this start rule out that the setting is made."""
    place = fact.scope
    return isinstance(place, Scope) and tracer.runs(place) is False


def _value(fact: Fact | None) -> object:
    value = None if fact is None else fact.get("value")
    return value.single if isinstance(value, PossibleValues) else value


def _lists(reference: Program, migrated: Program) -> Iterator[Difference]:
    first, second = _entries(reference), _entries(migrated)
    for key in dict.fromkeys((*first, *second)):
        one, other = first.get(key), second.get(key)
        change = "none" if one and other else "removed" if one else "added"
        near = next(iter(second.values()), None)
        yield Difference(
            "mix_list",
            change,
            ": ".join(key),
            "",
            None if one is None else _mark(one, one.name),
            None if other is None else _mark(other, other.name),
            near=None if near is None else _mark(near, ""),
        )


def _entries(program: Program) -> dict[tuple[str, str], Fact]:
    entries = program.index.of_kind(_LIST)
    return {(f"{fact.get('list')} {fact.get('action')}", fact.name): fact for fact in entries}


def _mark(fact: Fact, value: object) -> SideValue:
    return SideValue("?" if value is None else str(value), fact.path, fact.span)
