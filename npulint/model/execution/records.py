"""Classes that generate their methods: dataclasses, named tuples and enumerations."""

from __future__ import annotations

import ast
from typing import Final

from npulint.model.abstract_values.heap import key_of
from npulint.model.abstract_values.value import (
    ABSENT,
    EITHER,
    FALSE,
    UNKNOWN,
    Const,
    Obj,
    Value,
    const,
    joined,
    truth_value,
    unknown,
)
from npulint.model.execution import attributes, items
from npulint.model.execution.machine import Arguments, Machine
from npulint.model.execution.record_types import ClassData, Field, Record
from npulint.model.execution.truth import is_equal

_ENUMS: Final = {
    "enum.Enum": "",
    "enum.IntEnum": "int",
    "enum.StrEnum": "str",
    "enum.Flag": "flag",
    "enum.IntFlag": "flag",
}


# -- dataclasses


def make_dataclass(m: Machine, cls: Obj, arguments: Arguments) -> None:
    """Let a class be a dataclass (or of attrs) from here on."""
    keyword_only = _is_true(arguments.keywords.get("kw_only"))
    fields: dict[str, Field] = {}
    for base in reversed(m.mro(cls)):
        record = m.records.get(base)
        if record is not None and record.kind == "dataclass" and base is not cls:
            fields.update({field.name: field for field in record.fields})
    is_keyword = keyword_only
    for name, annotation in m.annotations.get(cls, ()):
        plain: str = (
            annotation.strip("'\"").rpartition("typing.")[2]
            if annotation.startswith(("typing.", "t."))
            else annotation.strip("'\"")
        )
        if plain.startswith(("ClassVar", "t.ClassVar")):
            continue
        if plain.rpartition(".")[2] == "KW_ONLY":
            is_keyword = True
            continue
        fields[name] = _field(m, cls, name, is_keyword, plain.rpartition(".")[2].startswith("InitVar"))
    for key in list(m.heap.layout_of(cls).keys):  # attrs without annotations
        obj = m.heap.held(cls, key).single
        if isinstance(key, str) and key not in fields and isinstance(obj, Obj) and obj.kind == "field":
            fields[key] = _field(m, cls, key, is_keyword, False)
    _refuse_order(m, cls, list(fields.values()))
    if not _is_false(arguments.keywords.get("eq")):
        m.compared_by_fields.add(cls)
    if arguments.keywords.keys() & {
        "slots",
        "weakref_slot",
        "order",
        "unsafe_hash",
        "match_args",
        "auto_attribs",
        "these",
    }:
        m.open_classes.add(cls)
    frozen = _is_true(arguments.keywords.get("frozen"))
    inherited = any(m.records[base].is_frozen for base in m.mro(cls)[1:] if base in m.records)
    has_init = not _is_false(arguments.keywords.get("init"))
    m.records[cls] = Record("dataclass", tuple(fields.values()), frozen or inherited, has_init)


def _refuse_order(m: Machine, cls: Obj, fields: list[Field]) -> None:
    """Raise TypeError where a field without default follows one that has one."""
    with_default = False
    for field in fields:
        if not field.is_argument or field.keyword_only:
            continue
        has_default = field.default is not None or field.factory is not None
        if with_default and not has_default:
            m.throw_new("TypeError", f"non-default argument '{field.name}' follows default argument")
        with_default = with_default or has_default


def _field(m: Machine, cls: Obj, name: str, keyword_only: bool, is_init_only: bool) -> Field:
    value = m.heap.held(cls, name)
    obj = value.single
    if isinstance(obj, Obj) and obj.kind == "field":
        given: Arguments = obj.data
        default = given.keywords.get("default")
        if default is None and obj.name == "attrs" and given.positional:
            default = given.positional[0]
        factory = given.keywords.get("default_factory") or given.keywords.get("factory")
        if default is None:
            m.heap.delete(cls, name)
        else:
            m.heap.set(cls, name, default)
        is_argument = not _is_false(given.keywords.get("init"))
        by_keyword = keyword_only or _is_true(given.keywords.get("kw_only"))
        is_compared = not given.keywords.keys() & {"compare", "hash", "eq", "order"}
        return Field(name, default, factory, is_argument, by_keyword, not is_init_only, is_compared)
    default = None if obj is ABSENT else value.without(ABSENT)
    if isinstance(obj, Obj) and obj.kind == "instance" and m.heap.has_own_equality(obj):
        m.may_throw("ValueError")  # of a class that cannot be a key
        m.open_classes.add(cls)
    if isinstance(obj, Obj) and obj.kind in ("list", "dict", "set") and obj.name != "frozenset":
        m.throw_new("ValueError", f"mutable default {obj.kind} for field {name} is not allowed")
    return Field(name, default, None, True, keyword_only, not is_init_only)


def _is_true(value: Value | None) -> bool:
    return value is not None and value.single == Const(True)


def _is_false(value: Value | None) -> bool:
    return value is not None and value.single == Const(False)


def construct(m: Machine, cls: Obj, arguments: Arguments, site: ast.AST | None) -> Value | None:
    """What a call of such a class gives; None for other classes."""
    if m.enums.get(cls) is not None:
        return _member_of(m, cls, arguments)
    if cls in m.open_classes:
        return m.unseen(f"{cls.name}()", arguments.all())
    record = next((m.records[base] for base in m.mro(cls) if base in m.records), None)
    if record is None:
        return None
    if record.kind == "typeddict":
        return m.call_library("builtins.dict", arguments, site)
    _, home = attributes.class_attribute(m, cls, "__new__")
    if record.kind == "namedtuple" and home is not None and home.kind == "class":
        return None
    if record.kind == "namedtuple":
        return make_named_tuple(m, cls, record, arguments, site)
    _, home = attributes.class_attribute(m, cls, "__init__")
    holder = next(base for base in m.mro(cls) if base in m.records)
    if not record.has_init or (
        home is not None and home.kind == "class" and m.mro(cls).index(home) <= m.mro(cls).index(holder)
    ):
        return None
    obj = m.new_instance(cls, arguments, site)
    initialize(m, obj, record, arguments)
    _observe_fields(m, obj, record)
    return Value((obj,))


def _observe_fields(m: Machine, obj: Obj, record: Record) -> None:
    """Note what the fields of a new instance hold, for the classes that declare them."""
    if m.watched and obj.cls is not None:
        for base in m.mro(obj.cls):
            if base.kind == "class" and base.data.node is not None:
                for field in record.fields:
                    m.observe((base.data.node, field.name), m.heap.held(obj, field.name))


def initialize(m: Machine, obj: Obj, record: Record, arguments: Arguments) -> None:
    """Execute the generated ``__init__`` of a dataclass."""
    given = _given(m, obj.name, record, arguments)
    passed: list[Value] = []
    for field in record.fields:
        value = given.get(field.name)
        if value is None and field.factory is not None:
            value = m.call(field.factory, Arguments())
        elif value is None:
            value = field.default
        if value is None:
            if not field.is_argument:
                continue
            m.throw_new("TypeError", f"{obj.name}.__init__() missing 1 required positional argument: '{field.name}'")
        if not field.is_stored:
            passed.append(value)
        elif record.is_frozen:
            m.heap.set(obj, field.name, value)
        else:
            attributes.set_value(m, Value((obj,)), field.name, value)
    for hook in ("__post_init__", "__attrs_post_init__"):
        method = m.class_attribute(obj, hook)
        if method is not None:
            m.call(method, Arguments(passed))


def _given(m: Machine, name: str, record: Record, arguments: Arguments) -> dict[str, Value]:
    positional = [field.name for field in record.fields if field.is_argument and not field.keyword_only]
    if len(arguments.positional) > len(positional):
        m.throw_new("TypeError", f"{name}.__init__() takes {len(positional) + 1} positional arguments")
    given = dict(zip(positional, arguments.positional, strict=False))
    names = {
        field.name.lstrip("_") if record.kind == "attrs" else field.name for field in record.fields if field.is_argument
    }
    for key, value in arguments.keywords.items():
        if key not in names or key in given:
            m.throw_new("TypeError", f"{name}.__init__() got an unexpected keyword argument '{key}'")
        given[key] = value
    if not arguments.is_exact:
        m.may_throw("TypeError")
        for field in record.fields:
            if field.name not in given and field.is_argument:
                given[field.name] = UNKNOWN
    return given


def fields_of(m: Machine, obj: Obj) -> Record | None:
    """The record of an instance's class; None if it has none."""
    return None if obj.cls is None else next((m.records[base] for base in m.mro(obj.cls) if base in m.records), None)


def replaced(m: Machine, obj: Obj, changes: Arguments, site: ast.AST | None) -> Value:
    """What ``dataclasses.replace`` gives."""
    record = fields_of(m, obj)
    assert record is not None and obj.cls is not None
    given = {field.name: m.heap.get(obj, field.name) for field in record.fields if field.is_argument}
    return m.call(Value((obj.cls,)), Arguments((), {**given, **changes.keywords}), site)


def as_dict(m: Machine, value: Value) -> Value:
    """What ``dataclasses.asdict`` gives."""

    def of(alternative: Const | Obj) -> Value:
        if isinstance(alternative, Const):
            return Value((alternative,))
        record = fields_of(m, alternative) if alternative.kind == "instance" else None
        if record is not None:
            entries = [
                (field.name, as_dict(m, m.heap.get(alternative, field.name)))
                for field in record.fields
                if field.is_stored
            ]
            return m.heap.mapping(entries)
        if alternative.kind in ("list", "tuple"):
            content = m.heap.items_of(alternative)
            if content.items is None:
                return m.heap.sequence_of_any(alternative.kind, UNKNOWN)
            return m.heap.sequence(alternative.kind, [as_dict(m, item) for item in content.items])
        if alternative.kind == "dict":
            made = items.copy_of(m, alternative)
            owner = made.single
            assert isinstance(owner, Obj)
            for key, item in m.heap.entries(owner):
                if not item.may_be_absent:
                    m.heap.set(owner, key, as_dict(m, item))
            return made
        return Value((alternative,))

    return items.each(m, value, of, lambda: unknown(value.reason))


def equal(m: Machine, obj: Obj, other: Const | Obj) -> Value:
    """What the generated ``__eq__`` of a dataclass gives."""
    record = fields_of(m, obj)
    if isinstance(other, Const) or other.cls is not obj.cls or record is None:
        return EITHER
    if any(not field.is_compared for field in record.fields):
        return EITHER
    answer: bool | None = True
    for field in record.fields:
        left, right = m.heap.get(obj, field.name).single, m.heap.get(other, field.name).single
        are_certain = isinstance(left, (Const, Obj)) and isinstance(right, (Const, Obj))
        same = is_equal(m, left, right) if are_certain else None  # type: ignore[arg-type]
        if same is False:
            return FALSE
        answer = answer and same
    return truth_value(answer or None)


# -- named tuples


def finish_class(m: Machine, cls: Obj) -> None:
    """Let a class that extends NamedTuple, TypedDict or Enum be one."""
    for base in m.mro(cls)[1:]:
        if base.name == "typing.NamedTuple":
            fields = [Field(name, _default(m, cls, name)) for name, _ in m.annotations.get(cls, ())]
            m.records[cls] = Record("namedtuple", tuple(fields))
            for field in fields:
                m.heap.delete(cls, field.name) if field.default is not None else None
            return
        if base.name in ("typing.TypedDict", "typing_extensions.TypedDict"):
            m.records[cls] = Record("typeddict", ())
            return
        if base.name in _ENUMS:
            _finish_enum(m, cls, base.name)
            return


def _default(m: Machine, cls: Obj, name: str) -> Value | None:
    value = m.heap.held(cls, name)
    return None if value.single is ABSENT else value


def make_named_tuple(m: Machine, cls: Obj, record: Record, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a call of a class of named tuples gives."""
    given = _given(m, cls.name, record, arguments)
    values = []
    for field in record.fields:
        value = given.get(field.name, field.default)
        if value is None:
            m.throw_new("TypeError", f"{cls.name}() missing a required argument: '{field.name}'")
        values.append(value)
    return named_tuple(m, cls, record, values, site)


def named_tuple(m: Machine, cls: Obj, record: Record, values: list[Value], site: ast.AST | None = None) -> Value:
    """A new named tuple with these values."""
    obj = m.heap.make("instance", cls.name, cls, site=site)
    inner = m.heap.sequence("tuple", values, site)
    obj.items = inner if obj.items is None or not obj.many else obj.items.joined(inner)
    for field, value in zip(record.fields, values, strict=True):
        m.heap.set(obj, field.name, value)
    _observe_fields(m, obj, record)
    return Value((obj,))


def named_tuple_class(m: Machine, name: str, names: list[str], defaults: list[Value]) -> Obj:
    """The class that ``collections.namedtuple`` gives."""
    cls = m.heap.make("class", name)
    cls.data = ClassData((cls, m.heap.symbol("builtins.tuple"), m.heap.symbol("builtins.object")), False)
    padded: list[Value | None] = [None] * (len(names) - len(defaults)) + list(defaults)
    m.records[cls] = Record(
        "namedtuple", tuple(Field(field_name, default) for field_name, default in zip(names, padded, strict=True))
    )
    return cls


# -- enumerations


def _finish_enum(m: Machine, cls: Obj, kind: str) -> None:
    if _is_special(m, cls, kind):
        m.open_classes.add(cls)
        for name in m.heap.layout_of(cls).keys:
            m.unseen("", [m.heap.get(cls, name)])
            if isinstance(name, str) and not name.startswith("__"):
                m.heap.set(cls, name, UNKNOWN)
        return
    members: dict[str, Value] = {}
    by_value: list[tuple[Value, Value]] = []
    last: object = 0
    for name in list(m.heap.layout_of(cls).keys):
        value = m.heap.get(cls, name)
        obj = value.single
        if not isinstance(name, str) or name.startswith("_") or obj is ABSENT:
            continue
        if isinstance(obj, Obj) and obj.kind in (
            "function",
            "property",
            "classmethod",
            "staticmethod",
            "class",
            "method",
        ):
            continue
        if isinstance(obj, Obj) and obj.kind == "auto":
            value, last = _automatic(kind, name, last)
        if isinstance(single := value.single, Const):
            last = single.value
        same = next((member for held, member in by_value if _surely_equal(m, held, value)), None)
        if same is None:
            same = Value((_make_member(m, cls, kind, name, value),))
            by_value.append((value, same))
        members[name] = same
        m.heap.set(cls, name, same)
    m.enums[cls] = (kind, members)


def is_flag(kind: str) -> bool:
    """Whether members of an enumeration are combined with operators."""
    return _ENUMS[kind] == "flag"


_MAKE_MEMBERS: Final = (
    "__new__",
    "_generate_next_value_",
    "_ignore_",
    "_missing_",
    "__getattribute__",
    "__class_getitem__",
)


def _is_special(m: Machine, cls: Obj, kind: str) -> bool:
    """Whether the members of an enumeration are made in a way that is not modelled."""
    if is_flag(kind):
        return True
    own = [base for base in m.mro(cls) if base.kind == "class"]
    if any(m.heap.get(base, name).single is not ABSENT for base in own for name in _MAKE_MEMBERS):
        return True
    values = [m.heap.get(cls, name).single for name in m.heap.layout_of(cls).keys]
    is_text = any(base.name == "builtins.str" for base in m.mro(cls))
    return is_text and any(isinstance(value, Obj) and value.kind == "auto" for value in values)


def _automatic(kind: str, name: str, last: object) -> tuple[Value, object]:
    if _ENUMS[kind] == "str":
        return const(name.lower()), last
    if _ENUMS[kind] == "flag":
        number = 1 if not isinstance(last, int) or last < 1 else 1 << last.bit_length()
        return const(number), number
    number = last + 1 if isinstance(last, int) else 1
    return const(number), number


def _surely_equal(m: Machine, left: Value, right: Value) -> bool:
    alternative, other = left.single, right.single
    return (
        isinstance(alternative, (Const, Obj))
        and isinstance(other, (Const, Obj))
        and is_equal(m, alternative, other) is True
    )


def _make_member(m: Machine, cls: Obj, kind: str, name: str, value: Value) -> Obj:
    obj = m.heap.make("instance", f"{cls.name}.{name}", cls)
    m.heap.fill(obj, [("name", const(name)), ("value", value), ("_name_", const(name)), ("_value_", value)])
    mixed_in = any(base.name in ("builtins.int", "builtins.str", "builtins.float") for base in m.mro(cls))
    if _ENUMS[kind] or mixed_in:
        obj.items = value
    method = attributes.class_attribute(m, cls, "__init__")
    if method[1] is not None and method[1].kind == "class":
        content = items.listed(m, value).items if isinstance(value.single, Obj) else (value,)
        m.call(attributes.bind(m, method[0], obj, method[1]), Arguments(content or ()))
    return obj


def _member_of(m: Machine, cls: Obj, arguments: Arguments) -> Value:
    """The member that a call of an enumeration gives by its value."""
    kind, members = m.enums[cls]
    if not arguments.positional:
        return m.unseen(cls.name, arguments.all())
    given = arguments.positional[0]

    def of(alternative: Const | Obj) -> Value:
        maybe: list[Value] = []
        for member in members.values():
            holder = member.single
            assert isinstance(holder, Obj)
            if holder is alternative:
                return member
            value = m.heap.get(holder, "value").single
            same = is_equal(m, value, alternative) if isinstance(value, (Const, Obj)) else None
            if same:
                return member if not maybe else joined([*maybe, member])
            if same is None:
                maybe.append(member)
        missing = m.heap.get(cls, "_missing_")
        if maybe or missing.single is not ABSENT:
            m.may_throw("ValueError")
            return joined([*maybe, UNKNOWN])
        if _ENUMS[kind] == "flag":
            return UNKNOWN
        m.throw_new("ValueError", f"not a valid {cls.name}")

    def any_member() -> Value:
        m.may_throw("ValueError")
        return joined(members.values()) if members else UNKNOWN

    return items.each(m, given, of, any_member)


def enum_item(m: Machine, cls: Obj, key: Value) -> Value:
    """The member that an enumeration has by its name."""
    _, members = m.enums[cls]
    alternative = key.single
    name = key_of(alternative, m.heap) if isinstance(alternative, (Const, Obj)) else None
    if name is None:
        m.may_throw("KeyError")
        return joined(members.values()) if members else UNKNOWN
    if name not in members:
        m.throw(m.exception("KeyError", [key]))
    return members[str(name)]


def enum_members(m: Machine, cls: Obj) -> list[Value]:
    """The members of an enumeration in order, without aliases."""
    listed: list[Value] = []
    for member in m.enums[cls][1].values():
        if member not in listed:
            listed.append(member)
    return listed
