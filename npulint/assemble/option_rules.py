"""Adapter options that do not go together, or that need one another: the rules of the table, asked of what stands on
one custom optimizer, one NPURunConfig or the global options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from npulint.data.option_rules import Rule, holds, rules
from npulint.data.options import option
from npulint.facts.model import Fact, GenericFact
from npulint.facts.values import PossibleValues

Group = dict[str, list[Fact]]
"""What is set in one place, by the key of the option."""

_MILLISECONDS = 1000  # stream_sync_timeout counts these, hccl_timeout seconds
_UNSET = "unset"


def option_conflicts(settings: Sequence[Fact]) -> list[Fact]:
    """``option_conflict`` facts: for each rule that a group of settings breaks one, at the setting that breaks it.
    Doubtful values and settings that do not run by default break nothing."""
    groups: dict[str, Group] = defaultdict(lambda: defaultdict(list))
    for fact in settings:
        known = option(fact.name)
        if known is not None:
            groups[holder(fact)][known.key].append(fact)
    loose = {key for name, group in groups.items() if name.startswith("?") for key in group}
    session = {f.name for f in settings if f.get("via") == "session_key"}
    found = []
    for name, group in groups.items():
        via = str(next(iter(group.values()))[0].get("via"))
        elsewhere = loose | session if "session_config" in group else loose
        found += _broken(group, via, None if name.startswith("?") else elsewhere)
    return found


def holder(fact: Fact) -> str:
    """What holds a setting: a custom optimizer, an NPURunConfig or the global options. Settings of an optimizer that
    is not seen are held together by their function (``?…``)."""
    if fact.get("via") == "npu_options":
        return "global_options"
    return str(fact.get("entry") or f"?{fact.path}:{fact.get('function')}")


def _broken(group: Group, via: str, unseen: set[str] | None) -> list[Fact]:
    """`unseen` are the options that may stand here although they were found elsewhere; None: any may."""
    found = []
    for rule in rules():
        facts = group.get(rule.option)
        if not facts or (rule.mechanisms and via not in rule.mechanisms):
            continue
        first = _first_certain(facts, rule.when, via)
        if first is None or not _meanwhile(group, rule, via):
            continue
        others = group.get(rule.other, [])
        sees_all = unseen is not None and rule.other not in unseen and not _is_open(group)
        answer = _answer(rule, first, others, via, sees_all)
        if answer is not None:
            found.append(_conflict(rule, first, others, via, answer))
    return found


def _answer(rule: Rule, first: Fact, others: list[Fact], via: str, sees_all: bool) -> str | None:
    """The value that the other option has, if it breaks the rule."""
    if rule.kind == "idle":
        return _UNSET if sees_all and not others and not _is_default(first, via) else None
    if rule.kind == "lacks":
        quiet = not sees_all or any(_state(fact, rule.other_when, via) != "no" for fact in others)
        return None if quiet else _text(others) or _UNSET
    if rule.other_when == "any" and not others:
        return _default(rule.other, via)
    if rule.kind == "below" and not others and sees_all:
        return rule.usual if _is_below(first, rule.usual) else None
    certain = _first_certain(others, rule.other_when, via)
    if certain is None or (rule.kind == "below" and not _is_below(first, _text([certain]))):
        return None
    return _text([certain])


def _conflict(rule: Rule, fact: Fact, others: list[Fact], via: str, answer: str) -> Fact:
    use = getattr(option(rule.other), "uses", {}).get(via)
    attrs = {
        "option": fact.name,
        "key": fact.get("key"),
        "root": fact.get("root"),
        "value": fact.get("value"),
        "other": others[0].name if others else rule.other if use is None else use.name,
        "other_value": answer,
        "via": via,
        "entry": fact.get("entry"),
    }
    return GenericFact("option_conflict", rule.rule, fact.path, fact.span, attrs, None, fact.around)


def _meanwhile(group: Group, rule: Rule, via: str) -> bool:
    """Whether what the rule presupposes is certainly so."""
    if not rule.meanwhile:
        return True
    key, _, value = rule.meanwhile.partition("=")
    return _first_certain(group.get(key, []), value, via) is not None


def _first_certain(facts: list[Fact], condition: str, via: str) -> Fact | None:
    """The first setting that certainly meets a condition, if every other that may run does so as well."""
    running = [fact for fact in facts if fact.get("active") != "no"]
    if any(_state(fact, condition, via) != "yes" for fact in running):
        return None
    return next((fact for fact in running if fact.get("active") == "yes"), None)


def _state(fact: Fact, condition: str, via: str) -> str:
    """Whether a setting meets a condition: yes, no or maybe."""
    value = fact.get("value")
    if not isinstance(value, PossibleValues) or not value.exact or not value.values:
        return "yes" if condition == "any" or (condition == "*" and via == "session_key") else "maybe"
    answers = {holds(condition, v) for v in value.values}
    return "maybe" if len(answers) > 1 else "yes" if True in answers else "no"


def _is_open(group: Group) -> bool:
    """Whether some arguments are not seen (``**options``)."""
    doubtful = ("yes", "unknown")
    return any(
        fact.get("starred") == "yes" or fact.get("feeds_run_config") in doubtful
        for facts in group.values()
        for fact in facts
    )


def _text(facts: list[Fact]) -> str:
    value = facts[0].get("value") if facts else None
    return value.text() if isinstance(value, PossibleValues) else ""


def _default(key: str, via: str) -> str:
    known = option(key)
    use = None if known is None else known.uses.get(via)
    return _UNSET if use is None or use.default is None else use.default


def _is_default(fact: Fact, via: str) -> bool:
    known = option(fact.name)
    return known is not None and _text([fact]) == _default(known.key, via)


def _is_below(fact: Fact, seconds: str) -> bool:
    """Whether a time in milliseconds is no longer than one in seconds."""
    value = fact.get("value")
    return isinstance(value, PossibleValues) and all(
        isinstance(v, int) and v <= int(seconds) * _MILLISECONDS for v in value.values
    )
