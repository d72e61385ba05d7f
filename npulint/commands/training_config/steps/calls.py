"""Steps from the calls of a module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from npulint.commands.training_config.followed import passing_at
from npulint.commands.training_config.steps.expressions import is_literal, is_relevant
from npulint.commands.training_config.steps.model import Argument, CodeStep, Home
from npulint.commands.training_config.steps.unresolved import (
    SPLIT,
    cast_of,
    derived,
    named_part,
    own_part,
    part_by_name,
    registered,
    settings_arguments,
)
from npulint.data.recipe import RecipeCall, recipe_call
from npulint.facts.code import SequenceDisplay
from npulint.facts.model import Span
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes, scope_at, scope_named

# The arguments of steps under the names by which they are compared.

SIZES = frozenset(("size", "shape", "dims"))
RUNNING = frozenset("epoch step iteration iter it batch_idx global_step current_epoch cur_epoch cur_step".split())


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
    joined = recipe_call.rest in SIZES and bool(sizes) and not sizes[0].is_display
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
    return name in RUNNING and not (isinstance(expr.literal, int) and not isinstance(expr.literal, bool))


def named_literals(site: CallSite) -> Iterator[Argument]:
    """Literal keyword arguments of a call of an unknown function, taken as settings."""
    for key, expr, span in _written(site):
        part = named_part(key) if isinstance(key, str) else ""
        if part and is_literal(expr.value) and is_relevant(expr.value):
            yield Argument(str(key), expr, part, span=span)


_ANY_MODULE = "torch.nn.Module"  # result of applying a module whose class is unknown
_READING = frozenset(("dataset", "shuffle"))
_DEFINING = frozenset(("add_argument", "HParams", "set_defaults", "field", "Field"))


def steps_of_calls(module: Scope, framework: str) -> Iterator[CodeStep]:
    """The steps of a module's calls, in text order."""
    for site, name in zip(module.all_calls, module.call_names, strict=True):
        step = _known(site, name, framework) or _own(site, name)
        if step is not None:
            yield step
        elif chosen := site.context.names.called(site.module, site.index):
            yield from (_of_function(site, scope_at(site.context, *function)) for function in chosen)
        elif (named := _named(site)) is not None:
            yield named


def _known(site: CallSite, name: str, framework: str) -> CodeStep | None:
    """The step of a call in the recorded tables, or of applying an object of a recorded class (a layer)."""
    recipe = recipe_call(name, framework)
    if recipe is None or recipe.same_as.rstrip("()") == _ANY_MODULE:
        return None
    if recipe.transparent:
        cast = cast_of(site, recipe)
        step = CodeStep("call", f"?.{cast}", f".{cast}", "half_cast", site.scope, site.span, site=site)
        return step if cast else None
    arguments = () if recipe.same_as.endswith("()") else tuple(of_vocabulary(site, recipe))
    if recipe.part in _READING:
        arguments += tuple(of_splits(site, [argument.name for argument in arguments], recipe))
    return _recorded(site, recipe, arguments, _handed(site) if recipe.part == "transform" else ())


def _recorded(
    site: CallSite, recipe: RecipeCall, arguments: Iterable[Argument], handed: tuple[Home, ...] = ()
) -> CodeStep:
    """The step of a call that is in the recorded tables."""
    name, given = recipe.same_as, tuple(arguments)
    return CodeStep(
        "call", name, _shown(name), recipe.part, site.scope, site.span, given, site, recipe=recipe, handed=handed
    )


def _handed(site: CallSite) -> tuple[Home, ...]:
    """The project functions that are passed to a call."""
    named = (scope_named(site.context, argument.name) for argument in site.arguments if argument.written)
    return tuple((scope.path, scope.block) for scope in named if scope is not None)


def _own(site: CallSite, name: str) -> CodeStep | None:
    """The step of a call of a project function or class, or of a class that is constructed like a recorded one."""
    target = scope_named(site.context, name) or _only_method(site, name)
    if target is None:
        return None
    made = None if name.endswith("()") else derived(target)
    if made is not None:
        return _recorded(site, made, of_vocabulary(site, made))
    return _of_function(site, target, applied=name.endswith("()") and target.kind == "class")


def _of_function(site: CallSite, target: Scope, applied: bool = False) -> CodeStep:
    """The step of a call of a project function or class; `applied`: of an instance of the class."""
    shown = target.record.name.rpartition(".")[2] or "lambda"
    arguments = () if applied else tuple(of_own(site, target))
    key = f"{target.path}:{target.block}" + ("()" if applied else "")
    return CodeStep("own", key, shown, "", site.scope, site.span, arguments, site, target=(target.path, target.block))


def _only_method(site: CallSite, name: str) -> Scope | None:
    """The project method that a call on an unknown object refers to, if only one class of the project, or of the
    modules imported here, has a method of that name."""
    if not name.startswith("?") or "." not in name:
        return None
    context = site.context
    scopes = context.memoize("own methods", lambda: _methods(context)).get(name.rpartition(".")[2], [])
    if len(scopes) > 1:
        near = (site.path, *context.project.uses(site.path))
        scopes = [scope for scope in scopes if scope.path in near]
    return scopes[0] if len(scopes) == 1 else None


def _methods(context: Context) -> dict[str, list[Scope]]:
    """The methods of a project by name."""
    methods: dict[str, list[Scope]] = {}
    for module in module_scopes(context):
        for function in module.blocks_of("function"):
            if function.parent is not None and function.parent.kind == "class":
                methods.setdefault(function.record.name.rpartition(".")[2], []).append(function)
    return methods


def _named(site: CallSite) -> CodeStep | None:
    """The step of a call of an unknown function with settings as keywords: ``dict(type="SGD", lr=0.1)``."""
    made = registered(site)
    if made is not None:
        return _recorded(site, made, [argument for argument in of_vocabulary(site, made) if argument.name != "type"])
    last, kind, part = site.last, "call", part_by_name(site)
    arguments = tuple(settings_arguments(site) if part else named_literals(site))
    if not part:
        if not arguments or last in _DEFINING or last.startswith("DEFINE_"):
            return None  # options are traced separately
        kind, part = "named", next((argument.role for argument in arguments if argument.role != "setting"), "setting")
    return CodeStep(kind, last, last, part, site.scope, site.span, arguments, site)


def _shown(name: str) -> str:
    """A canonical name for display: a class without its module, a function with the last part of its module."""
    words = name.split(".")
    if len(words) > 1 and words[-1][:1].islower() and not words[-2].endswith(")"):
        return ".".join(words[-2:]).lstrip("?")
    return words[-1]
