"""Evaluates calls: pure functions on plain values, and project functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from npulint.commands.training_config.followed import Followed
from npulint.commands.training_config.provenance.launch_values import frozen, number, read_literal
from npulint.commands.training_config.provenance.plain import (
    UNKNOWN,
    Found,
    ValuePairs,
    computed,
    joined,
    literal,
    unknown,
    whole,
)
from npulint.commands.training_config.provenance.variables import Evaluator, Variables, spot
from npulint.model.values.arithmetic import METHODS
from npulint.model.values.cursors import CallSite, Expr, Scope

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
_OF_MATH = "ceil floor sqrt log log2 log10 exp pow cos sin".split()
_OF_NUMPY = {name: getattr(math, name) for name in "ceil floor sqrt log log2 exp".split()}
_PURE: dict[str, Callable[..., Any]] = {
    **{function.__name__: function for function in (round, min, max, sum, len, divmod, sorted)},
    **{f"math.{name}": getattr(math, name) for name in _OF_MATH},
    **{f"numpy.{name}": function for name, function in _OF_NUMPY.items()},
    **{"numpy.power": math.pow, "numpy.minimum": min, "numpy.maximum": max},
}


class Results:
    """Evaluates the results of calls."""

    def __init__(self, tracer: Evaluator, variables: Variables) -> None:
        self._tracer = tracer
        self._variables = variables

    def of(self, site: CallSite, here: Followed) -> Found:
        """The possible plain results of a call."""
        here = here.to(site.result)
        name, last, target = site.name, site.last, site.target
        if target is not None:
            return self._own(target, site, here)
        if name in _ENVIRONMENT:
            return self._variable(site, here)
        if name == "dict" and not site.record.args:
            return self._dictionary(site, here)
        if last == "get" and site.record.args:
            return self._got(site, here)
        source = _same(name, last, site)
        if source is not None:
            return self._tracer.found(here.to(source))
        return self._function(name, last, site, here)

    def _all(self, values: Sequence[Expr], here: Followed) -> list[Found]:
        return [self._tracer.found(here.to(value)) for value in values]

    def _own(self, target: Scope, site: CallSite, here: Followed) -> Found:
        """The result of a call of a project function."""
        passing = self._tracer.passed.by_call(site, target) if target.kind != "class" and target.returns else None
        if passing is None or any(call.function is target for call in here.calls):
            return UNKNOWN
        parts = []
        for expr in sorted(target.returns, key=lambda expr: expr.line):
            inside = here.entered(expr, passing)
            runs = self._variables.hold(expr.scope, inside.calls)
            if runs is not False:
                parts.append(self._tracer.found(inside))
            if runs:
                return joined(parts)
        return joined([*parts, literal(None)])  # it may reach its end without a return

    def _variable(self, site: CallSite, here: Followed) -> Found:
        """``os.environ.get("SEED", 1)``."""
        parts = self._all(site.args[:2], here)
        name = parts[0].single if parts else None
        if not isinstance(name, str):
            return UNKNOWN
        variable = self._tracer.start.variable(name)
        if variable is not None:
            return variable
        return parts[1].written(site.path, spot(site.args[1], site), name) if len(parts) > 1 else literal(None)

    def _dictionary(self, site: CallSite, here: Followed) -> Found:
        parts = {key: self._tracer.found(here.to(value)) for key, value in site.keywords.items()}
        if "**" in parts or not all(part.known for part in parts.values()):
            return UNKNOWN
        return whole(parts.values(), ValuePairs.of((key, part.single) for key, part in parts.items()))

    def _got(self, site: CallSite, here: Followed) -> Found:
        """``settings.get("lr", 0.1)``."""
        key, receiver = self._tracer.found(here.to(site.args[0])).single, site.receiver
        if receiver is None or not isinstance(key, str):
            return UNKNOWN
        member = self._tracer.member(here.to(receiver), key)
        if member is not None:
            return member
        return (self._all(site.args[1:2], here) or [literal(None)])[0].doubted()

    def _function(self, name: str, last: str, site: CallSite, here: Followed) -> Found:
        count, receiver = len(site.record.args), site.receiver
        if last in METHODS and not count:
            return UNKNOWN if receiver is None else computed(last, self._all([receiver], here))
        if last == "split" and count <= 1:
            return UNKNOWN if receiver is None else _split(*self._all([receiver, *site.args], here))
        if any(argument.operator == "star" for argument in site.args):
            return UNKNOWN
        if name == "map" and count == 2:
            return _each(site.args[0].written, self._tracer.found(here.to(site.args[1])))
        function = _PURE.get(name)
        if name in _CONVERT and count == 1:
            return _converted(name, self._tracer.found(here.to(site.args[0])))
        if name in _LITERALS and count:
            part = self._tracer.found(here.to(site.args[0]))
            return _read(read_literal(part.single), part) if isinstance(part.single, str) else part
        if site.record.keywords or (function is None and name != "range"):
            return UNKNOWN
        return _applied(function or _range, self._all(site.args, here))

    def each(self, here: Followed) -> Found:
        """``[int(text) for text in texts]``: a comprehension over a plain list, without conditions."""
        site = here.expr.call
        loop = site.scope if site is not None else None
        if site is None or loop is None or loop.kind != "loop" or len(loop.parameters) != 1:
            return UNKNOWN
        source = self._tracer.found(here.to(loop.test))
        items = source.single
        if not isinstance(items, tuple) or isinstance(items, ValuePairs) or len(items) > _ROUNDS:
            return unknown([source])
        rounds = [Followed(site.result, here.calls, ((loop.parameters[0], item),)) for item in items]
        parts = [self._tracer.found(followed) for followed in rounds]
        if not all(part.known for part in parts):
            return unknown(parts)
        return whole([source], tuple([part.single for part in parts]))


def _same(name: str, last: str, site: CallSite) -> Expr | None:
    """The argument that a call returns unchanged."""
    first = site.args[0] if site.record.args else None
    if name in _SAME and len(site.record.args) == 1 and not site.record.keywords:
        return first
    return site.receiver if last in _METHOD_OF_SAME else first if last in _SAME_LAST else None


def _read(result: Found, part: Found) -> Found:
    """The result of reading the text `part`."""
    return Found(result.values, result.exact, part.provenance, part.cut)


def _converted(name: str, part: Found) -> Found:
    single = part.single
    if name in ("int", "float") and isinstance(single, str):
        part = _read(number(single.strip()), part)
    return computed(name, [part])


def _split(text: Found, separator: Found | None = None) -> Found:
    mark = separator.single if separator is not None else None
    if not isinstance(text.single, str) or not isinstance(mark, str | None) or mark == "":
        return unknown([text])
    return whole([text], tuple(text.single.split(mark)[:_WIDEST]))


def _each(name: str, part: Found) -> Found:
    """``map(int, texts)``."""
    items = part.single
    if not isinstance(items, tuple) or isinstance(items, ValuePairs) or name not in _CONVERT:
        return unknown([part])
    done = [_converted(name, literal(item)) for item in items]
    return (
        whole([part], tuple([conversion.single for conversion in done]))
        if all(conversion.known for conversion in done)
        else UNKNOWN
    )


def _applied(function: Callable[..., Any], parts: list[Found]) -> Found:
    """The result of a pure Python function on known values."""
    if not parts or not all(part.known for part in parts):
        return unknown(parts)
    try:
        return whole(parts, frozen(function(*[part.single for part in parts])))
    except (TypeError, ValueError, ArithmeticError):
        return unknown(parts)


def _range(*arguments: object) -> tuple[int, ...]:
    """The numbers of a short range; raises `ValueError` for a long one, `TypeError` for other operands."""
    numbers = [argument for argument in arguments if isinstance(argument, int)]
    if len(numbers) != len(arguments):
        raise TypeError
    steps = range(*numbers)
    if len(steps) > _WIDEST:
        raise ValueError
    return tuple(steps)
