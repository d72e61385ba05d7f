"""Rules about two adapter options that are set in the same place."""

from __future__ import annotations

import msgspec

from npulint.data import lazy_table


class OptionRule(msgspec.Struct, frozen=True, rename={"meanwhile": "while"}):
    """One rule; several may share a name. `kind` is the problem where `option` meets `when`:

    - clash: `other` meets `other_when`
    - lacks: `other` does not meet `other_when`
    - idle: `other` is not set at all
    - below: `option` (milliseconds) is no longer than `other` (seconds, `usual` where it is not set)

    Conditions are ``*`` (set), ``any`` (set or not), ``>n``, alternatives (``a|b``), or none of them (``!a|b``).
    `meanwhile` is an option and its required value; `mechanisms` limits where the rule applies."""

    rule: str
    kind: str
    option: str
    when: str
    other: str
    other_when: str
    usual: str = "0"
    meanwhile: str = ""
    mechanisms: tuple[str, ...] = ()


rules = lazy_table("option_rules.json", tuple[OptionRule, ...])
"""All rules, in table order."""


def holds(condition: str, value: object) -> bool:
    """Whether a value meets a condition of a rule. None and empty texts count as not set and meet no condition."""
    if condition == "any":
        return True
    if value is None or value == "":
        return False
    if condition == "*":
        return True
    if condition == "True":
        return value == 1  # protobuf accepts a number for a bool
    if condition.startswith(">"):
        return isinstance(value, int) and not isinstance(value, bool) and value > int(condition[1:])
    named = str(value) in condition.removeprefix("!").split("|")
    return named is not condition.startswith("!")
