"""Plain values: statically evaluated expressions, with their provenance."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import msgspec

from npulint.facts.code import Scalar
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep, Traced
from npulint.facts.values import PossibleValues
from npulint.model.values.arithmetic import apply

_MOST = 16  # alternatives that are kept; with more the value is unknown
_DIGITS = 12  # significant digits: 0.1 * 3 is 0.3
_LONG = 80  # characters of a displayed value
_NESTING = 8


class ValuePairs(tuple[tuple[Scalar, object], ...]):
    """A dictionary of plain values: its entries, sorted by key."""

    __slots__ = ()

    @classmethod
    def of(cls, entries: Iterable[tuple[Scalar, object]]) -> ValuePairs:
        """Entries as a plain value; of equal keys the last counts."""
        return cls(sorted(dict(entries).items(), key=lambda entry: (str(entry[0]), type(entry[0]).__name__)))


class Found(msgspec.Struct, frozen=True, eq=False):
    """The possible plain values of an expression. `exact`: there are no others. `provenance` leads from the definition
    to the expression. `cut`: the search hit a limit; another query may find more."""

    values: tuple[object, ...] = ()
    exact: bool = False
    provenance: tuple[ProvenanceStep, ...] = ()
    cut: bool = False

    @property
    def single(self) -> object:
        """The value if there is exactly one, else None."""
        return self.values[0] if self.known else None

    @property
    def known(self) -> bool:
        return self.exact and len(self.values) == 1

    @property
    def truth(self) -> bool | None:
        """The truth value in a condition; None when undetermined."""
        answers = {bool(value) for value in self.values} if self.exact else set()
        return answers.pop() if len(answers) == 1 else None

    def through(self, *provenance: ProvenanceStep) -> Found:
        """The same values with further provenance at the end."""
        new = [provenance_step for provenance_step in provenance if provenance_step not in self.provenance[-1:]]
        return msgspec.structs.replace(self, provenance=(*self.provenance, *new)) if new else self

    def written(self, path: str, span: Span, name: str) -> Found:
        """The same values, written at a place under a name unless their provenance is already known."""
        if self.provenance or not self.values:
            return self
        return msgspec.structs.replace(self, provenance=(ProvenanceStep(path, span, name),))

    def doubted(self) -> Found:
        """The same values, none of them certain."""
        return msgspec.structs.replace(self, exact=False)

    def traced(self) -> Traced:
        """The record for reports and comparisons."""
        return Traced(self.known, self.single, self.text(), self.provenance)

    def text(self) -> str:
        """The value or the alternatives for display, ``?`` if unknown."""
        shown = [show(value) for value in self.values]
        return " / ".join(dict.fromkeys(shown if self.exact and shown else [*shown, "?"]))


UNKNOWN = Found()
CUT = Found(cut=True)


def literal(value: object) -> Found:
    """A literal value."""
    return Found((value,), True)


def joined(parts: Sequence[Found]) -> Found:
    """The possible values of an expression that may be any of `parts`."""
    if len(parts) == 1:
        return parts[0]
    values: dict[Hashable, object] = {}
    for part in parts:
        for value in part.values:
            values.setdefault(canonical(value), value)
    exact = bool(parts) and all(part.exact for part in parts) and len(values) <= _MOST
    return whole(parts, *list(values.values())[:_MOST], exact=exact)


def computed(symbol: str, parts: Sequence[Found]) -> Found:
    """The value of an operator applied to scalars; unknown for other operands."""
    valueses = [_known(part) for part in parts]
    result = (
        apply(symbol, [values for values in valueses if values is not None])
        if None not in valueses
        else PossibleValues()
    )
    return whole(parts, *result.values, exact=result.exact)


def whole(parts: Iterable[Found], *values: object, exact: bool = True) -> Found:
    """The possible `values` of what is put together from `parts`."""
    parts = list(parts)
    provenance = tuple(dict.fromkeys(step for part in parts for step in part.provenance))
    return Found(values, exact, provenance, any(part.cut for part in parts))


def unknown(parts: Iterable[Found]) -> Found:
    """The value of what is put together from `parts` that are not all known."""
    return Found(cut=any(part.cut for part in parts))


def _known(part: Found) -> PossibleValues | None:
    values = [value for value in part.values if value is None or isinstance(value, str | int | float)]
    return PossibleValues(tuple(values), part.exact, "") if len(values) == len(part.values) else None


def canonical(value: object, depth: int = 0) -> Hashable:
    """A hashable key that is equal for equivalent values. Numbers are equal by value regardless of type (``True``,
    ``1`` and ``1.0``), lists and tuples by elements, texts if identical."""
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
    """A value for display: numbers rounded to significant digits, long texts and lists shortened."""
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
