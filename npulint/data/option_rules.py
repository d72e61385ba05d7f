"""Rules about two adapter options that stand in one place."""

from __future__ import annotations

from functools import cache

import msgspec

from npulint.data import table


class Rule(msgspec.Struct, frozen=True, rename={"meanwhile": "while"}):
    """One rule; several may share a name. `kind` tells what is wrong where `option` meets `when`:

    - clash: `other` meets `other_when`
    - lacks: `other` is not set so that it meets `other_when`
    - idle: `other` is not set at all
    - below: `option` (milliseconds) is no longer than `other` (seconds, `usual` where it is not set)

    Conditions are ``*`` (set), ``any`` (set or not), ``>n``, alternatives (``a|b``), or none of them (``!a|b``).
    `meanwhile` is an option and its value that the rule presupposes; `mechanisms` limits where it holds."""

    rule: str
    kind: str
    option: str
    when: str
    other: str
    other_when: str
    usual: str = "0"
    meanwhile: str = ""
    mechanisms: tuple[str, ...] = ()


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, in the order of the table."""
    return msgspec.json.decode(table("option_rules.json"), type=tuple[Rule, ...])


def holds(condition: str, value: object) -> bool:
    """Whether a value meets a condition of a rule. What is None or an empty text is not set and meets none."""
    if condition == "any":
        return True
    if value is None or value == "":
        return False
    if condition == "*":
        return True
    if condition == "True":
        return value == 1  # protobuf takes a number for a bool
    if condition.startswith(">"):
        return isinstance(value, int) and not isinstance(value, bool) and value > int(condition[1:])
    named = str(value) in condition.removeprefix("!").split("|")
    return named is not condition.startswith("!")
