"""Finds the calls that pass arguments to a program's own functions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from npulint.commands.training_config.followed import Passing, passing_at
from npulint.facts.code import SequenceDisplay, Value
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Scope, scope_at, scope_named
from npulint.model.values.walker import walker

_DEPTH = 8
_MOST_BASES = 16
_STARTERS = frozenset(("partial", "partialmethod", "spawn", "start_processes", "Thread", "Process"))
_ESTIMATORS = frozenset("Estimator TPUEstimator NPUEstimator EstimatorSpec DNNEstimator MixedEstimator".split())


class Passed:
    """The calls in `paths` by called function, including constructors of base classes and functions passed on together
    with their arguments."""

    def __init__(self, context: Context, paths: frozenset[str]) -> None:
        self._modules = [scope_at(context, context.project.modules[path], 0) for path in sorted(paths)]
        self._by_site: dict[CallSite, Passing] = {}

    def of(self, function: Scope) -> list[Passing]:
        """The calls that run a function; for a method also calls by base classes of their own method."""
        passings = self._found.get(function, [])
        owner = function.parent
        if passings or function.kind != "function" or owner is None or owner.kind != "class":
            return passings
        last = function.record.name.rpartition(".")[2]
        sites = [site for base in _with_bases(owner) for site in self._of_self.get((base, last), ())]
        return [Passing(function, site, site.record.args, site.record.keywords, 1) for site in sites]

    def by_call(self, site: CallSite, target: Scope) -> Passing | None:
        """The arguments that a call of the function or class `target` passes to the function that it runs."""
        function = target.called_block
        if function is None:
            return None
        if site not in self._by_site:
            self._by_site[site] = passing_at(function, site)
        return self._by_site[site]

    @cached_property
    def _of_self(self) -> dict[tuple[Scope, str], list[CallSite]]:
        """The calls of methods of ``self``, by class and name."""
        sites: dict[tuple[Scope, str], list[CallSite]] = {}
        for module in self._modules:
            for site in module.all_calls:
                head, _, last = site.written.rpartition(".")
                owner = module.module.owner_of_self(head, site.record.block) if head and "." not in head else -1
                if owner >= 0:
                    sites.setdefault((module.at(owner), last), []).append(site)
        return sites

    @cached_property
    def _found(self) -> dict[Scope, list[Passing]]:
        passings: dict[Scope, list[Passing]] = {}
        for module in self._modules:
            for passing in _in(module):
                passings.setdefault(passing.function, []).append(passing)
        return passings


def _with_bases(owner: Scope) -> list[Scope]:
    """The class and all its base classes in the project."""
    bases = {owner: None}
    queue = [owner]
    while queue and len(bases) < _MOST_BASES:
        for base in queue.pop().bases:
            target = scope_named(owner.context, base.name)
            if target is not None and target not in bases:
                bases[target] = None
                queue.append(target)
    return list(bases)


def _in(module: Scope) -> Iterator[Passing]:
    """The calls of project functions in a module."""
    for site, name in zip(module.all_calls, module.call_names, strict=True):
        last = site.last
        target = scope_named(module.context, name) if ":" in name else None
        if target is not None:
            function = target.called_block
            if function is not None:
                yield passing_at(function, site)
            else:
                yield from _inherited(target, site)
        elif last == "__init__" and _is_of_super(site):
            if site.scope.owner is not None:
                yield from _inherited(site.scope.owner, site)
        elif last in _STARTERS or last in _ESTIMATORS:
            yield from _handed(site)


def _inherited(owner: Scope, site: CallSite) -> Iterator[Passing]:
    """The call of a constructor that a class inherits."""
    function = _inherited_maker(owner)
    if function is not None:
        yield Passing(function, site, site.record.args, site.record.keywords, 1)


@walker(_DEPTH, lambda: None)
def _inherited_maker(owner: Scope) -> Scope | None:
    """The constructor of the first base class that has one."""
    for base in owner.bases:
        target = scope_named(owner.context, base.name)
        if target is not None and target.kind == "class":
            scope = target.called_block or _inherited_maker(target)
            if scope is not None:
                return scope
    return None


def _handed(site: CallSite) -> Iterator[Passing]:
    """Functions passed on together with arguments: ``partial(f, lr=0.1)``, ``spawn(worker, args=(…))``,
    ``Estimator(model_fn=f, params={…})``."""
    record, keywords, last = site.record, dict(site.record.keywords), site.last
    function: Value | None = record.args[0] if record.args else None
    args: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()
    shift = 0
    if last in _ESTIMATORS:
        function = keywords.get("model_fn", function)
        named = tuple([(key, value) for key, value in record.keywords if key in ("params", "config")])
    elif last.startswith("partial"):
        args, named = record.args[1:], record.keywords
    else:
        function = keywords.get("target", keywords.get("fn", function))
        passed = keywords.get("args", record.args[1] if last == "spawn" and len(record.args) > 1 else None)
        args = passed.items if isinstance(passed, SequenceDisplay) else ()
        shift = last in ("spawn", "start_processes")
    for inner in site.expr(function).functions if function else ():
        bound = inner.parent is not None and inner.parent.kind == "class"
        yield Passing(inner, site, args, named, shift + bound)


def _is_of_super(site: CallSite) -> bool:
    attribute = site.callee.attribute
    made = None if attribute is None else attribute[0].call
    return made is not None and made.written == "super"
