"""What the option tables say about a value that an adapter option gets: is it legal, and is it written in the right
way?"""

from __future__ import annotations

from typing import Literal

from npulint.data.chips import generation
from npulint.data.option_slips import counterpart, meant_value
from npulint.data.options import AdapterOption, Use
from npulint.facts.attributes import Flag, flag
from npulint.facts.values import PossibleValues

NONE = "-"  # stands in messages where there is nothing to name
_FORMER = {"jit_compile": "b"}  # the field that an option had in older adapters
_NAMES = ("tensorflow.", "npu_bridge.", "npu_device.")
# What can be written to the fields of a session key.
_TAKEN: dict[str, type | tuple[type, ...]] = {"s": str, "b": (bool, int), "i": int}
_WORDS = {"bool": "bool", "flag": "bool", "b": "bool", "i": "int", "s": "str"}


def type_fits(value: PossibleValues, use: Use) -> Flag:
    """Whether the type of every value (yes) or of none (no) can be written; what a command line gives is unknown."""
    if not _is_certain(value) or value.symbol:
        return "unknown"
    return _agreed({use.fits(one) for one in value.values})


def field_takes(value: PossibleValues, field: str) -> Flag:
    """Whether the field of a session key takes the type of every value (yes) or of none (no)."""
    taken = _TAKEN.get(field)
    if taken is None or not _is_certain(value) or value.symbol:
        return "unknown"
    return _agreed({one is not None and isinstance(one, taken) for one in value.values})


def is_accepted(value: PossibleValues, use: Use) -> Flag:
    """Whether the adapter accepts every value (yes) or none (no) of those that the setting may have."""
    if not _is_certain(value):
        return "unknown"
    answers = {use.accepts(one) for one in value.values}
    if any(one == "" or (one in (0, None) and one is not False and bool(value.symbol)) for one in value.values):
        answers.add(True)  # stands for "not given" where a launcher decides
    return _agreed(answers)


def field_fits(field: str, option: AdapterOption) -> Literal["yes", "no", "outdated", "unknown"]:
    """Whether the adapter reads an option from this field of its session key: yes, no, outdated (older adapters do) or
    unknown."""
    if field not in ("s", "b", "i", "f") or not option.field:
        return "unknown"
    if field == option.field:
        return "yes"
    return "outdated" if field == _FORMER.get(option.key) else "no"


def expected_type(use: Use, field: str = "") -> str:
    """The type that an option, or the field of its session key, takes, for messages."""
    if use.type == "object":
        return " | ".join(map(str, use.values)) or "object"
    return _WORDS.get(field or use.type, use.type)


def allowed(use: Use) -> str:
    """The legal values, for messages."""
    if use.values:
        return " | ".join(str(v) for v in use.values)
    if use.example:
        return use.example
    if use.low is not None or use.high is not None:
        return f"{'' if use.low is None else use.low}..{'' if use.high is None else use.high}"
    return NONE


def likely(value: PossibleValues, use: Use) -> str:
    """The legal text that the one that is set probably means."""
    single = _exact(value)
    meant = meant_value(single, use) if single is not None and not use.accepts(single) else None
    return NONE if meant is None else meant


def in_other_option(value: PossibleValues) -> str:
    """What a precision mode is called in the other precision option."""
    single = _exact(value)
    return (None if single is None else counterpart(single)) or NONE


def chips(value: PossibleValues, use: Use) -> str:
    """The generations that have the option, or a value that is certainly given to it; empty for all."""
    found = set(use.chips)
    if value.exact and value.values:
        limits = [set(use.value_chips[str(one)]) for one in value.values if str(one) in use.value_chips]
        if len(limits) == len(value.values):
            found |= set().union(*limits)
    return " ".join(sorted(found))


def is_on_soc(value: PossibleValues, use: Use, soc: str) -> Flag:
    """Whether the declared SoC has the option with this value."""
    found, own = chips(value, use).split(), generation(soc)
    return flag(None if not own or not soc else not found or own in found)


def _is_certain(value: PossibleValues) -> bool:
    """Whether all values are known; names of a framework are not what they stand for."""
    if not value.exact or not value.values:
        return False
    return not any(isinstance(one, str) and one.startswith(_NAMES) for one in value.values)


def _exact(value: PossibleValues) -> str | None:
    """The text that a value certainly is."""
    return value.single if value.exact and isinstance(value.single, str) else None


def _agreed(answers: set[bool]) -> Flag:
    return flag(answers.pop() if len(answers) == 1 else None)
