"""Values from files: which parts of a loaded YAML, JSON or TOML file an expression may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, cast

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import (
    UNKNOWN,
    Call,
    CallResult,
    Const,
    Op,
    Ref,
    Scalar,
    SequenceDisplay,
    Table,
    Value,
    receiver_of,
)
from npulint.facts.model import Span
from npulint.model.code.bindings import may_be_passed, taker
from npulint.model.code.module import Module
from npulint.model.values.callers import passed
from npulint.model.values.changed_dicts import EVERY, Keys, changed_keys
from npulint.model.values.context import Context
from npulint.model.values.expressions import Expression
from npulint.model.values.walker import walker

_E = TypeVar("_E", bound=Expression)
_DEPTH = 24
_STEPS = 600
_MOST = 8
_HOLDING = lazy_compile(
    r"(?i)(?:^|\.)(?:dict|ordereddict|copy|deepcopy|easydict|edict|munch\w*|fromdict|from_dict|box|configbox|dotmap"
    r"|attr_?dict|addict|dot_?dict|omegaconf\.create|to_container|to_object|to_?dict|simplenamespace|namespace|configdict|cfgnode"
    r"|config|struct|bunch|objdict|dict_?(?:2|to)_?\w+|vars|mappingproxytype)$"
)
"""What gives an object with the same entries as its argument, or the object whose method it is."""
_TAKING = frozenset(("get", "pop", "setdefault", "getattr"))


class FileText(Const, frozen=True, array_like=True, tag="c", gc=False):
    """A text in a file that may name a device or a backend, with its place."""

    path: str = ""
    span: Span = Span()


def loaded(value: _E) -> list[_E]:
    """The dicts, lists and scalars of files that an expression may be; a value that something may replace is one of
    several. Empty where none is known."""
    context = value.context
    if context.load is None or not isinstance(value.value, Ref | CallResult | Op):
        return []
    if context.assumed or _is_asked(context):
        return _followed(value)
    cached: dict[object, list[_E]] = context.answers.setdefault(loaded, {})
    if value not in cached:
        cached[value] = _followed(value)
    return cached[value]


def _is_asked(context: Context) -> bool:
    """Whether an answer is part of another one, in which it may be incomplete."""
    recursion = context.walks.get(_followed)
    return recursion is not None and bool(recursion.active)


def entry(holders: list[_E], key: Scalar) -> list[_E]:
    """What dicts and lists of files hold under a key; where one of them does not, this is one of several values."""
    exprs = [holder.element(key) for holder in holders]
    return _any([[] if expr is None else [expr] for expr in exprs])


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS)
def _followed(value: _E) -> list[_E]:
    read = value.value
    if isinstance(read, Ref):
        return _of_name(value, read.name)
    if isinstance(read, CallResult):
        return _of_call(value, read.call)
    if isinstance(read, Op):
        return _of_operation(value, read)
    return [value] if _is_of_file(read) else []


def _any(parts: Iterable[list[_E]]) -> list[_E]:
    """What one of several expressions gives; unsure where one of them is not known."""
    given = list(parts)
    exprs = [expr for part in given for expr in part][:_MOST]
    return exprs if all(given) else [softer(expr) for expr in exprs]


def _of_operation(value: _E, read: Op) -> list[_E]:
    operands = value.operands()
    if read.op == "[]":
        holders = loaded(operands[0])
        return entry(holders, operands[1].literal) if holders and operands[1].is_literal else []
    if read.op == ".":
        return entry(loaded(operands[0]), operands[1].text)
    if read.op in ("or", "if"):
        alternatives = operands[read.op == "if" :]
        return _any([loaded(alternative) for alternative in alternatives if not _is_empty(alternative.value)])
    if read.op == "|":
        return _merged([loaded(operand) for operand in operands])
    item = value.context.assumed.get((value.module.path, value.scope.block)) if read.op == "iter" else None
    return loaded(cast(_E, item)) if isinstance(item, Expression) else []


def _is_empty(value: Value) -> bool:
    return value == Const(None) or (isinstance(value, Table) and not value.keys)


# -- names -----------------------------------------------------------------------------------------


def _of_name(value: _E, name: str) -> list[_E]:
    module, block = value.module, value.scope.block
    bound = value.context.bindings(module, name, block, value.line)
    head, _, last = name.rpartition(".")
    function = taker(module, name, block) if not head else -1
    parts = []
    for home, bind in bound[:_MOST]:
        if bind.value == Const(None):
            continue
        exprs = loaded(value.elsewhere(home, bind.value, bind.block, bind.line))
        keys = changed_keys(value.context, home, bind.block, bind.target) if exprs else frozenset[str]()
        parts.append([softer(expr, keys) for expr in exprs])
    if function >= 0 and may_be_passed(module, function, block, bound):
        given = _given(value, function, name)
        keys = changed_keys(value.context, module, function, name) if any(given) else frozenset[str]()
        parts += [[softer(expr, keys) for expr in alternatives] for alternatives in given]
        composed = value.context.composed and value.context.composed(module, function)
        parts += [[value.sibling(composed)]] if composed and not any(given) else []
    if parts or not head:
        return _any(parts)
    if last == "__dict__":
        return loaded(value.sibling(Ref(head)))
    return entry(loaded(value.sibling(Ref(head))), last)


def _given(value: _E, function: int, name: str) -> list[list[_E]]:
    """What each of the project's calls passes for a parameter."""
    site = value.context.assumed.get((value.module.path, function))
    exprses = []
    for (home, index), argument in passed(value.scope.at(function), name):
        if site is not None and site != (home.path, index):
            continue
        call = home.code.calls[index]
        exprses.append([] if argument is None else loaded(value.elsewhere(home, argument, call.block, call.line)))
    return exprses


# -- calls -----------------------------------------------------------------------------------------


def _of_call(value: _E, index: int) -> list[_E]:
    module, context = value.module, value.context
    call, name = module.code.calls[index], context.names.of_call(module, index)
    here = value.elsewhere(module, call.callee, call.block, call.line)
    values = [] if context.load is None else context.load(module, index)
    if values:
        return [here.sibling(held) for held in values]
    last = module.callee_name(index)
    if last in _TAKING:
        return _taken(here, call)
    target = context.names.function(name)
    if target is not None and target[0].blocks[target[1]].kind != "class":
        found_there = _returned(here, (module.path, index), *target)
        return found_there or (_held(here, call) if _HOLDING.search(last) else [])
    if last == "merge" and call.args:
        return _merged([loaded(here.sibling(argument)) for argument in call.args])
    return _held(here, call) if _HOLDING.search(name) or (target is not None and _HOLDING.search(last)) else []


def _taken(here: _E, call: Call) -> list[_E]:
    """``cfg.get("train", {})``, ``getattr(cfg, "train")``."""
    holder = receiver_of(call)
    values = [*([] if holder is None else [holder]), *call.args]
    if len(values) < 2 or not isinstance(values[1], Const):
        return []
    return entry(loaded(here.sibling(values[0])), values[1].value)


def _held(here: _E, call: Call) -> list[_E]:
    """The entries of the argument of ``EasyDict(…)``, ``Namespace(**…)``, or of the object that is copied."""
    holder = receiver_of(call)
    given = [*call.args[:1], *(mapping for key, mapping in call.keywords if key == "**")]
    values = given or ([] if holder is None else [holder])
    exprs = _merged([loaded(here.sibling(value)) for value in values])
    return [softer(expr, frozenset(key for key, _ in call.keywords)) for expr in exprs]


def _returned(here: _E, site: tuple[str, int], home: Module, function: int) -> list[_E]:
    """What an own function gives to this very call of it."""
    context = here.context
    before = context.assumed
    context.assumed = {**before, (home.path, function): site}
    try:
        results = home.returns.get(function, ())
        return _any([loaded(here.elsewhere(home, result.value, result.block, result.line + 1)) for result in results])
    finally:
        context.assumed = before


def _merged(parts: list[list[_E]]) -> list[_E]:
    """Dicts of which a later one replaces entries of those before; what is not known may replace any."""
    exprs: list[_E] = []
    for part in parts:
        if not part:
            exprs = [softer(expr) for expr in exprs]
        elif not exprs:
            exprs = part if part is parts[0] else [softer(expr) for expr in part]
        else:
            exprs = [expr.sibling(_joined(expr.value, other.value)) for expr in exprs for other in part][:_MOST]
    return exprs


def _joined(before: Value, after: Value) -> Value:
    if not isinstance(before, Table) or not isinstance(after, Table):
        return after
    entries = dict(zip(before.keys, before.values, strict=True))
    for key, value in zip(after.keys, after.values, strict=True):
        entries[key] = _joined(entries[key], value) if key in entries else value
    return Table(tuple(entries), tuple(entries.values()))


# -- what something may replace --------------------------------------------------------------------


def softer(value: _E, keys: Keys = EVERY) -> _E:
    """A part of a file of which something may replace the entries under some keys."""
    return value if keys == frozenset() else value.sibling(softened(value.value, keys))


def softened(value: Value, keys: Keys = EVERY) -> Value:
    """As `softer`: each scalar under these keys is one of several values."""
    if isinstance(value, Table):
        every = keys is EVERY
        pairs = [
            (key, softened(held, EVERY if every or (isinstance(key, Const) and key.value in (keys or ())) else keys))
            for key, held in zip(value.keys, value.values, strict=True)
            if key is not None
        ]
        more: list[tuple[Value | None, Value]] = [(None, UNKNOWN)] if every or None in value.keys else []
        return Table(*map(tuple, zip(*more, *pairs, strict=True))) if more or pairs else value
    if isinstance(value, SequenceDisplay):
        return SequenceDisplay(tuple(softened(item, keys) for item in value.items))
    return Op("if", (UNKNOWN, value, UNKNOWN)) if keys is EVERY and isinstance(value, Const) else value


def _is_of_file(value: Value) -> bool:
    return isinstance(value, Table | SequenceDisplay | Const)
