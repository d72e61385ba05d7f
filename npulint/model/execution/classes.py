"""Classes of the program: how they are made, their bases in order, and their instances."""

from __future__ import annotations

import ast
from typing import Final

from npulint.model.abstract_values.hosted import Unhosted, hosted
from npulint.model.abstract_values.library_names import is_known_base
from npulint.model.abstract_values.value import ABSENT, UNKNOWN, Const, Obj, Value, const, unknown
from npulint.model.execution import attributes, records
from npulint.model.execution.expressions import arguments_of
from npulint.model.execution.machine import Arguments, Frame, Machine
from npulint.model.execution.record_types import ClassData
from npulint.model.execution.scopes import class_scope

BUILT_IN_BASES: Final = {
    "builtins.dict": "dict",
    "builtins.list": "list",
    "builtins.set": "set",
    "builtins.tuple": "tuple",
    "collections.OrderedDict": "dict",
    "collections.defaultdict": "dict",
}
_CONSTANT_BASES: Final = frozenset(("builtins.str", "builtins.int", "builtins.float", "builtins.bytes"))


def make_class(m: Machine, node: ast.ClassDef) -> Value:
    """Execute a class statement without its decorators."""
    arguments = arguments_of(m, node)
    bases = [_base(m, value) for value in arguments.positional]
    is_open = arguments.rest is not None or None in bases or _has_unseen_metaclass(arguments)
    objs = [base for base in bases if base is not None]
    if any(m.enums.get(obj, ("", {}))[1] for obj in objs):
        m.throw_new("TypeError", "cannot extend an enumeration with members")
    cls = m.heap.make("class", node.name)
    ancestors = _linearized(m, objs)
    if ancestors is None:
        m.throw_new("TypeError", "cannot create a consistent method resolution order")
    is_open = is_open or any(base.kind == "class" and base.data.is_open for base in objs)
    cls.data = ClassData((cls, *ancestors), is_open, node)
    scope = m.scopes.get(node)
    if scope is None:
        scope = m.scopes[node] = class_scope(node)
    frame = Frame(m.frame.module, scope, cls, m.frame, node)
    frame.owner = cls
    m.frame.capture()
    m.heap.set(cls, "__module__", m.heap.get(m.frame.module, "__name__"))
    outer, m.frame = m.frame, frame
    try:
        m.execute(node.body)
    finally:
        m.frame = outer
    metaclass = arguments.keywords.get("metaclass")
    if metaclass is not None and metaclass.single is m.heap.symbol("abc.ABCMeta"):
        m.abstract_classes.add(cls)
    _note_slots(m, cls)
    _after_body(m, cls, arguments)
    if _has_unseen_metaclass(arguments) or any(base in m.open_classes for base in m.mro(cls)[1:]):
        m.open_classes.add(cls)
    if _has_unseen_metaclass(arguments):
        m.unseen("", [arguments.keywords["metaclass"]])  # its methods are called with what is not known
    if _has_unseen_metaclass(arguments) or None in bases or _inherits_metaclass(m, cls):
        m.made_by_metaclass.add(cls)
        for name in m.heap.layout_of(cls).keys:
            m.heap.set(cls, name, UNKNOWN.joined(m.heap.get(cls, name)))
        return unknown(node.name).of((cls,))
    return Value((cls,))


def _inherits_metaclass(m: Machine, cls: Obj) -> bool:
    return any(base in m.made_by_metaclass for base in m.mro(cls)[1:])


def _note_slots(m: Machine, cls: Obj) -> None:
    """Note which attributes the instances of a class may have, if it says so."""
    value = m.heap.get(cls, "__slots__")
    if value.single is ABSENT:
        return
    try:
        names = hosted(value, m.heap)
    except Unhosted:
        return
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, (list, tuple, dict, set)) else []
    m.slots[cls] = frozenset(map(str, listed))


def _base(m: Machine, value: Value) -> Obj | None:
    obj = value.single
    if isinstance(obj, Obj) and obj.kind in ("class", "symbol"):
        return obj
    if isinstance(obj, Obj) and obj.kind == "namedtuple":
        base: Obj = obj.data
        return base
    return None


def _has_unseen_metaclass(arguments: Arguments) -> bool:
    metaclass = arguments.keywords.get("metaclass")
    if metaclass is None:
        return False
    obj = metaclass.single
    return not (isinstance(obj, Obj) and obj.name in ("abc.ABCMeta", "builtins.type", "enum.EnumMeta", "enum.EnumType"))


def _linearized(m: Machine, bases: list[Obj]) -> list[Obj] | None:
    """The bases and theirs in the order of Python (C3); None where there is none."""
    sequences = [list(m.mro(base)) for base in bases] + [list(bases)]
    merged: list[Obj] = []
    while any(sequences):
        sequences = [sequence for sequence in sequences if sequence]
        head = next(
            (sequence[0] for sequence in sequences if not any(sequence[0] in other[1:] for other in sequences)),
            None,
        )
        if head is None:
            return None
        merged.append(head)
        sequences = [[obj for obj in sequence if obj is not head] for sequence in sequences]
    return merged


def mro(m: Machine, cls: Obj) -> tuple[Obj, ...]:
    """The class and its bases in the order in which attributes are looked up."""
    if isinstance(cls.data, ClassData):
        return cls.data.mro
    return (cls,)


def extends_unseen(m: Machine, cls: Obj) -> bool:
    """Whether a class has bases whose attributes are not known."""
    if cls.kind == "symbol":
        return not is_known_base(cls.name)
    return cls.data.is_open or any(base.kind == "symbol" and not is_known_base(base.name) for base in cls.data.mro)


def annotate(m: Machine, name: str, annotation: ast.expr) -> None:
    """Note an annotated name of the class that is being defined."""
    cls = m.frame.locals
    text = ast.unparse(annotation)
    before = m.annotations.setdefault(cls, [])
    m.annotations[cls] = [*(annotated for annotated in before if annotated[0] != name), (name, text)]


def _after_body(m: Machine, cls: Obj, arguments: Arguments) -> None:
    for name in list(m.heap.layout_of(cls).keys):
        value = m.heap.held(cls, name)
        obj = value.single
        if isinstance(obj, Obj) and obj.kind == "instance" and isinstance(name, str):
            method = m.class_attribute(obj, "__set_name__")
            if method is not None:
                m.call(method, Arguments([Value((cls,)), const(name)]))
    records.finish_class(m, cls)
    for base in m.mro(cls)[1:]:
        hook = m.heap.get(base, "__init_subclass__") if base.kind == "class" else None
        if hook is not None and hook.single is not ABSENT:
            keywords = {key: value for key, value in arguments.keywords.items() if key != "metaclass"}
            function = hook.single
            if isinstance(function, Obj) and function.kind == "classmethod":
                function = function.data.single if isinstance(function.data, Value) else function.data
            if isinstance(function, Obj):
                m.call(Value((function,)), Arguments([Value((cls,))], keywords))
            break


# -- instances


def instantiate(m: Machine, cls: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a call of a class gives."""
    special = records.construct(m, cls, arguments, site)
    if special is not None:
        return special
    new, home = attributes.class_attribute(m, cls, "__new__")
    if home is not None and home.kind == "class":
        function = new.single
        if isinstance(function, Obj) and function.kind == "staticmethod":
            function = function.data.single if isinstance(function.data, Value) else function.data
        if not isinstance(function, Obj):
            return m.unseen(f"{cls.name}()", arguments.all())
        made = m.call(Value((function,)), arguments.with_first(Value((cls,))))
        obj = made.single
        if isinstance(obj, Obj) and obj.kind == "instance" and obj.cls is not None and cls in m.mro(obj.cls):
            initialize(m, obj, arguments)
        return made
    _refuse_abstract(m, cls)
    obj = new_instance(m, cls, arguments, site)
    initialize(m, obj, arguments)
    finalizer = m.class_attribute(obj, "__del__")
    if finalizer is not None:  # when nothing refers to it any more, which is not followed
        m.unseen("__del__()", [finalizer])
    return Value((obj,))


def _refuse_abstract(m: Machine, cls: Obj) -> None:
    """Raise TypeError for a class of ABC of which a method is abstract."""
    bases = m.mro(cls)
    if not m.abstract_methods or not any(base.name == "abc.ABC" or base in m.abstract_classes for base in bases):
        return
    for name in {str(key) for base in bases if base.kind == "class" for key in m.heap.layout_of(base).keys}:
        value, _ = attributes.class_attribute(m, cls, name)
        method = value.single
        if isinstance(method, Obj):
            inner = method.data[0].single if method.kind == "property" else method
            wrapped = method.data.single if isinstance(method.data, Value) else None
            if m.abstract_methods & {method, inner, wrapped}:
                m.throw_new("TypeError", f"Can't instantiate abstract class {cls.name}")


def new_instance(m: Machine, cls: Obj, arguments: Arguments, site: ast.AST | None) -> Obj:
    """A new instance before its initialization."""
    obj = m.heap.make("instance", cls.name, cls, site=site)
    if m.is_exception_class(cls):
        m.heap.fill(obj, [("args", m.heap.sequence("tuple", arguments.positional))])
    for base in m.mro(cls):
        kind = BUILT_IN_BASES.get(base.name) if base.kind == "symbol" else None
        if kind == "tuple":
            obj.items = m.call_library("builtins.tuple", arguments, site)
            break
        if kind is not None and (obj.items is None or obj.many):
            inner = m.heap.sequence("list", (), site) if kind == "list" else m.heap.mapping((), kind, site)
            obj.items = inner if obj.items is None or not obj.many else obj.items.joined(inner)
            break
        if base.kind == "symbol" and base.name in _CONSTANT_BASES:
            inner = m.call_library(base.name, arguments, site)
            obj.items = inner if obj.items is None or not obj.many else obj.items.joined(inner)
            break
    return obj


def initialize(m: Machine, obj: Obj, arguments: Arguments) -> None:
    """Execute ``__init__`` of an instance."""
    assert obj.cls is not None
    value, home = attributes.class_attribute(m, obj.cls, "__init__")
    if home is not None and home.kind == "class":
        m.call(attributes.bind(m, value.without(ABSENT), obj, home), arguments)
        return
    if home is None or home.kind == "symbol":
        built_in_init(m, obj, arguments)


def built_in_init(m: Machine, obj: Obj, arguments: Arguments) -> None:
    """Execute ``__init__`` of the first built-in or unseen base."""
    assert obj.cls is not None
    held = obj.items.single if obj.items is not None else None
    if isinstance(held, Obj) and held.kind in ("dict", "list", "set"):
        m.call_built_in(f"builtins.{held.kind}.__init__", Value((held,)), arguments, None)
    elif isinstance(held, (Const, Obj)):
        return
    elif m.is_subclass(obj.cls, m.heap.symbol("builtins.BaseException")):
        m.heap.set(obj, "args", m.heap.sequence("tuple", arguments.positional))
    elif extends_unseen(m, obj.cls):
        m.unseen(f"{obj.name}()", arguments.all())
    elif arguments.positional or arguments.keywords:
        m.throw_new("TypeError", f"{obj.name}() takes no arguments")
