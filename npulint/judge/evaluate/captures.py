"""Fills the ``{captures}`` in texts of checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.judge.catalogue.forms import FORMS, PLURALS, plural, unknown
from npulint.judge.catalogue.texts import Placeholder, substitute

_OPEN = ("count", "files", "name")
_LOOKS_OPEN = lazy_compile(r"\{((?:count|files|name)[:}])")


def fill(text: str, fact: Fact, counts: Mapping[str, str] = {}) -> str:
    """`text` with ``{captures}`` replaced by values of the fact, ``{count}`` and ``{files}`` by `counts`; unknown ones
    become ``?``."""
    return substitute(text, lambda placeholder: _counted(placeholder, counts) or capture(placeholder, fact))


def with_open_places(text: str, fact: Fact) -> str:
    """`text` with ``{captures}`` replaced by values of the fact, but not those that depend on the places that a finding
    covers: ``{count}``, ``{files}`` and ``{name}``. Values lose the brace of such words."""

    def value(placeholder: Placeholder) -> str | None:
        return None if placeholder.name in _OPEN else _LOOKS_OPEN.sub(r"\1", capture(placeholder, fact))

    return substitute(text, value)


def _counted(placeholder: Placeholder, counts: Mapping[str, str]) -> str:
    """The value of one capture in `counts`: ``3``, or ``3 places`` for ``{count:places}``; empty if missing."""
    value = counts.get(placeholder.name, "")
    return plural(int(value), placeholder.form) if value and placeholder.form in PLURALS else value


def capture(placeholder: Placeholder, fact: Fact) -> str:
    """The text of one capture: name, short, path, an attribute, or a call argument; numbers in the form that it
    asks for."""
    value = _value(placeholder.name, fact, placeholder.position)
    if isinstance(value, PossibleValues):
        return value.text()
    if placeholder.form and isinstance(value, (int, float)) and isfinite(value):
        return FORMS[placeholder.form](placeholder.name, value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return unknown(placeholder.form) if value is None else str(value)


def sure(name: str, fact: Fact) -> str | None:
    """The only possible text of a capture; None when it is not certain."""
    value = _value(name, fact)
    if isinstance(value, PossibleValues):
        return value.text() if value.exact and len(value.values) == 1 else None
    return None if value is None or value == "unknown" else str(value)


def _value(name: str, fact: Fact, position: int = -1) -> Any:
    if name == "name":
        return fact.name
    if name == "short":
        return _short(fact.name)
    if name == "path":
        return fact.path
    if name in _COMPOSED:
        return _COMPOSED[name](fact)
    value = fact.get(name)
    return fact.args.argument_value(name, position) if value is None and fact.args is not None else value


def _subject(fact: Fact) -> str | None:
    """What a difference is about, with its argument: ``conv2d(filters)``, or ``--lr`` without one."""
    what, argument = fact.get("what"), fact.get("argument")
    return f"{what}({argument})" if what and argument and argument != "-" else what


def _side(fact: Fact, side: str) -> str:
    """The value of one side of a difference and its place: ```0.1` (train.py:12)``; a dash for no value, with the place
    where it would be set."""
    value, place = (str(fact.get(name) or "-").replace("`", "'") for name in (side, f"{side}_place"))
    shown = "–" if value == "-" else f"`{value}`"
    return shown if place == "-" else f"{shown} ({place})"


_COMPOSED: dict[str, Callable[[Fact], str | None]] = {
    "subject": _subject,
    "before": lambda fact: _side(fact, "reference"),
    "after": lambda fact: _side(fact, "migrated"),
}


def _short(name: str) -> str:
    """The last segment of a dotted name; for ``package.module:Class`` the part after the colon."""
    last = name.rpartition(".")[2]
    module, mark, own = last.partition(":")
    return own if mark and module.isidentifier() and own.isidentifier() else last
