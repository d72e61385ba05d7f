"""What is known of each adapter option that a project sets: is it legal, and is it set in the right way?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from npulint.data.options import AdapterOption, Use, legal_keys, near, option
from npulint.facts.model import Fact
from npulint.facts.values import Known

_MECHANISMS = frozenset(("session_key", "run_config", "npu_options"))
_FORMER = {"jit_compile": "b"}  # the field that an option had in older adapters
_NEEDED_BY = {"enable_data_pre_proc": "iterations_per_loop"}  # deprecated, but the other does not work without it
NONE = "-"  # stands in messages where there is nothing to name


def describe_options(settings: Sequence[Fact], optimizers: Sequence[Fact]) -> None:
    """Add to adapter settings what the option tables know (see docs/writing-checks.md)."""
    by_entry = {str(f.get("entry")): f for f in optimizers}
    settings = [f for f in settings if f.get("via") in _MECHANISMS]
    _relate(settings, by_entry)
    for fact in settings:
        entry = by_entry.get(str(fact.get("entry")))
        if entry is None or entry.get("spelling") != "other":
            fact.attrs.update(_described(fact))


def _relate(settings: Sequence[Fact], optimizers: dict[str, Fact]) -> None:
    """Tell of settings which others stand beside them (`options`) and with which certain values (`beside`),
    and of session keys whether an NPURunConfig follows them and whether it has the option as well."""
    passed = {f.name for f in settings if f.get("via") == "run_config"}
    groups: dict[str, list[Fact]] = defaultdict(list)
    for fact in settings:
        groups[_holder(fact)].append(fact)
    for fact in settings:
        group = groups[_holder(fact)]
        fact.attrs["options"] = " ".join(sorted({f.name for f in (*group, *groups["?"])}))
        fact.attrs["beside"] = partial(_certain, group)
        if fact.get("via") == "session_key":
            entry = optimizers.get(str(fact.get("entry")))
            feeds = "unknown" if entry is None else entry.get("run_config")
            fact.attrs.update(feeds_run_config=feeds, in_run_config="yes" if fact.name in passed else "no")


def _certain(settings: Sequence[Fact]) -> str:
    """``key=value`` of each setting that runs by default and has one value."""
    found = []
    for fact in settings:
        value = fact.get("value")
        if fact.get("active") == "yes" and isinstance(value, Known) and value.single is not None:
            found.append(f"{fact.name}={value.single}")
    return " ".join(sorted(found))


def _holder(fact: Fact) -> str:
    """What holds a setting: a custom optimizer, an NPURunConfig, the global options, or ``?``."""
    return "global_options" if fact.get("via") == "npu_options" else str(fact.get("entry") or "?")


def _described(fact: Fact) -> dict[str, object]:
    via = str(fact.get("via"))
    known = option(fact.name)
    use = known.uses.get(via) if known is not None else None
    if known is None or use is None:
        if fact.name in legal_keys(via):
            return {"legal": "yes"}
        if known is not None and known.status in ("removed", "dead"):
            return {"legal": "yes", "status": known.status, "instead": known.replacement or NONE}
        return {"legal": "no", "nearest": lambda: near(fact.name, via) or NONE}
    return {
        "legal": "yes",
        "status": "active" if _NEEDED_BY.get(known.key) in str(fact.get("options")).split() else known.status,
        "instead": known.replacement or NONE,
        "since": use.since or NONE,
        "until": use.until or NONE,
        "expected_field": known.field,
        "field_ok": _field_ok(fact, known),
        "value_ok": lambda: _value_ok(fact.get("value"), use),
        "allowed": _allowed(use),
    }


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
    if not isinstance(value, Known) or not value.exact or not value.values:
        return "unknown"
    answers = {v is None or use.accepts(v) for v in value.values}
    if any(v in ("", 0) and v is not False for v in value.values):
        answers.add(True)  # stands for "not given" where a launcher decides
    return "unknown" if len(answers) > 1 else "yes" if True in answers else "no"


def _allowed(use: Use) -> str:
    if use.values:
        return " | ".join(str(v) for v in use.values)
    if use.low is not None or use.high is not None:
        return f"{'' if use.low is None else use.low}..{'' if use.high is None else use.high}"
    return NONE
