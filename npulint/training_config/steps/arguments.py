"""The arguments of steps under the names by which they are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from npulint.assemble.callers import implicit_arguments
from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.module import Module
from npulint.data.recipe import RecipeCall
from npulint.facts.code import Call, CallResult, Const, Op, Value
from npulint.facts.model import Span
from npulint.training_config.steps.literals import is_literal, is_relevant
from npulint.training_config.steps.model import Argument
from npulint.training_config.steps.naming import SPLIT, named_part, own_part

_RUNNING = frozenset("epoch step iteration iter it batch_idx global_step current_epoch cur_epoch cur_step".split())


def of_vocabulary(call: Call, known: RecipeCall) -> Iterator[Argument]:
    """The arguments of a known call, without those that do not affect numbers."""
    arguments: list[tuple[str, Value, int]] = []
    for place, value in enumerate(call.args):
        if isinstance(value, Op) and value.op == "star":
            break
        arguments.append((known.parameter(place), value, place))
    for parameter, value, place in (*arguments, *_keywords(call)):
        name = known.compared(parameter)
        if name:
            how = known.renamed.get(parameter, ("", ""))[1]
            yield Argument(name, value, call.block, call.line, known.role(parameter), how, spot(call, place))


def of_splits(module: Module, call: Call, compared: Collection[str], known: RecipeCall) -> Iterator[Argument]:
    """The path arguments of a call that name a split of a data set (``join(root, "train")``), except those in
    `compared`: where data are stored is irrelevant, which split is read is not."""
    for place, value in enumerate((*call.args, *(value for _, value in call.keywords))):
        at = place - len(call.args)
        name = known.parameter(place) if at < 0 else call.keywords[at][0]
        if name not in compared and isinstance(value, CallResult) and module.callee_name(value.call) == "join":
            end = module.code.calls[value.call].args[-1:]
            if end and isinstance(end[0], Const) and SPLIT.search(str(end[0].value)):
                yield Argument(name, value, call.block, call.line, "split", span=spot(call, place))


def _keywords(call: Call) -> Iterator[tuple[str, Value, int]]:
    """The keyword arguments of a call, with their index among all arguments."""
    for at, (name, value) in enumerate(call.keywords):
        if name != "**":
            yield name, value, len(call.args) + at


def spot(call: Call, place: int) -> Span | None:
    """The span of an argument of a call of several lines, if recorded."""
    return Span(*call.argument_spans[place]) if place < len(call.argument_spans) else None


def of_own(context: Context, module: Module, index: int, home: Module, block: int) -> Iterator[Argument]:
    """The arguments of a call of a project function or class by parameter name, without those whose names indicate that
    they do not affect numbers."""
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
    """The parameters of the callee, and how many of them (``self``) the call does not pass explicitly."""
    if home.blocks[block].kind == "class":
        maker = home.definition(block, "__init__")
        return (home.blocks[maker].params, 1) if maker >= 0 else ((), 0)
    return home.blocks[block].params, implicit_arguments(scope_at(context, home, block), module, index)


def _counts(name: str) -> bool:
    return name.isdigit() or name.startswith("*") or bool(named_part(name))


def _is_running(name: str, value: Value) -> bool:
    """Whether a parameter is a progress counter, not a setting: ``epoch``, not ``epochs``."""
    number = isinstance(value, Const) and isinstance(value.value, int) and not isinstance(value.value, bool)
    return name in _RUNNING and not number


def named_literals(call: Call) -> Iterator[Argument]:
    """Literal keyword arguments of a call of an unknown function, taken as settings."""
    for name, value, position in _keywords(call):
        part = named_part(name)
        if part and is_literal(value) and is_relevant(value):
            yield Argument(name, value, call.block, call.line, part, span=spot(call, position))
