"""The arguments of steps under the names by which they are compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from npulint.commands.training_config.followed import passing_at
from npulint.commands.training_config.steps.literals import is_literal, is_relevant
from npulint.commands.training_config.steps.model import Argument
from npulint.commands.training_config.steps.naming import SPLIT, named_part, own_part
from npulint.data.recipe import RecipeCall
from npulint.facts.code import SequenceDisplay
from npulint.facts.model import Span
from npulint.model.values.cursors import CallSite, Expr, Scope

_SIZES = frozenset(("size", "shape", "dims"))
_RUNNING = frozenset("epoch step iteration iter it batch_idx global_step current_epoch cur_epoch cur_step".split())


def _written(site: CallSite) -> Iterator[tuple[int | str, Expr, Span | None]]:
    """The arguments of a call with their index or keyword, and their spans: positional ones up to ``*args``, and also
    what a known dict gives by ``**``."""
    spans = site.record.argument_spans
    count = len(site.record.args)
    for at, expr in enumerate(site.args):
        if expr.operator == "star":
            break
        yield at, expr, Span(*spans[at]) if at < len(spans) else None
    for at, (name, value) in enumerate(site.record.keywords, count):
        if name != "**":
            yield name, site.expr(value), Span(*spans[at]) if at < len(spans) else None
    for name in dict.fromkeys(name for name, _ in site.spread):
        given = site.from_options(name)
        if given is not None:
            yield name, given, None


def of_vocabulary(site: CallSite, recipe_call: RecipeCall) -> Iterator[Argument]:
    """The arguments of a known call, without those that do not affect numbers. Sizes that are passed one by one are one
    argument, as in a list: ``zeros(0, 6)``."""
    sizes = [expr for key, expr, _ in _written(site) if isinstance(key, int) and key >= recipe_call.positional]
    joined = recipe_call.rest in _SIZES and bool(sizes) and not sizes[0].is_display
    if joined:
        yield Argument(
            recipe_call.rest,
            site.expr(SequenceDisplay(tuple(size.value for size in sizes))),
            recipe_call.role(recipe_call.rest),
        )
    for key, expr, span in _written(site):
        if joined and isinstance(key, int) and key >= recipe_call.positional:
            continue
        parameter = recipe_call.parameter(key) if isinstance(key, int) else key
        name = recipe_call.compared(parameter)
        if name:
            how = recipe_call.renamed.get(parameter, ("", ""))[1]
            yield Argument(name, expr, recipe_call.role(parameter), how, span)


def of_splits(site: CallSite, compared: Collection[str], recipe_call: RecipeCall) -> Iterator[Argument]:
    """The path arguments of a call that name a split of a data set (``join(root, "train")``), except those in
    `compared`: where data are stored is irrelevant, which split is read is not."""
    for key, expr, span in _written(site):
        name = recipe_call.parameter(key) if isinstance(key, int) else key
        if name not in compared and expr.call is not None and expr.call.last == "join":
            end = expr.call.args[-1:]
            if end and end[0].is_literal and SPLIT.search(str(end[0].literal)):
                yield Argument(name, expr, "split", span=span)


def of_own(site: CallSite, target: Scope) -> Iterator[Argument]:
    """The arguments of a call of a project function or class by parameter name, without those whose names indicate that
    they do not affect numbers."""
    function = target.called_block
    params = function.parameters if function is not None else ()
    shift = 1 if target.kind == "class" else passing_at(target, site).shift
    for key, expr, span in _written(site):
        name = str(key)
        if isinstance(key, int) and function is not None:
            name = params[key + shift] if key + shift < len(params) else name
        if _counts(name) and not _is_running(name, expr):
            yield Argument(name, expr, own_part(name) if name in params or key == name else "", span=span)


def _counts(name: str) -> bool:
    return name.isdigit() or name.startswith("*") or bool(named_part(name))


def _is_running(name: str, expr: Expr) -> bool:
    """Whether a parameter is a progress counter, not a setting: ``epoch``, not ``epochs``."""
    return name in _RUNNING and not (isinstance(expr.literal, int) and not isinstance(expr.literal, bool))


def named_literals(site: CallSite) -> Iterator[Argument]:
    """Literal keyword arguments of a call of an unknown function, taken as settings."""
    for key, expr, span in _written(site):
        part = named_part(key) if isinstance(key, str) else ""
        if part and is_literal(expr.value) and is_relevant(expr.value):
            yield Argument(str(key), expr, part, span=span)
