"""The objects of a program: how they are made, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from npulint.model.abstract_values.objects import EMPTY, ESCAPED, HAPPENED, ITEMS, LAYOUT, Items, Layout
from npulint.model.abstract_values.store import Content, Store
from npulint.model.abstract_values.value import ABSENT, ABSENT_VALUE, UNKNOWN, Const, Obj, Value, const

Key = object
"""A key of a dict: what Python itself compares (a constant, a tuple of keys), or an `Obj` by identity."""


_CALLED: Final = frozenset(
    ("function", "method", "class", "partial", "generator", "coroutine", "cached", "contextmanager", "lazy", "dispatch")
)


_METHODS: Final = _CALLED | {"property", "classmethod", "staticmethod"}


class Heap:
    """Makes, reads and writes objects in the current state."""

    def __init__(self) -> None:
        self.store = Store()
        self.symbols: dict[str, Obj] = {}
        self.repetition: tuple[int, ...] = ()  # the loops of unknown length that are being executed
        self.on_escape: Callable[[Value], object] = _nothing  # told what is put where unseen code finds it
        self._is_escaping = False
        self.is_observing = False  # what is read is for the answers, not for the program
        self.has_own_equality: Callable[[Obj], bool] = _never  # whether an instance is not compared by identity
        self.volatile: set[tuple[Obj, object]] = set()  # cells that unknown code may write at any time
        self._slices: dict[tuple[object, ...], Obj] = {}
        self._repeated: dict[tuple[int, tuple[int, ...], str], Obj] = {}

    # -- making

    def symbol(self, name: str) -> Obj:
        """What a library has by this dotted name."""
        obj = self.symbols.get(name)
        if obj is None:
            obj = self.symbols[name] = Obj("symbol", 0, name)
        return obj

    def make(self, kind: str, name: str = "", cls: Obj | None = None, data: Any = None, site: object = None) -> Obj:
        """A new object; what one line of a loop of unknown length makes is one object that stands for all."""
        if not self.repetition or site is None:
            return Obj(kind, self.store.new_serial(), name, cls, data)
        key = (id(site), self.repetition, kind)
        obj = self._repeated.get(key)
        if obj is None or obj.cls is not cls:
            obj = self._repeated[key] = Obj(kind, self.store.new_serial(), name, cls, data, many=True)
        return obj

    def sequence(self, kind: str, items: Iterable[Value], site: object = None) -> Value:
        """A new list or tuple with these items."""
        made = self.make(kind, site=site)
        self.put(made, ITEMS, Items(tuple(items)))
        return Value((made,))

    def sequence_of_any(self, kind: str, each: Value, site: object = None) -> Value:
        """A new list or tuple of unknown length."""
        made = self.make(kind, site=site)
        self.put(made, ITEMS, Items(None, each))
        return Value((made,))

    def mapping(self, entries: Iterable[tuple[Key, Value]], kind: str = "dict", site: object = None) -> Value:
        """A new dict, or set whose entries have any values."""
        made = self.make(kind, site=site)
        self.fill(made, entries)
        return Value((made,))

    def slice_of(self, parts: Sequence[Value], site: object = None) -> Value:
        """The index ``[lower:upper:step]``."""
        key = tuple(part.single for part in parts)
        made = self._slices.get(key)
        if made is None or not all(isinstance(alternative, Const) for alternative in key):
            made = self._slices[key] = self.make("slice", data=list(parts), site=site)
        return Value((made,))

    def fill(self, owner: Obj, entries: Iterable[tuple[Key, Value]]) -> None:
        """Write the first entries of a new object."""
        held = dict(entries)
        for key, value in held.items():
            self.put(owner, key, value)
        self.put(owner, LAYOUT, Layout(tuple(held), owner.kind != "set"))

    # -- cells

    def put(self, owner: Obj, key: object, content: Content) -> None:
        """Write a cell, beside what it held where the object stands for several."""
        if owner.many:
            before = self.store.read(owner, key)
            if before is not None:
                content = content.joined(before)
            elif self.store.read(owner, LAYOUT) is not None and isinstance(content, Value):
                content = content.joined(ABSENT_VALUE)
        if (owner, key) in self.volatile or (owner.leaked and self.store.read(owner, ESCAPED) is not None):
            if isinstance(content, Value) and not self._is_escaping:
                self._is_escaping = True
                try:
                    self.on_escape(content)
                finally:
                    self._is_escaping = False
            content = _unsure(content)
        if content.__class__ is Value and content.origin is not None:
            content.origin.root.is_stored = True
            if _is_read_elsewhere(owner):
                content.origin.root.is_read = True
        self.store.write(owner, key, content)

    def items_of(self, owner: Obj) -> Items:
        """The content of a list or tuple."""
        content = self.store.read(owner.store, ITEMS)
        return content if isinstance(content, Items) else Items(None)

    def items_of_key(self, owner: Obj, key: object) -> Items:
        """Items that an object holds under a key."""
        content = self.store.read(owner, key)
        return content if isinstance(content, Items) else Items(None)

    def layout_of(self, owner: Obj) -> Layout:
        """The keys of a dict or the names of an object's attributes."""
        content = self.store.read(owner.store, LAYOUT)
        return EMPTY if content is None else content if isinstance(content, Layout) else _FORGOTTEN

    def get(self, owner: Obj, key: Key) -> Value:
        """What the program reads at a key of a dict, or as an object's own attribute; absent where it has none."""
        value = self.held(owner, key)
        if value.origin is not None and not self.is_observing:
            value.origin.root.is_read = True
        return value

    def held(self, owner: Obj, key: Key) -> Value:
        """The same without that the program reads it."""
        content = self.store.read(owner.store, key)
        if isinstance(content, Value):
            if not content.may_be_absent or owner.kind == "frame":
                return content
            rest = self.layout_of(owner).rest  # where it was not written by its name, it may have been by another
            return content if rest is None else content.joined(rest)
        if content is not None:
            return UNKNOWN
        layout = self.layout_of(owner)
        return ABSENT_VALUE if layout.rest is None else layout.rest.joined(ABSENT_VALUE)

    def set(self, owner: Obj, key: Key, value: Value) -> None:
        """Set the value of a key or attribute."""
        store = owner.store
        before = self.held(owner, key)
        self.put(store, key, value)
        if not before.may_be_absent and not before.is_open:
            return
        layout = self.layout_of(owner)
        if key not in layout.keys:
            self.store.write(
                store, LAYOUT, Layout((*layout.keys, key), layout.is_ordered and layout.rest is None, layout.rest)
            )
        elif layout.keys[-1] != key and before.single is not ABSENT:
            self.store.write(store, LAYOUT, Layout(layout.keys, False, layout.rest))
        elif layout.keys[-1] != key:  # it was deleted before
            keys = (*(other for other in layout.keys if other != key), key)
            self.store.write(store, LAYOUT, Layout(keys, layout.is_ordered, layout.rest))

    def set_any(self, owner: Obj, value: Value) -> None:
        """Set the value of a key that is not known."""
        store, layout = owner.store, self.layout_of(owner)
        for key in layout.keys:
            self.put(store, key, self.held(owner, key).joined(value))
        rest = value if layout.rest is None else layout.rest.joined(value)
        self.store.write(store, LAYOUT, Layout(layout.keys, False, rest))

    def maybe_set(self, owner: Obj, key: Key, value: Value) -> None:
        """Set the value of a key that is one of several."""
        self.set(owner, key, self.held(owner, key).joined(value))

    def delete(self, owner: Obj, key: Key) -> None:
        """Remove a key or attribute."""
        self.put(owner.store, key, ABSENT_VALUE)
        layout = self.layout_of(owner)
        if key in layout.keys and not owner.many:
            keys = tuple(other for other in layout.keys if other != key)
            self.store.write(owner.store, LAYOUT, Layout(keys, layout.is_ordered, layout.rest))

    def entries(self, owner: Obj) -> list[tuple[Key, Value]]:
        """The keys with their values; a value that may be absent says that the key may not be there."""
        return [
            (key, value) for key in self.layout_of(owner).keys if (value := self.get(owner, key)).single is not ABSENT
        ]

    def is_exact(self, owner: Obj) -> bool:
        """Whether its keys are known, each surely there."""
        layout = self.layout_of(owner)
        return layout.rest is None and not any(self.held(owner, key).may_be_absent for key in layout.keys)

    # -- unknown code

    def escape(self, values: Iterable[Value]) -> list[Obj]:
        """Let code that is not seen have these values: whatever they hold may be changed from here on. Returns the
        functions and methods among what can be reached, which may be called."""
        pending = [
            alternative for value in values for alternative in value.alternatives if isinstance(alternative, Obj)
        ]
        seen: set[Obj] = set()
        callables: list[Obj] = []
        while pending:
            owner = pending.pop()
            if owner in seen or owner.kind == "symbol":
                continue
            seen.add(owner)
            if owner.kind in ("classmethod", "staticmethod", "property"):
                parts = owner.data if isinstance(owner.data, tuple) else (owner.data,)
                held = [part for part in parts if isinstance(part, Value)]
                pending += [
                    alternative for value in held for alternative in value.alternatives if isinstance(alternative, Obj)
                ]
                continue
            if owner.kind in _CALLED:
                callables.append(owner)
                held = [] if owner.items is None else [owner.items]
                pending += [
                    alternative for value in held for alternative in value.alternatives if isinstance(alternative, Obj)
                ]
                continue
            if owner.kind == "instance" and owner.cls is not None and owner.cls.kind == "class":
                callables.append(owner)
            pending += self._let_go(owner)
        return callables

    def let_go_class(self, cls: Obj, is_given: bool) -> None:
        """Let unseen code change the attributes of a class, its methods only where the class itself `is_given`."""
        for key in self.layout_of(cls).keys:
            value = self.get(cls, key)
            is_method = any(
                isinstance(alternative, Obj) and alternative.kind in _METHODS for alternative in value.alternatives
            )
            if is_given or not (is_method or str(key).startswith("__")):
                self.store.write(cls, key, UNKNOWN.joined(value))
        cls.leaked = True
        self.store.write(cls, ESCAPED, HAPPENED)

    def reachable(self, values: Iterable[Value]) -> frozenset[Obj]:
        """The objects among values, and those that these hold."""
        objects: dict[Obj, None] = {}
        pending = list(values)
        while pending:
            for alternative in pending.pop().alternatives:
                if isinstance(alternative, Obj) and alternative not in objects:
                    objects[alternative] = None
                    layout = self.layout_of(alternative)
                    pending += [
                        self.items_of(alternative).any_item,
                        *(self.get(alternative, key) for key in layout.keys),
                    ]
                    pending += [held for held in (layout.rest, alternative.items) if held is not None]
        return frozenset(objects)

    def _let_go(self, owner: Obj) -> list[Obj]:
        store = owner.store
        held: list[Value] = [] if owner.items is None else [owner.items]
        content = self.store.read(store, ITEMS)
        if isinstance(content, Items):
            held.append(content.any_item)
            if owner.kind != "tuple":
                self.store.write(store, ITEMS, Items(None))
        layout = self.store.read(store, LAYOUT)
        if layout is None and owner.kind in ("instance", "dict", "set"):
            layout = EMPTY
        if isinstance(layout, Layout):
            for key in layout.keys:
                value = self.get(owner, key)
                held.append(value)
                self.store.write(store, key, UNKNOWN.joined(value))
            self.store.write(store, LAYOUT, Layout(layout.keys, False, UNKNOWN))
        store.leaked = True
        if owner.kind != "tuple":
            self.store.write(store, ESCAPED, HAPPENED)
        return [alternative for value in held for alternative in value.alternatives if isinstance(alternative, Obj)]


def _is_read_elsewhere(owner: Obj) -> bool:
    """Whether a library may read what an object holds: its own objects, classes that extend its classes, instances."""
    cls = owner if owner.kind == "class" else owner.cls
    if owner.kind == "symbol" or cls is None or cls.kind != "class" or cls.data is None:
        return owner.kind == "symbol"
    bases = [base.name for base in cls.data.mro if base.kind == "symbol"]
    return bool(cls.data.is_open or any(name != "builtins.object" for name in bases))


def _nothing(value: Value) -> object:
    return None


def _never(owner: Obj) -> bool:
    return False


_FORGOTTEN = Layout((), False, UNKNOWN)


def _unsure(content: Content) -> Content:
    if isinstance(content, Value):
        return content.joined(UNKNOWN)
    if isinstance(content, Layout):
        return Layout(content.keys, False, UNKNOWN)
    return Items(None) if isinstance(content, Items) else content


def key_of(value: Const | Obj, heap: Heap) -> Key | None:
    """What a dict compares for this key; None where it cannot be a key or is not known."""
    if isinstance(value, Const):
        return KeyNone if value.value is None else value.value
    if value.kind == "tuple":
        items = heap.items_of(value).items
        singles = None if items is None else [item.single for item in items]
        if singles is None or not all(isinstance(single, (Const, Obj)) for single in singles):
            return None
        keys = [key_of(single, heap) for single in singles if isinstance(single, (Const, Obj))]
        return None if None in keys else tuple(keys)
    if value.kind in ("list", "dict", "set"):
        return None
    if value.kind == "instance" and value.items is not None:
        return None  # it equals the constant, and is another object
    return (
        None
        if value.kind in ("path", "pathlib", "method") or (value.kind == "instance" and heap.has_own_equality(value))
        else value
    )


class _KeyNone:
    """The key None, which as itself says that a key is not known."""

    def __repr__(self) -> str:
        return "None"


KeyNone = _KeyNone()


def value_of_key(key: Key, heap: Heap) -> Value:
    """The value that a key of a dict is."""
    if isinstance(key, Obj):
        return Value((key,))
    if isinstance(key, tuple):
        return heap.sequence("tuple", [value_of_key(part, heap) for part in key])
    return const(None if key is KeyNone else key)
