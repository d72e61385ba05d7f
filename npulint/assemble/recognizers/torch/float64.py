"""Tensors in double precision, and whether a collective is given them."""

from __future__ import annotations

from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.tensors import on_host
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Ref, Value
from npulint.facts.model import Fact

_DOUBLE = frozenset(("torch.float64", "torch.double"))
_ON_GPU = frozenset(("torch.cuda.DoubleTensor", "torch.npu.DoubleTensor"))
_MADE = frozenset(
    """tensor as_tensor zeros ones full empty arange linspace logspace eye rand randn zeros_like ones_like full_like
    empty_like rand_like randn_like scalar_tensor""".split()
)
_CAST = frozenset(("to", "type", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty"))
_COLLECTIVES = frozenset(("all_reduce", "reduce", "all_gather", "reduce_scatter", "all_gather_into_tensor"))
_HOST = frozenset(("numpy", "pandas", "scipy"))


def matches(name: str) -> bool:
    """Factories of tensors, casts, and the types with a precision in their names."""
    base, _, last = name.rpartition(".")
    if name in _ON_GPU:
        return True
    if base == "torch":
        return last in _MADE
    method = base.startswith("?") or "()" in base
    return method and (last == "double" or last in _CAST) and base.partition(".")[0] not in _HOST


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``float64`` fact where the element type surely is double."""
    call = module.code.calls[index]
    last = name.rpartition(".")[2]
    if not _is_double(context, module, call, name, last):
        return []
    spelling = name if name.startswith("torch.") and "(" not in name else f"torch.Tensor.{last}"
    attrs = {
        "device": partial(_device, context, module, call, spelling),
        "reduced": partial(_reduced, context, module, index),
    }
    return [context.call_fact("float64", spelling, module, index, **attrs)]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """No facts."""
    return []


def _is_double(context: Context, module: Module, call: Call, name: str, last: str) -> bool:
    if name in _ON_GPU:
        return True
    if last == "double":
        return not call.args and not call.keywords
    values = [value for key, value in call.keywords if key == "dtype"]
    if last in ("to", "type"):
        values += call.args
    return any(_names_double(context, module, value, call) for value in values)


def _names_double(context: Context, module: Module, value: Value, call: Call) -> bool:
    return isinstance(value, Ref) and context.names.of_value(module, value, call.block, call.line) in _DOUBLE


def _device(context: Context, module: Module, call: Call, spelling: str) -> str:
    """cpu, other (an accelerator, or a device that is chosen elsewhere) or unknown."""
    if spelling in _ON_GPU:
        return "other"
    given = argument(call, "device", -1)
    if given is not None:
        values = context.known(module, given, call).values
        return "cpu" if values and all(str(v).startswith("cpu") for v in values) else "other"
    receiver = receiver_of(call) if spelling.startswith("torch.Tensor.") else None
    if receiver is not None:
        return "cpu" if on_host(scope_at(context, module, call.block).expr(receiver, call.line)) else "unknown"
    return "unknown" if spelling.endswith("_like") else "cpu"


def _reduced(context: Context, module: Module, index: int) -> str:
    """Whether a collective gets the tensor: directly, or by the name that it is assigned to in the same function."""
    call = module.code.calls[index]
    scope = module.names.get(module.scope[call.block], {})
    mine = {name for name, binds in scope.items() if any(_holds(module, b.value, index) for b in binds)}
    function = module.function_of(call.block)
    for other in module.calls_in.get(function, ()):
        if module.callee_name(other) in _COLLECTIVES:
            taker = module.code.calls[other]
            for value in taker.args:
                named = isinstance(value, Ref) and value.name in mine
                if (named or _holds(module, value, index)) and _is_collective(context, module, other):
                    return "yes"
    return "no"


def _holds(module: Module, value: Value, index: int, depth: int = 0) -> bool:
    """Whether a value is the result of a call, also moved to a device or changed in shape."""
    if not isinstance(value, CallResult) or depth > 4:
        return False
    if value.call == index:
        return True
    receiver = receiver_of(module.code.calls[value.call])
    return receiver is not None and _holds(module, receiver, index, depth + 1)


def _is_collective(context: Context, module: Module, index: int) -> bool:
    return context.names.of_call(module, index).startswith("torch.distributed.")
