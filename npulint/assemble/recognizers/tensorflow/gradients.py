"""Gradients: which calls made what is given to apply_gradients."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Op, Ref, SequenceDisplay, Value

_GRADIENTS = frozenset(("compute_gradients", "gradients", "gradient"))
_DEPTH = 10
_STEPS = 300  # expressions that one question may look at
_BINDS = 6
_TALL = 3  # lines from the start of an assignment to a comprehension in it


def gradient_calls(context: Context, module: Module, call: Call) -> list[Site]:
    """The calls of compute_gradients, tf.gradients and tape.gradient whose results reach `call`, one of
    apply_gradients, through lists, own functions, loops and appends."""
    value = argument(call, "grads_and_vars", 0)
    if value is None:
        return []
    search = _Search(context)
    search.follow(module, value, call.block, call.line, 0)
    return list(search.found.values())


class _Search:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.found: dict[tuple[str, int], Site] = {}
        self._seen: set[object] = set()

    def follow(self, module: Module, value: Value, block: int, line: int, depth: int) -> None:
        """Collect the gradient calls that an expression is built from."""
        if depth > _DEPTH or len(self._seen) > _STEPS:
            return
        if isinstance(value, CallResult):
            self._call(module, value.call, depth)
        elif isinstance(value, Ref):
            self._name(module, value.name, block, line, depth)
        elif isinstance(value, Op | SequenceDisplay):
            parts = value.items[:8] if isinstance(value, SequenceDisplay) else value.operands
            for part in parts:
                self.follow(module, part, block, line, depth + 1)
            if isinstance(value, Op) and value.op == "each":
                self._comprehension(module, block, line, depth)

    def _comprehension(self, module: Module, block: int, line: int, depth: int) -> None:
        """What the comprehensions at a place run over."""
        for at in range(block + 1, len(module.blocks)):
            record = module.blocks[at]
            if record.line > line + _TALL:
                break
            if record.kind == "loop" and record.params and record.parent == block and record.line >= line:
                self.follow(module, record.test, block, line, depth + 1)

    def _call(self, module: Module, index: int, depth: int) -> None:
        key = (module.path, index)
        if key in self._seen:
            return
        self._seen.add(key)
        if module.callee_name(index) in _GRADIENTS:
            self.found[key] = (module, index)
            return
        call = module.code.calls[index]
        for part in call.args:
            self.follow(module, part, call.block, call.line, depth + 1)
        target = self.context.names.function(self.context.names.of_call(module, index))
        if target is not None and target[0].blocks[target[1]].kind != "class":
            home, inner = target
            for returned in home.returns.get(inner, ()):
                self.follow(home, returned.value, returned.block, returned.line + 1, depth + 1)

    def _name(self, module: Module, name: str, block: int, line: int, depth: int) -> None:
        key = (module.path, name, block, line)
        if key in self._seen:
            return
        self._seen.add(key)
        for home, bind in self.context.flow.bindings(module, name, block, line)[:_BINDS]:
            self.follow(home, bind.value, bind.block, bind.line, depth + 1)
        function = module.function_of(block)
        for index in module.calls_of("append", "extend"):
            call = module.code.calls[index]
            if (
                isinstance(call.callee, Ref)
                and call.callee.name.rpartition(".")[0] == name
                and module.function_of(call.block) == function
            ):
                for part in call.args:
                    self.follow(module, part, call.block, call.line, depth + 1)


def receiver(call: Call) -> Value | None:
    """The object whose method is called, if any."""
    if isinstance(call.callee, Ref):
        return Ref(call.callee.name.rpartition(".")[0])
    if isinstance(call.callee, Op) and call.callee.op == ".":
        return call.callee.operands[0]
    return None
