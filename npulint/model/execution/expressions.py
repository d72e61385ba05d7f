"""What expressions are worth."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final, TypeGuard

from npulint.model.abstract_values import operators, paths
from npulint.model.abstract_values.hosted import Unhosted, hosted
from npulint.model.abstract_values.objects import Items
from npulint.model.abstract_values.value import (
    EITHER,
    NONE,
    UNKNOWN,
    Const,
    Obj,
    Value,
    const,
    joined,
    truth_value,
    unknown,
)
from npulint.model.execution import attributes, calls, comprehensions, items, path_objects, texts
from npulint.model.execution.machine import Arguments, Machine
from npulint.model.execution.names import bind, look_up
from npulint.model.execution.narrowing import assume
from npulint.model.execution.truth import is_equal, same, truth


def evaluate(m: Machine, node: ast.expr) -> Value:
    """The value of an expression in the current state. Raises `Dead` where it surely raises."""
    m.steps += 1
    handler = _HANDLERS.get(node.__class__)
    value = UNKNOWN if handler is None else handler(m, node)
    if m.watched and node in m.watched:
        m.observe(node, value)
    return value


# -- displays and names


def _constant(m: Machine, node: ast.Constant) -> Value:
    made = m.literals.get(node)
    if made is None:
        made = m.literals[node] = const(node.value).through(m.path, node.lineno)
    return made


def _name(m: Machine, node: ast.Name) -> Value:
    return look_up(m, node.id)


def _sequence(m: Machine, node: ast.List | ast.Tuple) -> Value:
    kind = "list" if node.__class__ is ast.List else "tuple"
    content = _contents(m, node.elts)
    if content.items is None:
        return m.heap.sequence_of_any(kind, content.each, node)
    return m.heap.sequence(kind, content.items, node)


def _contents(m: Machine, nodes: list[ast.expr]) -> Items:
    values: list[Value] = []
    is_exact = True
    for node in nodes:
        if isinstance(node, ast.Starred):
            spread = items.listed(m, evaluate(m, node.value))
            if spread.items is None:
                is_exact = False
                values.append(spread.each)
            else:
                values += spread.items
        else:
            values.append(evaluate(m, node))
    return Items(tuple(values)) if is_exact else Items(None, joined(values))


def _set(m: Machine, node: ast.Set) -> Value:
    return items.set_of(m, _contents(m, node.elts), node)


def _dict(m: Machine, node: ast.Dict) -> Value:
    made = m.heap.mapping((), "dict", node)
    owner = made.single
    assert isinstance(owner, Obj)
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            items.update(m, owner, evaluate(m, value))
        else:
            name = evaluate(m, key)
            items.set_item(m, owner, name, evaluate(m, value))
    return made


def _joined_text(m: Machine, node: ast.JoinedStr) -> Value:
    parts: list[str] | None = []
    reason = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text: object = part.value
        else:
            assert isinstance(part, ast.FormattedValue)
            formatted = _formatted(m, part)
            single = formatted.single
            text = single.value if isinstance(single, Const) else None
            reason = reason or formatted.reason
        if not isinstance(text, str):
            parts = None
        elif parts is not None:
            parts.append(text)
    return unknown(reason, "str") if parts is None else const("".join(parts))


def _formatted(m: Machine, node: ast.FormattedValue) -> Value:
    value = evaluate(m, node.value)
    if value.is_open and node.format_spec is not None:
        m.may_throw()
    spec = "" if node.format_spec is None else evaluate(m, node.format_spec)
    format_spec = spec if isinstance(spec, str) else texts.known_text(spec)
    if format_spec is None:
        return unknown(value.reason, "str")
    convert = {-1: "", 115: "str", 114: "repr", 97: "ascii"}[node.conversion]
    return texts.formatted(m, value, format_spec, convert)


# -- operators


def _binary(m: Machine, node: ast.BinOp) -> Value:
    left = evaluate(m, node.left)
    right = evaluate(m, node.right)
    return binary(m, node.op, left, right, node)


def binary(m: Machine, op: ast.operator, left: Value, right: Value, site: ast.AST) -> Value:
    """The value of a binary operator."""
    stem, function = operators.BINARY[op.__class__]
    if not left.is_open and not right.is_open:
        constant, other = left.single, right.single
        if isinstance(constant, Const) and isinstance(other, Const):
            return _of_constants(m, stem, function, constant, other)
    return items.each_pair(
        m,
        left,
        right,
        lambda a, b: _binary_of(m, stem, function, a, b, site),
        lambda: _open_result(m, left, right, stem),
    )


def _open_result(m: Machine, left: Value, right: Value, stem: str) -> Value:
    m.may_throw()
    return operators.hint_of(left, right, stem)


def _of_constants(
    m: Machine, stem: str, function: Callable[[Any, Any], object], constant: Const, other: Const
) -> Value:
    if stem == "mod" and isinstance(constant.value, str):
        return texts.percent(m, Value((constant,)), Value((other,)))
    try:
        made = operators.folded(lambda: operators.apply(stem, function, constant.value, other.value))
    except Exception as error:
        m.throw_new(type(error).__name__, str(error))
    return UNKNOWN if made is None else made


def _binary_of(
    m: Machine,
    stem: str,
    function: Callable[[Any, Any], object],
    alternative: Const | Obj,
    other: Const | Obj,
    site: ast.AST,
) -> Value:
    if isinstance(alternative, Const) and isinstance(other, Const):
        return _of_constants(m, stem, function, alternative, other)
    if isinstance(alternative, Const) and isinstance(alternative.value, str) and stem == "mod":
        return texts.percent(m, Value((alternative,)), Value((other,)))
    own = _by_methods(m, stem, alternative, other)
    if own is not None:
        return own
    left, right = m.number_or_text(alternative), m.number_or_text(other)
    if isinstance(left, Const) and isinstance(right, Const):
        return _of_constants(m, stem, function, left, right)
    made = _path_operator(m, stem, alternative, other) or items.operator(m, stem, alternative, other, site)
    if made is not None:
        return made
    m.may_throw()
    return UNKNOWN


def _path_operator(m: Machine, stem: str, alternative: Const | Obj, other: Const | Obj) -> Value | None:
    if stem == "truediv" and "pathlib" in (getattr(alternative, "kind", ""), getattr(other, "kind", "")):
        return path_objects.divided(m, Value((alternative,)), Value((other,))) or UNKNOWN
    text = other.value if isinstance(other, Const) else None
    if stem == "add" and isinstance(alternative, Obj) and alternative.kind == "path" and isinstance(text, str):
        return paths.extended_path(m.heap, alternative, text)
    return None


def _by_methods(m: Machine, stem: str, alternative: Const | Obj, other: Const | Obj) -> Value | None:
    """What the methods of instances give for an operator; None where none decides."""
    is_asked = False
    for owner, name, argument in _asked(m, stem, alternative, other):
        method = m.class_attribute(owner, name)
        if method is None:
            continue
        is_asked = True
        result = m.call(method, Arguments([Value((argument,))]))
        if not _declines(result):
            return result
        if result.single is None:
            m.may_throw()
            return UNKNOWN
    if is_asked and all(isinstance(part, Const) or _is_plain(m, part) for part in (alternative, other)):
        m.throw_new("TypeError", "unsupported operand types")
    return None


def _is_plain(m: Machine, obj: Obj) -> bool:
    """Whether an object has no operators but those that its class defines."""
    return obj.kind == "instance" and obj.items is None and not m.extends_unseen(obj)


def _is_instance(alternative: Const | Obj) -> TypeGuard[Obj]:
    return isinstance(alternative, Obj) and alternative.kind == "instance"


def _declines(result: Value) -> bool:
    """Whether a method of an operator may leave it to the other operand."""
    return any(
        isinstance(alternative, Obj) and alternative.name == "builtins.NotImplemented"
        for alternative in result.alternatives
    )


def _asked(m: Machine, stem: str, alternative: Const | Obj, other: Const | Obj) -> list[tuple[Obj, str, Const | Obj]]:
    """The instances whose methods decide about an operator, in the order in which Python asks them."""
    name, reflected = f"__{stem}__", f"__r{stem}__"
    asked: list[tuple[Obj, str, Const | Obj]] = []
    if _is_instance(alternative):
        asked.append((alternative, name, other))
    if _is_instance(other) and not (_is_instance(alternative) and alternative.cls is other.cls):
        is_first = False
        if (
            _is_instance(alternative)
            and m.is_subclass(other.cls, m.type_of(alternative)) is not False
            and other.cls is not None
        ):
            homes = [attributes.class_attribute(m, m.type_of(part), reflected)[1] for part in (alternative, other)]
            is_first = homes[0] is not homes[1]
        asked.insert(0 if is_first else len(asked), (other, reflected, alternative))
    return asked


def augmented(m: Machine, op: ast.operator, left: Value, right: Value, site: ast.AST) -> Value:
    """The value that ``left op= right`` binds; lists, dicts and sets are changed."""
    stem = operators.BINARY[op.__class__][0]
    if any(
        isinstance(alternative, Obj) and (alternative.kind in ("list", "dict", "set", "instance"))
        for alternative in left.alternatives
    ):
        return items.each(
            m,
            left,
            lambda alternative: _augmented_of(m, op, stem, alternative, right, site),
            lambda: _open_result(m, left, right, stem),
        )
    return binary(m, op, left, right, site)


def _augmented_of(
    m: Machine, op: ast.operator, stem: str, alternative: Const | Obj, right: Value, site: ast.AST
) -> Value:
    if isinstance(alternative, Obj):
        if alternative.kind == "instance":
            method = m.class_attribute(alternative, f"__i{stem}__")
            if method is not None:
                return m.call(method, Arguments([right]))
        held = items.builtin_part(alternative)
        if isinstance(held, Obj) and items.change_in_place(m, stem, held, right):
            return Value((alternative,))
    return binary(m, op, Value((alternative,)), right, site)


def _unary(m: Machine, node: ast.UnaryOp) -> Value:
    value = evaluate(m, node.operand)
    if isinstance(node.op, ast.Not):
        answer = truth(m, value)
        return truth_value(None if answer is None else not answer)
    stem, function = operators.UNARY[node.op.__class__]

    def open_operand() -> Value:
        m.may_throw()
        return unknown(value.reason, "int" if value.hint == "bool" else value.hint)

    result = items.each(m, value, lambda alternative: _unary_of(m, stem, function, alternative), open_operand)
    return result.of(result.alternatives, value.origin) if isinstance(node.operand, ast.Constant) else result


def _unary_of(m: Machine, stem: str, function: Callable[[Any], object], alternative: Const | Obj) -> Value:
    if isinstance(alternative, Const):
        try:
            return const(function(alternative.value))
        except TypeError as error:
            m.throw_new("TypeError", str(error))
    method = m.class_attribute(alternative, f"__{stem}__") if alternative.kind == "instance" else None
    return UNKNOWN if method is None else m.call(method, Arguments())


def _bool(m: Machine, node: ast.BoolOp) -> Value:
    return _bool_from(m, node, 0)


def _bool_from(m: Machine, node: ast.BoolOp, index: int) -> Value:
    is_or = isinstance(node.op, ast.Or)
    part = node.values[index]
    value = evaluate(m, part)
    if index == len(node.values) - 1:
        return value
    answer = truth(m, value)
    if answer is not None:
        return value if answer is is_or else _bool_from(m, node, index + 1)
    stays = value.of(
        tuple(alternative for alternative in value.alternatives if truth(m, Value((alternative,))) is not (not is_or))
    )

    def stop() -> Value:
        assume(m, part, is_or)
        return stays

    def go_on() -> Value:
        assume(m, part, not is_or)
        return _bool_from(m, node, index + 1)

    return m.value_of_branches([stop, go_on])


def _choice(m: Machine, node: ast.IfExp) -> Value:
    answer = truth(m, evaluate(m, node.test))
    if answer is not None:
        return evaluate(m, node.body if answer else node.orelse)

    def taken(chosen: bool) -> Value:
        assume(m, node.test, chosen)
        return evaluate(m, node.body if chosen else node.orelse)

    return m.value_of_branches([lambda: taken(True), lambda: taken(False)])


def _compare(m: Machine, node: ast.Compare) -> Value:
    left = evaluate(m, node.left)
    return _compare_from(m, node, 0, left)


def _compare_from(m: Machine, node: ast.Compare, index: int, left: Value) -> Value:
    right = evaluate(m, node.comparators[index])
    value = compare(m, node.ops[index], left, right)
    if index == len(node.ops) - 1:
        return value
    answer = truth(m, value)
    if answer is False:
        return value
    if answer:
        return _compare_from(m, node, index + 1, right)
    return m.value_of_branches([lambda: value, lambda: _compare_from(m, node, index + 1, right)])


def compare(m: Machine, op: ast.cmpop, left: Value, right: Value) -> Value:
    """The value of a comparison."""
    if isinstance(op, ast.Is):
        return same(m, left, right)
    if isinstance(op, ast.IsNot):
        return _negated(m, same(m, left, right))
    if isinstance(op, ast.In):
        return items.contains(m, right, left)
    if isinstance(op, ast.NotIn):
        return _negated(m, items.contains(m, right, left))
    stem, function = operators.COMPARISONS[op.__class__]
    if left.is_open or right.is_open:
        m.may_throw()
    if (left.is_open and not left.alternatives) or (right.is_open and not right.alternatives):
        return _open_comparison(left, right, stem)
    return items.each_pair(
        m, left, right, lambda a, b: _compare_of(m, stem, function, a, b), lambda: _open_comparison(left, right, stem)
    )


def _open_comparison(left: Value, right: Value, stem: str) -> Value:
    if left.hint and right.hint:
        return EITHER
    if all(value.hint or isinstance(value.single, Const) for value in (left, right)):
        return EITHER
    return unknown(left.reason or right.reason)


def _negated(m: Machine, value: Value) -> Value:
    answer = truth(m, value)
    return truth_value(None if answer is None else not answer)


def _or_either(m: Machine, value: Value) -> Value:
    """What a comparison gives; where a method declines, Python asks others."""
    if not _declines(value):
        return value
    m.may_throw("TypeError")
    return EITHER


def _compare_of(
    m: Machine, stem: str, function: Callable[[Any, Any], bool], alternative: Const | Obj, other: Const | Obj
) -> Value:
    if isinstance(alternative, Const) and isinstance(other, Const):
        try:
            return truth_value(bool(function(alternative.value, other.value)))
        except TypeError as error:
            m.throw_new("TypeError", str(error))
    for owner, argument, name in ((alternative, other, stem), (other, alternative, operators.REFLECTED[stem])):
        if isinstance(owner, Obj) and owner.kind == "instance":
            method = m.class_attribute(owner, f"__{name}__")
            if method is not None:
                return _or_either(m, m.call(method, Arguments([Value((argument,))])))
        if isinstance(owner, Obj) and owner.kind == "instance" and name == "ne":
            method = m.class_attribute(owner, "__eq__")
            if method is not None:
                return _negated(m, _or_either(m, m.call(method, Arguments([Value((argument,))]))))
    if stem in ("eq", "ne"):
        answer = is_equal(m, alternative, other)
        return truth_value(answer if answer is None or stem == "eq" else not answer)
    try:
        left, right = hosted(Value((alternative,)), m.heap), hosted(Value((other,)), m.heap)
    except Unhosted:
        m.may_throw("TypeError")
        return EITHER
    try:
        return truth_value(bool(function(left, right)))
    except TypeError as error:
        m.throw_new("TypeError", str(error))


# -- places


def _attribute(m: Machine, node: ast.Attribute) -> Value:
    return attributes.get(m, evaluate(m, node.value), m.mangled(node.attr))


def _subscript(m: Machine, node: ast.Subscript) -> Value:
    holder = evaluate(m, node.value)
    return items.get_item(m, holder, evaluate(m, node.slice), node)


def _slice(m: Machine, node: ast.Slice) -> Value:
    parts = [NONE if bound is None else evaluate(m, bound) for bound in (node.lower, node.upper, node.step)]
    return m.heap.slice_of(parts, node)


def _walrus(m: Machine, node: ast.NamedExpr) -> Value:
    value = evaluate(m, node.value)
    bind(m, node.target.id, value)
    return value


# -- functions


def _lambda(m: Machine, node: ast.Lambda) -> Value:
    return calls.make_function(m, node, "<lambda>")


def _call(m: Machine, node: ast.Call) -> Value:
    func = node.func
    if isinstance(func, ast.Name) and func.id in ("reveal_value", "reveal_runs"):
        return _probe(m, node, func.id)
    callee = (
        calls.zero_argument_super(m, node)
        if isinstance(func, ast.Name) and func.id == "super" and not node.args
        else None
    )
    if callee is not None:
        return callee
    function = evaluate(m, func)
    return m.call(function, arguments_of(m, node), node)


def _probe(m: Machine, node: ast.Call, name: str) -> Value:
    values = [evaluate(m, argument) for argument in node.args]
    place = (m.frame.module.data.path, node.lineno)
    if name == "reveal_runs":
        m.visit(place)
        return NONE
    if not values:
        return NONE
    m.reveal(place, values[0])
    return values[0]


def arguments_of(m: Machine, node: ast.Call | ast.ClassDef) -> Arguments:
    """The evaluated arguments of a call."""
    positional: list[Value] = []
    rest: Value | None = None
    for argument in node.args if isinstance(node, ast.Call) else node.bases:
        if isinstance(argument, ast.Starred):
            spread = items.listed(m, evaluate(m, argument.value))
            if spread.items is None or rest is not None:
                rest = spread.any_item if rest is None else rest.joined(spread.any_item)
            else:
                positional += spread.items
        else:
            value = evaluate(m, argument)
            if rest is None:
                positional.append(value)
            else:
                rest = rest.joined(value)
    keywords: dict[str, Value] = {}
    options: Value | None = None
    for keyword in node.keywords:
        value = evaluate(m, keyword.value)
        given = _options(m, value) if keyword.arg is None else {keyword.arg: value}
        if given is None:
            options = UNKNOWN
            continue
        if given.keys() & keywords.keys():
            m.throw_new("TypeError", "got multiple values for a keyword argument")
        keywords.update(given)
    return Arguments(positional, keywords, rest, options)


def _options(m: Machine, value: Value) -> dict[str, Value] | None:
    single = value.single
    if not isinstance(single, Obj):
        return None
    held = items.builtin_part(single)
    if not isinstance(held, Obj) or held.kind != "dict" or not m.heap.is_exact(held):
        return None
    entries = m.heap.entries(held)
    if any(not isinstance(key, str) for key, _ in entries):
        return None
    return {str(key): item for key, item in entries}


def _yield(m: Machine, node: ast.Yield) -> Value:
    value = NONE if node.value is None else evaluate(m, node.value)
    return calls.yield_value(m, value)


def _yield_from(m: Machine, node: ast.YieldFrom) -> Value:
    source = evaluate(m, node.value)
    items.iterate(m, source, lambda value: calls.yield_value(m, value))
    return UNKNOWN


def _await(m: Machine, node: ast.Await) -> Value:
    return calls.awaited(m, evaluate(m, node.value))


def _starred(m: Machine, node: ast.Starred) -> Value:
    evaluate(m, node.value)
    return UNKNOWN


_HANDLERS: Final[dict[type, Callable[[Machine, Any], Value]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined_text,
    ast.FormattedValue: _formatted,
    ast.Slice: _slice,
    ast.NamedExpr: _walrus,
    ast.Lambda: _lambda,
    ast.ListComp: comprehensions.of_list,
    ast.SetComp: comprehensions.of_set,
    ast.DictComp: comprehensions.of_dict,
    ast.GeneratorExp: comprehensions.of_generator,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Await: _await,
    ast.Starred: _starred,
}
