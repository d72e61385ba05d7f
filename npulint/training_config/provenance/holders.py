"""Evaluates attributes and items of objects, wherever these were created and assigned.

An object may be a dict display, an instance of a project class, a class or module itself, or a container of a library
(``EasyDict``, ``Namespace``, ``CfgNode``); its attributes may be set through any alias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from npulint.assemble.bindings import Bound
from npulint.assemble.module import Module
from npulint.facts.code import Assignment, Call, CallResult, Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep
from npulint.training_config.provenance.following import Following
from npulint.training_config.provenance.place import At
from npulint.training_config.provenance.plain import CUT, Found, joined
from npulint.training_config.provenance.written import entry_spot, spot

_DEPTH = 8
_MOST = 40  # objects that are visited
_STEPS = 300  # expressions visited per query
_CONTAINERS = frozenset(
    """dict OrderedDict EasyDict edict AttrDict Munch Dict Box DotDict dotdict AttributeDict Bunch SimpleNamespace
    Namespace HParams CN CfgNode ConfigDict Config ParamDict defaultdict Params""".split()
)
_SAME = frozenset(("deepcopy", "copy", "clone", "vars", "create", "freeze", "asdict", "edict", "to_dict", "dict"))

Key = str | int


class Holder(NamedTuple):
    """One possible identity of an object: a `display`, a `call` that creates a container, a `class` (also of an
    instance), a `module`, the keywords of a call (`spread`), or a `name` that it is assigned to."""

    kind: str
    at: At
    value: Value | None = None
    name: str = ""
    block: int = 0
    call: Call | None = None


class Holders:
    """Finds objects and evaluates their members."""

    def __init__(self, tracer: Following) -> None:
        self._tracer = tracer
        self._busy: set[object] = set()
        self._found: dict[object, list[Holder]] = {}
        self._steps = 0

    def forget(self) -> None:
        """Start a new query: forget results that were cut off by the step limit."""
        self._found.clear()
        self._busy.clear()
        self._steps = 0

    def member(self, value: Value, key: Key, at: At) -> Found | None:
        """The value of an attribute or item; None if there is no assignment to it."""
        mark = (at.module.path, _mark(value), key, at.block, at.line)
        if mark in self._busy:
            return None
        self._busy.add(mark)
        try:
            found = self._member(value, key, at)
            return found if self._steps <= _STEPS else CUT
        finally:
            self._busy.discard(mark)

    def _member(self, value: Value, key: Key, at: At) -> Found | None:
        holders = self._all(value, at)
        parts: list[Found] = []
        binds = _unique([bound for holder in holders if holder.kind == "name" for bound in _set_by_name(holder, key)])
        if binds:
            near = [(home, bind) for home, bind in binds if not _later(home, bind, at)]
            assigned, sure = self._tracer.assignments.of(_ordered(near, at), at)
            if sure:
                return joined(assigned)
            parts += assigned
        for holder in holders:
            if holder.kind != "name":
                parts += self._of(holder, key, at)
        return joined(parts) if parts else None

    def _of(self, holder: Holder, key: Key, at: At) -> Iterator[Found]:
        """The values that one possible identity has for a key."""
        place = holder.at
        if holder.kind == "display" and holder.value is not None:
            entry = _entry(holder.value, key)
            if entry is not None:
                yield self._written(entry, place, entry_spot(holder.value, entry, place.line), str(key))
            return
        if holder.kind in ("class", "module"):
            binds = self._binds(holder, str(key))
            yield from self._tracer.assignments.of(binds, place)[0]
        if holder.call is not None:
            call = holder.call
            for name, value in call.keywords:
                if name == key:
                    yield self._written(value, place, spot(call, value), name)
                elif name == "**":
                    found = self.member(value, key, place.deeper()) if place.depth < _DEPTH * 2 else None
                    if found is not None:
                        yield found

    def _written(self, value: Value, at: At, span: Span, name: str) -> Found:
        found = self._tracer.found(value, at.deeper())
        return found.written(ProvenanceStep(at.module.path, span, name)) if found.values else found

    def _binds(self, holder: Holder, key: str) -> list[Bound]:
        module = holder.at.module
        if holder.kind == "module":
            return [(module, bind) for bind in module.names.get(0, {}).get(key, ())][::-1]
        return self._tracer.bindings.attribute(module, holder.block, key)[::-1]

    # -- what an object may be

    def _all(self, value: Value, at: At) -> list[Holder]:
        key = (at.module.path, _mark(value), at.block, at.line, at.frames)
        known = self._found.get(key)
        if known is None:
            self._found[key] = []  # ends a cycle
            known = self._found[key] = self._gathered(value, at)
        return known

    def _gathered(self, value: Value, at: At) -> list[Holder]:
        found: list[Holder] = []
        seen: set[object] = set()
        queue: list[tuple[Value, At]] = [(value, at)]
        while queue and len(seen) < _MOST and self._steps <= _STEPS:
            self._steps += 1
            value, place = queue.pop(0)
            mark = (place.module.path, _mark(value), place.block, place.line)
            if mark not in seen and place.depth < at.depth + _DEPTH:
                seen.add(mark)
                for more in self._step(value, place):
                    if isinstance(more, Holder):
                        found.append(more)
                    else:
                        queue.append(more)
        return found

    def _step(self, value: Value, at: At) -> Iterator[Holder | tuple[Value, At]]:
        """The identities of an expression, and further expressions to resolve."""
        if isinstance(value, SequenceDisplay | Table):
            yield Holder("display", at, value)
            if isinstance(value, Table):
                yield from [(v, at.deeper()) for k, v in zip(value.keys, value.values, strict=True) if k is None]
        elif isinstance(value, Ref):
            yield from self._named(value.name, at)
        elif isinstance(value, CallResult):
            yield from self._made(value.call, at)
        elif isinstance(value, Op) and value.op in ("or", "if"):
            yield from [(v, at.deeper()) for v in value.operands[value.op == "if" :]]
        elif isinstance(value, Op) and value.op in ("[]", ".") and isinstance(value.operands[1], Const):
            key = value.operands[1].value
            if isinstance(key, str | int):
                yield from self._inside(value.operands[0], key, at)

    def _named(self, name: str, at: At) -> Iterator[Holder | tuple[Value, At]]:
        module = at.module
        yield Holder("name", at, name=name)
        yield from self._meant(self._tracer.names.of_name(module, name, at.block, at.line), at)
        binds = self._tracer.bindings.of(module, name, at.block, at.line)
        for home, bind in binds:
            if home is not module or bind.target != name:
                yield Holder("name", at.moved(home, bind.block, bind.line), name=bind.target)
            yield bind.value, at.moved(home, bind.block, bind.line)
        function = _taker(module, name, at.block)
        if function >= 0 and not binds:
            yield from self._passed(name, function, at)
        head, _, last = name.rpartition(".")
        if head and not binds:
            yield from self._inside(Ref(head), last, at)

    def _meant(self, meaning: str, at: At) -> Iterator[Holder]:
        """A project module, class or instance by its canonical name."""
        if meaning.endswith(":"):
            home = self._tracer.names.named(meaning[:-1])
            if home is not None:
                yield Holder("module", at.moved(home, 0, 1 << 30))
            return
        target = self._tracer.names.function(meaning)
        if target is not None and target[0].blocks[target[1]].kind == "class":
            yield Holder("class", at.moved(target[0], target[1], 1 << 30), block=target[1])

    def _passed(self, name: str, function: int, at: At) -> Iterator[Holder | tuple[Value, At]]:
        """What callers pass for a parameter, or for the keywords that ``**name`` collects."""
        record = at.module.blocks[function]
        followed = at.caller(function)
        callers = [followed] if followed is not None else self._tracer.parameters.callers(at.module, function, at)
        for passing, place in callers:
            if name in record.params:
                value = passing.argument(name, record.params.index(name))
                if value is not None:
                    yield value, place
            elif f"**{name}" in record.params:
                yield Holder("spread", place, call=passing.call)

    def _made(self, index: int, at: At) -> Iterator[Holder | tuple[Value, At]]:
        module = at.module
        call = module.code.calls[index]
        name = self._tracer.names.of_call(module, index)
        last = module.callee_name(index)
        place = at.moved(module, call.block, call.line)
        target = self._tracer.names.function(name)
        if target is not None:
            home, block = target
            if home.blocks[block].kind != "class":
                for one in home.returns.get(block, ()):
                    yield one.value, at.moved(home, one.block, one.line + 1)
                return
            yield Holder("class", at.moved(home, block, 1 << 30), block=block)
            if last not in _CONTAINERS:
                plain = home.definition(block, "__init__") < 0  # a dataclass
                if plain:
                    yield Holder("spread", place, call=call)
                return
        if last in _CONTAINERS or (last in _SAME and call.args):
            yield Holder("spread", place, call=call)
            yield from [(arg, place) for arg in call.args[:1]]
        elif last in _SAME and isinstance(call.callee, Ref) and "." in call.callee.name:
            yield Ref(call.callee.name.rpartition(".")[0]), place
        elif last == "get" and call.args and isinstance(call.args[0], Const) and isinstance(call.callee, Ref):
            key = call.args[0].value
            if isinstance(key, str) and "." in call.callee.name:
                yield from self._inside(Ref(call.callee.name.rpartition(".")[0]), key, place)

    def _inside(self, value: Value, key: Key, at: At) -> Iterator[tuple[Value, At] | Holder]:
        """The possible objects under a key of another object."""
        if at.depth > _DEPTH * 2:
            return
        for holder in self._all(value, at.deeper()):
            place = holder.at
            if holder.kind == "name":
                for target in _targets(holder.name, key):
                    yield Holder("name", place, name=target)
                yield from [(b.value, at.moved(home, b.block, b.line)) for home, b in _set_by_name(holder, key)]
            elif holder.kind == "display" and holder.value is not None:
                entry = _entry(holder.value, key)
                if entry is not None:
                    yield entry, place.deeper()
            elif holder.kind in ("class", "module"):
                for home, bind in self._binds(holder, str(key)):
                    yield Holder("name", at.moved(home, bind.block, bind.line), name=bind.target)
                    yield bind.value, at.moved(home, bind.block, bind.line)
            if holder.call is not None:
                yield from [(value, place.deeper()) for name, value in holder.call.keywords if name == key]


def _taker(module: Module, name: str, block: int) -> int:
    """The innermost function around `block` that has a parameter of this name or collects keywords in it, or -1."""
    function = module.function_of(block)
    while function >= 0 and name not in module.params.get(function, ()):
        function = module.function_of(module.blocks[function].parent)
    return function


def _mark(value: Value) -> object:
    """A hashable identity of a value within its module."""
    return value if isinstance(value, Ref) else id(value)


def _targets(name: str, key: Key) -> tuple[str, ...]:
    """The spellings of an assignment to a member."""
    return (f"{name}.{key}", f"{name}[{key}]")


def _set_by_name(holder: Holder, key: Key) -> list[Bound]:
    module = holder.at.module
    found = [bind for target in _targets(holder.name, key) for bind in module.dotted.get(target, ())]
    return [(module, bind) for bind in found]


def _later(home: Module, bind: Assignment, at: At) -> bool:
    """Whether an assignment follows the place `at` in the same function, outside of loops."""
    same = home is at.module and home.function_of(bind.block) == home.function_of(at.block)
    return same and bind.line >= at.line and home.loop_of(at.block) < 0


def _ordered(binds: list[Bound], at: At) -> list[Bound]:
    """Assignments, nearest first: those in the same function before others, later lines before earlier ones."""
    here = at.module.function_of(at.block)
    return sorted(
        binds,
        key=lambda bound: (
            not (bound[0] is at.module and bound[0].function_of(bound[1].block) == here),
            bound[0].path,
            -bound[1].line,
        ),
    )


def _entry(display: Value, key: Key) -> Value | None:
    if isinstance(display, SequenceDisplay):
        inside = isinstance(key, int) and -len(display.items) <= key < len(display.items)
        return display.items[key] if isinstance(key, int) and inside else None
    if isinstance(display, Table):
        for name, value in zip(display.keys, display.values, strict=True):
            if isinstance(name, Const) and name.value == key:
                return value
    return None


def _unique(bounds: list[Bound]) -> list[Bound]:
    return list({(home.path, bind.line, bind.column, bind.target): (home, bind) for home, bind in bounds}.values())
