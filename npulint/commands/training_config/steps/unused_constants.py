"""Constants of configuration modules that nothing reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from npulint.facts.code import Import
from npulint.model.code.module import Module
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from npulint.model.values.cursors import Expr, Scope, scope_at

_INNER = frozenset(("function", "lambda", "class"))
_ALL = "*"


def unread(context: Context, module: Module, paths: Collection[str]) -> frozenset[str]:
    """The module-level names that no module at `paths` reads, if that is certain: the module must contain only
    constants, and be imported and used only as ``module.NAME``."""
    names = context.memoize(("constants", module.path), lambda: _constants(module))
    if not names:
        return frozenset()
    project = context.project
    users = [project.modules[path] for path in project.users.get(module.path, ()) if path in paths]
    read = {name for value in _values(scope_at(context, module, 0)) for name in _refs(value)}
    read.update(record.name for user in users for record in _loading(project, user, module))
    if not users or _ALL in read or any(_is_passed(context, user, module) for user in users):
        return frozenset()
    left = names - read
    for path in paths if left else ():
        left -= context.memoize(("mentioned", path), partial(_mentioned, project.modules[path]))
    return frozenset(left)


def _constants(module: Module) -> frozenset[str]:
    """The names that a module of only constants assigns."""
    if module.code.light or any(block.kind in _INNER for block in module.blocks):
        return frozenset()
    return frozenset(
        bind.target for bind in module.code.assignments if "." not in bind.target and "[" not in bind.target
    )


def _mentioned(module: Module) -> frozenset[str]:
    return frozenset(mention.name.rpartition(".")[2] for mention in module.code.name_uses)


def _values(module: Scope) -> Iterator[Expr]:
    """What a module without functions assigns, calls, passes and tests."""
    for bind in module.assignments:
        yield bind.value
    for site in module.all_calls:
        yield from (site.callee, *site.arguments)
    tests = (scope.test for scope in module.blocks_of("if", "else", "loop", "with"))
    yield from (test for test in tests if not test.is_unknown)


def _refs(expr: Expr) -> Iterator[str]:
    """The names in an expression; ``*`` if something in it is unknown."""
    return (_ALL if part.is_unknown else part.written.partition(".")[0] for part in expr.nested)


def _loading(project: Project, user: Module, module: Module) -> Iterator[Import]:
    return (record for record in user.code.imports if module in project.imported(user, record))


def _is_passed(context: Context, user: Module, module: Module) -> bool:
    """Whether the module itself is passed to something, as in ``vars(config)``, or assigned to a name."""
    own = ("", module.name.rpartition(".")[2])
    records = [record for record in _loading(context.project, user, module) if record.name in own]
    names = {record.alias or record.name or record.module.partition(".")[0] for record in records}
    scope = scope_at(context, user, 0)
    passed = (value for site in scope.all_calls for value in site.arguments)
    return any(value.written in names for value in (*passed, *(bind.value for bind in scope.assignments)))
