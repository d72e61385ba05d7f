"""TensorFlow 2: gradient tapes that train, whether within a compiled function, and the loops around them."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.functions import Functions, functions_of
from npulint.facts.code import Ref
from npulint.facts.model import Fact

_APPLYING = ("apply_gradients", "minimize")
_USING = ("get_scaled_loss", "get_unscaled_gradients")
_HOPS = 6  # functions between a compiled one and its tape


def matches(name: str) -> bool:
    """Gradient tapes, and the methods of loss scale optimizers that go with them."""
    return name == "tensorflow.GradientTape" or name.endswith(_USING)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``tape`` fact, with a ``step_call`` for each Python loop that comes to its compiled function in every round,
    and what that loop reads from the device; ``loss_scale_use`` facts."""
    last = name.rpartition(".")[2]
    if last in _USING:
        return [context.call_fact("loss_scale_use", last, module, index)]
    functions = functions_of(context)
    block = module.code.calls[index].block
    trains = lambda: _trains(functions, module, module.function_of(block))  # noqa: E731
    found = [
        context.call_fact(
            "tape",
            last,
            module,
            index,
            compiled=lambda: functions.compiled(module, block),
            trains=trains,
            looped=lambda: "yes" if _looped(functions, module, block) else "no",
        )
    ]
    if _applies(module, module.function_of(block)):
        for home, at in _loops(functions, module, block):
            written = home.code.calls[at].callee
            name = written.name if isinstance(written, Ref) else home.callee_name(at)
            found.append(context.call_fact("step_call", name, home, at, tape=f"{module.path}:{index}"))
            found += _reads(context, home, at)
    return found


def _reads(context: Context, module: Module, step: int) -> list[Fact]:
    """``host_sync`` facts: numbers that the loop around a training step reads from the device in every round."""
    loop = module.loop_of(module.code.calls[step].block)
    found = []
    for index in module.calls_of("numpy"):
        call = module.code.calls[index]
        if not call.args and module.loop_of(call.block) == loop and not context.gated(module, call.block):
            written = call.callee.name.removesuffix(".numpy") if isinstance(call.callee, Ref) else "…"
            found.append(context.call_fact("host_sync", "numpy", module, index, written=written))
    return found


def _applies(module: Module, function: int) -> bool:
    """Whether a function, with the functions in it, applies gradients."""
    inner = [function, *module.functions_in.get(function, ())]
    return any(module.function_of(module.code.calls[i].block) in inner for i in module.calls_of(*_APPLYING))


def _trains(functions: Functions, module: Module, function: int) -> str:
    """Whether the function of a tape, or one that calls it, applies gradients."""
    if _applies(module, function):
        return "yes"
    if function < 0:
        return "no"
    users = functions.users(module, function)
    near = [(home, home.function_of(home.code.calls[i].block)) for home, i in users]
    return "yes" if any(_applies(home, around) for home, around in near) else "no"


def _looped(functions: Functions, module: Module, block: int) -> bool:
    """Whether a loop stands around a tape, or around a call of its function."""
    if module.loop_of(block) >= 0:
        return True
    function = module.function_of(block)
    users = functions.users(module, function) if function >= 0 else []
    return any(home.loop_of(home.code.calls[i].block) >= 0 for home, i in users)


def _loops(functions: Functions, module: Module, block: int) -> list[tuple[Module, int]]:
    """The calls in Python loops that come to the compiled function around `block` in every round; none if there is a
    loop within it."""
    found: dict[tuple[str, int], tuple[Module, int]] = {}
    queue = [(module, block, False, 0)]  # where, and whether that is outside of the compiled function already
    while queue:
        here, place, outside, hops = queue.pop()
        function = here.function_of(place)
        if function < 0 or hops > _HOPS or (here.loop_of(place) >= 0 and not outside):
            continue
        compiled = outside or functions.is_compiled(here, function)
        for home, at in functions.users(here, function):
            around = home.code.calls[at].block
            if not compiled or functions.compiled(home, around) != "no":
                queue.append((home, around, False, hops + 1))
            elif home.loop_of(around) >= 0:
                found[(home.path, at)] = (home, at)
            else:
                queue.append((home, around, True, hops + 1))
    return list(found.values())
