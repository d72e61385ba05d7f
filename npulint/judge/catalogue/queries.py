"""Reads queries: ``find``, ``needs``, ``unless`` and ``related``."""

from __future__ import annotations

import re
from typing import Any

from npulint.core.errors import suggestion
from npulint.judge.catalogue.check import Query
from npulint.judge.catalogue.regexes import regex_problem
from npulint.judge.catalogue.vocabulary import Kind, fact_kinds
from npulint.judge.catalogue.yaml_tree import Fields, Keys, Mapping, YamlNode, YamlScalar

# Reads conditions on values: a literal, a word such as ``present``, or a mapping of operators.

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


_FILTERS = ("where", "args", "active", "at_least", "anywhere")
_GROUPS = ("all", "any", "not")
_ARGUMENT = re.compile(r"(?:[A-Za-z_]\w*(?:\|\d+)?|\d+)\Z")
_NAME = re.compile(r"[^\s*]*(?:\*{1,2}[^\s*]+)*\*{0,2}\Z")
_STARS = re.compile(r"\*+")
_MOST_STARS = 2  # more are not needed, and matching long names takes long


class QueryReader:
    """The queries of one file. Queries used as conditions (`needs`, `unless`, all but the first part of ``all`` in
    `find`) also see code behind options that are off by default."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def find(self, node: YamlNode, what: str) -> Query:
        """A query whose facts are reported."""
        return self._read(node, what, condition=False)

    def condition(self, node: YamlNode, what: str) -> Query:
        """A query used as a condition."""
        return self._read(node, what, condition=True)

    def _read(self, node: YamlNode, what: str, condition: bool) -> Query:
        """The conjunction of all keys of the mapping; the kind comes first, whatever the order in the file."""
        entries = self.fields.open_mapping(node, what)
        keys: Keys = {name: value for name, (_, value) in entries.items()}
        named = [name for name in keys if name not in _FILTERS and name not in _GROUPS]
        parts: list[Query] = []
        if len(named) > 1:
            self.fields.problem(entries[named[1]][0], f"{what}: one kind per query, here: {', '.join(named)}")
        elif named:
            parts.append(self._kind(named[0], entries[named[0]][0], keys, what, condition))
        else:
            self._no_kind(node, keys, what)
        for group in _GROUPS:
            if group in keys:
                parts += self._group(group, keys[group], what, condition or bool(parts))
        return parts[0] if len(parts) == 1 else Query(all=tuple(parts)) if parts else Query()

    def _no_kind(self, node: YamlNode, keys: Keys, what: str) -> None:
        for name in _FILTERS:
            if name in keys:
                self.fields.problem(keys[name], f"{what}: '{name}' needs a kind of fact next to it")
        if keys and not any(name in keys for name in _GROUPS):
            self.fields.problem(node, f"{what}: a kind of fact is missing")

    def _group(self, group: str, node: YamlNode, what: str, condition: bool) -> list[Query]:
        if group == "not":
            if not condition:
                self.fields.problem(node, f"{what}: 'not' finds nothing to report; put a kind of fact before it")
            return [Query(negated=self._read(node, f"{what}.not", condition=True))]
        items = self.fields.items(node, f"{what}.{group}")
        if group == "any":
            return [Query(any=tuple(self._read(item, f"{what}.any", condition) for item in items))]
        return [self._read(item, f"{what}.all", condition or place > 0) for place, item in enumerate(items)]

    def _kind(self, name: str, key: YamlScalar, keys: Keys, what: str, condition: bool) -> Query:
        kind = fact_kinds().get(name)
        if kind is None:
            kinds = {*fact_kinds(), *_FILTERS, *_GROUPS}
            self.fields.problem(key, f"{what}: unknown kind of fact '{name}'{suggestion(name, kinds)}")
            return Query()
        where = f"{what}.{name}"
        return Query(
            kind=name,
            names=self._names(name, kind, keys[name], where),
            where=self._attributes(name, kind, keys["where"], where) if "where" in keys else {},
            args=self._arguments(name, kind, keys["args"], where) if "args" in keys else {},
            active=not self._inactive(keys, where, condition),
            at_least=self._at_least(keys, where, condition),
            anywhere="anywhere" in keys and self.fields.flag(keys["anywhere"], f"{where}.anywhere"),
        )

    def _names(self, kind_name: str, kind: Kind, node: YamlNode, what: str) -> tuple[str, ...]:
        names = self.fields.words(node, what)
        if names == ("any",):
            return ()
        if kind_name == "program":
            self.fields.problem(node, f"{what}: query a program with 'program: any' and 'where'")
        for name in names:
            if not _NAME.match(name):
                self.fields.problem(node, f"{what}: '{name}' is not a name pattern")
            elif len(_STARS.findall(name)) > _MOST_STARS:
                self.fields.problem(node, f"{what}: '{name}' has more than {_MOST_STARS} wildcards")
            elif kind.names and "*" not in name and name not in kind.names:
                self.fields.problem(
                    node, f"{what}: there is no {kind_name} named '{name}'{suggestion(name, kind.names)}"
                )
        return names

    def _attributes(self, name: str, kind: Kind, node: YamlNode, what: str) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        for attribute, (key, value) in self.fields.open_mapping(node, f"{what}.where").items():
            if attribute not in kind.attributes:
                hint = suggestion(attribute, kind.attributes)
                self.fields.problem(key, f"{what}.where: '{name}' has no attribute '{attribute}'{hint}")
            else:
                allowed = kind.attributes[attribute]
                attributes[attribute] = read_condition(self.fields, value, f"{what}.where.{attribute}", allowed)
        return attributes

    def _arguments(self, name: str, kind: Kind, node: YamlNode, what: str) -> dict[str, Any]:
        if not kind.arguments:
            self.fields.problem(node, f"{what}: '{name}' has no arguments")
            return {}
        arguments: dict[str, Any] = {}
        for argument, (key, value) in self.fields.open_mapping(node, f"{what}.args").items():
            if not _ARGUMENT.match(argument):
                self.fields.problem(key, f"{what}.args: '{argument}' is not a name, a position or name|position")
            arguments[argument] = read_condition(self.fields, value, f"{what}.args.{argument}")
        return arguments

    def _inactive(self, keys: Keys, what: str, condition: bool) -> bool:
        if "active" in keys:
            return self.fields.word(keys["active"], f"{what}.active", ("any",)) == "any"
        return condition

    def _at_least(self, keys: Keys, what: str, condition: bool) -> int:
        if "at_least" not in keys:
            return 1
        node = keys["at_least"]
        value = node.value if isinstance(node, YamlScalar) else None
        if not condition:
            self.fields.problem(node, f"{what}: 'at_least' belongs in needs or unless")
        elif isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.fields.problem(node, f"{what}.at_least must be a number from 1")
        else:
            return value
        return 1
