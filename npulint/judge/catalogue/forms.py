"""Number formats of captures such as ``{total_us:time}`` and ``{count:number}``."""

from __future__ import annotations

from collections.abc import Callable

UNITS = {"us": 1.0, "ms": 1e3, "seconds": 1e6}
"""Unit suffixes of attribute names, in µs."""

_STEPS = ((1.0, "µs"), (1e3, "ms"), (1e6, "s"), (6e7, "min"), (3.6e9, "h"))
_LAST = {"s": 120.0, "min": 120.0}


def time(value: float) -> str:
    """Microseconds with a suitable unit and three digits: ``1.5 ms``, ``22.4 s``, ``44.4 min``."""
    for at, (size, unit) in enumerate(_STEPS):
        shown = _digits(value / size)
        if at == len(_STEPS) - 1 or abs(float(shown.replace(",", ""))) < _LAST.get(unit, 1000.0):
            return f"{shown} {unit}"
    raise AssertionError


def number(value: float) -> str:
    """A number with three digits, whole numbers with all: ``14,199``, ``0.25``."""
    return f"{value:,.0f}" if float(value).is_integer() else _digits(value)


def times(value: float) -> str:
    """A repetition count to append: `` ×133``; empty for 1."""
    return f" ×{number(value)}" if value != 1 else ""


def plural(value: float, noun: str) -> str:
    """A number with the English plural `noun`, singular for one: ``12 places``, ``1 place``."""
    return f"{number(value)} {noun.removesuffix('s') if value == 1 else noun}"


def unknown(form: str) -> str:
    """What stands for a value that is not known: ``?``, ``? places``, or nothing for a repetition."""
    return "" if form == "times" else f"? {form}" if form in PLURALS else "?"


def _noun(noun: str) -> Callable[[str, float], str]:
    """A format that appends `noun` to a number."""
    return lambda _, value: plural(value, noun)


def _digits(value: float) -> str:
    """Three significant digits, all digits before the point, no trailing zeros."""
    size = abs(value)
    places = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


def micro(name: str, value: float) -> float:
    """The value of the attribute `name` in µs; raises `KeyError` if the name has no unit suffix."""
    return value * UNITS[name.rpartition("_")[2]]


PLURALS = ("calls", "files", "flags", "images", "imports", "lines", "loaders", "nodes", "places", "uses")
"""The nouns that may follow the colon of a placeholder in English; Chinese texts have the placeholder without one."""

FORMS: dict[str, Callable[[str, float], str]] = {
    "time": lambda name, value: time(micro(name, value)),
    "number": lambda name, value: number(value),
    "times": lambda name, value: times(value),
    **{noun: _noun(noun) for noun in PLURALS},
}
"""Placeholder formats; each takes the attribute's name and value."""


def problem(name: str, form: str) -> str:
    """What is wrong with a placeholder ``{name:form}``; empty if nothing."""
    if form and form not in FORMS:
        return f"'{form}' is no form: one of {', '.join(FORMS)}"
    if form == "time" and name.rpartition("_")[2] not in UNITS:
        return f"{name} tells no unit of time: its last word is one of {', '.join(UNITS)}"
    return ""
