"""Plain values: what an expression comes to without running it, with the places that it came by."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import msgspec

from npulint.assemble.arithmetic import apply
from npulint.facts.code import Scalar
from npulint.facts.recipe import Station, Traced
from npulint.facts.values import PossibleValues

_MOST = 16  # alternatives that are kept; beyond, nothing is known
_DIGITS = 12  # digits that count: 0.1 * 3 is 0.3
_LONG = 80  # characters of a value that people are shown
_NESTING = 8


class ValuePairs(tuple[tuple[Scalar, object], ...]):
    """A dictionary of plain values: its entries, sorted by their keys."""

    __slots__ = ()

    @classmethod
    def of(cls, entries: Iterable[tuple[Scalar, object]]) -> ValuePairs:
        """The entries as a plain value; of equal keys the last counts."""
        return cls(sorted(dict(entries).items(), key=lambda entry: (str(entry[0]), type(entry[0]).__name__)))


class Found(msgspec.Struct, frozen=True, eq=False):
    """The plain values that an expression may have. `exact`: there are no others. `stations` lead from where the value
    is written to the expression. `cut`: the search ended before its end, another may find more."""

    values: tuple[object, ...] = ()
    exact: bool = False
    stations: tuple[Station, ...] = ()
    cut: bool = False

    @property
    def single(self) -> object:
        """The value if there is exactly one, else None."""
        return self.values[0] if self.known else None

    @property
    def known(self) -> bool:
        """Whether there is exactly one value."""
        return self.exact and len(self.values) == 1

    @property
    def truth(self) -> bool | None:
        """Whether the value is true in a condition; None when that depends."""
        answers = {bool(value) for value in self.values} if self.exact else set()
        return answers.pop() if len(answers) == 1 else None

    def through(self, *stations: Station) -> Found:
        """The same after further stations."""
        told = [one for one in stations if one not in self.stations[-1:]]
        return msgspec.structs.replace(self, stations=(*self.stations, *told)) if told else self

    def written(self, station: Station) -> Found:
        """The same, written at a place unless its places are known already."""
        return self if self.stations else msgspec.structs.replace(self, stations=(station,))

    def doubted(self) -> Found:
        """The same values, of which none is certain."""
        return msgspec.structs.replace(self, exact=False)

    def traced(self) -> Traced:
        """What reporters and comparisons are told."""
        return Traced(self.known, self.single, self.text(), self.stations)

    def text(self) -> str:
        """For people: the value or the alternatives, ``?`` for what is not known."""
        shown = [show(value) for value in self.values]
        return " / ".join(dict.fromkeys(shown if self.exact and shown else [*shown, "?"]))


UNKNOWN = Found()
CUT = Found(cut=True)


def literal(value: object) -> Found:
    """A value that is as it is written."""
    return Found((value,), True)


def joined(parts: Sequence[Found]) -> Found:
    """What an expression is that may be any of `parts`."""
    if len(parts) == 1:
        return parts[0]
    values: dict[Hashable, object] = {}
    for part in parts:
        for value in part.values:
            values.setdefault(canonical(value), value)
    exact = bool(parts) and all(part.exact for part in parts) and len(values) <= _MOST
    stations = tuple(dict.fromkeys(station for part in parts for station in part.stations))
    return Found(tuple(values.values())[:_MOST], exact, stations, any(part.cut for part in parts))


def computed(symbol: str, parts: Sequence[Found]) -> Found:
    """The value of an operation on values; nothing is known where it is not on scalars."""
    cut = any(part.cut for part in parts)
    stations = tuple(dict.fromkeys(station for part in parts for station in part.stations))
    known = [_known(part) for part in parts]
    result = apply(symbol, [one for one in known if one is not None]) if None not in known else PossibleValues()
    return Found(tuple(result.values), result.exact, stations, cut)


def _known(part: Found) -> PossibleValues | None:
    values = [value for value in part.values if value is None or isinstance(value, str | int | float)]
    return PossibleValues(tuple(values), part.exact, "") if len(values) == len(part.values) else None


def canonical(value: object, depth: int = 0) -> Hashable:
    """What stands for a value in comparisons: equal for values that do the same. Numbers are equal by value, whatever
    their type (``True``, ``1`` and ``1.0`` too), lists and tuples by their elements, texts only when they are the
    same."""
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, tuple | list):
        return tuple([canonical(item, depth + 1) for item in value]) if depth < _NESTING else repr(value)
    if isinstance(value, dict):
        return canonical(ValuePairs.of(value.items()), depth)
    return value if isinstance(value, str | int | None) else repr(value)


def _number(value: float) -> Hashable:
    if math.isnan(value):
        return "nan", "number"
    return float(f"{value:.{_DIGITS}g}")


def show(value: object, inside: bool = False, depth: int = 0) -> str:
    """A value as people read it: numbers without the dust of binary arithmetic, long texts and lists shortened."""
    if isinstance(value, float):
        return repr(float(f"{value:.{_DIGITS}g}"))
    if isinstance(value, str):
        return _short(repr(value) if inside or not value else value)
    if depth > _NESTING:
        return "…"
    if isinstance(value, ValuePairs):
        return _short("{" + ", ".join(f"{show(k, True)}: {show(v, True, depth + 1)}" for k, v in value) + "}")
    if isinstance(value, tuple | list):
        return _short("[" + ", ".join(show(item, True, depth + 1) for item in value) + "]")
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
