"""Towers: the model built once per GPU, in a loop over devices or by slim's deployment library."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_DEVICE = "tensorflow.device"
_DEPLOYMENT = "DeploymentConfig"
_GPU = lazy_compile(r"gpu|cuda|tower|clone|device")
_LISTS = frozenset("enumerate list sorted zip tuple".split())
_DEPTH = 6


def matches(name: str) -> bool:
    """Device scopes and slim's deployment configuration."""
    return name == _DEVICE or name.endswith(_DEPLOYMENT)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``towers`` fact of a device scope that changes with its loop, or of a configuration of clones."""
    call = module.code.calls[index]
    if name != _DEVICE:
        value = argument(call, "num_clones", 0)
        counts = [] if value is None else _numbers(context, module, value, call)
        return [_fact(context, (module, index), name, counts)] if value is not None else []
    loop = context.loop_of(module, call.block)
    scope = argument(call, "device_name_or_function", 0)
    if loop < 0 or scope is None or not _changes(module, scope, loop):
        return []
    words = " ".join(_words(module, module.blocks[loop].test) + _words(module, scope)).lower()
    if not _GPU.search(words):
        return []
    record = module.blocks[loop]
    return [_fact(context, (module, index), name, _length(context, module, record.test, call, 0))]


def repeated(context: Context, module: Module, index: int, name: str) -> str:
    """``yes`` if a device scope surely stands around one of several towers, else ``no``."""
    found = facts_for_call(context, module, index, name) if matches(name) else []
    return "yes" if any(fact.get("many") == "yes" for fact in found) else "no"


def _fact(context: Context, site: Site, name: str, counts: list[int]) -> Fact:
    """`counts` are the numbers of towers that there may be; empty when nothing is known."""
    many = "unknown"
    if counts:
        many = "yes" if min(counts) > 1 else "no" if max(counts) <= 1 else "unknown"
    return context.call_fact("towers", name, *site, many=many, towers=str(max(counts, default=0)))


def _changes(module: Module, scope: Value, loop: int) -> bool:
    """Whether a device is computed from what the loop goes through."""
    bound = {bind.target for bind in module.code.assignments if bind.block == loop and _goes_through(bind.value)}
    return not bound.isdisjoint(_words(module, scope))


def _goes_through(value: Value) -> bool:
    if isinstance(value, Op) and value.op == "[]":
        value = value.operands[0]
    return isinstance(value, Op) and value.op == "iter"


def _words(module: Module, value: Value, depth: int = 0) -> list[str]:
    """The names and texts in an expression, those in calls as well."""
    if depth > _DEPTH:
        return []
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Const):
        return [value.value] if isinstance(value.value, str) else []
    parts = module.parts(value)
    if isinstance(value, CallResult):
        parts += tuple([v for _, v in module.code.calls[value.call].keywords])
    return [word for part in parts for word in _words(module, part, depth + 1)]


def _length(context: Context, module: Module, value: Value, at: Call, depth: int) -> list[int]:
    """How many elements there may be in what a loop goes through."""
    if isinstance(value, SequenceDisplay):
        return [len(value.items)]
    if depth > _DEPTH:
        return []
    if isinstance(value, CallResult):
        call, name = module.code.calls[value.call], module.callee_name(value.call)
        if name in ("range", "xrange") and call.args:
            return _numbers(context, module, call.args[min(1, len(call.args) - 1)], call, depth + 1)
        if name in _LISTS and call.args:
            return _length(context, module, call.args[0], call, depth + 1)
        return _pieces(context, module, call) if name == "split" else []
    if isinstance(value, Ref):
        binds = context.flow.bindings(module, value.name, at.block, at.line)
        found = [_length(context, m, b.value, _place(at, b.block, b.line), depth + 1) for m, b in binds]
        return [number for numbers in found for number in numbers] if all(found) else []
    return []


def _place(at: Call, block: int, line: int) -> Call:
    """The call as if it stood elsewhere: only its place is asked for."""
    return Call(at.callee, (), (), block, line, at.column, line, at.end_column)


def _numbers(context: Context, module: Module, value: Value, at: Call, depth: int = 0) -> list[int]:
    """The numbers that a value may be; ``len(…)`` of a list or of a text that is split as well."""
    if isinstance(value, CallResult) and module.callee_name(value.call) == "len" and depth <= _DEPTH:
        call = module.code.calls[value.call]
        return _length(context, module, call.args[0], call, depth + 1) if call.args else []
    known = context.known(module, value, at)
    numbers = [v for v in known.values if isinstance(v, int) and not isinstance(v, bool)]
    if numbers or not isinstance(value, Ref) or depth > _DEPTH:
        return numbers if len(numbers) == len(known.values) else []
    binds = context.flow.bindings(module, value.name, at.block, at.line)
    found = [_numbers(context, home, b.value, _place(at, b.block, b.line), depth + 1) for home, b in binds]
    return [number for part in found for number in part] if all(found) else []


def _pieces(context: Context, module: Module, call: Call) -> list[int]:
    """Into how many pieces ``text.split(",")`` may cut."""
    if not isinstance(call.callee, Ref) or not call.args or not isinstance(call.args[0], Const):
        return []
    known = context.known(module, Ref(call.callee.name.rpartition(".")[0]), call)
    separator = str(call.args[0].value)
    texts = [v for v in known.values if isinstance(v, str) and not v.startswith("tensorflow.")]  # no mere names
    return [len(text.split(separator)) for text in texts] if separator else []
