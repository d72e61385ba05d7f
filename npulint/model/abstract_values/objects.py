"""Objects with an identity, and what their cells hold beside values."""

from __future__ import annotations

from typing import Final

from npulint.model.abstract_values.value import UNKNOWN, Value, joined

LAYOUT: Final = "<layout>"
"""The key of the cell with the `Layout` of an object's attributes or items."""
ITEMS: Final = "<items>"
"""The key of the cell with the `Items` of a list or tuple."""
ESCAPED: Final = "<escaped>"
"""The key of the cell that is set when code that is not seen has got hold of an object."""


class Items:
    """The content of a list or tuple: its items in order, or (`items` is None) that each of any number is `each`."""

    __slots__ = ("each", "items")

    def __init__(self, items: tuple[Value, ...] | None, each: Value = UNKNOWN) -> None:
        self.items, self.each = items, each

    @property
    def any_item(self) -> Value:
        """What an item may be."""
        if self.items is None:
            return self.each
        return joined(self.items) if self.items else UNKNOWN

    def same(self, other: object) -> bool:
        """Whether nothing differs."""
        if self is other:
            return True
        if not isinstance(other, Items):
            return False
        if self.items is None or other.items is None:
            return self.items is other.items and self.each.same(other.each)
        return len(self.items) == len(other.items) and all(map(Value.same, self.items, other.items))

    def covers(self, other: object) -> bool:
        """Whether it may hold whatever the other may hold."""
        if self is other:
            return True
        if not isinstance(other, Items):
            return False
        if self.items is None:
            return other.items == () or self.each.covers(other.any_item)
        if other.items is None or len(self.items) != len(other.items):
            return False
        return all(map(Value.covers, self.items, other.items))

    def joined(self, other: object) -> Items | Value:
        """The content of a list that may hold either."""
        if self is other or other is None:
            return self
        if not isinstance(other, Items):
            return UNKNOWN
        mine, others = self.items, other.items
        if mine is not None and others is not None and len(mine) == len(others):
            return Items(tuple(value.joined(two) for value, two in zip(mine, others, strict=True)))
        return self.mixed(other)

    def mixed(self, other: Items) -> Items:
        """A list of any number of items of either, in any order."""
        each = [content.any_item for content in (self, other) if content.items != ()]
        return Items(None, joined(each) if each else UNKNOWN)


class Layout:
    """The keys of a dict, or the names of an object's attributes, in order. With `is_ordered` false their order is not
    known; `rest` is what other keys may hold (None: there are no others)."""

    __slots__ = ("is_ordered", "keys", "rest")

    def __init__(self, keys: tuple[object, ...], is_ordered: bool = True, rest: Value | None = None) -> None:
        self.keys, self.is_ordered, self.rest = keys, is_ordered, rest

    def same(self, other: object) -> bool:
        """Whether nothing differs."""
        if self is other:
            return True
        if not isinstance(other, Layout) or self.keys != other.keys or self.is_ordered != other.is_ordered:
            return False
        if self.rest is None or other.rest is None:
            return self.rest is other.rest
        return self.rest.same(other.rest)

    def covers(self, other: object) -> bool:
        """Whether it may have whatever keys the other may have."""
        if self is other:
            return True
        if not isinstance(other, Layout) or not set(other.keys) <= set(self.keys):
            return False
        if other.rest is not None and (self.rest is None or not self.rest.covers(other.rest)):
            return False
        return not self.is_ordered or (other.is_ordered and self.keys == other.keys)

    def joined(self, other: object) -> Layout | Value:
        """The layout of what may be either."""
        if self is other or other is None:
            return self
        if not isinstance(other, Layout):
            return UNKNOWN
        rest = self.rest if other.rest is None else other.rest if self.rest is None else self.rest.joined(other.rest)
        ordered = self.is_ordered and other.is_ordered
        if self.keys == other.keys:
            same = all(
                key is other_key or type(key) is type(other_key)
                for key, other_key in zip(self.keys, other.keys, strict=True)
            )
            return Layout(self.keys, ordered, rest if same else UNKNOWN)  # 1 and True are one key of a dict
        longer, shorter = (self, other) if len(self.keys) >= len(other.keys) else (other, self)
        missing = [key for key in shorter.keys if key not in set(longer.keys)]
        ordered = ordered and not missing and _is_subsequence(shorter.keys, longer.keys)
        return Layout((*longer.keys, *missing), ordered, rest)


def _is_subsequence(shorter: tuple[object, ...], longer: tuple[object, ...]) -> bool:
    rest = iter(longer)
    return all(any(key == other for other in rest) for key in shorter)


EMPTY: Final = Layout(())


class Mark:
    """Whether something has happened: surely, or (`maybe`) in some executions."""

    __slots__ = ("maybe",)

    def __init__(self, maybe: bool) -> None:
        self.maybe = maybe

    def same(self, other: object) -> bool:
        """Whether nothing differs."""
        return isinstance(other, Mark) and other.maybe == self.maybe

    def covers(self, other: object) -> bool:
        """Whether it says no more than the other."""
        return self.maybe or self.same(other)

    def joined(self, other: object) -> Mark:
        """What holds where this branch or another was taken."""
        return self if self.maybe or (isinstance(other, Mark) and not other.maybe) else MAYBE


HAPPENED: Final = Mark(False)
MAYBE: Final = Mark(True)
