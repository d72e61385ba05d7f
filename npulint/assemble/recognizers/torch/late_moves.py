"""Optimizers built before their model moves to the device: in one function, or in one that both are passed to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Scope
from npulint.assemble.recognizers.registry import recognizes_in_modules
from npulint.assemble.recognizers.torch.device_texts import is_device_name, leaves
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_OPTIMIZER = lazy_compile(r"^(?:torch|torch_npu|apex)\.optim(?:izers)?\.[A-Z]|Optimizer$")
Move = Literal["npu", "cuda", "to"]
_COLLECTING = ("list", "tuple", "filter", "chain")
_MOVES: tuple[Move, ...] = ("npu", "cuda", "to")


@fact_kind("late_move")
class LateMove(CallFact):
    """An optimizer is built before its model moves to the device; the name is the model, as written."""

    by: Move
    """The method that moves the model."""
    there: str
    """File and line of the move."""


@recognizes_in_modules
def late_moves(module: Scope) -> Iterator[LateMove]:
    """The optimizers whose model moves to the device later in the same function."""
    listed = module.calls_named("parameters")
    moves = [(name, call) for call in module.calls_named(*_MOVES) if (name := _moved(call))] if listed else []
    if not moves:
        return
    owners = {call: owner for call in listed if (owner := _receiver(call))}
    for call in module.all_calls:
        model = next((owners[one] for one in _listed(call) if one in owners), "")
        if model and _OPTIMIZER.search(call.name) and not _is_on_device(call, model):
            late = _late(call, [move for name, move in moves if name == model])
            if late is not None:
                yield _late_move(call, model, late)


@recognizes_in_modules
def handed_over(module: Scope) -> Iterator[LateMove]:
    """The optimizers that are passed, together with their model, to a function that moves the model."""
    for move in module.calls_named(*_MOVES):
        model = move.receiver
        function = model.passed_to if model is not None and _moved(move) else None
        if model is None or function is None:
            continue
        for call, given in function.passed(model.written):
            for made in _optimizers_of(call, [] if given is None else given.sites):
                yield _late_move(made, _receiver(move), move)


def _optimizers_of(call: CallSite, models: list[CallSite]) -> Iterator[CallSite]:
    """The optimizers among the arguments of a call that got the parameters of one of these models, where this had not
    moved yet."""
    places = {(one.path, one.index) for one in models if one.last not in _MOVES}
    for made in {(one.path, one.index): one for argument in call.arguments for one in argument.sites}.values():
        owners = [one.receiver for one in _listed(made) if one.last == "parameters" and one.receiver is not None]
        own = {(one.path, one.index) for owner in owners for one in owner.sites}
        if _OPTIMIZER.search(made.name) and own and own <= places and not _moves_before(made, owners[0].written):
            yield made


def _listed(call: CallSite) -> Iterator[CallSite]:
    """The calls among the arguments of a call, and in ``list(…)``, ``filter(…)`` and the like around them."""
    for argument in call.arguments:
        inner = argument.call
        if inner is not None:
            yield inner
            if inner.last in _COLLECTING:
                yield from (one.call for one in inner.arguments if one.call is not None)


def _moves_before(made: CallSite, model: str) -> bool:
    """Whether a model moves in the function of its optimizer, before that."""
    moves = (one for one in made.scope.calls_named(*_MOVES) if one.line <= made.line)
    return any(_moved(one) == model for one in moves)


def _late_move(made: CallSite, model: str, move: CallSite) -> LateMove:
    by = next(one for one in _MOVES if one == move.last)
    return LateMove(made, model, by, f"{move.path}:{move.line}")


def _is_on_device(call: CallSite, model: str) -> bool:
    """Whether the model was created on the device (``Net().npu()``)."""
    made = (one.value.call for one in call.scope.named(model, call.line).assignments)
    return any(one is not None and one.last in _MOVES for one in made)


def _late(call: CallSite, moves: list[CallSite]) -> CallSite | None:
    """The first move after a call, if none precedes it."""
    for move in moves:
        if move.scope.function is not call.scope.function:
            continue
        if move.line <= call.line:
            return None
        if call.scope.is_inside(move.scope) or move.scope.is_inside(call.scope):
            return None if _is_made_anew(call, move) else move
    return None


def _is_made_anew(call: CallSite, move: CallSite) -> bool:
    """Whether the name that is moved refers to another object by then."""
    name = _receiver(move)
    return any(one.target == name and call.line < one.line < move.line for one in call.scope.assignments)


def _moved(call: CallSite) -> str:
    """The name that a move is called on; empty for another call, such as ``x.to(torch.float16)``."""
    if call.last != "to":
        return _receiver(call)
    value = call.args[0] if call.args else call.keywords.get("device")
    if value is None:
        return ""
    named = value.is_literal or value.operator
    texts = leaves(value) if named else []
    device = is_device_name(value.written) or any(text.startswith(("npu", "cuda")) for text in texts)
    return _receiver(call) if device else ""


def _receiver(call: CallSite) -> str:
    """The dotted name that a method is called on; empty for anything else."""
    return call.written.rpartition(".")[0]
