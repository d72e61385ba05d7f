"""Which names of a project may have a number beyond the range of float16: a cheap question before an expensive one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from npulint.facts.code import CallResult, Code, Const, Op, Ref, Value
from npulint.model.code.module import Module
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import scope_at

_LARGE = 65520.0  # the smallest number that does not round to the greatest of float16
_LIMITS = frozenset(("min", "max", "inf", "infty", "INF", "float_info"))
_WORDS = _LIMITS | {"-inf", "infinity"}  # members of a call's result, texts of numbers
_ROUNDS = 4  # names that have the value of other names
_PARTS = 60  # of an expression that are looked at


def may_be_large(context: Context, module: Module, value: Value) -> bool:
    """Whether an expression of a module may be, or contain, a number beyond the range of float16, as far as names
    tell."""
    names = _large_names(context)
    return not names.isdisjoint(_lasts(module.code, value))


@once
def _large_names(context: Context) -> frozenset[str]:
    """The last segments of all names that somewhere get such a number: by assignments, defaults, arguments, options.
    The empty name stands for the number itself."""
    names = {"", *_LIMITS}
    others: list[tuple[str, list[str]]] = []
    for module in context.project.modules.values():
        given = module.derive(_given)
        names.update(given.names)
        others += given.others
        for index in given.calls:
            names.update(_receiving(context, module, index))
    for _ in range(_ROUNDS):
        before = len(names)
        names.update(name for name, lasts in others if not names.isdisjoint(lasts))
        if len(names) == before:
            break
    return frozenset(names)


class _Given(NamedTuple):
    """What a module gives to names: those with a large number, others with the names in their values, and the calls
    with a large number among their positional arguments."""

    names: set[str]
    others: list[tuple[str, list[str]]]
    calls: list[int]


def _given(module: Module) -> _Given:
    code = module.code
    given = _Given(set(), [], [])
    for name, value in _named_values(code):
        kind = value.__class__
        if kind is Const:
            if _exceeds(value):  # type: ignore[arg-type]
                given.names.add(name)
        elif kind is Ref or kind is CallResult or kind is Op:
            lasts = _lasts(code, value)
            if lasts:
                given.others.append((name, lasts))
    for index, call in enumerate(code.calls):
        for value in call.args:
            if value.__class__ is Const and _exceeds(value):
                given.calls.append(index)
                break
    return given


def _named_values(code: Code) -> Iterator[tuple[str, Value]]:
    """(name, value) of what a module gives to names."""
    for assignment in code.assignments:
        yield _last(assignment.target), assignment.value
    for block in code.blocks:
        yield from zip(block.params[len(block.params) - len(block.defaults) :], block.defaults, strict=False)
    for call in code.calls:
        for key, value in call.keywords:
            if value.__class__ is Const and _exceeds(value):
                yield (_option(call.args[0]) if key == "default" and call.args else key), value


def _receiving(context: Context, module: Module, index: int) -> Iterator[str]:
    """The options and parameters that may get the arguments of a call."""
    yield _option(module.code.calls[index].args[0])
    target = scope_at(context, module, 0).call(index).target
    made = None if target is None else target.called_block
    yield from () if made is None else made.record.params


def _option(value: Value) -> str:
    """The name of the option that a text defines: ``--big-number``."""
    text = value.value if isinstance(value, Const) else None
    return text.lstrip("-").replace("-", "_") if isinstance(text, str) else "-"


def _last(target: str) -> str:
    last = target.rpartition(".")[2]
    return last.rpartition("[")[2].rstrip("]").strip("'\"") if last.endswith("]") else last


def _exceeds(value: Const) -> bool:
    number = value.value
    return number.__class__ in (int, float) and abs(number) >= _LARGE


def _lasts(code: Code, value: Value) -> list[str]:
    """The last segments of the names in an expression, and an empty one for a number that is large or a power."""
    lasts: list[str] = []
    queue: list[Value] = [value]
    for part in queue:
        kind = part.__class__
        if kind is Ref:
            lasts.append(part.name.rpartition(".")[2])  # type: ignore[union-attr]
        elif isinstance(part, Const):
            if _exceeds(part) or (part.value.__class__ is str and part.value in _WORDS):
                lasts.append("")
        elif isinstance(part, Op):
            if part.op == "**":
                lasts.append("")
            if len(queue) < _PARTS:
                queue += part.operands
        elif isinstance(part, CallResult) and len(queue) < _PARTS:
            queue += code.calls[part.call].args
    return lasts
