"""Lists of hooks and callbacks that the adapter appends its own to: are they read from their end afterwards?"""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact

_APPENDING = {
    "npu_bridge.npu_init.npu_hooks_append": "hooks_list",
    "npu_bridge.npu_init.npu_callbacks_append": "callbacks_list",
}
_DEPTH = 8


def matches(name: str) -> bool:
    """The helpers that append the NPU's broadcast."""
    return name in _APPENDING


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``hooks`` fact; `list` is the list's name as written."""
    call = module.code.calls[index]
    given = [*call.args[:1], *(v for k, v in call.keywords if k == _APPENDING[name])]
    listed = given[0].name if given and isinstance(given[0], Ref) else ""
    read = listed and any(_reads_end(v, listed, 0) for v in _after(module, call.block, call.end_line))
    kept = any(_holds(value, CallResult(index)) for value in _after(module, call.block, call.line - 1))
    answers = {"read_from_end": "yes" if read else "no", "kept": "yes" if kept else "no"}
    return [context.call_fact("hooks", name, module, index, list=listed, **answers)]


def _holds(value: Value, part: Value) -> bool:
    """Whether an expression is, or holds in a display or operation, another one."""
    queue = [value]
    while queue:
        one = queue.pop()
        if one == part:
            return True
        queue += one.operands if isinstance(one, Op) else one.items if isinstance(one, SequenceDisplay) else ()
    return False


def _after(module: Module, block: int, line: int) -> list[Value]:
    """The values in the same function below a line."""
    function = module.function_of(block)
    found = [b.value for b in module.code.assignments if b.line > line and module.function_of(b.block) == function]
    for call in (module.code.calls[i] for i in module.calls_in.get(function, ())):
        if call.line > line:
            found += [call.callee, *call.args, *(v for _, v in call.keywords)]
    return found


def _reads_end(value: Value, listed: str, depth: int) -> bool:
    """Whether an expression takes the last element of a list."""
    if isinstance(value, SequenceDisplay):
        return any(_reads_end(part, listed, depth + 1) for part in value.items[:8])
    if not isinstance(value, Op) or depth > _DEPTH:
        return isinstance(value, Ref) and value.name.startswith(f"{listed}[-1]")
    if value.op == "[]" and value.operands[0] == Ref(listed) and value.operands[1] == Const(-1):
        return True
    return any(_reads_end(part, listed, depth + 1) for part in value.operands)
