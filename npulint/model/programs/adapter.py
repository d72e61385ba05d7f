"""Evaluates the value of an adapter option against the option tables: whether it is legal and has the right type."""

from __future__ import annotations

from typing import Literal

from npulint.data.chips import generation
from npulint.data.options import AdapterOption, OptionUse, counterpart, meant_value
from npulint.facts.attributes import Flag, flag
from npulint.facts.values import PossibleValues

NONE = "-"  # in messages, for nothing
_FORMER = {"jit_compile": "b"}  # the field that an option had in older adapters
_NAMES = ("tensorflow.", "npu_bridge.", "npu_device.")
# The types that the fields of a session key accept.
_TAKEN: dict[str, type | tuple[type, ...]] = {"s": str, "b": (bool, int), "i": int}
_WORDS = {"bool": "bool", "flag": "bool", "b": "bool", "i": "int", "s": "str"}


def type_fits(value: PossibleValues, use: OptionUse) -> Flag:
    """``yes`` if the type of every possible value is accepted, ``no`` if the type of none is; ``unknown`` for values
    from a command line whose type an option may change."""
    if not _is_certain(value) or not _is_typed(value):
        return "unknown"
    return _agreed({use.fits(scalar) for scalar in value.values})


def field_takes(value: PossibleValues, field: str) -> Flag:
    """``yes`` if the session key field accepts the type of every possible value, ``no`` if it accepts none."""
    taken = _TAKEN.get(field)
    if taken is None or not _is_certain(value) or not _is_typed(value):
        return "unknown"
    return _agreed({scalar is not None and isinstance(scalar, taken) for scalar in value.values})


def is_accepted(value: PossibleValues, use: OptionUse) -> Flag:
    """``yes`` if the adapter accepts every possible value of the setting, ``no`` if it accepts none."""
    if not _is_certain(value):
        return "unknown"
    answers = {use.accepts(scalar) for scalar in value.values}
    if any(
        scalar == "" or (scalar in (0, None) and scalar is not False and bool(value.symbol)) for scalar in value.values
    ):
        answers.add(True)  # for "not passed" if a launcher decides
    return _agreed(answers)


def field_fits(field: str, option: AdapterOption) -> Literal["yes", "no", "outdated", "unknown"]:
    """Whether the adapter reads an option from this field of its session key: ``yes``, ``no``, ``outdated`` (only older
    adapters do) or ``unknown``."""
    if field not in ("s", "b", "i", "f") or not option.field:
        return "unknown"
    if field == option.field:
        return "yes"
    return "outdated" if field == _FORMER.get(option.key) else "no"


def expected_type(use: OptionUse, field: str = "") -> str:
    """The type of the option, or of the field of its session key, in words for messages."""
    if use.type == "object":
        return " | ".join(map(str, use.values)) or "object"
    return _WORDS.get(field or use.type, use.type)


def allowed(use: OptionUse) -> str:
    """The legal values in words for messages."""
    if use.values:
        return " | ".join(str(v) for v in use.values)
    if use.example:
        return use.example
    if use.low is not None or use.high is not None:
        return f"{'' if use.low is None else use.low}..{'' if use.high is None else use.high}"
    return NONE


def likely(value: PossibleValues, use: OptionUse) -> str:
    """The legal text that the user probably meant by an illegal one."""
    single = _exact(value)
    meant = meant_value(single, use) if single is not None and not use.accepts(single) else None
    return NONE if meant is None else meant


def in_other_option(value: PossibleValues) -> str:
    """The equivalent value of the other precision option."""
    single = _exact(value)
    return (None if single is None else counterpart(single)) or NONE


def chips(value: PossibleValues, use: OptionUse) -> str:
    """The chip generations that have the option with this value; empty for all."""
    generations = set(use.chips)
    if value.exact and value.values:
        limits = [set(use.value_chips[str(scalar)]) for scalar in value.values if str(scalar) in use.value_chips]
        if len(limits) == len(value.values):
            generations |= set().union(*limits)
    return " ".join(sorted(generations))


def is_on_soc(value: PossibleValues, use: OptionUse, soc: str) -> Flag:
    """Whether the declared SoC supports the option with this value."""
    generations, own = chips(value, use).split(), generation(soc)
    return flag(None if not own or not soc else not generations or own in generations)


def _is_typed(value: PossibleValues) -> bool:
    """Whether the values keep their type when they come from an option: texts, and 0 and 1 for no and yes, may be
    converted."""
    return not value.symbol or not any(
        scalar is None or isinstance(scalar, str) or scalar in (0, 1) for scalar in value.values
    )


def _is_certain(value: PossibleValues) -> bool:
    """Whether all possible values are known; a name of a framework counts as unknown."""
    if not value.exact or not value.values:
        return False
    return not any(isinstance(scalar, str) and scalar.startswith(_NAMES) for scalar in value.values)


def _exact(value: PossibleValues) -> str | None:
    """The only possible text of the value."""
    return value.single if value.exact and isinstance(value.single, str) else None


def _agreed(answers: set[bool]) -> Flag:
    return flag(answers.pop() if len(answers) == 1 else None)
