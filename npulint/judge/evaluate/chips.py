"""Whether a check holds on the chips that a project may run on, and how severe its findings are there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from npulint.core.texts import say
from npulint.data.chips import CHIPS, OLD_CHIPS, chip, in_order
from npulint.judge.catalogue.check import Check, CheckText

_TODAY = frozenset(model.name for model in CHIPS if model.trains)


class TargetChips(msgspec.Struct, frozen=True):
    """The chips of the target: `named` are the declared one, or those that the project names (empty: unknown),
    `unlikely` those that the project hardly runs on."""

    named: frozenset[str] = frozenset()
    unlikely: frozenset[str] = frozenset()


UNKNOWN = TargetChips()


def target_chips(target: Mapping[str, str], named: Collection[str] = (), unlikely: Collection[str] = ()) -> TargetChips:
    """The chips of a target: the declared one (``soc``), else those that the project shows."""
    soc = target.get("soc")
    chips = frozenset((chip(soc) or soc,)) if soc else frozenset(named)
    return TargetChips(chips, frozenset() if chips else frozenset(unlikely))


def holds(chips: Collection[str], target: TargetChips) -> Literal["yes", "no", "unknown"]:
    """Whether something that holds on some `chips` only holds on the target. Where nothing specifies the chip, it is
    one of those that people train on today."""
    generations = _names(tuple(chips))
    if not generations:
        return "yes"
    if target.named.isdisjoint(generations) and target.named:
        return "no"
    return "yes" if (target.named or _TODAY) <= generations else "unknown"


def generation(target: TargetChips) -> Literal["old", "new", "unknown"]:
    """Whether all named chips of the target lack bfloat16 (``old``), or none of them does."""
    if not target.named:
        return "unknown"
    if target.named <= OLD_CHIPS:
        return "old"
    return "new" if target.named.isdisjoint(OLD_CHIPS) else "unknown"


def for_chips(check: Check, target: TargetChips, lang: str) -> Check | None:
    """The check as it holds for the target: a note that names the chips where they are not known to be those of the
    target; a note as well on chips other than those on which it is severe. None where the project hardly runs on the
    chips and the check is about speed there, or a mere note."""
    if not check.applies.soc or holds(check.applies.soc, target) == "yes":
        return check.as_note() if check.severe_on and not _is_severe(check.severe_on, target) else check
    note = check.severity == "note" or (check.severe_on and not _is_severe(check.severe_on, target))
    if (note or check.category == "performance") and _names(check.applies.soc) <= target.unlikely:
        return None
    return _limited(check, lang)


def _is_severe(chips: Collection[str], target: TargetChips) -> bool:
    """Whether a check that is severe on some `chips` is so on the target: on one of those that it names. Where nothing
    specifies the chip, there is no ground to assume one that few people train on today."""
    generations = _names(tuple(chips))
    return not target.named.isdisjoint(generations) if target.named else generations >= _TODAY


@lru_cache(maxsize=64)
def _names(chips: tuple[str, ...]) -> frozenset[str]:
    return frozenset(chip(name) or name for name in chips)


def _limited(check: Check, lang: str) -> Check:
    listed = say(lang, "list.and").join(in_order(_names(check.applies.soc)))
    text = {key: _on(check_text, say(lang, "on.chips", chips=listed)) for key, check_text in check.text.items()}
    return msgspec.structs.replace(check.as_note(), text=text)


def _on(text: CheckText, beginning: str) -> CheckText:
    return msgspec.structs.replace(text, message=beginning + text.message)
