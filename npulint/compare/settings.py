"""Compares what launchers, options and configuration files set on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.compare.difference import Difference, SideValue
from npulint.facts.recipe import TrainingSetting
from npulint.lazy_regex import lazy_compile
from npulint.training_config.provenance.plain import canonical
from npulint.training_config.steps.components import TYPE
from npulint.training_config.steps.naming import refined_part
from npulint.training_config.steps.unresolved import component

_FUSED = lazy_compile(r"(?i)^npu_?fused_?(?=\w)")


def of_settings(reference: Sequence[TrainingSetting], migrated: Sequence[TrainingSetting]) -> Iterator[Difference]:
    """Compares settings of the same name whose values are both known. A setting that only one side has is not reported:
    its use is."""
    theirs = {one.what: one for one in migrated}
    for one in {one.what: one for one in reference}.values():
        other = theirs.get(one.what)
        if other is None or not (one.traced.known and other.traced.known):
            continue
        same = are_equal(one.traced.value, other.traced.value, one.what)
        yield Difference(
            part=refined_part(other.part if one.part == "setting" else one.part, one.what),
            change="none" if same else "changed",
            what=one.what,
            reference=_mark(one),
            migrated=_mark(other),
            named=True,
        )


def are_equal(one: object, other: object, what: str) -> bool:
    """Whether two values of a setting are equal; a fused NPU optimizer equals the optimizer it replaces."""
    if canonical(one) == canonical(other):
        return True
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    if what.endswith(f".{TYPE}"):
        first, second = component(one), component(other)
        return first is not None and second is not None and first.same_as == second.same_as
    return bool(_FUSED.match(one) or _FUSED.match(other)) and _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return _FUSED.sub("", name).replace("_", "").lower()


def _mark(one: TrainingSetting) -> SideValue:
    way = one.traced.provenance
    if way:
        return SideValue(one.traced.text, way[0].path, way[0].span, way)
    return SideValue(one.traced.text, one.path, one.span)
