"""What becomes of the values that top_k gives: are they only summed, so that zeros beside them change nothing?"""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Assignment, CallResult, Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.lazy_regex import lazy_compile

_SUM = "tensorflow.reduce_sum"
_NAME = lazy_compile(r"[A-Za-z_]\w*\Z")
_PLAIN = lazy_compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_AXES = ("axis", "reduction_indices")


def described(context: Context, module: Module, index: int) -> dict[str, str]:
    """Of a call of top_k `summed`: named (its values get a name that is summed once and used nowhere else), direct
    (they are summed where they are computed), no; `into` is that name, `over` and `count` what top_k is given, where
    these are names."""
    into = _named(context, module, index)
    direct = not into and sum_of(context, module, index) >= 0
    call = module.code.calls[index]
    given = {"over": argument(call, "input", 0), "count": argument(call, "k", 1)}
    plain = {word: value.name for word, value in given.items() if isinstance(value, Ref) and _PLAIN.match(value.name)}
    if into and plain.get("count", into).partition(".")[0] == into:
        into = ""  # the number would be read when the name holds something else
    return {"summed": "named" if into else "direct" if direct else "no", "into": into or "unknown", **plain}


def sum_of(context: Context, module: Module, index: int) -> int:
    """The call that sums the values of a call of top_k where they are computed, or -1."""
    values = _values(index)
    found = [at for at in module.calls_of("reduce_sum") if argument(module.code.calls[at], "input_tensor", 0) in values]
    return found[0] if len(found) == 1 and _sums_last(context, module, found[0]) else -1


def _values(index: int) -> tuple[Value, Value]:
    """The two ways to take the values out of a result."""
    return Op("[]", (CallResult(index), Const(0))), Op(".", (CallResult(index), Const("values")))


def _sums_last(context: Context, module: Module, index: int) -> bool:
    """Whether a call sums everything, or along the last axis, which is the one that top_k sorts."""
    call = module.code.calls[index]
    if context.names.of_call(module, index) != _SUM or len(call.args) > 2:
        return False
    if any(key not in ("input_tensor", "name", *_AXES) for key, _ in call.keywords):
        return False
    axis = next((v for v in (argument(call, key, 1) for key in _AXES) if v is not None), Const(-1))
    return context.known(module, axis, call).single in (-1, None) if isinstance(axis, Const) else False


def _named(context: Context, module: Module, index: int) -> str:
    """The name under which the values are summed, and nothing else is done with them."""
    binds = [b for b in module.code.assignments if _is_part(b.value, index)]
    kept = [b for b in binds if b.value in _values(index)]
    if len(kept) != 1 or not _NAME.match(kept[0].target):
        return ""
    bind = kept[0]
    if any(b is not bind and _uses(module, b) for b in binds):
        return ""
    uses = _uses(module, bind)
    if len(uses) != 1 or uses[0] < 0 or not _sums_last(context, module, uses[0]):
        return ""
    summed = module.code.calls[uses[0]]
    same = module.function_of(summed.block) == module.function_of(bind.block)
    return bind.target if same and argument(summed, "input_tensor", 0) == Ref(bind.target) else ""


def _is_part(value: Value, index: int) -> bool:
    return isinstance(value, Op) and value.op in ("[]", ".") and value.operands[0] == CallResult(index)


def _uses(module: Module, bind: Assignment) -> list[int]:
    """The calls that are given what a name holds after an assignment, -1 for another use. Uses below the next
    assignment of the same block do not count, those above in the same loop do."""
    function = module.function_of(bind.block)
    later = [
        b.line
        for b in module.code.assignments
        if b.target == bind.target and b.block == bind.block and b is not bind and b.line > bind.line
    ]
    last = min(later, default=1 << 62)
    first = 0 if module.loop_of(bind.block) >= 0 else bind.line
    found = []
    for block, line, call, value in _expressions(module):
        inside = function < 0 or function in module.ancestors(block)
        if inside and first < line <= last and line != bind.line:
            found += [call] * _count(value, bind.target)
    return found


def _expressions(module: Module) -> Iterator[tuple[int, int, int, Value]]:
    """Every expression of a module with its block, line, and the call that is given it (-1: none)."""
    for at, call in enumerate(module.code.calls):
        for value in (*call.args, *(v for _, v in call.keywords)):
            yield call.block, call.line, at, value
        yield call.block, call.line, -1, call.callee
    for bind in module.code.assignments:
        yield bind.block, bind.line, -1, bind.value
        root = bind.target.partition(".")[0].partition("[")[0]
        if root != bind.target:
            yield bind.block, bind.line, -1, Ref(root)
    for returned in module.code.returns:
        yield returned.block, returned.line, -1, returned.value
    for number, block in enumerate(module.blocks):
        for value in (block.test, *block.defaults, *block.decorators):
            yield number, block.line, -1, value


def _count(value: Value, name: str) -> int:
    """How often an expression, without the calls in it, reads a name."""
    queue: list[Value | None] = [value]
    count = 0
    while queue:
        part = queue.pop()
        if isinstance(part, Ref):
            count += part.name == name or part.name.startswith((f"{name}.", f"{name}["))
        elif isinstance(part, Op):
            queue += part.operands
        elif isinstance(part, SequenceDisplay):
            queue += part.items
        elif isinstance(part, Table):
            queue += [*part.keys, *part.values]
    return count
