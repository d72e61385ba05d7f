"""Flow: which values an expression may have, and which calls may have made an object."""

from __future__ import annotations

import posixpath
from collections import defaultdict

from npulint.assemble.arithmetic import METHODS, apply
from npulint.assemble.bindings import Bindings, may_be_passed, surely_set, taker
from npulint.assemble.launches.options import Options
from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Const, Function, Op, Ref, Scalar, SequenceDisplay, Table, Value
from npulint.facts.values import NONE, NOTHING, PossibleValues, merge

Site = tuple[Module, int]
"""A call: its module and its index there."""
Shown = tuple[Module, SequenceDisplay | Table, int, int]
"""A display with its place: module, block and line."""

_DEPTH = 12
_CALLERS = 64  # calls of one function that are looked at; of the others nothing is known
_STEPS = 600  # expressions that one question may look at; many branches would make it explode
_SAME = frozenset(("str", "int", "float", "bool", "bytes", "list", "tuple", "repr", "abs", "set"))
_SAME_LAST = frozenset(("as_bytes", "as_str", "as_text", "as_str_any", "constant", "encode", "decode", "to_bytes"))
_ENVIRONMENT = frozenset(("os.getenv", "os.environ.get"))


class Flow:
    """Follows values and objects through assignments, functions, attributes and modules of a project."""

    def __init__(self, names: Names, options: Options) -> None:
        self.names = names
        self.options = options
        self.bindings = Bindings(names).of
        self._busy: set[object] = set()
        self._callers: dict[tuple[str, int], list[Site]] | None = None
        self._attributes: dict[str, set[tuple[str, str]]] | None = None
        self._steps = 0

    # -- values ---------------------------------------------------------------------------------

    def known(self, module: Module, value: Value, block: int, line: int, depth: int = 0) -> PossibleValues:
        """The scalars that `value` may have at `line` in `block`."""
        if isinstance(value, Const):
            return PossibleValues((value.value,), True)
        if not self._may_go_on(depth):
            return NOTHING
        if isinstance(value, Ref):
            return self._known_name(module, value.name, block, line, depth + 1)
        if isinstance(value, CallResult):
            return self._known_result(module, value.call, depth + 1)
        if isinstance(value, Op):
            return self._known_operation(module, value, block, line, depth + 1)
        return NOTHING

    def _may_go_on(self, depth: int) -> bool:
        self._steps = self._steps + 1 if depth else 0
        return depth <= _DEPTH and self._steps <= _STEPS

    def _known_operation(self, module: Module, value: Op, block: int, line: int, depth: int) -> PossibleValues:
        if value.op == "[]":
            return self._known_element(module, value, block, line, depth)
        if value.op == ".":
            return NOTHING
        parts = [self.known(module, v, block, line, depth) for v in value.operands]
        return apply(value.op, parts)

    def _known_element(self, module: Module, value: Op, block: int, line: int, depth: int) -> PossibleValues:
        holder, key = value.operands
        index = self.known(module, key, block, line, depth).single
        if isinstance(holder, Ref):
            if self.names.of_name(module, holder.name, block, line) == "os.environ":
                return PossibleValues((), False, f"${index}")
            option = self.options.value(module, f"{holder.name}.{index}", self) if isinstance(index, str) else None
            if option is not None:
                return option
        if index is None:
            return NOTHING
        parts = []
        for home, display, inner, at in self.shown(module, holder, block, line, depth):
            found = element(display, index)
            parts.append(NOTHING if found is None else self.known(home, found, inner, at, depth))
        written = f"{holder.name}[" if isinstance(holder, Ref) else "?"
        for bind in (*module.dotted.get(f"{written}{index}]", ()), *module.dotted.get(f"{written}*]", ())):
            parts.append(self.known(module, bind.value, bind.block, bind.line, depth))
        return merge(parts) if parts else NOTHING

    def displays(self, module: Module, value: Value, block: int, line: int) -> list[SequenceDisplay | Table]:
        """The list, tuple or dict displays that `value` may be."""
        return [display for _, display, _, _ in self.shown(module, value, block, line, 0)]

    def shown(self, module: Module, value: Value, block: int, line: int, depth: int = 0) -> list[Shown]:
        """The list, tuple, set or dict displays that `value` may be, each at its place."""
        if isinstance(value, SequenceDisplay | Table):
            return [(module, value, block, line)]
        if isinstance(value, Ref) and self._may_go_on(depth + 1):
            return [
                s
                for home, bind in self.bindings(module, value.name, block, line)
                for s in self.shown(home, bind.value, bind.block, bind.line, depth + 1)
            ]
        if isinstance(value, CallResult) and self._may_go_on(depth + 1):
            target = self.names.function(self.names.of_call(module, value.call))
            if target is not None:
                home, inner = target
                return [
                    s
                    for r in home.returns.get(inner, ())
                    for s in self.shown(home, r.value, r.block, r.line + 1, depth + 1)
                ]
        return []

    def _known_name(self, module: Module, name: str, block: int, line: int, depth: int) -> PossibleValues:
        option = self.options.value(module, name, self)
        if option is not None:  # the script itself may set another value
            return PossibleValues(option.values, False, option.symbol) if name in module.dotted else option
        key = (module.path, name, block, line)
        if key in self._busy:
            return NOTHING
        self._busy.add(key)
        try:
            binds = self.bindings(module, name, block, line)
            if binds:
                parts = [self.known(m, b.value, b.block, b.line, depth) for m, b in binds]
                function = taker(module, name, block)
                if function >= 0 and may_be_passed(module, function, block, binds):
                    parts.append(self._known_parameter(module, name, block, depth) or NOTHING)
                merged = merge(parts)
                sure = surely_set(module, name, block, binds) and not self._set_elsewhere(module, name)
                return merged if sure else PossibleValues(merged.values, False, merged.symbol)
            parameter = self._known_parameter(module, name, block, depth)
            if parameter is not None:
                return parameter
            meaning = self.names.of_name(module, name, block, line)
            if meaning.startswith(("tensorflow.", "torch.", "npu_bridge.", "npu_device.")) and "()" not in meaning:
                return PossibleValues((meaning,), True)
            return NOTHING
        finally:
            self._busy.discard(key)

    def _set_elsewhere(self, module: Module, name: str) -> bool:
        """Whether the project assigns an attribute of this name to some other object."""
        if "." not in name:
            return False
        if self._attributes is None:
            self._attributes = defaultdict(set)
            for home in self.names.project.modules.values():
                for target, binds in home.dotted.items():
                    if any(home.owner_of_self(target.partition(".")[0], b.block) < 0 for b in binds):
                        self._attributes[target.rpartition(".")[2]].add((home.path, target))
        return bool(self._attributes.get(name.rpartition(".")[2], set()) - {(module.path, name)})

    def _known_parameter(self, module: Module, name: str, block: int, depth: int) -> PossibleValues | None:
        """A parameter has the values that the project's calls pass, else its default as one of several."""
        function = module.function_of(block)
        while function > 0:
            record = module.blocks[function]
            if name in module.params.get(function, ()) and name not in record.params:
                return NOTHING  # *args and **kwargs
            if name in record.params:
                passed = self._passed(module, function, name, depth)
                if passed is not None:
                    return passed
                position = record.params.index(name) - (len(record.params) - len(record.defaults))
                if position >= 0:
                    default = self.known(module, record.defaults[position], record.parent, record.line, depth)
                    return PossibleValues(default.values, False, name)
                return PossibleValues((), False, name)
            function = module.function_of(record.parent)
        return None

    def _passed(self, module: Module, function: int, name: str, depth: int) -> PossibleValues | None:
        parts = []
        for (home, index), value in self.passed(module, function, name):
            call = home.code.calls[index]
            if value is None:
                return None
            parts.append(self.known(home, value, call.block, call.line, depth + 2))
        return merge(parts) if parts else None

    def passed(self, module: Module, function: int, name: str) -> list[tuple[Site, Value | None]]:
        """For each of the project's calls of a function: what it passes for a parameter (None: not
        given there, or by ``*args``)."""
        params = module.blocks[function].params
        if name not in params:
            return []
        position = params.index(name)
        found: list[tuple[Site, Value | None]] = []
        callers = self.callers(module, function)
        for home, index in callers[:_CALLERS]:
            shift = self.shift(module, function, home, index)
            found.append(((home, index), argument(home.code.calls[index], name, position - shift)))
        return [*found, (callers[-1], None)] if len(callers) > _CALLERS else found

    def shift(self, module: Module, function: int, home: Module, index: int) -> int:
        """How many parameters of a function (self, cls) a call of it does not write."""
        record = module.blocks[function]
        decorators = [d.name for d in record.decorators if isinstance(d, Ref)]
        if module.blocks[record.parent].kind != "class" or "staticmethod" in decorators:
            return 0
        call = home.code.calls[index]
        head, _, last = call.callee.name.rpartition(".") if isinstance(call.callee, Ref) else ("", "", "")
        if not head or "classmethod" in decorators or last != record.name.rpartition(".")[2]:
            return 1
        meaning = self.names.of_name(home, head, call.block, call.line)
        return 0 if self.names.function(meaning) is not None and not meaning.endswith("()") else 1

    def _known_result(self, module: Module, index: int, depth: int) -> PossibleValues:
        call = module.code.calls[index]
        name = self.names.of_call(module, index)
        last = name.rsplit(".", 1)[-1]
        if name in _ENVIRONMENT:
            return self._known_environment(module, call, depth)
        if name in _SAME and call.args:
            inner = self.known(module, call.args[0], call.block, call.line, depth)
            return apply(name, [inner])
        if last in METHODS and not call.args:
            source = receiver_of(call)
            return (
                NOTHING if source is None else apply(last, [self.known(module, source, call.block, call.line, depth)])
            )
        if last in _SAME_LAST:
            source = call.args[0] if call.args and last not in ("encode", "decode") else receiver_of(call)
            return self.known(module, source, call.block, call.line, depth) if source is not None else NOTHING
        if name == "os.path.join":
            texts = [self.known(module, a, call.block, call.line, depth).single for a in call.args]
            known = [t for t in texts if isinstance(t, str)]
            return PossibleValues((posixpath.join(*known),), True) if known and len(known) == len(texts) else NOTHING
        target = self.names.function(name)
        return NOTHING if target is None else self._known_returns(*target, depth)

    def _known_returns(self, home: Module, block: int, depth: int) -> PossibleValues:
        returns = home.returns.get(block, [])
        if home.blocks[block].kind == "class" or not returns:
            return NOTHING
        parts = [self.known(home, r.value, r.block, r.line + 1, depth) for r in returns]
        if all(home.blocks[r.block].kind in ("if", "loop", "except") for r in returns):
            parts.append(NONE)  # it may come to its end
        return merge(parts)

    def _known_environment(self, module: Module, call: Call, depth: int) -> PossibleValues:
        parts = [self.known(module, a, call.block, call.line, depth) for a in call.args[:2]]
        default = parts[1].values if len(parts) > 1 else (None,)
        return PossibleValues(default, False, f"${parts[0].single}" if parts else "$?")

    # -- objects -------------------------------------------------------------------

    def sites(self, module: Module, value: Value, block: int, line: int, depth: int = 0) -> list[Site]:
        """The calls that may have made the object; own functions are followed into their results and
        parameters out to their callers. Empty when nothing is known."""
        if not self._may_go_on(depth):
            return []
        if isinstance(value, CallResult):
            return self._result_sites(module, value.call, depth)
        if isinstance(value, Ref):
            return self._name_sites(module, value.name, block, line, depth)
        if isinstance(value, Op) and value.op in ("or", "if"):
            operands = value.operands[1:] if value.op == "if" else value.operands
            return [s for v in operands for s in self.sites(module, v, block, line, depth + 1)]
        if isinstance(value, Op) and value.op == "[]" and isinstance(value.operands[1], Const):
            return self._element_sites(module, value, block, line, depth)
        return []

    def _element_sites(self, module: Module, value: Op, block: int, line: int, depth: int) -> list[Site]:
        """``make_tables()[0]``, also as ``first, second = make_tables()``."""
        holder, key = value.operands
        found: list[Site] = []
        for home, display, inner, at in self.shown(module, holder, block, line, depth):
            made = element(display, key.value) if isinstance(key, Const) else None
            if made is not None:
                found += self.sites(home, made, inner, at, depth + 1)
        return found

    def _result_sites(self, module: Module, index: int, depth: int) -> list[Site]:
        target = self.names.function(self.names.of_call(module, index))
        if target is None or target[0].blocks[target[1]].kind == "class":
            return [(module, index)]
        home, block = target
        found = [
            s for r in home.returns.get(block, ()) for s in self.sites(home, r.value, r.block, r.line + 1, depth + 1)
        ]
        return found or [(module, index)]

    def _name_sites(self, module: Module, name: str, block: int, line: int, depth: int) -> list[Site]:
        key = ("sites", module.path, name, block, line)
        if key in self._busy:
            return []
        self._busy.add(key)
        try:
            binds = self.bindings(module, name, block, line)
            found = [s for m, b in binds for s in self.sites(m, b.value, b.block, b.line, depth + 1)]
            function = taker(module, name, block)
            if function < 0 or not may_be_passed(module, function, block, binds):
                return _unique(found)
            for (home, index), passed in self.passed(module, function, name):
                call = home.code.calls[index]
                if passed is not None:
                    found += self.sites(home, passed, call.block, call.line, depth + 2)
            return _unique(found)
        finally:
            self._busy.discard(key)

    def callers(self, module: Module, function: int) -> list[Site]:
        """The project's calls of an own function (a class's calls count for its ``__init__``)."""
        if self._callers is None:
            self._callers = defaultdict(list)
            for home in self.names.project.modules.values():
                for index, name in enumerate(self.names.of_calls(home)):
                    target = self.names.function(name) if ":" in name else None
                    if target is not None:
                        self._callers[(target[0].path, initialiser(*target))].append((home, index))
        return self._callers.get((module.path, function), [])

    def functions(self, module: Module, value: Value, block: int, line: int) -> list[tuple[Module, int]]:
        """The own functions that a value may be (a name, a lambda, a partial, a bound method)."""
        if isinstance(value, Function):
            return [(module, value.block)]
        if isinstance(value, CallResult):
            name = self.names.of_call(module, value.call)
            call = module.code.calls[value.call]
            if name == "functools.partial" and call.args:
                return self.functions(module, call.args[0], call.block, call.line)
            target = self.names.function(name)
            if target is not None and target[0].blocks[target[1]].kind != "class":
                home, inner = target
                return [
                    f
                    for r in home.returns.get(inner, ())
                    if isinstance(r.value, Ref | Function)
                    for f in self.functions(home, r.value, r.block, r.line + 1)
                ]
            return []
        target = self.names.function(self.names.of_value(module, value, block, line))
        if target is None:
            return []
        home, inner = target
        if home.blocks[inner].kind == "class":
            inner = home.definition(inner, "__call__")
        return [(home, inner)] if inner >= 0 else []


def initialiser(module: Module, block: int) -> int:
    """The block that a call of a function or class runs: for a class its own ``__init__``, or -1."""
    return module.definition(block, "__init__") if module.blocks[block].kind == "class" else block


def argument(call: Call, name: str, position: int) -> Value | None:
    """What a call passes for a parameter by keyword or position; None when it is not given or starred."""
    for key, value in call.keywords:
        if key == name:
            return value
    if 0 <= position < len(call.args):
        before = call.args[: position + 1]
        if not any(isinstance(a, Op) and a.op == "star" for a in before):
            return call.args[position]
    return None


def element(display: SequenceDisplay | Table, index: Scalar) -> Value | None:
    """The element of a list, tuple or dict display with a literal index or key; None if it has none."""
    if isinstance(display, SequenceDisplay):
        return (
            display.items[index]
            if isinstance(index, int) and -len(display.items) <= index < len(display.items)
            else None
        )
    for key, value in zip(display.keys, display.values, strict=True):
        if isinstance(key, Const) and key.value == index:
            return value
    return None


def _unique(sites: list[Site]) -> list[Site]:
    seen: dict[tuple[str, int], Site] = {(m.path, i): (m, i) for m, i in sites}
    return list(seen.values())
