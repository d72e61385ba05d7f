"""Texts: formatting and the methods of constants, worked out by Python where everything is known."""

from __future__ import annotations

import re
from typing import Any, Final

from npulint.model.abstract_values.hosted import Unhosted, adopted, hosted, plain_hosted
from npulint.model.abstract_values.value import ABSENT, EITHER, UNKNOWN, Const, Obj, Value, const, joined, unknown
from npulint.model.execution.machine import Arguments, Machine

_MOST = 10_000  # characters
_WIDE = re.compile(r"\d{5}")

METHODS: Final[dict[str, dict[str, str]]] = {
    "str": {
        **dict.fromkeys(
            "capitalize casefold center expandtabs format format_map join ljust lower lstrip replace removeprefix"
            " removesuffix rjust rstrip strip swapcase title translate upper zfill __str__ __format__".split(),
            "str",
        ),
        **dict.fromkeys("count find index rfind rindex __len__".split(), "int"),
        **dict.fromkeys(
            "endswith startswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric"
            " isprintable isspace istitle isupper __contains__ __eq__".split(),
            "bool",
        ),
        **dict.fromkeys("split rsplit splitlines".split(), "list"),
        **dict.fromkeys("partition rpartition".split(), "tuple"),
        "encode": "bytes",
        "__getitem__": "str",
    },
    "bytes": {"decode": "str", "hex": "str", "strip": "bytes", "split": "list"},
    "int": {"bit_length": "int", "conjugate": "int", "__add__": "int", "__int__": "int", "__index__": "int"},
    "float": {"is_integer": "bool", "hex": "str", "__int__": "int", "__float__": "float"},
    "bool": {},
    "complex": {},
    "NoneType": {},
    "range": {"index": "int", "count": "int"},
    "ellipsis": {},
}
"""By the name of a type the methods of constants that are modelled, with the type of what they give."""


def known_text(value: Value) -> str | None:
    """The text that a value surely is."""
    constant = value.single
    return constant.value if isinstance(constant, Const) and isinstance(constant.value, str) else None


def shown(m: Machine, value: Value, function: str = "str") -> Value:
    """What ``str(value)``, ``repr(value)`` or ``ascii(value)`` gives."""
    obj = value.single
    if isinstance(obj, Obj) and obj.kind == "pathlib" and function == "str":
        return shown(m, obj.data)
    if isinstance(obj, Obj) and obj.kind == "path":
        return Value((obj,)) if function == "str" else unknown("", "str")
    if isinstance(obj, Obj) and obj.kind == "instance":
        for name in ("__str__", "__repr__") if function == "str" else ("__repr__",):
            method = m.class_attribute(obj, name)
            if method is not None:
                return m.call(method, Arguments())
        if obj.cls in m.enums:
            return unknown("", "str")
        if m.is_subclass(obj.cls, m.heap.symbol("builtins.BaseException")):
            return _of_exception(m, obj, function)
        if m.plain_text(obj) is None:
            return unknown(value.reason, "str")
    try:
        plain = plain_hosted(value, m.heap)
    except Unhosted:
        return unknown(value.reason, "str")
    try:
        text = repr(plain) if function == "repr" else ascii(plain) if function == "ascii" else str(plain)
    except ValueError:  # an integer of thousands of digits
        return unknown("", "str")
    return const(text) if len(text) <= _MOST else unknown("", "str")


def _of_exception(m: Machine, obj: Obj, function: str) -> Value:
    args = m.heap.get(obj, "args").single
    content = m.heap.items_of(args).items if isinstance(args, Obj) else None
    if content is None or function != "str" or len(content) > 1:
        return unknown("", "str")
    if not content:
        return const("")
    is_key = m.is_subclass(obj.cls, m.heap.symbol("builtins.KeyError"))
    return shown(m, content[0], "repr" if is_key else "str")


def formatted(m: Machine, value: Value, spec: str, convert: str = "") -> Value:
    """What ``format(value, spec)`` gives, the value first converted by `convert`."""
    own = value.single
    if isinstance(own, Obj) and own.kind == "instance" and not convert:
        method = m.class_attribute(own, "__format__")
        if method is not None:
            return m.call(method, Arguments([const(spec)]))
    if convert:
        value = shown(m, value, convert)
    if not spec:
        alternatives = [alternative for alternative in value.alternatives if alternative is not ABSENT]
        if len(alternatives) > 1 and not value.is_open:
            return joined([shown(m, Value((alternative,))) for alternative in alternatives])
        return shown(m, value)
    try:
        plain = plain_hosted(value, m.heap)
    except Unhosted:
        return unknown(value.reason, "str")
    if _WIDE.search(spec):
        return unknown("", "str")
    try:
        return const(format(plain, spec))
    except (ValueError, TypeError) as error:
        m.throw_new(type(error).__name__, str(error))


def percent(m: Machine, template: Value, given: Value) -> Value:
    """What ``template % given`` gives."""
    text = known_text(template)
    try:
        plain = plain_hosted(given, m.heap)
    except Unhosted:
        _show_instances(m, given)
        m.may_throw()
        return unknown(given.reason, "str")
    if text is None or _WIDE.search(text) or "*" in text:
        return unknown("", "str")
    try:
        return const(text % plain)
    except (ValueError, TypeError, KeyError) as error:
        m.throw_new(type(error).__name__, str(error))


def _show_instances(m: Machine, given: Value) -> None:
    """Execute what makes texts of the program's own objects."""
    for alternative in given.alternatives:
        if isinstance(alternative, Obj) and alternative.kind == "instance":
            shown(m, Value((alternative,)))
        elif isinstance(alternative, Obj) and alternative.kind in ("tuple", "list"):
            for item in m.heap.items_of(alternative).items or ():
                _show_instances(m, item)


def call_method(
    m: Machine, type_name: str, name: str, receiver: Value, given: list[Value], keywords: dict[str, Value]
) -> Value:
    """What a method of a constant gives."""
    result = METHODS[type_name][name]
    constant = receiver.single
    try:
        if not isinstance(constant, Const):
            raise Unhosted
        shows = name in ("format", "format_map", "__format__")
        args = [plain_hosted(value, m.heap) if shows else hosted(value, m.heap) for value in given]
        options = {key: hosted(value, m.heap) for key, value in keywords.items()}
        _check_size(constant.value, name, args)
        return adopted(getattr(constant.value, name)(*args, **options), m.heap)
    except Unhosted:
        for value in (*given, *keywords.values()):
            _show_instances(m, value)
        return _open_result(m, receiver, result)
    except (MemoryError, OverflowError, RecursionError):
        return UNKNOWN
    except Exception as error:
        m.throw_new(type(error).__name__, str(error))


def _open_result(m: Machine, receiver: Value, result: str) -> Value:
    m.may_throw()
    if result == "list":
        return m.heap.sequence_of_any("list", unknown(receiver.reason, "str"))
    if result == "bool":
        return EITHER
    return unknown(receiver.reason, "" if result == "tuple" else result)


def _check_size(value: Any, name: str, args: list[object]) -> None:
    """Raise `Unhosted` where the result may be very large."""
    if name in ("format", "format_map") and (_WIDE.search(str(value)) or "__" in str(value)):
        raise Unhosted  # a huge result, or attributes of this Python's own objects
    if any(isinstance(arg, int) and abs(arg) > _MOST for arg in args):
        raise Unhosted
    if name in ("replace", "join", "translate", "expandtabs"):
        texts = [arg for arg in args if isinstance(arg, (str, bytes))]
        if len(value) * max([len(text) for text in texts] or [1]) > _MOST * 10 and name == "replace":
            raise Unhosted
