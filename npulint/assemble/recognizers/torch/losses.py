"""The losses of training code: the tensors whose gradients it asks for, and where they are shown or kept."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.tensors import names_in
from npulint.facts.calls import receiver_of
from npulint.facts.code import Assignment, Call, CallResult, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact

_KEPT = frozenset(("detach", "data", "mean", "sum", "clone", "float"))
_VALUES = frozenset(("detach", "item", "cpu", "tolist", "float"))
_DEPTH = 5


def losses_of(context: Context, module: Module, function: int) -> frozenset[str]:
    """The names whose gradients a function asks for."""
    return context.memoize(("losses", module.path, function), lambda: _find_losses(context, module, function))


def _find_losses(context: Context, module: Module, function: int) -> frozenset[str]:
    found: set[str] = set()
    for index in context.training.backward_calls(module):
        call = module.code.calls[index]
        if module.function_of(call.block) == function:
            receiver = receiver_of(call)
            for value in (*call.args[:1], *((receiver,) if receiver is not None else ())):
                found |= _loss_names(context, module, value, call)
    return frozenset(name for name in found if "." not in name)


def _loss_names(context: Context, module: Module, value: Value, call: Call) -> set[str]:
    """``loss``, also of ``scaler.scale(loss)`` and of the `scaled_loss` of a ``with amp.scale_loss(loss, …)``."""
    if isinstance(value, CallResult):
        return set(names_in(module.code.calls[value.call].args[0])) if module.code.calls[value.call].args else set()
    if not isinstance(value, Ref):
        return set()
    found = {value.name}
    for home, bind in context.flow.bindings(module, value.name, call.block, call.line):
        if (
            home is module
            and isinstance(bind.value, CallResult)
            and module.callee_name(bind.value.call) in ("scale_loss", "scale")
        ):
            found |= set(names_in(module.code.calls[bind.value.call].args[0]))
    return found


def is_loss(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a value is a tensor that belongs to the graph of a loss of this function, or a part of one."""
    if isinstance(value, Ref):
        name = value.name.removesuffix(".data")
        return name in losses_of(context, module, module.function_of(block)) and not _read_before(
            context, module, name, block, line
        )
    if depth > _DEPTH:
        return False
    if isinstance(value, Op) and value.op in ("+", "-", "*", "/", "[]"):
        parts = value.operands[:1] if value.op == "[]" else value.operands
        return any(is_loss(context, module, part, block, line, depth + 1) for part in parts)
    if isinstance(value, CallResult) and module.callee_name(value.call) in _KEPT:
        receiver = receiver_of(module.code.calls[value.call])
        return receiver is not None and is_loss(context, module, receiver, block, line, depth + 1)
    return False


def _read_before(context: Context, module: Module, name: str, block: int, line: int) -> bool:
    """Whether a loss has been replaced by its value: ``loss = loss.detach().cpu()``, ``loss = reduce(loss.data)``."""
    binds = [bind for home, bind in context.flow.bindings(module, name, block, line) if home is module]
    return bool(binds) and binds[0].line < line and _valued(module, binds[0].value)


def _valued(module: Module, value: Value, depth: int = 0) -> bool:
    if isinstance(value, Ref):
        return value.name.endswith(".data")
    if not isinstance(value, CallResult) or depth > _DEPTH:
        return False
    call = module.code.calls[value.call]
    receiver = receiver_of(call)
    parts = [*call.args[:1], *((receiver,) if receiver is not None else ())]
    return module.callee_name(value.call) in _VALUES or any(_valued(module, part, depth + 1) for part in parts)


def takes_loss(context: Context, module: Module, call: Call) -> bool:
    """Whether a call is given a loss, as its first argument or the object that it is called on."""
    receiver = receiver_of(call)
    values = call.args[:1] or ((receiver,) if receiver is not None else ())
    return any(is_loss(context, module, value, call.block, call.line) for value in values)


def shows_loss(context: Context, module: Module, call: Call) -> bool:
    """Whether a call that prints or logs is given the tensor itself, which it then reads."""
    return any(
        _shown(context, module, value, call.block, call.line)
        for value in (*call.args, *(value for key, value in call.keywords if key != "**"))
    )


def _shown(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    if is_loss(context, module, value, block, line):
        return True
    if depth > _DEPTH:
        return False
    if isinstance(value, Op) and value.op in ("join", "%", "+"):
        return any(_shown(context, module, part, block, line, depth + 1) for part in value.operands)
    if isinstance(value, SequenceDisplay):
        return any(_shown(context, module, part, block, line, depth + 1) for part in value.items)
    if isinstance(value, CallResult) and module.callee_name(value.call) in ("format", "str"):
        call = module.code.calls[value.call]
        values = (*call.args, *(v for _, v in call.keywords))
        return any(_shown(context, module, part, block, line, depth + 1) for part in values)
    return False


def _detached(module: Module, value: Value) -> bool:
    if isinstance(value, Ref):
        return value.name.endswith(".data")
    if isinstance(value, CallResult):
        receiver = receiver_of(module.code.calls[value.call])
        return module.callee_name(value.call) == "detach" or (receiver is not None and _detached(module, receiver))
    return isinstance(value, Op) and any(_detached(module, part) for part in value.operands)


def gathers_loss(context: Context, module: Module, call: Call) -> bool:
    """Whether ``losses.append(loss)`` keeps the graph: not detached, and the list outlives the step."""
    receiver = receiver_of(call)
    if not isinstance(receiver, Ref) or not call.args or _detached(module, call.args[0]):
        return False
    return _outlives(context, module, receiver.name, call.block, call.line)


def _outlives(context: Context, module: Module, name: str, block: int, line: int) -> bool:
    """Whether a name is given a new value outside the training loop only."""
    loop = context.training.train_loop(module, block)
    binds = [bind for home, bind in context.flow.bindings(module, name, block, line) if home is module]
    fresh = [bind for bind in binds if not (isinstance(bind.value, Op) and bind.value.op == "+=")]
    return loop >= 0 and bool(fresh) and not any(loop in module.ancestors(bind.block) for bind in fresh)


def added_losses(context: Context, module: Module) -> list[Fact]:
    """``host_sync`` facts (append_graph) of the places that add an undetached loss to what outlives the step."""
    calls = [module.code.calls[index] for index in context.training.backward_calls(module)]
    found = []
    for function in sorted({module.function_of(call.block) for call in calls}):
        losses = losses_of(context, module, function)
        for target, binds in module.names.get(max(function, 0), {}).items():
            for bind in binds if target not in losses else ():
                if _adds_loss(context, module, bind, losses):
                    text = f"{target} += …"
                    found.append(context.bind_fact("host_sync", "append_graph", module, bind, written=text))
    return found


def _adds_loss(context: Context, module: Module, bind: Assignment, losses: frozenset[str]) -> bool:
    if not isinstance(bind.value, Op) or bind.value.op != "+=":
        return False
    value = bind.value.operands[0]
    return (
        not losses.isdisjoint(names_in(value))
        and not _detached(module, value)
        and is_loss(context, module, value, bind.block, bind.line)
        and context.around(module, bind.block).get("step") == "yes"
        and "no_grad" not in context.under(module, bind.block)
        and _outlives(context, module, bind.target, bind.block, bind.line)
    )
