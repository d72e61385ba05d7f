"""Evaluates calls: pure functions on plain values, and project functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from npulint.assemble.arithmetic import METHODS
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Op, Ref, Value
from npulint.facts.recipe import ProvenanceStep
from npulint.training_config.provenance.following import Following
from npulint.training_config.provenance.launch_values import frozen, number, read_literal
from npulint.training_config.provenance.place import At
from npulint.training_config.provenance.plain import UNKNOWN, Found, ValuePairs, computed, joined, literal
from npulint.training_config.provenance.written import spot

_ENVIRONMENT = frozenset(("os.getenv", "os.environ.get"))
_CONVERT = frozenset(("str", "int", "float", "bool", "abs"))
_SAME = frozenset(("list", "tuple", "set", "frozenset", "bytes", "repr", "copy.deepcopy", "copy.copy"))
_SAME_LAST = frozenset(
    """as_bytes as_str as_text as_str_any constant encode decode to_bytes array asarray float32 float64 int32 int64
    tensor as_tensor convert_to_tensor""".split()
)
_METHOD_OF_SAME = frozenset(("encode", "decode"))
_LITERALS = frozenset(("eval", "ast.literal_eval", "json.loads"))
_WIDEST = 256
_ROUNDS = 32  # iterations of a comprehension that are evaluated
_MATH: dict[str, Callable[..., Any]] = {
    "round": round,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.sqrt": math.sqrt,
    "math.log": math.log,
    "math.log2": math.log2,
    "math.log10": math.log10,
    "math.exp": math.exp,
    "math.pow": math.pow,
    "math.cos": math.cos,
    "math.sin": math.sin,
    "numpy.ceil": math.ceil,
    "numpy.floor": math.floor,
    "numpy.sqrt": math.sqrt,
    "numpy.log": math.log,
    "numpy.log2": math.log2,
    "numpy.exp": math.exp,
    "numpy.power": math.pow,
    "min": min,
    "max": max,
    "numpy.minimum": min,
    "numpy.maximum": max,
    "sum": sum,
    "len": len,
    "divmod": divmod,
    "sorted": sorted,
}


class Results:
    def __init__(self, tracer: Following) -> None:
        self._tracer = tracer

    def of(self, index: int, at: At) -> Found:
        """The possible plain results of call number `index` of the module."""
        module = at.module
        call = module.code.calls[index]
        name = self._tracer.names.of_call(module, index)
        place = at.moved(module, call.block, call.line)
        target = self._tracer.names.function(name)
        if target is not None:
            return self._own(target[0].path, target[1], index, place)
        if name in _ENVIRONMENT:
            return self._variable(call, place)
        if name == "dict" and not call.args:
            return self._dictionary(call, place)
        last = module.callee_name(index)
        if last == "get" and call.args:
            return self._got(call, place)
        source = self._same(name, last, call)
        if source is not None:
            return self._tracer.found(source, place)
        return self._function(name, last, call, place)

    def _own(self, path: str, block: int, index: int, at: At) -> Found:
        """The result of a call of a project function."""
        home = self._tracer.context.project.modules[path]
        returns = home.returns.get(block, [])
        if home.blocks[block].kind == "class" or not returns:
            return UNKNOWN
        entered = self._tracer.passed.by_call((home, block), at.module, index)
        if entered is None or any(f.path == path and f.function == block for f in at.frames):
            return UNKNOWN
        parts = []
        for one in sorted(returns, key=lambda one: one.line):
            inside = at.entered(home, block, entered[1], one.line + 1, one.block)
            runs = self._tracer.conditions.hold(inside, one.block)
            if runs is not False:
                parts.append(self._tracer.found(one.value, inside))
            if runs:
                return joined(parts)
        return joined([*parts, literal(None)])  # it may reach its end without a return

    def _variable(self, call: Call, at: At) -> Found:
        parts = [self._tracer.found(argument, at) for argument in call.args[:2]]
        name = parts[0].single if parts else None
        if not isinstance(name, str):
            return UNKNOWN
        found = self._tracer.variable(name)
        if found is not None:
            return found
        if len(parts) < 2:
            return literal(None)
        return parts[1].written(ProvenanceStep(at.module.path, spot(call, call.args[1]), name))

    def _dictionary(self, call: Call, at: At) -> Found:
        parts = [(key, self._tracer.found(value, at)) for key, value in call.keywords]
        if any(key == "**" or not part.known for key, part in parts):
            return UNKNOWN
        provenance = tuple(dict.fromkeys(step for _, part in parts for step in part.provenance))
        return Found((ValuePairs.of((key, part.single) for key, part in parts),), True, provenance)

    def _got(self, call: Call, at: At) -> Found:
        """``settings.get("lr", 0.1)``."""
        receiver = receiver_of(call)
        key = self._tracer.found(call.args[0], at).single
        if receiver is None or not isinstance(key, str):
            return UNKNOWN
        found = self._tracer.member(receiver, key, at)
        if found is not None:
            return found
        default = self._tracer.found(call.args[1], at) if len(call.args) > 1 else literal(None)
        return default.doubted()

    def _same(self, name: str, last: str, call: Call) -> Value | None:
        """The argument that a call returns unchanged."""
        if name in _SAME and len(call.args) == 1 and not call.keywords:
            return call.args[0]
        if last in _METHOD_OF_SAME:
            return receiver_of(call)
        return call.args[0] if last in _SAME_LAST and call.args else None

    def _function(self, name: str, last: str, call: Call, at: At) -> Found:
        found = self._tracer.found
        if last in METHODS and not call.args:
            source = receiver_of(call)
            return UNKNOWN if source is None else computed(last, [found(source, at)])
        if last == "split" and len(call.args) <= 1:
            return self._split(call, at)
        if any(isinstance(argument, Op) and argument.op == "star" for argument in call.args):
            return UNKNOWN
        if name in _CONVERT and len(call.args) == 1:
            return self._converted(name, found(call.args[0], at))
        if name == "map" and len(call.args) == 2 and isinstance(call.args[0], Ref):
            return self._each(call.args[0].name, found(call.args[1], at))
        if name in _LITERALS and call.args:
            part = found(call.args[0], at)
            return _evaluated(read_literal, part) if isinstance(part.single, str) else part
        if name == "range" and not call.keywords:
            return _applied(_range, [found(argument, at) for argument in call.args])
        function = _MATH.get(name)
        if function is None or call.keywords:
            return UNKNOWN
        return _applied(function, [found(argument, at) for argument in call.args])

    def _converted(self, name: str, part: Found) -> Found:
        single = part.single
        if name in ("int", "float") and isinstance(single, str):
            result = number(single.strip())
            return computed(name, [Found(result.values, result.exact, part.provenance, part.cut)])
        return computed(name, [part])

    def _split(self, call: Call, at: At) -> Found:
        receiver = receiver_of(call)
        part = self._tracer.found(receiver, at) if receiver is not None else UNKNOWN
        separator = self._tracer.found(call.args[0], at).single if call.args else None
        text = part.single
        if not isinstance(text, str) or not isinstance(separator, str | None) or separator == "":
            return Found(cut=part.cut)
        return Found((tuple(text.split(separator)[:_WIDEST]),), True, part.provenance, part.cut)

    def _each(self, name: str, part: Found) -> Found:
        """``map(int, texts)``."""
        items = part.single
        if not isinstance(items, tuple) or isinstance(items, ValuePairs) or name not in _CONVERT:
            return Found(cut=part.cut)
        done = [self._converted(name, literal(item)) for item in items]
        values = tuple([one.single for one in done])
        return Found((values,), True, part.provenance, part.cut) if all(one.known for one in done) else UNKNOWN

    def each(self, element: Value, at: At) -> Found:
        """``[int(text) for text in texts]``: a comprehension over a plain list, without conditions."""
        if not isinstance(element, CallResult):
            return UNKNOWN
        call = at.module.code.calls[element.call]
        loop = at.module.blocks[call.block]
        if loop.kind != "loop" or len(loop.params) != 1:
            return UNKNOWN
        source = self._tracer.found(loop.test, at.moved(at.module, loop.parent, at.line))
        items = source.single
        if not isinstance(items, tuple) or isinstance(items, ValuePairs) or len(items) > _ROUNDS:
            return Found(cut=source.cut)
        inside = at.moved(at.module, call.block, call.line)
        parts = [self._tracer.found(element, inside._replace(bound=((loop.params[0], item),))) for item in items]
        if not all(part.known for part in parts):
            return Found(cut=any(part.cut for part in parts))
        return Found((tuple([part.single for part in parts]),), True, source.provenance, source.cut)


def _evaluated(function: Callable[[str], Found], part: Found) -> Found:
    result = function(str(part.single))
    return Found(result.values, result.exact, part.provenance, part.cut)


def _applied(function: Callable[..., Any], parts: list[Found]) -> Found:
    """The result of a pure Python function on known values."""
    cut = any(part.cut for part in parts)
    if not parts or not all(part.known for part in parts):
        return Found(cut=cut)
    provenance = tuple(dict.fromkeys(step for part in parts for step in part.provenance))
    try:
        value = frozen(function(*[part.single for part in parts]))
    except (TypeError, ValueError, ArithmeticError):
        return Found(cut=cut)
    return Found((value,), True, provenance, cut)


def _range(*arguments: object) -> tuple[int, ...]:
    """The numbers of a short range; raises `ValueError` for a long one, `TypeError` for other operands."""
    numbers = [argument for argument in arguments if isinstance(argument, int)]
    if len(numbers) != len(arguments):
        raise TypeError
    steps = range(*numbers)
    if len(steps) > _WIDEST:
        raise ValueError
    return tuple(steps)
