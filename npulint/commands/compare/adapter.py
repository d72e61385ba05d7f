"""Compares the NPU adapter options that decide numbers, and the mixed precision lists, of two programs."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.commands.training_config.tracer import Tracer
from npulint.data.recipe import setting_parts
from npulint.facts.comparison.difference import Difference, SideValue, of_both
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.model.values.cursors import Scope
from npulint.recognizers.programs import Program

_LIST = "mixlist_entry"
_LOWERING = frozenset(
    """allow_mix_precision allow_mix_precision_fp16 allow_mix_precision_bf16 mixed_float16 mixed_bfloat16
    force_fp16""".split()
)
"""Precision modes in which operators compute with 16 bits that the code lets compute with 32."""


def of_adapter(
    reference: Program, migrated: Program, first: Tracer, second: Tracer, mixed: bool = False
) -> Iterator[Difference]:
    """The differences between the adapter settings of two programs under the starts that the tracers follow. Settings
    missing from a reference that does not use the NPU are part of any migration, except mixed precision where the
    reference computes in float32 (is not `mixed`)."""
    ported = reference.fact.npu
    parts = setting_parts()
    settings = _by_name(reference, parts, first), _by_name(migrated, parts, second)
    for name in dict.fromkeys((*settings[0], *settings[1])):
        fact, other = (side.get(name) for side in settings)
        left, right = _side(fact), _side(other)
        if left is not None and right is not None:
            if _value(fact) is not None and _value(other) is not None:
                yield of_both(parts[name], _value(fact) == _value(other), name, "", left, right)
        else:
            lowers = not mixed and _value(other) in _LOWERING
            change, adapter = ("removed", False) if right is None else ("added", not ported and not lowers)
            yield Difference(parts[name], change, name, "", left, right, adapter=adapter)
    if ported:
        yield from _lists(reference, migrated)


def _by_name(program: Program, parts: dict[str, str], tracer: Tracer) -> dict[str, Fact]:
    name: dict[str, Fact] = {}
    for fact in program.index.of_kind("setting"):
        wanted = parts.get(fact.name, "seed") != "seed"
        if wanted and fact.get("active") != "no" and not _is_off(fact, tracer):
            name.setdefault(fact.name, fact)
    return name


def _is_off(fact: Fact, tracer: Tracer) -> bool:
    """Whether the options passed at this start rule out that the setting is made."""
    place = fact.scope
    return isinstance(place, Scope) and tracer.runs(place) is False


def _value(fact: Fact | None) -> object:
    """The value of a setting; None if unknown."""
    value = None if fact is None else fact.get("value")
    return value.single if isinstance(value, PossibleValues) else value


def _side(fact: Fact | None) -> SideValue | None:
    value = _value(fact)
    return None if fact is None else SideValue("?" if value is None else str(value), fact.path, fact.span)


def _lists(reference: Program, migrated: Program) -> Iterator[Difference]:
    """The differences between the mixed precision lists."""
    first, second = _entries(reference), _entries(migrated)
    near = next((side.shown_as("") for side in second.values()), None)
    for key in dict.fromkeys((*first, *second)):
        change = "none" if key in first and key in second else "removed" if key in first else "added"
        yield Difference("mix_list", change, ": ".join(key), "", first.get(key), second.get(key), near=near)


def _entries(program: Program) -> dict[tuple[str, str], SideValue]:
    return {
        (f"{fact.get('list')} {fact.get('action')}", fact.name): SideValue(fact.name, fact.path, fact.span)
        for fact in program.index.of_kind(_LIST)
    }
