"""Flow: which scalars an expression may have, followed through assignments, functions, options and modules."""

from __future__ import annotations

import math
import posixpath
import sys
from collections import defaultdict
from collections.abc import Callable

from npulint.facts.code import Call, CallResult, Const, Op, Ref, Scalar, Table, Value, receiver_of
from npulint.facts.values import NONE, NOTHING, PossibleValues, merge
from npulint.model.code.bindings import may_be_passed, surely_set, taker
from npulint.model.code.module import Module
from npulint.model.values.arithmetic import METHODS, apply
from npulint.model.values.blocks import BlockCursor
from npulint.model.values.callers import knows_callers, passed
from npulint.model.values.changed_dicts import is_changed
from npulint.model.values.context import Context, once
from npulint.model.values.expressions import Expression
from npulint.model.values.loaded import entry, loaded
from npulint.model.values.mappings import fields, mappings
from npulint.model.values.objects import assumed_item, elements, returned
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import walker

# Numbers that libraries name: ``numpy.inf``, ``sys.float_info.max``, ``torch.finfo(torch.float32).min``.

_NAMED = {
    "math.inf": math.inf,
    "numpy.inf": math.inf,
    "numpy.Inf": math.inf,
    "numpy.PINF": math.inf,
    "numpy.infty": math.inf,
    "numpy.NINF": -math.inf,
    "torch.inf": math.inf,
    "sys.float_info.max": sys.float_info.max,
    "sys.float_info.min": sys.float_info.min,
    "sys.float_info.epsilon": sys.float_info.epsilon,
}
# type: (greatest, distance of 1 from the next number, smallest normal number)
_FLOAT_LIMITS = {
    "float16": (65504.0, 2.0**-10, 2.0**-14),
    "bfloat16": (float(2**128 - 2**120), 2.0**-7, 2.0**-126),
    "float32": (float(2**128 - 2**104), 2.0**-23, 2.0**-126),
    "float64": (sys.float_info.max, sys.float_info.epsilon, sys.float_info.min),
}
_SAME_TYPES = {"half": "float16", "float": "float32", "single": "float32", "double": "float64"}
_WITH_LIMITS = frozenset(("numpy", "tensorflow", "torch"))
FINFO = frozenset(("numpy.finfo", "torch.finfo", "tensorflow.experimental.numpy.finfo"))
"""The functions that give the limits of a type."""


def named_number(name: str) -> float | None:
    """The number that a canonical name stands for, also ``tensorflow.float32.min``; None for all other names.

    >>> named_number("numpy.NINF"), named_number("tensorflow.float16.max"), named_number("torch.float32")
    (-inf, 65504.0, None)
    """
    holder, _, limit = name.rpartition(".")
    return limit_of(holder, limit) if holder.startswith("tensorflow.") else _NAMED.get(name)


def limit_of(type_name: str, limit: str) -> float | None:
    """A limit (``min``, ``max``, ``eps``, ``tiny``) of the type with this canonical name; None if it is not known."""
    package, _, last = type_name.rpartition(".")
    if package == "" and last == "float":
        last = "double"  # that of Python
    limits = _FLOAT_LIMITS.get(_SAME_TYPES.get(last, last)) if package in ("", *_WITH_LIMITS) else None
    if limits is None:
        return None
    greatest, distance, smallest = limits
    named_limits = {"max": greatest, "min": -greatest, "eps": distance, "tiny": smallest, "smallest_normal": smallest}
    return named_limits.get(limit)


_HOPS = 5  # calls that a value is followed out of, from one parameter to the next
_DEPTH = 13
_STEPS = 600  # expressions that one question may look at; many branches would make it explode
_SAME = frozenset(("str", "int", "float", "bool", "bytes", "list", "tuple", "repr", "abs", "set"))
_SAME_LAST = frozenset(("as_bytes", "as_str", "as_text", "as_str_any", "constant", "encode", "decode", "to_bytes"))
_SAME_NUMBER = frozenset(("numpy.float32", "numpy.float64"))
_TAKING = frozenset(("get", "pop", "getattr"))
_ENVIRONMENT = frozenset(("os.getenv", "os.environ.get"))
_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}
_CONSTANTS = ("tensorflow.", "torch.", "npu_bridge.", "npu_device.")


def known(value: Expression) -> PossibleValues:
    """The scalars that an expression may have at its place."""
    if isinstance(value.value, Const):
        return PossibleValues((value.value.value,), True)
    return _followed(value) if type(value.value) in _RULES else NOTHING


@walker(depth=_DEPTH, otherwise=lambda: NOTHING, steps=_STEPS, kept=True)
def _followed(value: Expression) -> PossibleValues:
    return _RULES[type(value.value)](value)


# -- operations ------------------------------------------------------------------------------------


def _of_operation(value: Expression) -> PossibleValues:
    if value.operator == "[]":
        return _of_element(value, *value.operands())
    if value.operator == ".":
        held = loaded(value)
        return merge([known(expr) for expr in held]) if held else _of_limit(*value.operands())
    if value.operator == "iter":
        item = assumed_item(value)
        return NOTHING if item is None else known(item)
    return apply(value.operator, [known(operand) for operand in value.operands()])


def _of_limit(holder: Expression, name: Expression) -> PossibleValues:
    """The number that ``numpy.finfo(numpy.float32).min`` gives."""
    if not isinstance(holder.value, CallResult):
        return NOTHING
    module, index = holder.module, holder.value.call
    call = module.code.calls[index]
    if len(call.args) != 1 or holder.context.names.of_call(module, index) not in FINFO:
        return NOTHING
    asked = holder.sibling(call.args[0])
    return _number(limit_of(str(asked.value.value) if isinstance(asked.value, Const) else asked.name, name.text))


def _number(number: float | None) -> PossibleValues:
    return NOTHING if number is None else PossibleValues((number,), True)


def _of_element(value: Expression, holder: Expression, key: Expression) -> PossibleValues:
    index = known(key).single
    if holder.written:
        if holder.name == "os.environ":
            return PossibleValues((), False, f"${index}")
        may_be = isinstance(index, str) and not loaded(holder)
        option = option_value(holder.sibling(Ref(f"{holder.written}.{index}"))) if may_be else None
        if option is not None:
            return option
    if index is None:
        return NOTHING
    parts = [NOTHING if element is None else known(element) for element in elements(holder, index)]
    module, prefix = holder.module, f"{holder.written or '?'}["
    written = (*module.dotted.get(f"{prefix}{index}]", ()), *module.dotted.get(f"{prefix}*]", ()))
    parts += [known(holder.elsewhere(module, bind.value, bind.block, bind.line)) for bind in written]
    if not parts:
        exprs = [mapping.get(index) for mapping in mappings(holder)]
        parts = [NOTHING if expr is None else known(expr) for expr in exprs]
    merged = merge(parts) if parts else NOTHING
    if not merged.values or not _is_changed(holder, index):
        return merged
    executed = _executed(value)
    if executed is not None:
        return executed
    return merged if written else PossibleValues(merged.values, False, merged.symbol)


def _is_changed(holder: Expression, key: Scalar) -> bool:
    """Whether the project may change what a dict holds under a key after it is made."""
    written = holder.written
    return bool(written) and is_changed(holder.context, holder.module, holder.scope.block, written, key)


def _executed(value: Expression) -> PossibleValues | None:
    """What an expression is worth in the executions of the project; None where they do not tell."""
    executions = value.context.executions
    return None if executions is None else executions.values(value.module, value.value)


# -- names -----------------------------------------------------------------------------------------


def _of_name(value: Expression) -> PossibleValues:
    name, module, block = value.written, value.module, value.scope.block
    head, _, field = name.rpartition(".")
    held = entry(loaded(value.sibling(Ref(head))), field) if head and name not in module.dotted else []
    if held:
        return merge([known(expr) for expr in held])
    option = option_value(value)
    if option is not None:  # the script itself may set another value
        return PossibleValues(option.values, False, option.symbol) if name in module.dotted else option
    bound = value.context.bindings(module, name, block, value.line)
    if "." in name and not (bound and bound[0][1].target == name):
        given = [mapping.get(field) for mapping in fields(value.sibling(Ref(head)))]
        if given and None not in given:
            return merge([known(expr) for expr in given if expr is not None])
    if not bound:
        parameter = _of_parameter(value)
        if parameter is not None:
            return parameter
        meaning = value.name
        number = named_number(meaning)
        if number is not None:
            return _number(number)
        return PossibleValues((meaning,), True) if meaning.startswith(_CONSTANTS) and "()" not in meaning else NOTHING
    parts = [known(value.elsewhere(home, bind.value, bind.block, bind.line)) for home, bind in bound]
    function = taker(module, name, block)
    if function >= 0 and may_be_passed(module, function, block, bound):
        parts.append(_of_parameter(value) or NOTHING)
    merged = merge(parts)
    sure = surely_set(module, name, block, bound) and not _is_set_elsewhere(value)
    return merged if sure else PossibleValues(merged.values, False, merged.symbol)


def _is_set_elsewhere(name: Expression) -> bool:
    """Whether the project assigns an attribute of this name to some other object."""
    if "." not in name.written:
        return False
    assigned = _attributes(name.context).get(name.written.rpartition(".")[2])
    return assigned is not None and bool(assigned - {(name.module.path, name.written)})


@once
def _attributes(context: Context) -> dict[str, set[tuple[str, str]]]:
    """By attribute, the modules and the names with which it is assigned to other objects than ``self``."""
    attributes: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for home in context.project.modules.values():
        for target, binds in home.dotted.items():
            if any(home.owner_of_self(target.partition(".")[0], bind.block) < 0 for bind in binds):
                attributes[target.rpartition(".")[2]].add((home.path, target))
    return attributes


def _of_parameter(value: Expression) -> PossibleValues | None:
    """A parameter has the values that the project's calls pass, else its default as one of several; None for other
    names."""
    name, module = value.written, value.module
    function = value.scope.function
    while function is not None:
        if name in function.parameters:
            return _passed(value, function) or _default(value, function)
        if name in module.params.get(function.block, ()):
            return NOTHING  # *args and **kwargs
        function = None if function.parent is None else function.parent.function
    return None


@walker(depth=_HOPS, otherwise=lambda: NOTHING, kept=True)
def _passed(value: Expression, function: BlockCursor) -> PossibleValues | None:
    """What a parameter has in all of the project's calls of a function; None where that is not known for one."""
    parts = []
    site = value.context.assumed.get((function.path, function.block))
    for (home, index), given in passed(function, value.written):
        if site is not None and site != (home.path, index):
            continue
        if given is None and is_test_file(home.path):
            continue  # a test often leaves out what a training passes
        call = home.code.calls[index]
        made = _left_out(value, function, home, call) if given is None else _given(value, given, home, call)
        if made is None:
            return None
        parts.append(made)
    return merge(parts) if parts else None


def _given(value: Expression, given: Value, home: Module, call: Call) -> PossibleValues:
    return known(value.elsewhere(home, given, call.block, call.line))


def _left_out(value: Expression, function: BlockCursor, home: Module, call: Call) -> PossibleValues | None:
    """What a parameter has that a call neither names nor reaches: an entry of ``**options``, else its default; None
    where that is not known."""
    record, name = function.record, value.written
    position = record.params.index(name) - (len(record.params) - len(record.defaults))
    if position < 0 or record.decorators or not knows_callers(function):
        return None
    if any(isinstance(argument, Op) and argument.op == "star" for argument in call.args):
        return None
    for options in (given for key, given in call.keywords if key == "**"):
        held = mappings(value.elsewhere(home, options, call.block, call.line))
        if len(held) != 1 or not held[0].complete:
            return None
        entry = held[0].get(name)
        if entry is not None:
            return known(entry)
    return known(value.elsewhere(value.module, record.defaults[position], record.parent, record.line))


def _default(value: Expression, function: BlockCursor) -> PossibleValues:
    record, name = function.record, value.written
    position = record.params.index(name) - (len(record.params) - len(record.defaults))
    if position < 0:
        return PossibleValues((), False, name)
    default = known(value.elsewhere(value.module, record.defaults[position], record.parent, record.line))
    return PossibleValues(default.values, False, name)


@walker(depth=_DEPTH, otherwise=lambda: None, key=lambda name: name.written.rpartition(".")[2])
def option_value(name: Expression) -> PossibleValues | None:
    """The value of ``FLAGS.x``, ``args.x`` and the like, or None when it is no option. It counts as exact: it is what
    runs unless somebody says otherwise."""
    options, parts = name.context.options, []
    meant = options.meant(name.module, name.written) or options.held(name.module, name.written, lambda: name.name)
    for option in meant:
        launched, left_out = options.launched_values(option, name.module)
        if left_out:
            default = known(name.elsewhere(option.module, option.value, option.call.block, option.call.line))
            exact = default.exact and option.name not in options.required
            parts.append(PossibleValues(default.values, exact, default.symbol))
        parts += launched
    merged = merge(parts)
    return PossibleValues(merged.values, merged.exact, meant[0].name) if meant else None


# -- results of calls ------------------------------------------------------------------------------


def _of_result(value: Expression) -> PossibleValues:
    if not isinstance(value.value, CallResult):
        return NOTHING
    module, index = value.module, value.value.call
    call, name = module.code.calls[index], value.context.names.of_call(module, index)
    last = name.rsplit(".", 1)[-1]
    here = value.elsewhere(module, call.callee, call.block, call.line)
    if name in _ENVIRONMENT:
        return _of_environment(here, call)
    held = _of_entry(value, here, call) if last in _TAKING else None
    if held is not None:
        return held
    if name == "isinstance" and len(call.args) == 2:
        return _of_type_test(known(here.sibling(call.args[0])), here.sibling(call.args[1]))
    if name in _SAME_NUMBER and len(call.args) == 1:
        return known(here.sibling(call.args[0]))
    if name in _SAME and call.args:
        return apply(name, [known(here.sibling(call.args[0]))])
    if last in METHODS and not call.args:
        source = receiver_of(call)
        return NOTHING if source is None else apply(last, [known(here.sibling(source))])
    if last in _SAME_LAST:
        source = call.args[0] if call.args and last not in ("encode", "decode") else receiver_of(call)
        return NOTHING if source is None else known(here.sibling(source))
    if name == "os.path.join":
        texts = [known(here.sibling(arg)).single for arg in call.args]
        joined = [text for text in texts if isinstance(text, str)]
        return PossibleValues((posixpath.join(*joined),), True) if joined and len(joined) == len(texts) else NOTHING
    target = value.context.names.function(name)
    if target is None or target[0].blocks[target[1]].kind == "class":
        return NOTHING
    results = returned(value, *target)
    parts = [known(result) for result in results]
    if all(result.scope.kind in ("if", "loop", "except") for result in results):
        parts.append(NONE)  # it may come to its end
    return merge(parts) if results else NOTHING


def _of_entry(value: Expression, here: Expression, call: Call) -> PossibleValues | None:
    """What ``cfg.get("key", default)`` gives of the file that was loaded, or of a dict that changes; None for other
    objects."""
    holder = receiver_of(call)
    if holder is not None and call.args and isinstance(call.args[0], Const):
        kept, name = here.sibling(holder), call.args[0].value
        executed = _executed(value) if _is_changed(kept, name) and mappings(kept) else None
        if executed is not None:
            return executed
    values = [here.sibling(argument) for argument in (*([] if holder is None else [holder]), *call.args)]
    holders = [table for table in loaded(values[0]) if isinstance(table.value, Table)] if len(values) > 1 else []
    key = known(values[1]).single if holders else None
    if key is None:
        return None
    default = known(values[2]) if len(values) > 2 else NONE
    parts = []
    for expr in holders:
        held = expr.element(key)
        is_whole = isinstance(expr.value, Table) and None not in expr.value.keys
        parts.append(known(held) if held is not None else default if is_whole else merge([default, NOTHING]))
    return merge(parts)


def _of_type_test(value: PossibleValues, asked: Expression) -> PossibleValues:
    """The result of ``isinstance(value, (int, float))``."""
    types = [_TYPES.get(expr.written) for expr in (asked.items or [asked])]
    if not value.exact or not value.values or None in types:
        return NOTHING
    accepted = tuple(kind for kind in types if kind is not None)
    return merge([PossibleValues((isinstance(scalar, accepted),), True) for scalar in value.values])


def _of_environment(here: Expression, call: Call) -> PossibleValues:
    parts = [known(here.sibling(arg)) for arg in call.args[:2]]
    default = parts[1].values if len(parts) > 1 else (None,)
    return PossibleValues(default, False, f"${parts[0].single}" if parts else "$?")


_RULES: dict[type, Callable[[Expression], PossibleValues]] = {
    Ref: _of_name,
    CallResult: _of_result,
    Op: _of_operation,
}
