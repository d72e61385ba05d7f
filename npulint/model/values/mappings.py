"""Mappings: the keys and values of dicts however they are made, and what a loop goes through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

import msgspec

from npulint.facts.code import (
    Assignment,
    Call,
    CallResult,
    Const,
    Function,
    Op,
    Ref,
    Scalar,
    SequenceDisplay,
    Table,
    Value,
    receiver_of,
)
from npulint.model.code.bindings import may_be_passed, taker
from npulint.model.code.module import Module
from npulint.model.values.callers import callers, passed
from npulint.model.values.expressions import Expression
from npulint.model.values.loaded import loaded
from npulint.model.values.objects import displays, returned, sites
from npulint.model.values.walker import walker

_E = TypeVar("_E", bound=Expression)
_DEPTH = 9
_STEPS = 300
_MOST = 8  # mappings that one expression may be, and loops over them
_FOLLOWED = 64  # calls of one function; what others pass is unknown
_LARGEST = 64  # entries that a loop is followed through
_DICTS = frozenset(("dict", "collections.OrderedDict", "types.MappingProxyType", "copy.copy", "copy.deepcopy"))
_FIELDS = frozenset(("dataclasses.asdict", "vars", "attr.asdict", "attrs.asdict"))
_VIEWS = frozenset(("items", "keys", "values"))
_SEQUENCES = frozenset(("list", "tuple", "set", "sorted", "iter", "reversed", "frozenset"))


class Mapping(msgspec.Struct, Generic[_E], frozen=True):
    """The entries of a dict, a later one of the same key last; `complete`: there are no others."""

    entries: tuple[tuple[_E, _E], ...]
    complete: bool = True

    def get(self, key: Scalar) -> _E | None:
        """The value of a key."""
        return next((value for name, value in reversed(self.entries) if name.literal == key), None)

    @property
    def last_entries(self) -> list[tuple[_E, _E]]:
        """The entries that no later one of the same key replaces."""
        return list({(key.literal if key.is_literal else key): (key, value) for key, value in self.entries}.values())


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS, kept=True)
def mappings(value: _E) -> list[Mapping[_E]]:
    """The dicts that an expression may be; empty when one of them is not known at all."""
    read = value.value
    if isinstance(read, Table):
        return _of_table(value, read)
    held = loaded(value)
    if held:
        return [mapping for part in held if isinstance(part.value, Table) for mapping in mappings(part)]
    if isinstance(read, Ref):
        return _of_name(value, read.name)
    if isinstance(read, CallResult):
        return _of_call(value, read.call)
    if isinstance(read, Op) and read.op == "|":
        return _joined([mappings(value.sibling(operand)) for operand in read.operands])
    if isinstance(read, Op) and read.op in ("or", "if"):
        return _each([value.sibling(operand) for operand in read.operands[read.op == "if" :]])
    return []


def _each(values: Iterable[_E]) -> list[Mapping[_E]]:
    """The mappings of all of some alternatives; empty when one of them is unknown."""
    alternatives: list[Mapping[_E]] = []
    for value in values:
        here = mappings(value)
        if not here or len(alternatives) > _MOST:
            return []
        alternatives += here
    return alternatives


def _joined(parts: list[list[Mapping[_E]]]) -> list[Mapping[_E]]:
    """The dicts that consist of several dicts, a later one replacing keys of those before: where not all of it is
    known, any of them."""
    alternatives: list[Mapping[_E]] = [Mapping(())]
    for part in parts:
        added = part or [Mapping((), False)]
        alternatives = [
            Mapping((*(before.entries if after.complete else ()), *after.entries), before.complete and after.complete)
            for before in alternatives
            for after in added
        ][:_MOST]
    return [mapping for mapping in alternatives if mapping.entries or mapping.complete]


def _of_table(value: _E, table: Table) -> list[Mapping[_E]]:
    parts: list[list[Mapping[_E]]] = []
    for key, held in zip(table.keys, table.values, strict=True):
        expr = value.sibling(held)
        parts.append(mappings(expr) if key is None else [Mapping(((value.sibling(key), expr),))])
    return _joined(parts)


# -- names -----------------------------------------------------------------------------------------


def _of_name(value: _E, name: str) -> list[Mapping[_E]]:
    module, block = value.module, value.scope.block
    bound = value.context.bindings(module, name, block, value.line)
    alternatives: list[Mapping[_E]] = []
    for home, bind in bound[:_MOST]:
        here = mappings(value.elsewhere(home, bind.value, bind.block, bind.line))
        if not here:
            return []
        later = _changes(value, home, bind)
        alternatives += _joined([here, *later]) if later else here
    function = taker(module, name, block)
    if function >= 0 and may_be_passed(module, function, block, bound):
        return [*alternatives, *_given(value, function, name)]
    return alternatives or _collected(value, name)


def _given(value: _E, function: int, name: str) -> list[Mapping[_E]]:
    """What the project's calls pass for a parameter, or leave to its default, which is also what others may leave."""
    given, calls = [], passed(value.scope.at(function), name)
    default = _default(value, function, name)
    for (home, index), argument in calls:
        call = home.code.calls[index]
        starred = any(key == "**" for key, _ in call.keywords) or any(isinstance(a, Op) for a in call.args)
        if argument is not None:
            given.append(value.elsewhere(home, argument, call.block, call.line))
        elif default is None or starred or len(calls) > _FOLLOWED:
            return []
        else:
            given.append(default)
    return _each(given[:_MOST] if given or default is None else [default])


def _default(value: _E, function: int, name: str) -> _E | None:
    """The default of a parameter."""
    record = value.module.blocks[function]
    position = record.params.index(name) - (len(record.params) - len(record.defaults)) if name in record.params else -1
    if position < 0:
        return None
    return value.elsewhere(value.module, record.defaults[position], max(record.parent, 0), record.line)


def _changes(value: _E, home: Module, bind: Assignment) -> list[list[Mapping[_E]]]:
    """What statements in the scope of an assignment add to its dict: ``x["key"] = …``, ``x.update(…)``."""
    name, scope = bind.target, home.scope[bind.block]
    additions: list[tuple[int, list[Mapping[_E]]]] = []
    for index in home.calls_of("update"):
        call = home.code.calls[index]
        is_local = home.scope[call.block] != scope and name in home.names.get(home.scope[call.block], ())
        if call.callee == Ref(f"{name}.update") and call.line > bind.line and not is_local:
            here = value.elsewhere(home, call.callee, call.block, call.line)
            additions.append((call.line, _made(here, call)))
    prefix = f"{name}["
    for target in [
        dotted for dotted in home.dotted if dotted.startswith(prefix) and dotted.find("]") == len(dotted) - 1
    ]:
        for record in home.dotted[target]:
            if home.scope[record.block] == scope and record.line > bind.line:
                here = value.elsewhere(home, record.value, record.block, record.line)
                key = here.sibling(Const(target[len(prefix) : -1]))
                is_known = not target.endswith("[*]")
                additions.append((record.line, [Mapping(((key, here),))] if is_known else []))
    return [added for _, added in sorted(additions, key=lambda pair: pair[0])]


def _collected(value: _E, name: str) -> list[Mapping[_E]]:
    """What the project's calls pass for a ``**name``."""
    function = value.scope.function
    while function is not None and f"**{name}" not in function.parameters:
        function = None if function.parent is None else function.parent.function
    if function is None:
        return []
    collected = []
    for home, index in callers(function)[:_MOST]:
        call = home.code.calls[index]
        here = value.elsewhere(home, call.callee, call.block, call.line)
        taken = [(key, argument) for key, argument in call.keywords if key not in function.parameters]
        collected += _joined([_of_keyword(here, *keyword) for keyword in taken])
    return collected


# -- calls -----------------------------------------------------------------------------------------


def _of_call(value: _E, index: int) -> list[Mapping[_E]]:
    module = value.module
    call, names = module.code.calls[index], value.context.names
    here, name = value.elsewhere(module, call.callee, call.block, call.line), names.of_call(module, index)
    if name in _DICTS:
        return _made(here, call)
    if name in _FIELDS and len(call.args) == 1:
        return fields(here.sibling(call.args[0]))
    source = receiver_of(call)
    if name.rpartition(".")[2] == "_asdict" and source is not None:
        return fields(here.sibling(source))
    if name.rpartition(".")[2] == "copy" and not call.args and source is not None:
        return mappings(here.sibling(source))
    target = names.function(name)
    if target is None or target[0].blocks[target[1]].kind == "class":
        return []
    return _each(returned(value, *target))


def _made(here: _E, call: Call) -> list[Mapping[_E]]:
    """The dict that ``dict(…)`` makes, or that ``update(…)`` adds."""
    parts = [mappings(here.sibling(argument)) or _of_pairs(here.sibling(argument)) for argument in call.args]
    return _joined([*parts, *(_of_keyword(here, key, value) for key, value in call.keywords)])


def _of_keyword(here: _E, key: str, value: Value) -> list[Mapping[_E]]:
    expr = here.sibling(value)
    return mappings(expr) if key == "**" else [Mapping(((expr.sibling(Const(key)), expr),))]


def _of_pairs(value: _E) -> list[Mapping[_E]]:
    """The dict of a display of pairs: ``[("key", value), …]``."""
    pairs = []
    for pair in items(value):
        if len(pair.items) != 2:
            return []
        pairs.append((pair.items[0], pair.items[1]))
    return [Mapping(tuple(pairs))] if pairs else []


# -- objects that only hold fields -----------------------------------------------------------------


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS, kept=True)
def fields(value: _E) -> list[Mapping[_E]]:
    """The fields of the data classes and named tuples that an expression may be; empty when one is another object."""
    alternatives: list[Mapping[_E]] = []
    for home, index in sites(value):
        call = home.code.calls[index]
        here = value.elsewhere(home, call.callee, call.block, call.line)
        defaults = _defaults(value, home, index)
        if defaults is None:
            return []
        alternatives += _joined([defaults, *(_of_keyword(here, key, argument) for key, argument in call.keywords)])
    return alternatives


def _defaults(value: _E, home: Module, index: int) -> list[Mapping[_E]] | None:
    """The defaults of the fields that a call fills, with its positional arguments; None for other objects."""
    names, call = value.context.names, home.code.calls[index]
    target = names.function(names.of_call(home, index))
    if target is None:
        return _of_named_tuple(value, home, call)
    module, block = target
    if module.blocks[block].kind != "class" or module.definition(block, "__init__") >= 0:
        return None
    own = {
        name: value.elsewhere(module, binds[-1].value, binds[-1].block, binds[-1].line)
        for name, binds in module.names.get(block, {}).items()
        if not isinstance(binds[-1].value, Function)
    }
    pairs = tuple((expr.sibling(Const(name)), expr) for name, expr in own.items())
    return [Mapping(pairs, not call.args and not module.blocks[block].bases)]


def _of_named_tuple(value: _E, home: Module, call: Call) -> list[Mapping[_E]] | None:
    """The positional fields of ``Options(1, 2)``, where ``Options = namedtuple("Options", "a b")``."""
    here = value.elsewhere(home, call.callee, call.block, call.line)
    if here.name.rpartition(".")[2] == "SimpleNamespace":
        return [Mapping(())]
    for maker, index in sites(here) if here.written else ():
        made = maker.code.calls[index]
        if here.context.names.of_call(maker, index) == "collections.namedtuple" and len(made.args) > 1:
            listed = value.elsewhere(maker, made.args[1], made.block, made.line)
            named = listed.text.replace(",", " ").split() or [item.text for item in items(listed)]
            pairs = zip(named, map(here.sibling, call.args), strict=False)
            return [Mapping(tuple((expr.sibling(Const(name)), expr) for name, expr in pairs))]
    return None


# -- what a loop goes through ----------------------------------------------------------------------


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS)
def items(value: _E) -> list[_E]:
    """What a loop over an expression goes through, one after the other; empty when it is not known."""
    shown = displays(value) if isinstance(value.value, Ref | SequenceDisplay | CallResult | Op) else []
    sequences = [expr.items for expr in shown if expr.is_display]
    if sequences and not any(item.operator == "star" for sequence in sequences for item in sequence):
        return [item for sequence in sequences[:_MOST] for item in sequence][:_LARGEST]
    if isinstance(value.value, CallResult):
        exprs = _of_iterator(value, value.value.call)
        if exprs:
            return exprs
    exprs = [key for mapping in mappings(value) for key, _ in mapping.last_entries]
    return exprs[:_LARGEST] if exprs else _passed_items(value)


def _passed_items(value: _E) -> list[_E]:
    """What a loop over a parameter goes through, whatever call of the project passes it."""
    name, module, block = value.written, value.module, value.scope.block
    function = taker(module, name, block) if name else -1
    if function < 0:
        return []
    given = passed(value.scope.at(function), name)
    calls = [(home, home.code.calls[index], argument) for (home, index), argument in given if argument is not None]
    sources = [value.elsewhere(home, argument, call.block, call.line) for home, call, argument in calls[:_MOST]]
    return [item for source in sources for item in items(source)][:_LARGEST]


def _of_iterator(value: _E, index: int) -> list[_E]:
    """The elements of ``x.items()``, ``enumerate(x)``, ``zip(x, y)`` and the like."""
    call, name = value.module.code.calls[index], value.context.names.of_call(value.module, index)
    here = value.elsewhere(value.module, call.callee, call.block, call.line)
    source, last = receiver_of(call), name.rpartition(".")[2]
    if last.removeprefix("iter") in _VIEWS and source is not None and not call.args:
        pairs = [pair for mapping in mappings(here.sibling(source)) for pair in mapping.last_entries]
        return _seen(last, pairs)
    if name in ("six.iteritems", "six.iterkeys", "six.itervalues", *_SEQUENCES) and len(call.args) == 1:
        if name in _SEQUENCES:  # the order does not matter
            return items(here.sibling(call.args[0]))
        pairs = [pair for mapping in mappings(here.sibling(call.args[0])) for pair in mapping.last_entries]
        return _seen(last, pairs)
    if name == "enumerate" and call.args:
        return [
            expr.sibling(SequenceDisplay((Const(number), expr.value)))
            for number, expr in enumerate(items(here.sibling(call.args[0])))
        ]
    if name == "zip" and len(call.args) == 2:
        first, second = (items(here.sibling(argument)) for argument in call.args)
        pairs = [(a, b) for a, b in zip(first, second, strict=False) if b.is_literal or a.scope is b.scope]
        return [a.sibling(SequenceDisplay((a.value, b.value))) for a, b in pairs]
    return []


def _seen(view: str, pairs: list[tuple[_E, _E]]) -> list[_E]:
    """What ``items()``, ``keys()`` or ``values()`` give of a dict."""
    what = view.removeprefix("iter")
    if what == "items":
        return [held.sibling(SequenceDisplay((key.value, held.value))) for key, held in pairs[:_LARGEST]]
    return [key if what == "keys" else held for key, held in pairs[:_LARGEST]]
