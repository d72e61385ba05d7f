"""The arguments of steps under the names by which they are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.data.recipe import RecipeCall
from npulint.facts.code import Call, CallResult, Const, Op, Value
from npulint.facts.model import Span
from npulint.training_config.steps.literals import is_literal, is_telling
from npulint.training_config.steps.model import Argument
from npulint.training_config.steps.naming import SPLIT, named_part, own_part

_RUNNING = frozenset("epoch step iteration iter it batch_idx global_step current_epoch cur_epoch cur_step".split())


def of_vocabulary(call: Call, known: RecipeCall) -> Iterator[Argument]:
    """The arguments that a call of the vocabulary is given, without those that do not change numbers."""
    given: list[tuple[str, Value, int]] = []
    for place, value in enumerate(call.args):
        if isinstance(value, Op) and value.op == "star":
            break
        given.append((known.parameter(place), value, place))
    for parameter, value, place in (*given, *_keywords(call)):
        name = known.compared(parameter)
        if name:
            how = known.renamed.get(parameter, ("", ""))[1]
            yield Argument(name, value, call.block, call.line, known.role(parameter), how, spot(call, place))


def of_splits(module: Module, call: Call, told: Collection[str], known: RecipeCall) -> Iterator[Argument]:
    """The paths that a call is given and that name a part of a data set (``join(root, "train")``), as far as they are
    not among the arguments that are `told`: where data lie decides nothing, which ones are read does."""
    for place, value in enumerate((*call.args, *(value for _, value in call.keywords))):
        at = place - len(call.args)
        name = known.parameter(place) if at < 0 else call.keywords[at][0]
        if name not in told and isinstance(value, CallResult) and module.callee_name(value.call) == "join":
            end = module.code.calls[value.call].args[-1:]
            if end and isinstance(end[0], Const) and SPLIT.search(str(end[0].value)):
                yield Argument(name, value, call.block, call.line, "split", span=spot(call, place))


def _keywords(call: Call) -> Iterator[tuple[str, Value, int]]:
    """The keywords of a call with their places among its arguments."""
    for at, (name, value) in enumerate(call.keywords):
        if name != "**":
            yield name, value, len(call.args) + at


def spot(call: Call, place: int) -> Span | None:
    """Where an argument of a call of several lines stands, if that is known."""
    return Span(*call.argument_spans[place]) if place < len(call.argument_spans) else None


def of_own(context: Context, module: Module, index: int, home: Module, block: int) -> Iterator[Argument]:
    """The arguments of a call of an own function or class, by the names of its parameters. Those whose names tell that
    they change no numbers are left out."""
    call = module.code.calls[index]
    params, shift = parameters(context, module, index, home, block)
    for position, value in enumerate(call.args):
        if isinstance(value, Op) and value.op == "star":
            break
        place = position + shift
        name = params[place] if place < len(params) else str(position)
        if _counts(name) and not _is_running(name, value):
            part = own_part(name) if name in params else ""
            yield Argument(name, value, call.block, call.line, part, span=spot(call, position))
    for name, value, position in _keywords(call):
        if _counts(name) and not _is_running(name, value):
            yield Argument(name, value, call.block, call.line, own_part(name), span=spot(call, position))


def parameters(context: Context, module: Module, index: int, home: Module, block: int) -> tuple[tuple[str, ...], int]:
    """The parameters of what a call calls, and how many of them (``self``) it does not write."""
    if home.blocks[block].kind == "class":
        maker = home.definition(block, "__init__")
        return (home.blocks[maker].params, 1) if maker >= 0 else ((), 0)
    return home.blocks[block].params, context.flow.shift(home, block, module, index)


def _counts(name: str) -> bool:
    return name.isdigit() or name.startswith("*") or bool(named_part(name))


def _is_running(name: str, value: Value) -> bool:
    """Whether a parameter says how far a training is, which is no setting: ``epoch``, not ``epochs``."""
    number = isinstance(value, Const) and isinstance(value.value, int) and not isinstance(value.value, bool)
    return name in _RUNNING and not number


def named_literals(call: Call) -> Iterator[Argument]:
    """Settings that a call of something unknown is given as literals by keyword."""
    for name, value, position in _keywords(call):
        part = named_part(name)
        if part and is_literal(value) and is_telling(value):
            yield Argument(name, value, call.block, call.line, part, span=spot(call, position))
