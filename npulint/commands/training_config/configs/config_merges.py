"""Finds where code merges the settings of one object, or of a file, into another object
(``cfg.merge_from_file(path)``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import msgspec

from npulint.commands.training_config.configs.paths import Paths
from npulint.commands.training_config.followed import Followed
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at, scope_at
from npulint.model.values.walker import walker

_DEPTH = 6
_MOST = 8
_CALLERS = 16
READS = frozenset("merge_from_file cfg_from_file read read_file load_from_file update_from_file".split())
"""Methods that load settings from a file."""
_TAKES = frozenset(("update", "set_defaults", "setattr", "setdefault", "merge_from_other_cfg", "merge_update"))


class ConfigMerge(msgspec.Struct, frozen=True, eq=False):
    """One merge into `holder`: of the settings in `value`, or of the file that the call `reader` reads."""

    holder: Expr
    value: Expr | None = None
    reader: CallSite | None = None


class ConfigMerges:
    """The merges of a project, indexed by the assignment that created the target object."""

    def __init__(self, context: Context, paths: Paths) -> None:
        self._context = context
        self._paths = paths

    def into(self, bind: AssignmentSite) -> list[ConfigMerge]:
        """The merges into the object that an assignment created."""
        return self._by_assignment.get(id(bind.record), [])

    def of_self(self, function: Scope) -> list[ConfigMerge]:
        """The merges that a class makes into its instances; `function` is its constructor."""
        me = function.parameters[0] if function.parameters else "self"
        merges = self.of(scope_at(self._context, function.module, 0))
        inside = [merge for merge in merges if merge.holder.scope.owner is function.owner]
        return [config_merge for config_merge in inside if config_merge.holder.written in (me, f"{me}.__dict__")]

    @cached_property
    def _by_assignment(self) -> dict[int, list[ConfigMerge]]:
        assignment: dict[int, list[ConfigMerge]] = defaultdict(list)
        for path, module in self._context.project.modules.items():
            if self._paths.modules is None or path in self._paths.modules:
                for merge in self.of(scope_at(self._context, module, 0)):
                    for bind in _holders(merge.holder, self._paths):
                        assignment[id(bind.record)].append(merge)
        return assignment

    def of(self, module: Scope) -> list[ConfigMerge]:
        """All merges in the code of a module."""
        return self._context.memoize(("merge", module), lambda: [*_by_calls(module), *_by_items(module)])


@walker(_DEPTH, list)
def _holders(holder: Expr, paths: Paths) -> list[AssignmentSite]:
    """The assignments that created an object, including those of its aliases."""
    site = holder.call
    if site is not None:
        return _holders(site.args[0], paths) if site.last == "vars" and site.record.args else []
    assignments = holder.assignments[:_MOST]
    for bind in tuple(assignments):
        if bind.value.written or bind.value.call is not None:
            assignments += _holders(bind.value, paths)
    function = None if assignments else holder.parameter_of
    if function is not None:
        for argument in paths.arguments(function, holder.written, Followed(holder))[:_CALLERS]:
            assignments += _holders(argument.expr, paths)
    return assignments


def _by_calls(module: Scope) -> Iterator[ConfigMerge]:
    for site in module.calls_named(*READS, *_TAKES):
        last, receiver = site.last, site.receiver
        if last == "setattr":
            source = _looped(site.scope) if len(site.record.args) > 2 else None
            if source is not None:
                yield ConfigMerge(site.args[0], source)
        elif receiver is not None and last in READS:
            if not last.startswith("read") or "onfigParser" in site.name:
                yield ConfigMerge(receiver, reader=site)
        elif receiver is not None:
            spread = [site.expr(value) for name, value in site.record.keywords if name == "**"]
            for value in (*site.args[:1], *spread):
                yield ConfigMerge(_bare(receiver), value)


def _by_items(module: Scope) -> Iterator[ConfigMerge]:
    for target, records in module.module.dotted.items():
        starred = target.endswith("[*]")
        holder = target.rpartition("[")[0] if starred else target.removesuffix(".__dict__")
        for record in records if holder != target else ():
            bind = assignment_at(module.context, module.module, record)
            source = _looped(bind.scope) if starred else bind.value
            if source is not None:
                yield ConfigMerge(_bare(bind.scope.named(holder, bind.line)), source)


def _looped(scope: Scope) -> Expr | None:
    """The mapping whose entries the loop around a block iterates over."""
    if scope.loop is None:
        return None
    over = (scope.loop.test.operands("iter") or [scope.loop.test])[0]
    site = over.call
    if site is not None:
        if site.last not in ("items", "iteritems", "keys"):
            return None
        return site.args[0] if site.record.args else site.receiver
    return over if over.written else None


def _bare(holder: Expr) -> Expr:
    """The object behind its dictionary: ``args`` for ``args.__dict__`` and ``vars(args)``."""
    site = holder.call
    if site is not None:
        return site.args[0] if site.last == "vars" and site.record.args else holder
    return holder.scope.named(holder.written.removesuffix(".__dict__"), holder.line) if holder.written else holder
