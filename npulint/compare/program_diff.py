"""Two programs compared: every difference of their recipes, once, at the place where it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.assemble.launches.project_launches import Launch
from npulint.compare.across import of_frameworks, operations, scheduled
from npulint.compare.adapter import of_adapter
from npulint.compare.amp import one_way
from npulint.compare.components import of_components
from npulint.compare.difference import Difference, SideValue
from npulint.compare.launchers import of_launchers
from npulint.compare.matching.matches import Matches
from npulint.compare.roles import of_roles
from npulint.compare.running import Running
from npulint.compare.settings import of_settings
from npulint.compare.side import Side
from npulint.compare.step_pairs import Pairer
from npulint.compare.steps import of_pairs
from npulint.compare.unmatched_steps import of_lonely
from npulint.compare.values import Comparer
from npulint.facts.recipe import Ingredient
from npulint.training_config.configs.lookup import Configs
from npulint.training_config.program import Recipe
from npulint.training_config.provenance.tracer import Tracer
from npulint.training_config.settings import settings

_GENERAL = ("setting", "")


class Start(msgspec.Struct, frozen=True, eq=False):
    """How the two programs are started, each by a launcher or by itself, and the configuration files that they read
    then."""

    reference: Launch | None
    migrated: Launch | None
    reference_configs: Configs | None = None
    migrated_configs: Configs | None = None


def compared(reference: Recipe, migrated: Recipe, matched: Matches, starts: Sequence[Start]) -> list[Difference]:
    """What of two recipes differs, and (`change` none) what was compared and is equal. The first of the starts tells
    which values expressions have; what is set is compared for each."""
    start = starts[0]
    left = [Tracer(reference.context, s.reference, s.reference_configs, reference.program.entry) for s in starts]
    right = [Tracer(migrated.context, s.migrated, s.migrated_configs, migrated.program.entry) for s in starts]
    first, second = left[0], right[0]
    if reference.program.attrs["framework"] != migrated.program.attrs["framework"]:
        told = operations(reference, first), operations(migrated, second)
        rates = scheduled(reference), scheduled(migrated)
        return united(of_frameworks(*told, *_set(reference, migrated, start), rates))
    pairer = Pairer(reference, migrated, matched)
    pairing = pairer.pairing()
    found: list[Difference] = []
    for one in starts:
        both = _set(reference, migrated, one)
        found += [*of_settings(*both), *of_components(*both)]
        found += of_launchers(reference.context, one.reference, migrated.context, one.migrated)
    found += of_adapter(reference.program, migrated.program, first, second)
    found += of_pairs(pairing, Comparer(first, second))
    removed = Side("removed", reference, migrated, pairer.counterpart, Running(reference, left))
    added = Side("added", migrated, reference, pairer.origin, Running(migrated, right))
    found += of_lonely(pairing, removed, added)
    found += of_roles(((removed, pairing.removed), (added, pairing.added)))
    return united(one_way(found, reference, migrated, first, second))


def _set(reference: Recipe, migrated: Recipe, start: Start) -> tuple[list[Ingredient], list[Ingredient]]:
    """What is set by name on both sides."""
    return (
        settings(reference.context, reference.program.entry, start.reference, start.reference_configs),
        settings(migrated.context, migrated.program.entry, start.migrated, start.migrated_configs),
    )


def united(found: Iterable[Difference]) -> list[Difference]:
    """One difference for what is written at one place and used at several; what says more of it stays."""
    unique: dict[object, Difference] = {}
    for one in found:
        key = (one.change in ("none", "unknown"), _spot(one.reference), _spot(one.migrated), _own(one))
        first = unique.get(key)
        if first is None:
            unique[key] = one
        elif first.part in _GENERAL and one.part not in _GENERAL:
            unique[key] = msgspec.structs.replace(first, part=one.part)
    return _once(list(unique.values()))


def _once(found: list[Difference]) -> list[Difference]:
    """Of a value that is given to a function of the project, what it is used for rather than that it is given."""
    used = {_place(one) for one in found if one.named and one.change == "changed"}
    return [one for one in found if one.named or one.change != "changed" or _place(one) not in used]


def _place(one: Difference) -> object:
    return tuple([None if mark is None else (_spot(mark), mark.text) for mark in (one.reference, one.migrated)])


def _spot(mark: SideValue | None) -> object:
    return None if mark is None else (mark.path, mark.span.line)


def _own(one: Difference) -> object:
    """What keeps differences of one line apart: what they are about. A value that has a name is one, whatever uses
    it."""
    texts = [None if mark is None else mark.text for mark in (one.reference, one.migrated)]
    return tuple(texts) if one.named else (one.what, one.argument, one.change)
