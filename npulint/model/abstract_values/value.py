"""What an expression may be worth: alternatives, and whether there are others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

MOST_ALTERNATIVES = 12


class Absent:
    """The alternative that a name is not bound, an attribute or a key not there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class Const:
    """An immutable value of Python itself. Two of them are the same only with the same type: 1, 1.0 and True differ."""

    __slots__ = ("_key", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        kind = value.__class__
        self._key = (kind, repr(value)) if kind is float or kind is complex else (kind, value)

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Const and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


class Obj:
    """An object by identity. Kinds: symbol (of a library, by name), module, class, function, method, instance, list,
    tuple, dict, set, frame (left: one that nothing reads any more), property, partial, generator, iterator, view,
    slice, super, and what a library makes that is modelled.

    `cls` is the class of an instance (an object of kind class, or the symbol of a library's class); `data` is what
    belongs to the kind and never changes; `items` is the list, dict or constant within an instance of a class that
    extends a built-in one. `store` is the object whose cells hold the contents (another one for views of attributes).
    With `many` it stands for several objects that were made at one line."""

    __slots__ = ("cls", "data", "items", "kind", "leaked", "many", "name", "serial", "store")

    def __init__(
        self, kind: str, serial: int, name: str = "", cls: Obj | None = None, data: Any = None, many: bool = False
    ) -> None:
        self.kind, self.serial, self.name, self.cls, self.data, self.many = kind, serial, name, cls, data, many
        self.leaked = False  # whether it has escaped in some execution
        self.items: Value | None = None
        self.store: Obj = self

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name} {self.serial}>"


class Origin:
    """A place through which a value came: the path and line, and the one before it. `root` is the first one.

    Of a literal, the root says whether the program kept it anywhere (`is_stored`), and whether it may have read it from
    there (`is_read`)."""

    __slots__ = ("before", "is_read", "is_stored", "line", "path", "root")

    def __init__(self, path: str, line: int, before: Origin | None) -> None:
        self.path, self.line, self.before = path, line, before
        self.root: Origin = self if before is None else before.root
        self.is_stored = self.is_read = False


class Value:
    """What an expression may be worth: one of `alternatives`; with `is_open`, anything else as well.

    `reason` says what decides where it is open (``$LR``, ``--lr``, the name of a library's function), `hint` is the
    name of the built-in type that all possible values have, where that is known. Compared by identity."""

    __slots__ = ("alternatives", "hint", "is_open", "origin", "reason")

    def __init__(
        self,
        alternatives: tuple[Const | Obj | Absent, ...],
        is_open: bool = False,
        reason: str = "",
        hint: str = "",
        origin: Origin | None = None,
    ) -> None:
        self.alternatives = alternatives
        self.is_open = is_open
        self.reason = reason
        self.hint = hint
        self.origin = origin

    def __repr__(self) -> str:
        return f"Value({self.alternatives}{', ...' if self.is_open else ''}{self.reason and ' by ' + self.reason})"

    @property
    def single(self) -> Const | Obj | Absent | None:
        """The only alternative; None where there are several, or others."""
        alternatives = self.alternatives
        return alternatives[0] if len(alternatives) == 1 and not self.is_open else None

    @property
    def may_be_absent(self) -> bool:
        return ABSENT in self.alternatives

    def same(self, other: object) -> bool:
        """Whether the other value has the same alternatives."""
        if self is other:
            return True
        if not isinstance(other, Value) or self.is_open != other.is_open or self.hint != other.hint:
            return False
        mine, others = self.alternatives, other.alternatives
        return mine == others or (len(mine) == len(others) and set(mine) == set(others))

    def covers(self, other: object) -> bool:
        """Whether it may be whatever the other value may be."""
        if self is other:
            return True
        if not isinstance(other, Value) or (other.is_open and not self.is_open):
            return False
        if other.is_open and self.hint and self.hint != other.hint:
            return False
        return all(
            alternative in self.alternatives or self._is_open_to(alternative) for alternative in other.alternatives
        )

    def _is_open_to(self, alternative: Const | Obj | Absent) -> bool:
        return self.is_open and isinstance(alternative, Const) and self.hint in ("", type(alternative.value).__name__)

    def joined(self, other: object) -> Value:
        """What may be either; a content of another kind makes it unknown."""
        if other is None:
            other = ABSENT_VALUE
        if not isinstance(other, Value):
            return UNKNOWN
        if other.origin is not None and (self.origin is None or other.origin.root is not self.origin.root):
            other.origin.root.is_read = True  # which of them is read later is not followed
        if self.same(other):
            return self
        alternatives = (
            *self.alternatives,
            *(alternative for alternative in other.alternatives if alternative not in self.alternatives),
        )
        is_open = self.is_open or other.is_open
        hint = _common_hint(self, other)
        if len(alternatives) > MOST_ALTERNATIVES:  # objects stay: what is written to the value is written to them
            alternatives, is_open = (
                tuple(alternative for alternative in alternatives if not isinstance(alternative, Const)),
                True,
            )
        reason = self.reason or other.reason
        return Value(alternatives, is_open, reason, hint if is_open else "", self.origin or other.origin)

    def without(self, alternative: Absent) -> Value:
        """The value where this alternative is excluded."""
        kept = tuple(other for other in self.alternatives if other is not alternative)
        return self if len(kept) == len(self.alternatives) else self.of(kept)

    def of(self, alternatives: tuple[Const | Obj | Absent, ...], origin: Origin | None = None) -> Value:
        """The value with these of its alternatives, from its own origin if no other is given."""
        return Value(alternatives, self.is_open, self.reason, self.hint, origin or self.origin)

    def through(self, path: str, line: int) -> Value:
        """The value with one more place through which it came."""
        return Value(self.alternatives, self.is_open, self.reason, self.hint, Origin(path, line, self.origin))


def _common_hint(left: Value, right: Value) -> str:
    hints = {left.hint if left.is_open else "", right.hint if right.is_open else ""}
    for value in (left, right):
        hints |= {type(item.value).__name__ if isinstance(item, Const) else "?" for item in value.alternatives}
    hints.discard("")
    if (left.is_open and not left.hint) or (right.is_open and not right.hint) or len(hints) != 1:
        return ""
    return hints.pop().replace("?", "")


UNKNOWN: Final = Value((), True)
ABSENT_VALUE: Final = Value((ABSENT,))
NONE: Final = Value((Const(None),))
TRUE: Final = Value((Const(True),))
FALSE: Final = Value((Const(False),))
EITHER: Final = Value((Const(True), Const(False)))


def const(value: object) -> Value:
    """A certain value of Python itself."""
    return Value((Const(value),))


def unknown(reason: str, hint: str = "") -> Value:
    """Any value, and what decides about it."""
    return Value((), True, reason, hint)


def truth_value(answer: bool | None) -> Value:
    """True, False, or one of them."""
    return EITHER if answer is None else TRUE if answer else FALSE


def joined(values: Iterable[Value]) -> Value:
    """What may be any of them; unknown for none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else result.joined(value)
    return UNKNOWN if result is None else result
