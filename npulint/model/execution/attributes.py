"""Attributes: of instances and classes, modules, and what libraries make."""

from __future__ import annotations

from typing import Final, NoReturn

from npulint.model.abstract_values.library_names import keeps_attributes
from npulint.model.abstract_values.value import (
    ABSENT,
    ABSENT_VALUE,
    NONE,
    UNKNOWN,
    Absent,
    Const,
    Obj,
    Value,
    const,
    joined,
    unknown,
)
from npulint.model.execution import items
from npulint.model.execution.machine import NO_KIND, Arguments, Machine

BUILT_IN: Final = {"list": "builtins.list", "tuple": "builtins.tuple", "dict": "builtins.dict", "set": "builtins.set"}
"""The built-in types of objects that have their own kind."""


_OF_FRAMES: Final = frozenset(("f_locals", "f_globals", "f_builtins"))
"""Attributes of frames through which any name of the program can be changed."""


def get(m: Machine, holder: Value, name: str) -> Value:
    """The value of ``holder.name``."""

    def open_attribute() -> Value:
        m.may_throw("AttributeError")
        if name in _OF_FRAMES:
            m.lost = True
        if holder.hint:
            return Value(
                (m.heap.make("method", f"builtins.{holder.hint}.{name}", data=unknown(holder.reason, holder.hint)),)
            )
        reason = holder.reason
        return unknown(f"{reason}.{name}" if reason and reason[0] not in "$-" else reason)

    def of(alternative: Const | Obj) -> Value:
        value = attribute_of(m, alternative, name)
        if value.origin is not None:  # that of a class is looked up whether or not the instance has its own
            value.origin.root.is_read = True
        if not value.may_be_absent:
            return value
        if value.single is ABSENT:
            if name.startswith("__") and name.endswith("__"):  # Python gives many that are not modelled
                m.may_throw("AttributeError")
                return UNKNOWN
            _no_attribute(m, alternative, name)
        m.may_throw("AttributeError")
        return value.without(ABSENT)

    return items.each(m, holder, of, open_attribute)


def _no_attribute(m: Machine, alternative: Const | Obj, name: str) -> NoReturn:
    kind = type(alternative.value).__name__ if isinstance(alternative, Const) else alternative.name or alternative.kind
    m.throw_new("AttributeError", f"'{kind}' object has no attribute '{name}'")


def attribute_of(m: Machine, alternative: Const | Obj, name: str) -> Value:
    """The attribute of an alternative, absent where it has none."""
    if isinstance(alternative, Const):
        return _method_of(m, f"builtins.{type(alternative.value).__name__}", alternative, name)
    kind = alternative.kind
    if kind == "instance":
        return _of_instance(m, alternative, name)
    if kind == "class":
        return _of_class(m, alternative, name)
    if kind == "module":
        return _of_module(m, alternative, name)
    if kind == "symbol":
        return _of_symbol(m, alternative, name)
    if kind in BUILT_IN and alternative.name:
        return _of_named_container(m, alternative, name)
    if kind in BUILT_IN:
        return _method_of(m, BUILT_IN[kind], alternative, name)
    if kind == "function":
        return _of_function(m, alternative, name)
    if kind == "super":
        return _of_super(m, alternative, name)
    handler = m.kinds.get(kind, NO_KIND).attribute
    return _unmodelled(m, alternative, name) if handler is None else handler(m, alternative, name)


def _unmodelled(m: Machine, obj: Obj, name: str) -> Value:
    """Perhaps a method, which gets hold of the object."""
    return Value((m.heap.make("method", name, data=(m.heap.symbol(f"<{obj.kind}>.{name}"), Value((obj,)))),), True)


_OF_FROZEN: Final = frozenset(
    "union intersection difference symmetric_difference issubset issuperset isdisjoint copy __len__".split()
)


def _of_named_container(m: Machine, obj: Obj, name: str) -> Value:
    """An attribute of a frozenset, OrderedDict or defaultdict."""
    if obj.name == "<namespace>" or (obj.name == "frozenset" and name in _OF_FROZEN):
        return _method_of(m, BUILT_IN[obj.kind], obj, name)
    if obj.name == "frozenset":
        return ABSENT_VALUE if m.has_method("builtins.set", name) and not name.startswith("__") else UNKNOWN
    is_own = obj.name == "OrderedDict" and name in ("popitem", "move_to_end")
    if m.has_method("builtins.dict", name) and not is_own:
        return _method_of(m, BUILT_IN[obj.kind], obj, name)
    symbol = m.heap.symbol(f"collections.{obj.name}.{name}")
    return Value((m.heap.make("method", symbol.name, data=(symbol, Value((obj,)))),), True)


def _method_of(m: Machine, type_name: str, alternative: Const | Obj, name: str) -> Value:
    if name == "__class__":
        return Value((m.heap.symbol(type_name),))
    if not m.has_method(type_name, name):
        number = (
            getattr(alternative.value, name, None)
            if isinstance(alternative, Const) and name in ("real", "imag")
            else None
        )
        return ABSENT_VALUE if number is None else const(number)
    return Value((m.heap.make("method", f"{type_name}.{name}", data=Value((alternative,))),))


# -- instances and classes


def class_attribute(m: Machine, cls: Obj, name: str) -> tuple[Value, Obj | None]:
    """What a class or the first of its bases has by this name, and that class; absent where none has it."""
    parts: list[Value] = []
    home: Obj | None = None
    for base in m.mro(cls):
        if base.kind == "symbol":
            value = m.heap.get(base, name)
            if value.single is ABSENT:
                value = m.library_member(base.name, name)
        else:
            value = m.heap.held(base, name)
        if value.single is ABSENT:
            continue
        home = home or base
        parts.append(value.without(ABSENT))
        if not value.may_be_absent:
            return joined(parts), home
    return joined([*parts, ABSENT_VALUE]), home


def _of_instance(m: Machine, obj: Obj, name: str) -> Value:
    assert obj.cls is not None
    if name == "__class__":
        return Value((obj.cls,))
    if name == "__dict__":
        if _only_slots(m, obj) is not None:
            return ABSENT_VALUE
        if any(base in m.slots for base in m.mro(obj.cls)):  # it has no entries for the slots
            return m.unseen("__dict__", [Value((obj,))])
        return Value((m.namespace(obj),))
    if name in ("__class__", "__doc__"):
        return UNKNOWN
    custom = _own_method(m, obj.cls, "__getattribute__")
    if custom is not None:
        return m.unseen("", [bind(m, custom, obj, obj.cls)])
    shared, home = class_attribute(m, obj.cls, name)
    first = shared.single
    if isinstance(first, Obj) and first.kind == "property" and first.name != "cached":
        return _property_or_fallback(m, first, obj, name)
    own = m.heap.get(obj, name)
    is_descriptor = any(isinstance(part, Obj) and part.kind == "instance" for part in shared.alternatives)
    if is_descriptor and own.single is not ABSENT and _has_setter(m, shared):
        through = bind(m, shared.without(ABSENT), obj, home)
        return through if own.may_be_absent and not own.alternatives[1:] else joined([through, own.without(ABSENT)])
    if not own.may_be_absent:
        return own
    bound = ABSENT_VALUE if shared.single is ABSENT else bind(m, shared, obj, home)
    result = joined([own.without(ABSENT), bound]) if own.single is not ABSENT else bound
    return _or_fallback(m, obj, name, result) if result.may_be_absent else result


def _has_setter(m: Machine, value: Value) -> bool:
    """Whether what a class has by a name decides about it before the instance does."""
    parts = [part for part in value.alternatives if isinstance(part, Obj) and part.kind == "instance"]
    return any(m.class_attribute(part, "__set__") is not None for part in parts)  # perhaps only where a condition held


def _property_or_fallback(m: Machine, part: Obj, obj: Obj, name: str) -> Value:
    """What a property gives; where it raises AttributeError, ``__getattr__`` is asked."""
    assert obj.cls is not None
    fallback = _own_method(m, obj.cls, "__getattr__")
    if fallback is None:
        return _of_property(m, part, obj)
    asked = bind(m, fallback, obj, obj.cls)
    return m.value_of_branches([lambda: _of_property(m, part, obj), lambda: m.call(asked, Arguments([const(name)]))])


def _or_fallback(m: Machine, obj: Obj, name: str, result: Value) -> Value:
    assert obj.cls is not None
    fallback = _own_method(m, obj.cls, "__getattr__")
    parts = [] if result.single is ABSENT else [result.without(ABSENT)]
    if fallback is not None:
        given = m.call(bind(m, fallback, obj, obj.cls), Arguments([const(name)]))
        return joined([*parts, given])
    if obj.items is not None:
        held = items.builtin_part(obj)
        inner = attribute_of(m, held, name)
        if inner.single is not ABSENT:
            return joined([*parts, inner])
    special = m.instance_member(obj, name)
    if special is not None:
        return joined([*parts, special])
    if m.extends_unseen(obj):
        return joined([*parts, unseen_method(m, obj, m.unseen_base(obj), name)])
    return result


def unseen_method(m: Machine, obj: Obj, base: str, name: str) -> Value:
    """What an instance has by a name from a base that is not seen: perhaps a method, which gets hold of it."""
    reason = f"{base}().{name}"
    if name == "__init__":
        return unknown(reason)
    symbol = m.heap.symbol(f"{base}.{name}")
    return Value((m.heap.make("method", symbol.name, data=(symbol, Value((obj,)))),), True, reason)


def _own_method(m: Machine, cls: Obj, name: str) -> Value | None:
    """A special method that the program defines; None if it does not."""
    value, home = class_attribute(m, cls, name)
    return None if home is None or (home.kind == "symbol" and home.name == "builtins.object") else value.without(ABSENT)


def bind(m: Machine, value: Value, obj: Obj, home: Obj | None) -> Value:
    """What an attribute of a class is when it is taken from an instance."""
    changed = False
    alternatives: list[Value] = []
    for part in value.alternatives:
        bound = part if isinstance(part, (Absent, Const)) else _bound(m, part, obj)
        if isinstance(bound, Value):
            alternatives.append(bound)
            changed = True
        else:
            alternatives.append(Value((bound,)))
    if not changed:
        return value
    return joined([*alternatives, *([unknown(value.reason)] if value.is_open else [])])


def _bound(m: Machine, part: Obj, obj: Obj) -> Obj | Value:
    if part.kind in ("function", "cached", "contextmanager", "dispatch"):
        return Value((m.heap.make("method", part.name, data=(part, Value((obj,)))),))
    if part.kind == "property":
        return _of_property(m, part, obj)
    if part.kind == "staticmethod":
        return Value((part.data,)) if isinstance(part.data, Obj) else part.data
    if part.kind == "classmethod":
        assert obj.cls is not None
        return _class_bound(m, part, obj.cls)
    if part.kind == "method" and isinstance(part.data, Value) and part.data.alternatives == ():
        return part
    if part.kind == "symbol" and m.is_function_symbol(part.name):
        return Value((m.heap.make("method", part.name, data=(part, Value((obj,)))),))
    if part.kind == "partialmethod":
        return UNKNOWN
    if part.kind == "instance" and part.cls is not None and _own_method(m, part.cls, "__get__") is not None:
        getter = m.class_attribute(part, "__get__")
        assert getter is not None and obj.cls is not None
        return m.call(getter, Arguments([Value((obj,)), Value((obj.cls,))]))
    return part


def _class_bound(m: Machine, part: Obj, cls: Obj) -> Value:
    function = part.data
    if isinstance(function, Value):
        obj = function.single
        if not isinstance(obj, Obj):
            return UNKNOWN
        function = obj
    return Value((m.heap.make("method", part.name, data=(function, Value((cls,)))),))


def _of_property(m: Machine, part: Obj, obj: Obj) -> Value:
    getter = part.data[0]
    if part.name == "cached":
        name = part.data[1]
        value = m.call(getter, Arguments([Value((obj,))]))
        m.heap.set(obj, name, value)
        return value
    return m.call(getter, Arguments([Value((obj,))]))


def _of_class(m: Machine, cls: Obj, name: str) -> Value:
    if name == "__name__" or name == "__qualname__":
        return const(cls.name)
    if name == "__mro__":
        bases = list(dict.fromkeys((*m.mro(cls), m.heap.symbol("builtins.object"))))
        return UNKNOWN if m.class_extends_unseen(cls) else m.heap.sequence("tuple", [Value((base,)) for base in bases])
    if name == "__dict__":
        return Value((m.namespace(cls),))
    special = m.class_member(cls, name)
    if special is not None:
        return special
    value, _ = class_attribute(m, cls, name)
    if value.single is ABSENT:
        if m.class_extends_unseen(cls):
            return unknown(f"{cls.name}.{name}")
        return ABSENT_VALUE
    parts: list[Value] = []
    for alternative in value.alternatives:
        if isinstance(alternative, Obj) and alternative.kind == "classmethod":
            parts.append(_class_bound(m, alternative, cls))
        elif isinstance(alternative, Obj) and alternative.kind == "staticmethod":
            parts.append(alternative.data if isinstance(alternative.data, Value) else Value((alternative.data,)))
        elif (
            isinstance(alternative, Obj)
            and alternative.kind == "instance"
            and (getter := m.class_attribute(alternative, "__get__")) is not None
        ):
            parts.append(m.call(getter, Arguments([NONE, Value((cls,))])))
        else:
            parts.append(Value((alternative,)))
    if value.is_open:
        parts.append(unknown(value.reason))
    return joined(parts)


def _of_super(m: Machine, obj: Obj, name: str) -> Value:
    cls, instance = obj.data
    mro = m.mro(instance.cls if instance.kind == "instance" else instance)
    after = mro[mro.index(cls) + 1 :] if cls in mro else []
    for base in after:
        value = m.heap.get(base, name) if base.kind != "symbol" else m.library_member(base.name, name)
        if value.single is not ABSENT:
            if instance.kind == "instance":
                return bind(m, value, instance, base)
            return value
        if base.kind == "symbol" and m.is_unseen(base.name):
            return unseen_method(m, instance, base.name, name)
    special = m.super_member(obj, name)
    return ABSENT_VALUE if special is None else special


# -- modules, functions and libraries


def _of_module(m: Machine, module: Obj, name: str) -> Value:
    value = m.heap.get(module, name)
    if value.single is ABSENT:
        submodule = m.submodule(module, name)
        if submodule is not None:
            return submodule
        getter = m.heap.get(module, "__getattr__")
        if getter.single is not ABSENT:
            return m.call(getter, Arguments([const(name)]))
        if name == "__dict__":
            return Value((m.namespace(module),))
    return value


def _of_symbol(m: Machine, symbol: Obj, name: str) -> Value:
    value = m.heap.get(symbol, name)
    if not value.may_be_absent:
        return value
    own = m.library_attribute(symbol.name, name)
    return own if value.single is ABSENT else joined([value.without(ABSENT), own])


def _of_function(m: Machine, function: Obj, name: str) -> Value:
    value = m.heap.get(function, name)
    if value.single is not ABSENT:
        return value
    if name in ("__name__", "__qualname__"):
        return const(function.name) if "." not in function.name or name == "__name__" else UNKNOWN
    if name == "__dict__":
        return Value((m.namespace(function),))
    if name in ("__globals__", "__closure__"):
        m.lost = True
    return UNKNOWN if name.startswith("__") else ABSENT_VALUE


# -- setting


def set_value(m: Machine, holder: Value, name: str, value: Value) -> None:
    """Execute ``holder.name = value``."""

    def unseen() -> Value:
        m.unseen(holder.reason, [value])
        return UNKNOWN

    def of(alternative: Const | Obj) -> Value:
        _set_on(m, alternative, name, value)
        return UNKNOWN

    if (
        len(holder.alternatives) > 1
        and not holder.is_open
        and all(_is_plain(m, alternative) for alternative in holder.alternatives)
    ):
        for alternative in holder.alternatives:
            assert isinstance(alternative, Obj)
            m.heap.maybe_set(alternative, name, value)
        return
    items.each(m, holder, of, unseen)


_CALLED: Final = frozenset(("function", "method", "partial", "instance"))


def _is_plain(m: Machine, obj: object) -> bool:
    return isinstance(obj, Obj) and obj.kind == "module"


def _set_on(m: Machine, alternative: Const | Obj, name: str, value: Value) -> None:
    if isinstance(alternative, Const):
        m.throw_new("AttributeError", f"'{type(alternative.value).__name__}' object has no attribute '{name}'")
    if alternative.kind == "instance":
        assert alternative.cls is not None
        setter = _own_method(m, alternative.cls, "__setattr__")
        if setter is not None:
            m.call(bind(m, setter, alternative, alternative.cls), Arguments([const(name), value]))
            return
        set_own(m, alternative, name, value)
    elif alternative.kind in ("class", "module", "function", "symbol"):
        if alternative.kind == "class" and m.class_setter(alternative, name, value):
            return
        if alternative.kind == "symbol":  # the library may call what it finds there
            called = [part for part in value.alternatives if isinstance(part, Obj) and part.kind in _CALLED]
            m.unseen("", [Value((part,)) for part in called])
        m.heap.set(alternative, name, value)
    elif alternative.kind in BUILT_IN and alternative.name:
        m.lost = True  # the factory of a defaultdict, for instance
    elif (set_on_kind := m.kinds.get(alternative.kind, NO_KIND).set_attribute) is not None:
        set_on_kind(m, alternative, name, value)
    else:
        m.throw_new("AttributeError", f"'{alternative.kind}' object has no attribute '{name}'")


def set_own(m: Machine, obj: Obj, name: str, value: Value) -> None:
    """Set an attribute of an instance as ``object.__setattr__`` does."""
    assert obj.cls is not None
    if name == "__dict__":
        _replace_attributes(m, obj, value)
        return
    if name == "__class__":
        m.lost = True
    if obj.cls.name == "builtins.object":
        m.throw_new("AttributeError", f"'object' object has no attribute '{name}'")
    shared, _ = class_attribute(m, obj.cls, name)
    descriptor = shared.single
    if isinstance(descriptor, Obj) and descriptor.kind == "property":
        setter = descriptor.data[1] if descriptor.name != "cached" else None
        if isinstance(setter, Value):
            m.call(setter, Arguments([Value((obj,)), value]))
            return
        if descriptor.name != "cached":
            m.throw_new("AttributeError", f"property '{name}' has no setter")
    if isinstance(descriptor, Obj) and descriptor.kind == "instance":
        method = m.class_attribute(descriptor, "__set__")
        if method is not None:
            given = Arguments([Value((obj,)), value])
            if method.is_open:  # perhaps it is not defined
                m.branch([lambda: m.call(method, given), lambda: m.heap.set(obj, name, value)])
            else:
                m.call(method, given)
            return
    if obj.cls in m.enums and name in ("name", "value"):
        m.throw_new("AttributeError", f"cannot set attribute '{name}'")
    if m.is_frozen(obj, name):
        m.throw_new("dataclasses.FrozenInstanceError", f"cannot assign to field '{name}'")
    _refuse_name(m, obj, name)
    changes = any(base.kind == "symbol" and not keeps_attributes(base.name) for base in m.mro(obj.cls))
    m.heap.set(obj, name, value.joined(UNKNOWN) if changes else value)


def _replace_attributes(m: Machine, instance: Obj, value: Value) -> None:
    """Execute ``one.__dict__ = value``: of a new instance, whose attributes are then what the dict holds."""
    other = value.single
    held = items.builtin_part(other) if isinstance(other, Obj) else None
    if isinstance(held, Obj) and held.kind == "dict" and not instance.many and not m.heap.layout_of(instance).keys:
        instance.store = held.store
    else:
        m.heap.escape([Value((instance,)), value])


def _refuse_name(m: Machine, obj: Obj, name: str) -> None:
    """Raise AttributeError for a name that is not among the slots of an instance."""
    names = _only_slots(m, obj)
    if names is not None and name not in names:
        m.throw_new("AttributeError", f"'{obj.name}' object has no attribute '{name}'")


def _only_slots(m: Machine, obj: Obj) -> frozenset[str] | None:
    """The slots of an instance that has no dict; None for others."""
    assert obj.cls is not None
    bases = [base for base in m.mro(obj.cls) if base.name != "builtins.object"] if m.slots else []
    if obj.cls not in m.slots or not all(base in m.slots for base in bases):
        return None
    names = frozenset[str]().union(*(m.slots[base] for base in bases))
    return None if "__dict__" in names else names


def any_of(m: Machine, obj: object) -> Value:
    """What a module or class of the program may have by a name that is not known."""
    if not isinstance(obj, Obj) or obj.kind not in ("module", "class"):
        return UNKNOWN
    holders = m.mro(obj) if obj.kind == "class" else (obj,)
    names = [name for holder in holders if holder.kind != "symbol" for name in m.heap.layout_of(holder).keys]
    values = [attribute_of(m, obj, name) for name in names if isinstance(name, str) and name[:1] not in ("<", "_")]
    getter = m.heap.get(obj, "__getattr__") if obj.kind == "module" else ABSENT_VALUE
    if getter.single is not ABSENT:
        values.append(m.call(getter.without(ABSENT), Arguments([UNKNOWN])))
    return joined([*values, UNKNOWN]).without(ABSENT)


def change_any(m: Machine, holder: Value, hook: str, value: Value) -> None:
    """Set an attribute whose name is not known, or (absent) delete it; `hook` is the method that may do it."""
    for alternative in holder.alternatives:
        if not isinstance(alternative, Obj):
            continue
        method = m.class_attribute(alternative, hook)
        if method is not None:
            m.unseen("", [method])
        m.heap.set_any(alternative, value)


def delete(m: Machine, holder: Value, name: str) -> None:
    """Execute ``del holder.name``."""

    def of(alternative: Const | Obj) -> Value:
        if isinstance(alternative, Obj) and alternative.kind == "instance":
            method = None if alternative.cls is None else _own_method(m, alternative.cls, "__delattr__")
            if method is not None:
                return m.call(bind(m, method, alternative, alternative.cls), Arguments([const(name)]))
        return delete_own(m, alternative, name)

    items.each(m, holder, of, lambda: m.unseen(holder.reason, []))


def delete_own(m: Machine, alternative: Const | Obj, name: str) -> Value:
    """Delete an attribute as ``object.__delattr__`` does."""
    if isinstance(alternative, Obj) and alternative.kind == "instance" and alternative.cls is not None:
        if m.is_frozen(alternative, name):
            m.throw_new("dataclasses.FrozenInstanceError", f"cannot delete field '{name}'")
        shared, _ = class_attribute(m, alternative.cls, name)
        part = shared.single
        if isinstance(part, Obj) and part.kind == "property" and part.name != "cached":
            deleter = part.data[2]
            return (
                _no_attribute(m, alternative, name)
                if deleter is None
                else m.call(deleter, Arguments([Value((alternative,))]))
            )
        if any(isinstance(part, Obj) and part.kind == "instance" for part in shared.alternatives):
            m.lost = True  # it may have a method for that
    if isinstance(alternative, Const) or m.heap.get(alternative, name).single is ABSENT:
        _no_attribute(m, alternative, name)
    m.heap.delete(alternative, name)
    return UNKNOWN
