"""Checkpoints: how often a Saver saves."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.runs import fetched_names, holds_loop, is_session_run, runs_beside
from npulint.facts.code import CallResult, Op, Ref, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_SAVER = lazy_compile(r"(?:^|[._?])_?saver\w*$")
_TRAINS = lazy_compile(r"train|optim|minimi|apply|(?:^|[._])(?:step|opt|update|solver)(?:_?op)?$")
_EPOCH = lazy_compile(r"epoch")


def matches(name: str) -> bool:
    """Methods called save, of whatever."""
    return name.rpartition(".")[2] == "save"


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``checkpoint`` fact where a Saver saves the variables of a session."""
    owner = name.rpartition(".")[0]
    if owner != "tensorflow.train.Saver()" and not (
        _SAVER.search(owner.lower()) and len(module.code.calls[index].args) > 1
    ):
        return []
    call = module.code.calls[index]
    return [
        context.call_fact(
            "checkpoint",
            "tensorflow.train.Saver().save",
            module,
            index,
            each_step=lambda: "yes" if _each_step(context, module, call.block) else "no",
        )
    ]


def _each_step(context: Context, module: Module, block: int) -> bool:
    """Whether code runs in every round of a loop that trains one step per round."""
    loop = context.loop_of(module, block)
    if loop < 0 or context.gated(module, block) or not _trains(context, module, block):
        return False
    if holds_loop(module, loop):
        return False
    names = _words(module, module.blocks[loop].test)
    targets = [b.target for b in module.code.assignments if b.block == loop and b.line == module.blocks[loop].line]
    return not any(_EPOCH.search(name.lower()) for name in (*names, *targets))


def _trains(context: Context, module: Module, block: int) -> bool:
    """Whether a run in every round of the loop around a block fetches a train step."""
    for index in runs_beside(context, module, block):
        if is_session_run(context.names.of_call(module, index)):
            fetched = fetched_names(argument(module.code.calls[index], "fetches", 0))
            if any(_TRAINS.search(name.lower()) for name in fetched):
                return True
    return False


def _words(module: Module, value: Value, depth: int = 6) -> list[str]:
    """The names in an expression."""
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Op) and depth:
        return [word for part in value.operands for word in _words(module, part, depth - 1)]
    if isinstance(value, CallResult) and depth:
        call = module.code.calls[value.call]
        return [word for part in (call.callee, *call.args) for word in _words(module, part, depth - 1)]
    return []
