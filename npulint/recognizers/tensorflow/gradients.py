"""Which calls computed the gradients that apply_gradients gets."""

from __future__ import annotations

from npulint.model.values.cursors import CallSite, Expr

_GRADIENTS = frozenset(("compute_gradients", "gradients", "gradient"))
_DEPTH = 10
_STEPS = 300  # maximum calls and names per answer
_ASSIGNMENTS = 6
_ITEMS = 8
_TALL = 3  # maximum lines from the start of an assignment to a comprehension in it


def gradient_calls(call: CallSite) -> list[CallSite]:
    """The calls of compute_gradients, tf.gradients and tape.gradient whose results reach a call of apply_gradients,
    through lists, project functions, loops and appends."""
    value = call.argument("grads_and_vars", 0)
    stack = [] if value is None else [(value, 0)]
    calls: list[CallSite] = []
    seen: set[CallSite | Expr] = set()
    while stack and len(seen) <= _STEPS:
        value, depth = stack.pop()
        made_by = value.call
        key = made_by or value
        if depth > _DEPTH or key in seen:
            continue
        if made_by is not None or value.written:
            seen.add(key)
        if made_by is not None and made_by.last in _GRADIENTS:
            calls.append(made_by)
        else:
            stack += [(expr, depth + 1) for expr in reversed(_contributing(value))]
    return calls


def _contributing(value: Expr) -> list[Expr]:
    """The expressions that an expression is built from."""
    call = value.call
    if call is not None:
        target = call.target
        return call.args + ([] if target is None or target.kind == "class" else target.returns)
    if value.written:
        assigned = [assignment.value for assignment in value.assignments[:_ASSIGNMENTS]]
        return assigned + [part for added in _additions(value) for part in added.args]
    if value.operator == "each":
        return value.operands() + _iterated(value)
    return value.operands() or value.items[:_ITEMS]


def _additions(name: Expr) -> list[CallSite]:
    """The calls of ``append`` and ``extend`` on a name in the same function."""
    calls = name.scope.calls_named("append", "extend")
    method = tuple(f"{name.written}.{word}" for word in ("append", "extend"))
    return [call for call in calls if call.written in method and call.scope.function is name.scope.function]


def _iterated(value: Expr) -> list[Expr]:
    """The iterables of the comprehensions at the place of an expression."""
    near = (block for block in value.module.blocks if value.line <= block.line <= value.line + _TALL)
    loops = (block for block in near if block.kind == "loop" and block.params)
    return [value.sibling(loop.test) for loop in loops if loop.parent == value.scope.block]
