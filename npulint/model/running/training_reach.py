"""Which methods a training step may come to through frameworks, which call the ``forward`` of every module.

A method counts unless it is known that training never gets there: its class is no module, or only code that evaluates
makes its objects or calls them, or nothing does.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import names_in
from npulint.model.code.mentions import values_by_block
from npulint.model.code.module import Module
from npulint.model.running.training_conditions import EVALUATION, evaluates, is_over_in_training
from npulint.model.values.callers import Site
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, call_at, module_scopes, scope_named
from npulint.model.values.script_role import purpose
from npulint.model.values.walker import memoized, walker

_UNTRAINED = lazy_compile(r"(?:^|[._])(?:\w+_)?(?:no_grad|inference_mode)$")
_LOOKUPS = frozenset(("getattr", "eval", "globals", "vars", "locals", "import_module", "__import__"))
_ENTRIES = frozenset(("main", "cli", "setup", "register"))
_MOST = 12  # places of one class or function that are looked at


class _Made(NamedTuple):
    """By the place of a class the calls that make objects of it; by its canonical name the calls of these objects."""

    makers: dict[tuple[str, int], list[Site]]
    uses: dict[str, list[Site]]


@once
def _objects(context: Context) -> _Made:
    made = _Made(defaultdict(list), defaultdict(list))
    for module in context.project.modules.values():
        for index, name in enumerate(context.names.of_calls(module)):
            if ":" not in name:
                continue
            if name.endswith("()"):
                made.uses[name[:-2]].append((module, index))
            else:
                definition = context.names.function(name)
                if definition is not None and definition[0].blocks[definition[1]].kind == "class":
                    made.makers[definition[0].path, definition[1]].append((module, index))
    return made


@once
def _mentioned(context: Context) -> frozenset[str]:
    """The segments of names that are used other than by calls of them: passed on, stored, derived from, holders of
    methods. Tests of an object's class do not count, nor what a class says of itself."""
    mentioned: set[str] = set()
    for module in context.project.modules.values():
        mentioned |= module.derive(_mentioned_in)
    return frozenset(mentioned)


def _mentioned_in(module: Module) -> frozenset[str]:
    """The segments of names that are used in a module, in a class but for the class's own name."""
    names: dict[str, set[str]] = defaultdict(set)
    for block, values in enumerate(values_by_block(module.code)):
        if values:
            owner = module.class_of(block)
            own = module.blocks[owner].name.rpartition(".")[2] if owner >= 0 else ""
            names[own].update([reference.name for reference in names_in(values)])
    return frozenset(part for own, used in names.items() for name in used for part in name.split(".") if part != own)


@once
def _looked_up(context: Context) -> frozenset[str]:
    """The files in which names are computed, so that whatever is defined or imported there may be used."""
    paths: set[str] = set()
    for module in module_scopes(context):
        for call in module.calls_named(*_LOOKUPS):
            if call.last in ("eval", "getattr", "vars") and _is_plain(call):
                continue
            paths.add(module.path)
    return frozenset(paths)


def _is_plain(call: CallSite) -> bool:
    """Whether a lookup is one of a written name, or in an object that was not imported; ``model.eval()`` is none."""
    if call.written.endswith(f".{call.last}"):
        return True
    if call.last == "getattr":
        imported = {
            import_record.alias or import_record.name or import_record.module
            for import_record in call.module.code.imports
        }
        return len(call.args) < 2 or call.args[1].is_literal or call.args[0].written not in imported
    return bool(call.args) and (call.args[0].is_literal or call.last == "vars")


@memoized(meanwhile=lambda: True)
def may_train(method: Scope) -> bool:
    """Whether training may come to a method that frameworks call: it is one of a module, or of what a trainer is given,
    of which code that trains may make objects."""
    owner = method.owner
    if owner is None:
        return True
    if method.last_name == "forward" and not _may_be_module(owner):
        return False
    if method.last_name == "forward" and _only_evaluated([owner]):
        return False
    return _may_be_made(owner)


@walker(depth=8, otherwise=lambda: True)
def _may_be_module(owner: Scope) -> bool:
    """Whether a class may be a module of PyTorch: one of its bases is not the project's own, or it is mixed into other
    classes."""
    if not owner.bases:
        return owner.last_name in _mentioned(owner.context)
    for base in owner.bases:
        own = scope_named(owner.context, base.name)
        if own is None and base.name not in ("object", "abc.ABC", "typing.Generic"):
            return True
        if own is not None and own.bases and _may_be_module(own):
            return True
    return False


def _only_evaluated(owners: list[Scope]) -> bool:
    """Whether all calls of the objects of a class are known, and only evaluate."""
    context = owners[0].context
    uses = [call_at(context, *site) for owner in owners for site in _objects(context).uses.get(owner.name, ())]
    return bool(uses) and all(map(_evaluates_at, uses))


@memoized(meanwhile=lambda: True)
def _may_be_made(owner: Scope) -> bool:
    """Whether code that trains may make objects of a class, or of one that derives from it."""
    context = owner.context
    if owner.decorators or owner.last_name in _mentioned(context) or _is_looked_up(owner):
        return True
    makers = _objects(context).makers.get((owner.path, owner.block), ())
    if not makers:
        return not _has_used_class(owner)  # nothing names this one, though others of its file are used
    if len(makers) > _MOST:
        return True
    return not all(_evaluates_at(call_at(context, *site)) for site in makers)


def _is_looked_up(owner: Scope) -> bool:
    """Whether a class may be looked up by a computed name in the file of its definition, or in one that imports it."""
    files = _looked_up(owner.context)
    return owner.path in files or any(_binds(owner, path) for path in files)


def _binds(owner: Scope, path: str) -> bool:
    """Whether a file imports a class or function by its name, by a star, or as a member of its module."""
    project = owner.context.project
    module = project.modules[path]
    own_name = posixpath.basename(owner.path).removesuffix(".py")
    return any(
        record.name in (owner.last_name, "*")
        or (
            record.name in ("", own_name)
            and any(target.path == owner.path for target in project.imported(module, record))
        )
        for record in module.code.imports
    )


@once_per_file
def _has_used_class(module: Scope) -> bool:
    """Whether something names a class of a file."""
    makers, mentioned = _objects(module.context).makers, _mentioned(module.context)
    return any(
        (scope.path, scope.block) in makers or scope.last_name in mentioned for scope in module.blocks_of("class")
    )


@memoized(meanwhile=bool)
def is_unused(scope: Scope) -> bool:
    """Whether nothing in the project uses the class or function around a block, in a file that other files use: such
    code is a library's left-over, not what a user of the project runs."""
    around = [ancestor for ancestor in scope.ancestors if ancestor.kind in ("class", "function")]
    if not around or scope.path not in scope.context.project.imported_paths:
        return False
    outer = around[-1]
    if outer.kind == "class":
        return _is_never_made(outer)
    return not (outer.callers or outer.decorators or outer.last_name in _used_names(outer) or _is_looked_up(outer))


def _used_names(function: Scope) -> frozenset[str]:
    """The names that are used as values, also by hooks and entry points that are looked up by theirs."""
    return _mentioned(function.context) | _ENTRIES


def _is_never_made(owner: Scope) -> bool:
    context = owner.context
    if owner.decorators or owner.last_name in _mentioned(context) or _is_looked_up(owner):
        return False
    return (owner.path, owner.block) not in _objects(context).makers


def only_evaluates(scope: Scope, line: int) -> bool:
    """Whether what stands at `line` of a block never runs while something trains."""
    return not trains_there(scope, line) or _is_evaluation(scope.routine)


def _evaluates_at(call: CallSite) -> bool:
    return only_evaluates(call.scope, call.line)


@memoized(meanwhile=lambda: True)
def _is_evaluation(routine: Scope) -> bool:
    """Whether a function, or the code outside functions, runs only to evaluate: it is in a script that does, or all of
    its callers are known and only evaluate."""
    if routine.at(0).module.main_guards and purpose(routine.at(0)) in ("evaluate", "export"):
        return True
    if routine.kind != "function":
        return False
    callers = routine.callers
    return 0 < len(callers) <= _MOST and all(map(_evaluates_at, callers))


def trains_there(scope: Scope, line: int) -> bool:
    """Whether what stands at `line` of a block may run while something trains, as far as its own file says: no branch,
    exit or function around it is for evaluation."""
    return _block_trains(scope) and not is_over_in_training(scope, line)


@memoized(meanwhile=lambda: True)
def _block_trains(scope: Scope) -> bool:
    if scope.kind == "function" and is_untrained(scope):
        return False
    around = scope.parent
    return not evaluates(scope) and (around is None or _block_trains(around))


def is_untrained(function: Scope) -> bool:
    """Whether a function evaluates, by its name, or is computed without gradients."""
    return bool(EVALUATION.search(function.last_name)) or any(map(_is_without_gradient, function.decorators))


def _is_without_gradient(decorator: Expr) -> bool:
    called = decorator.call
    return _UNTRAINED.search(decorator.written if called is None else called.written) is not None
