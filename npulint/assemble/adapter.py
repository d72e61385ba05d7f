"""What is known of each adapter option that a project sets: is it legal, and is it set in the right way?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache, partial

import msgspec

from npulint.assemble.option_rules import holder
from npulint.data.option_slips import counterpart, meant_key, meant_value
from npulint.data.options import AdapterOption, Use, elsewhere, generation, legal_keys, near, option
from npulint.data.releases import standing
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues

_HOLDERS = {"session_key": "parameter_map", "run_config": "NPURunConfig", "npu_options": "global_options()"}
_FORMER = {"jit_compile": "b"}  # the field that an option had in older adapters
_NAMES = ("tensorflow.", "npu_bridge.", "npu_device.")
# What can be written to the fields of a session key.
_TAKEN: dict[str, type | tuple[type, ...]] = {"s": str, "b": (bool, int), "i": int}
_WORDS = {"bool": "bool", "flag": "bool", "b": "bool", "i": "int", "s": "str"}
_NEEDED_BY = {"enable_data_pre_proc": "iterations_per_loop"}  # deprecated, but the other does not work without it
_WRITTEN_WITH = {"dump_config": ("enable_dump", "enable_dump_debug")}  # NPUEstimator writes these with its default
NONE = "-"  # stands in messages where there is nothing to name


class Declared(msgspec.Struct, frozen=True):
    """The releases of the adapter and of CANN and the SoC that a run is for, as declared; empty where not."""

    adapter: str = ""
    cann: str = ""
    soc: str = ""


def describe_options(settings: Sequence[Fact], optimizers: Sequence[Fact], declared: Declared) -> list[Fact]:
    """Add to adapter settings what the option tables know (see docs/writing-checks.md). Those of other custom
    optimizers are left alone; the settings of the adapter are returned."""
    by_entry = {str(f.get("entry")): f for f in optimizers}
    settings = [f for f in settings if f.get("via") in _HOLDERS]
    _relate(settings, by_entry)
    own = [f for f in settings if not _is_foreign(by_entry.get(str(f.get("entry"))))]
    for fact in own:
        fact.attrs.update(_described(fact, declared))
    return own


def _is_foreign(entry: Fact | None) -> bool:
    return entry is not None and entry.get("spelling") == "other"


def _relate(settings: Sequence[Fact], optimizers: dict[str, Fact]) -> None:
    """Tell of settings which others stand beside them (`options`) and with which certain values (`beside`),
    and of session keys whether an NPURunConfig follows them and whether it has the option as well."""
    names = {f.name for f in settings if f.get("via") == "run_config"}
    passed = {_key(name) for name in names} | {key for name in names for key in _WRITTEN_WITH.get(name, ())}
    groups: dict[str, list[Fact]] = defaultdict(list)
    for fact in settings:
        groups[_holder(fact)].append(fact)
    for group in groups.values():
        together = " ".join(sorted({f.name for f in (*group, *groups.get("?", ()))}))
        beside: Callable[[], str] = cache(partial(_certain, group))
        for fact in group:
            fact.attrs.update(options=together, beside=beside)
            if fact.get("via") == "session_key":
                entry = optimizers.get(str(fact.get("entry")))
                feeds = "unknown" if entry is None else entry.get("run_config")
                fact.attrs.update(feeds_run_config=feeds, in_run_config="yes" if _key(fact.name) in passed else "no")


def _key(name: str) -> str:
    known = option(name)
    return name if known is None else known.key


def _certain(settings: Sequence[Fact]) -> str:
    """``key=value`` of each setting that runs by default and has one value."""
    found = []
    for fact in settings:
        value = fact.get("value")
        if fact.get("active") == "yes" and isinstance(value, PossibleValues) and value.single is not None:
            found.append(f"{fact.name}={value.single}")
    return " ".join(sorted(found))


def _holder(fact: Fact) -> str:
    """As `holder`, but all settings of optimizers that are not seen together."""
    name = holder(fact)
    return "?" if name.startswith("?") else name


def _described(fact: Fact, declared: Declared) -> dict[str, object]:
    via = str(fact.get("via"))
    known = option(fact.name)
    use = known.uses.get(via) if known is not None else None
    if known is None or use is None or use.name != fact.name:
        return _unknown(fact, via, known, use)
    return {
        "legal": "yes",
        "status": "active" if _NEEDED_BY.get(known.key) in str(fact.get("options")).split() else known.status,
        "instead": known.replacement or NONE,
        "since": use.since or NONE,
        "until": use.until or NONE,
        "available": standing(use.since, use.until, declared.adapter, declared.cann),
        "declared": f"adapter {declared.adapter}" if declared.adapter else f"CANN {declared.cann}",
        "expected_field": known.field,
        "field_ok": _field_ok(fact, known),
        "type_ok": lambda: _type_ok(fact, known, use),
        "expected_type": _expected_type(known, use, via),
        "value_ok": lambda: _value_ok(fact.get("value"), use),
        "allowed": _allowed(use),
        "likely": lambda: _likely(fact.get("value"), use),
        "counterpart": lambda: _counterpart(fact.get("value")),
        "acts_in": known.mode or "any",
        "chips": _chips(fact.get("value"), use) or NONE,
        "on_soc": lambda: _on_soc(fact.get("value"), use, declared.soc),
        "soc": declared.soc or NONE,
    }


def _unknown(fact: Fact, via: str, known: AdapterOption | None, use: Use | None) -> dict[str, object]:
    """What is said of a name that the mechanism does not have."""
    if fact.name in legal_keys(via):
        return {"legal": "yes"}
    if known is not None and use is None and known.status in ("removed", "dead"):
        return {"legal": "yes", "status": known.status, "instead": known.replacement or NONE}
    others = [_HOLDERS[mechanism] for mechanism in elsewhere(fact.name, via)]
    nearest = use.name if use is not None else lambda: near(fact.name, via) or NONE
    return {
        "legal": "no",
        "nearest": nearest,
        "elsewhere": ", ".join(others) or "none",
        "same": "no" if use is None else "yes",
        "meant": lambda: _meant(fact, via),
    }


def _meant(fact: Fact, via: str) -> str:
    """The key that this one is a slip of, unless that is set beside it."""
    key = meant_key(fact.name, via)
    if key is None or key in str(fact.get("options")).split():
        return NONE
    head, _, last = key.rpartition(".")
    return key if via != "run_config" else last if fact.name.rpartition(".")[0] == head else NONE


def _type_ok(fact: Fact, known: AdapterOption, use: Use) -> str:
    """Whether the type of every value (yes) or of none (no) can be written; what a command line gives is unknown."""
    value = _seen(fact.get("value"))
    if value is None or value.symbol:
        return "unknown"
    if fact.get("via") == "session_key":
        taken = _TAKEN.get(known.field)
        if fact.get("field") != known.field or taken is None or (known.field == "s" and fact.get("text") == "yes"):
            return "unknown"
        answers = {v is not None and isinstance(v, taken) for v in value.values}
    else:
        answers = {use.fits(v) for v in value.values}
    return "unknown" if len(answers) > 1 else "yes" if True in answers else "no"


def _expected_type(known: AdapterOption, use: Use, via: str) -> str:
    if use.type == "object":
        return " | ".join(map(str, use.values)) or "object"
    return _WORDS.get(known.field if via == "session_key" else use.type, use.type)


def _seen(value: object) -> PossibleValues | None:
    """All values that a setting may have, if they are known; names of a framework are not what they stand for."""
    if not isinstance(value, PossibleValues) or not value.exact or not value.values:
        return None
    return None if any(isinstance(v, str) and v.startswith(_NAMES) for v in value.values) else value


def _likely(value: object, use: Use) -> str:
    """The legal text that the one given is meant to be."""
    given = value.single if isinstance(value, PossibleValues) and value.exact else None
    meant = meant_value(given, use) if isinstance(given, str) and not use.accepts(given) else None
    return NONE if meant is None else meant


def _counterpart(value: object) -> str:
    """What the value is called in the other precision option."""
    given = value.single if isinstance(value, PossibleValues) and value.exact else None
    return (counterpart(given) if isinstance(given, str) else None) or NONE


def _chips(value: object, use: Use) -> str:
    """The generations that have the option, or a value that is certainly given to it; empty for all."""
    chips = set(use.chips)
    if isinstance(value, PossibleValues) and value.exact and value.values:
        limits = [set(use.value_chips[str(v)]) for v in value.values if str(v) in use.value_chips]
        if len(limits) == len(value.values):
            chips |= set().union(*limits)
    return " ".join(sorted(chips))


def _on_soc(value: object, use: Use, soc: str) -> str:
    """Whether the declared SoC has the option with this value."""
    chips, own = _chips(value, use).split(), generation(soc)
    if not own or not soc:
        return "unknown"
    return "yes" if not chips or own in chips else "no"


def _field_ok(fact: Fact, known: AdapterOption) -> str:
    """yes, no, outdated (right for older adapters) or unknown."""
    field = fact.get("field")
    if fact.get("via") != "session_key" or field not in ("s", "b", "i", "f") or not known.field:
        return "unknown"
    if field == known.field:
        return "yes"
    return "outdated" if field == _FORMER.get(known.key) else "no"


def _value_ok(value: object, use: Use) -> str:
    """Whether the adapter accepts every value (yes) or none (no) of those that the setting may have."""
    value = _seen(value)
    if value is None:
        return "unknown"
    answers = {use.accepts(v) for v in value.values}
    if any(v == "" or (v in (0, None) and v is not False and bool(value.symbol)) for v in value.values):
        answers.add(True)  # stands for "not given" where a launcher decides
    return "unknown" if len(answers) > 1 else "yes" if True in answers else "no"


def _allowed(use: Use) -> str:
    if use.values:
        return " | ".join(str(v) for v in use.values)
    if use.example:
        return use.example
    if use.low is not None or use.high is not None:
        return f"{'' if use.low is None else use.low}..{'' if use.high is None else use.high}"
    return NONE
