"""Whether a value counts as true, is another, or is equal to one."""

from __future__ import annotations

from npulint.model.abstract_values.hosted import Unhosted, hosted_alternative
from npulint.model.abstract_values.value import ABSENT, Absent, Const, Obj, Value, truth_value
from npulint.model.execution.machine import Arguments, Machine


def truth(m: Machine, value: Value) -> bool | None:
    """Whether a value counts as true; None if that is not known."""
    answers = {_truth(m, alternative) for alternative in value.alternatives if alternative is not ABSENT}  # type: ignore[arg-type]
    if value.is_open or len(answers) != 1:
        return None
    return answers.pop()


def _truth(m: Machine, alternative: Const | Obj) -> bool | None:
    if isinstance(alternative, Const):
        return bool(alternative.value)
    if alternative.kind in ("list", "tuple"):
        items = m.heap.items_of(alternative).items
        return None if items is None else bool(items)
    if alternative.kind in ("dict", "set"):
        layout = m.heap.layout_of(alternative)
        values = [m.heap.get(alternative, key) for key in layout.keys]
        if any(not value.may_be_absent and not value.is_open for value in values):
            return True
        return None if layout.rest is not None or any(value.single is not ABSENT for value in values) else False
    if alternative.kind == "instance":
        return _instance_truth(m, alternative)
    if alternative.kind == "symbol" and alternative.name == "builtins.NotImplemented":
        return None
    if alternative.kind == "symbol":
        return True if alternative.name.startswith("builtins.") or alternative.name[:1].isupper() else None
    return None if alternative.kind in ("native", "view", "iterator", "generator") else True


def _instance_truth(m: Machine, obj: Obj) -> bool | None:
    for name in ("__bool__", "__len__"):
        method = m.class_attribute(obj, name)
        if method is not None:
            return truth(m, m.call(method, Arguments()))
    if obj.items is not None:
        return truth(m, obj.items)
    return None if m.extends_unseen(obj) else True


def is_same(m: Machine, left: Const | Obj, right: Const | Obj) -> bool | None:
    """Whether two alternatives are one object; None if that is not known."""
    if isinstance(left, Const) and isinstance(right, Const):
        if left.value is None or right.value is None or isinstance(left.value, bool) or isinstance(right.value, bool):
            return left == right
        return None if left == right else False
    if isinstance(left, Obj) and isinstance(right, Obj):
        if left is right:
            return None if left.many or left.kind == "method" or left.name.startswith("<") else True
        if left.kind == right.kind and left.kind in ("method", "tuple", "symbol"):
            return None if left.kind != "symbol" or not _are_built_in(left, right) else False
        return None if _may_be_anything(left) or _may_be_anything(right) else False
    return None if any(isinstance(obj, Obj) and _may_be_anything(obj) for obj in (left, right)) else False


def _are_built_in(left: Obj, right: Obj) -> bool:
    return left.name.startswith("builtins.") and right.name.startswith("builtins.")


def _may_be_anything(obj: Obj) -> bool:
    """Whether what a library has by a name may be anything: None, or an object of the program. Modules and classes,
    which have their usual names, are not."""
    last = obj.name.rpartition(".")[2]
    is_class = last[:1].isupper() and not last.isupper()
    return obj.kind == "symbol" and "." in obj.name and not (is_class or obj.name.startswith("builtins."))


def same(m: Machine, left: Value, right: Value) -> Value:
    """The value of ``left is right``."""
    answers = {
        is_same(m, alternative, other)
        for alternative in left.alternatives
        for other in right.alternatives
        if not isinstance(alternative, Absent) and not isinstance(other, Absent)
    }
    for value, other in ((left, right), (right, left)):
        if value.is_open:
            none_only = other.single == Const(None) and bool(value.hint)
            answers.add(False if none_only else None)
    return truth_value(answers.pop() if len(answers) == 1 else None)


def is_equal(m: Machine, left: Const | Obj, right: Const | Obj) -> bool | None:
    """Whether two alternatives are equal; None if that is not known."""
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return bool(left.value == right.value)
        except Exception:
            return None
    if (
        left is right
        and isinstance(left, Obj)
        and not left.many
        and left.kind in ("symbol", "class", "function", "module")
        and not left.name.startswith("<")
    ):
        return True
    path = _path_equality(left, right)
    if path is not None:
        return path
    if "OrderedDict" in (getattr(left, "name", ""), getattr(right, "name", "")):
        return None  # the order counts
    try:
        return bool(hosted_alternative(left, m.heap) == hosted_alternative(right, m.heap))
    except Unhosted:
        pass
    return _structures_equal(m, left, right)


def is_found(m: Machine, left: Const | Obj, right: Const | Obj) -> bool | None:
    """Whether a container takes two alternatives for the same; None if that is not known. An object is found even if
    it does not equal itself."""
    answer = is_same(m, left, right) or is_equal(m, left, right)
    return None if answer is False and left == right and not isinstance(left, Obj) else answer


def _path_equality(left: Const | Obj, right: Const | Obj) -> bool | None:
    """Whether a path of the project, which is absolute, equals another or a text; None if that is not known."""
    for obj, other in ((left, right), (right, left)):
        if isinstance(obj, Obj) and obj.kind == "path":
            if isinstance(other, Obj):
                return obj is other if other.kind == "path" else None
            return None if isinstance(other.value, str) and other.value.startswith("/") else False
    return None


def _structures_equal(m: Machine, left: Const | Obj, right: Const | Obj) -> bool | None:
    for obj, other in ((left, right), (right, left)):
        if isinstance(obj, Obj) and obj.kind == "instance":
            method = m.class_attribute(obj, "__eq__")
            if method is not None:
                return truth(m, m.call(method, Arguments([Value((other,))])))
            if m.extends_unseen(obj) or obj.items is not None or obj.many:
                return None
    kinds = [side.kind if isinstance(side, Obj) else "const" for side in (left, right)]
    if not _COMPARED.issuperset(kinds):
        return None
    if kinds[0] != kinds[1]:
        return False
    if kinds[0] in ("class", "function", "module"):
        return left is right
    if kinds[0] == "instance" and isinstance(left, Obj) and isinstance(right, Obj):
        if left is not right and any(side.cls is not None and side.cls.kind == "symbol" for side in (left, right)):
            return None  # namespaces are compared by what they hold
        return left is right
    return None


_COMPARED = frozenset(("const", "list", "tuple", "dict", "set", "instance", "class", "function", "module"))
"""The kinds of which it is known how they are compared."""
