"""Reads conditions on values: a literal, a word such as ``present``, or a mapping of operators."""

from __future__ import annotations

import re
from typing import Any

from npulint.core.check_problems import suggestion
from npulint.judge.catalogue.fields import Fields
from npulint.judge.catalogue.regexes import regex_problem
from npulint.judge.catalogue.yaml_tree import Mapping, YamlNode, YamlScalar

OPERATORS = ("one_of", "not", "maybe", "lt", "le", "gt", "ge", "contains", "matches")
STATES = ("present", "absent", "known", "unknown")

_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_COMPARISONS = ("lt", "le", "gt", "ge")


def read_condition(fields: Fields, node: YamlNode, what: str, allowed: frozenset[str] = frozenset()) -> Any:
    """A condition as plain data. `allowed` is the closed set of words of the attribute, if any."""
    if isinstance(node, YamlScalar):
        return _literal(fields, node, what, allowed)
    if not isinstance(node, Mapping):
        fields.problem(node, f"{what}: a list is not a condition; write {{one_of: […]}}")
        return None
    condition: dict[str, Any] = {}
    for name, (key, value) in fields.open_mapping(node, what).items():
        if name not in OPERATORS:
            fields.problem(key, f"{what}: unknown operator '{name}'{suggestion(name, OPERATORS)}")
        else:
            condition[name] = _operand(fields, name, value, f"{what}: {name}", allowed)
    return condition


def _operand(fields: Fields, name: str, node: YamlNode, what: str, allowed: frozenset[str]) -> Any:
    if name in ("not", "maybe"):
        return read_condition(fields, node, what, allowed)
    if name == "one_of":
        return [read_condition(fields, item, what, allowed) for item in fields.items(node, what)]
    if name in _COMPARISONS:
        return _number(fields, node, what)
    text = fields.text(node, what)
    if name == "matches" and text:
        reason = regex_problem(text)
        if reason:
            fields.problem(node, f"{what}: {reason}")
    return text


def _literal(fields: Fields, node: YamlScalar, what: str, allowed: frozenset[str]) -> Any:
    value = decimal(node)
    if allowed and value not in STATES and value not in allowed:
        wrote = "true or false; write yes or no" if isinstance(value, bool) else f"'{node.text}'"
        words = ", ".join(sorted(allowed))
        fields.problem(node, f"{what} is never {wrote}: it must be one of {words}{suggestion(node.text, allowed)}")
    return value


def _number(fields: Fields, node: YamlNode, what: str) -> int | float:
    value = decimal(node) if isinstance(node, YamlScalar) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        fields.problem(node, f"{what} needs a number")
        return 0
    return value


def decimal(node: YamlScalar) -> Any:
    """The value of a scalar in a condition, where an unquoted 0.5 is a number (unlike in versions)."""
    value = node.value
    if node.plain and isinstance(value, str) and _DECIMAL.match(value) and not _leading_zero(value):
        return float(value)
    return value


def _leading_zero(text: str) -> bool:
    digits = text.lstrip("-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
