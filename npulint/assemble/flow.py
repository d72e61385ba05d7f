"""Flow: which values an expression may have, and which calls may have made an object."""

from __future__ import annotations

from collections import defaultdict

from npulint.assemble.arithmetic import apply
from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.assemble.options import Options
from npulint.facts.code import Bind, Call, Const, Function, Items, Op, Ref, Result, Scalar, Table, Value
from npulint.facts.values import NOTHING, Known, merge

Site = tuple[Module, int]
"""A call: its module and its index there."""

_DEPTH = 12
_STEPS = 600  # expressions that one question may look at; many branches would make it explode
_SAME = frozenset(("str", "int", "float", "bool", "bytes", "list", "tuple", "repr", "abs", "set"))
_SAME_LAST = frozenset(("as_bytes", "as_str", "as_text", "as_str_any", "constant", "encode", "decode", "strip", "lower", "to_bytes"))
_ENVIRONMENT = frozenset(("os.getenv", "os.environ.get"))


class Flow:
    """Follows values and objects through assignments, functions, attributes and modules of a project."""

    def __init__(self, names: Names, options: Options) -> None:
        self.names = names
        self.options = options
        self._busy: set[object] = set()
        self._callers: dict[tuple[str, int], list[Site]] | None = None
        self._steps = 0

    # -- values ---------------------------------------------------------------------------------

    def known(self, module: Module, value: Value, block: int, line: int, depth: int = 0) -> Known:
        """The scalars that `value` may have at `line` in `block`."""
        if isinstance(value, Const):
            return Known((value.value,), True)
        if not self._may_go_on(depth):
            return NOTHING
        if isinstance(value, Ref):
            return self._known_name(module, value.name, block, line, depth + 1)
        if isinstance(value, Result):
            return self._known_result(module, value.call, depth + 1)
        if isinstance(value, Op):
            return self._known_operation(module, value, block, line, depth + 1)
        return NOTHING

    def _may_go_on(self, depth: int) -> bool:
        self._steps = self._steps + 1 if depth else 0
        return depth <= _DEPTH and self._steps <= _STEPS

    def _known_operation(self, module: Module, value: Op, block: int, line: int, depth: int) -> Known:
        if value.op == "[]":
            return self._known_element(module, value, block, line, depth)
        if value.op == ".":
            return NOTHING
        parts = [self.known(module, v, block, line, depth) for v in value.operands]
        return apply(value.op, parts)

    def _known_element(self, module: Module, value: Op, block: int, line: int, depth: int) -> Known:
        holder, key = value.operands
        index = self.known(module, key, block, line, depth).single
        if isinstance(holder, Ref):
            if self.names.of_name(module, holder.name, block, line) == "os.environ":
                return Known((), False, f"${index}")
            option = self.options.default(module, f"{holder.name}.{index}", self) if isinstance(index, str) else None
            if option is not None:
                return option
        for display in self.displays(module, holder, block, line, depth):
            found = _element(display, index)
            if found is not None:
                return self.known(module, found, block, line, depth)
        return NOTHING

    def displays(self, module: Module, value: Value, block: int, line: int, depth: int = 0) -> list[Items | Table]:
        """The list, tuple or dict displays that `value` may be."""
        if isinstance(value, Items | Table):
            return [value]
        if isinstance(value, Ref) and depth < _DEPTH:
            found: list[Items | Table] = []
            for home, bind in self.bindings(module, value.name, block, line):
                found += self.displays(home, bind.value, bind.block, bind.line, depth + 1)
            return found
        return []

    def _known_name(self, module: Module, name: str, block: int, line: int, depth: int) -> Known:
        option = self.options.default(module, name, self)
        if option is not None:
            return option
        key = (module.path, name, block, line)
        if key in self._busy:
            return NOTHING
        self._busy.add(key)
        try:
            binds = self.bindings(module, name, block, line)
            if binds:
                return merge([self.known(m, b.value, b.block, b.line, depth) for m, b in binds])
            parameter = self._known_parameter(module, name, block, depth)
            if parameter is not None:
                return parameter
            meaning = self.names.of_name(module, name, block, line)
            if meaning.startswith(("tensorflow.", "torch.", "npu_bridge.", "npu_device.")) and "()" not in meaning:
                return Known((meaning,), True)
            return NOTHING
        finally:
            self._busy.discard(key)

    def _known_parameter(self, module: Module, name: str, block: int, depth: int) -> Known | None:
        """A parameter has the values that the project's calls pass, else its default as one of several."""
        function = module.function_of(block)
        while function > 0:
            record = module.blocks[function]
            if name in record.params:
                passed = self._passed(module, function, name, depth)
                if passed is not None:
                    return passed
                position = record.params.index(name) - (len(record.params) - len(record.defaults))
                if 0 <= position:
                    default = self.known(module, record.defaults[position], record.parent, record.line, depth)
                    return Known(default.values, False, name)
                return Known((), False, name)
            function = module.function_of(record.parent)
        return None

    def _passed(self, module: Module, function: int, name: str, depth: int) -> Known | None:
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
        method = module.blocks[module.blocks[function].parent].kind == "class"
        found: list[tuple[Site, Value | None]] = []
        for home, index in self.callers(module, function):
            found.append(((home, index), argument(home.code.calls[index], name, position - method)))
        return found

    def _known_result(self, module: Module, index: int, depth: int) -> Known:
        call = module.code.calls[index]
        name = self.names.of_call(module, index)
        last = name.rsplit(".", 1)[-1]
        if name in _ENVIRONMENT:
            return self._known_environment(module, call, depth)
        if name in _SAME and call.args:
            inner = self.known(module, call.args[0], call.block, call.line, depth)
            return apply(name, [inner])
        if last in _SAME_LAST:
            source = call.args[0] if call.args and not _is_method(call, last) else _receiver(call)
            return self.known(module, source, call.block, call.line, depth) if source is not None else NOTHING
        if name == "os.path.join":
            parts = [self.known(module, a, call.block, call.line, depth) for a in call.args]
            texts = [p.single for p in parts]
            return Known(("/".join(str(t) for t in texts),), True) if all(isinstance(t, str) for t in texts) else NOTHING
        target = self.names.function(name)
        if target is None or target[0].blocks[target[1]].kind == "class":
            return NOTHING
        home, block = target
        returns = home.returns.get(block, ())
        return merge([self.known(home, r.value, r.block, r.line + 1, depth) for r in returns]) if returns else NOTHING

    def _known_environment(self, module: Module, call: Call, depth: int) -> Known:
        parts = [self.known(module, a, call.block, call.line, depth) for a in call.args[:2]]
        default = parts[1].values if len(parts) > 1 else (None,)
        return Known(default, False, f"${parts[0].single}" if parts else "$?")

    # -- bindings and objects -------------------------------------------------------------------

    def bindings(self, module: Module, name: str, block: int, line: int) -> list[tuple[Module, Bind]]:
        """The assignments that may give a dotted name its value at a place; empty when it has none here
        (an import of a framework, a parameter, a builtin)."""
        root, _, rest = name.partition(".")
        if not rest:
            return self._plain_bindings(module, root, block, line)
        if "." not in rest:
            owner = module.owner_of_self(root, block)
            if owner >= 0:
                binds = module.attributes.get(owner, {}).get(rest) or module.names.get(owner, {}).get(rest) or []
                here = [b for b in binds if module.function_of(b.block) == module.function_of(block)]
                if here and any(b.line < line for b in here):
                    return [(module, b) for b in module.reaching(sorted(here, key=lambda b: b.line), block, line)]
                return [(module, b) for b in binds]
            assigned = module.dotted.get(name)
            if assigned:
                return [(module, b) for b in module.reaching(sorted(assigned, key=lambda b: b.line), block, line)]
        meaning = self.names.of_name(module, root, block, line)
        return self._member_bindings(meaning, rest)

    def _member_bindings(self, meaning: str, rest: str) -> list[tuple[Module, Bind]]:
        if meaning.endswith(":") and "." not in rest:
            home = self.names.named(meaning[:-1])
            return [(home, b) for b in home.names.get(0, {}).get(rest, [])[::-1]] if home else []
        target = self.names.function(meaning.removesuffix("()")) if ":" in meaning and "." not in rest else None
        if target is not None and target[0].blocks[target[1]].kind == "class":
            home, block = target
            binds = home.attributes.get(block, {}).get(rest) or home.names.get(block, {}).get(rest) or []
            return [(home, b) for b in binds]
        return []

    def _plain_bindings(self, module: Module, name: str, block: int, line: int) -> list[tuple[Module, Bind]]:
        here = block
        while here >= 0:
            record = module.blocks[here]
            if record.kind in ("function", "lambda", "loop") and name in record.params:
                binds = module.names.get(module.scope[here], {}).get(name, [])
                before = [b for b in binds if b.line < line]
                return [(module, b) for b in module.reaching(before, block, line)] if before else []
            if module.scope[here] == here and (record.kind != "class" or here == module.scope[block]):
                found = module.names.get(here, {}).get(name)
                if found:
                    return [(module, b) for b in module.reaching(found, block, line)]
                if name in module.imports.get(here, ()):
                    return self._imported_bindings(module, here, name)
            here = record.parent
        return []

    def _imported_bindings(self, module: Module, scope: int, name: str) -> list[tuple[Module, Bind]]:
        record = module.imports[scope][name]
        home = self.names.project.find(record.module, module, record.level) if record.name else None
        return [(home, b) for b in home.names.get(0, {}).get(record.name, [])[::-1]] if home else []

    def sites(self, module: Module, value: Value, block: int, line: int, depth: int = 0) -> list[Site]:
        """The calls that may have made the object; own functions are followed into their results and
        parameters out to their callers. Empty when nothing is known."""
        if not self._may_go_on(depth):
            return []
        if isinstance(value, Result):
            return self._result_sites(module, value.call, depth)
        if isinstance(value, Ref):
            return self._name_sites(module, value.name, block, line, depth)
        if isinstance(value, Op) and value.op in ("or", "if"):
            operands = value.operands[1:] if value.op == "if" else value.operands
            return [s for v in operands for s in self.sites(module, v, block, line, depth + 1)]
        return []

    def _result_sites(self, module: Module, index: int, depth: int) -> list[Site]:
        target = self.names.function(self.names.of_call(module, index))
        if target is None or target[0].blocks[target[1]].kind == "class":
            return [(module, index)]
        home, block = target
        found = [s for r in home.returns.get(block, ()) for s in self.sites(home, r.value, r.block, r.line + 1, depth + 1)]
        return found or [(module, index)]

    def _name_sites(self, module: Module, name: str, block: int, line: int, depth: int) -> list[Site]:
        key = ("sites", module.path, name, block, line)
        if key in self._busy:
            return []
        self._busy.add(key)
        try:
            binds = self.bindings(module, name, block, line)
            if binds:
                return _unique([s for m, b in binds for s in self.sites(m, b.value, b.block, b.line, depth + 1)])
            function = module.function_of(block)
            if "." in name or function < 0 or name not in module.blocks[function].params:
                return []
            found = []
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
                for index in range(len(home.code.calls)):
                    target = self.names.function(self.names.of_call(home, index))
                    if target is not None:
                        self._callers[(target[0].path, _initialiser(*target))].append((home, index))
        return self._callers.get((module.path, function), [])

    def functions(self, module: Module, value: Value, block: int, line: int) -> list[tuple[Module, int]]:
        """The own functions that a value may be (a name, a lambda, a partial, a bound method)."""
        if isinstance(value, Function):
            return [(module, value.block)]
        if isinstance(value, Result):
            name = self.names.of_call(module, value.call)
            call = module.code.calls[value.call]
            if name == "functools.partial" and call.args:
                return self.functions(module, call.args[0], call.block, call.line)
            target = self.names.function(name)
            if target is not None and target[0].blocks[target[1]].kind != "class":
                home, inner = target
                return [f for r in home.returns.get(inner, ()) if isinstance(r.value, Ref | Function)
                        for f in self.functions(home, r.value, r.block, r.line + 1)]
            return []
        target = self.names.function(self.names.of_value(module, value, block, line))
        if target is None:
            return []
        home, inner = target
        if home.blocks[inner].kind == "class":
            inner = home.definition(inner, "__call__")
        return [(home, inner)] if inner >= 0 else []


def _initialiser(module: Module, block: int) -> int:
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


def _is_method(call: Call, last: str) -> bool:
    return last in ("encode", "decode", "strip", "lower")


def _receiver(call: Call) -> Value | None:
    if isinstance(call.callee, Op) and call.callee.op == ".":
        return call.callee.operands[0]
    if isinstance(call.callee, Ref) and "." in call.callee.name:
        return Ref(call.callee.name.rpartition(".")[0])
    return None


def _element(display: Items | Table, index: Scalar) -> Value | None:
    if isinstance(display, Items):
        return display.items[index] if isinstance(index, int) and -len(display.items) <= index < len(display.items) else None
    for key, value in zip(display.keys, display.values):
        if isinstance(key, Const) and key.value == index:
            return value
    return None


def _unique(sites: list[Site]) -> list[Site]:
    seen: dict[tuple[str, int], Site] = {(m.path, i): (m, i) for m, i in sites}
    return list(seen.values())
