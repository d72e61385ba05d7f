"""Constants that float16 turns into zero where they guard a logarithm, a root or a division against it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Op, Ref, Value
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

ZERO_BELOW = 2.0**-25  # smaller numbers round to zero in float16, whose smallest number is 2**-24
_GUARDED = {  # operation -> the arguments that must not become zero
    "tensorflow.log": (0,),
    "tensorflow.sqrt": (0,),
    "tensorflow.rsqrt": (0,),
    "tensorflow.reciprocal": (0,),
    "tensorflow.div": (1,),
    "tensorflow.divide": (1,),
    "tensorflow.truediv": (1,),
    "tensorflow.realdiv": (1,),
}
_BOUNDS = {"tensorflow.maximum": (0, 1), "tensorflow.clip_by_value": (1,)}
_NAME = lazy_compile(r"(?:^|[._])(?:eps\w*|tiny|small\w*|delta)$|(?:^|[._])_?EPS\w*$")
_DEPTH = 4
NONE = "none"


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """``small_constant`` facts, one for each place that looks like a guard. The `constant` is worked out when it is
    asked for, as only programs in mixed precision are asked; it is `NONE` where the place is none."""
    found = []
    for index, name in enumerate(context.names.of_calls(module)):
        positions = _GUARDED.get(name)
        if positions:
            args = module.code.calls[index].args
            guarded = [args[p] for p in positions if p < len(args) and isinstance(args[p], Op | CallResult)]
            if guarded:
                constant = partial(_guarding, context, module, guarded, index)
                found.append(context.call_fact("small_constant", name, module, index, constant=constant))
    return found + _divisions(context, module)


def _guarding(context: Context, module: Module, guarded: list[Value], index: int) -> str:
    return _text(_first(_guards(context, module, value, index) for value in guarded))


def _divisions(context: Context, module: Module) -> list[Fact]:
    found = []
    for bind in module.code.assignments:
        if bind.value.__class__ is Op and _divides(bind.value):
            constant = partial(_divisor, context, module, bind.value, bind.block, bind.line)
            found.append(context.bind_fact("small_constant", "division", module, bind, constant=constant))
    for returned in module.code.returns:
        if returned.value.__class__ is Op and _divides(returned.value):
            constant = partial(_divisor, context, module, returned.value, returned.block, returned.line)
            span, around = Span(returned.line, 1, returned.line, 2), context.around(module, returned.block)
            found.append(Fact("small_constant", "division", module.path, span, {"constant": constant}, None, around))
    return found


def _divisor(context: Context, module: Module, value: Value, block: int, line: int) -> str:
    return _text(_division(context, module, value, block, line))


def _text(constant: float) -> str:
    return f"{constant:g}" if constant else NONE


def _first(values: Iterator[float]) -> float:
    return next((v for v in values if v), 0.0)


def _divides(value: Value, depth: int = 0) -> bool:
    """Whether an expression divides by a sum."""
    if not isinstance(value, Op) or depth > _DEPTH:
        return False
    return _by_sum(value) or any(_divides(part, depth + 1) for part in value.operands)


def _by_sum(value: Op) -> bool:
    below = value.operands[1] if value.op == "/" else None
    return isinstance(below, Op) and below.op == "+"


def _division(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> float:
    """The constant that guards a division of tensors in an expression, else 0."""
    if not isinstance(value, Op) or depth > _DEPTH:
        return 0.0
    if _by_sum(value) and isinstance(value.operands[1], Op):
        below = value.operands[1].operands
        small = _first(_small(context, module, part, block, line) for part in below)
        if small and any(_tensor(context, module, part, block, line) for part in (*below, value.operands[0])):
            return small
    return _first(_division(context, module, part, block, line, depth + 1) for part in value.operands)


def _guards(context: Context, module: Module, value: Value, index: int) -> float:
    """The small constant that is added to a value, or that bounds it from below; else 0."""
    call = module.code.calls[index]
    if isinstance(value, Op) and value.op == "+":
        return _first(_small(context, module, part, call.block, call.line) for part in value.operands)
    if isinstance(value, CallResult):
        inner = module.code.calls[value.call]
        places = _BOUNDS.get(context.names.of_call(module, value.call), ())
        bounds = [inner.args[p] for p in places if p < len(inner.args)]
        return _first(_small(context, module, bound, inner.block, inner.line) for bound in bounds)
    return 0.0


def _small(context: Context, module: Module, value: Value, block: int, line: int) -> float:
    if isinstance(value, Const):
        known = value.value
    elif isinstance(value, Ref) and _NAME.search(value.name):
        known = context.flow.known(module, value, block, line).single
    else:
        return 0.0
    return known if isinstance(known, float) and 0 < known < ZERO_BELOW else 0.0


def _tensor(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a value is certainly the result of an operation of TensorFlow, not of a session's run."""
    if isinstance(value, Op):
        parts = value.operands if depth < _DEPTH else ()
        return any(_tensor(context, module, part, block, line, depth + 1) for part in parts)
    name = context.names.of_value(module, value, block, line) if isinstance(value, Ref | CallResult) else ""
    return name.startswith("tensorflow.") and name.endswith("()") and "ession" not in name
