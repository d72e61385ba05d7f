"""Constants of configuration modules that nothing reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.project import Project
from npulint.facts.code import Import, Op, Ref, SequenceDisplay, Table, Unknown, Value

_INNER = frozenset(("function", "lambda", "class"))
_ALL = "*"


def unread(context: Context, module: Module, paths: Collection[str]) -> frozenset[str]:
    """The names that a module binds outside functions and that no module at `paths` reads, as far as that is sure: the
    module must have nothing but constants, and be imported and used only as ``module.NAME``."""
    names = context.memoize(("constants", module.path), lambda: _constants(module))
    if not names:
        return frozenset()
    project = context.project
    users = [project.modules[path] for path in project.users.get(module.path, ()) if path in paths]
    read = {name for value in _values(module) for name in _refs(value)}
    read.update(record.name for user in users for record in _loading(project, user, module))
    if not users or _ALL in read or any(_is_given(project, user, module) for user in users):
        return frozenset()
    left = names - read
    for path in paths if left else ():
        left -= context.memoize(("mentioned", path), partial(_mentioned, project.modules[path]))
    return frozenset(left)


def _constants(module: Module) -> frozenset[str]:
    """The names that a module of nothing but constants binds."""
    if module.code.light or any(block.kind in _INNER for block in module.blocks):
        return frozenset()
    return frozenset(
        bind.target for bind in module.code.assignments if "." not in bind.target and "[" not in bind.target
    )


def _mentioned(module: Module) -> frozenset[str]:
    return frozenset(mention.name.rpartition(".")[2] for mention in module.code.name_uses)


def _values(module: Module) -> Iterator[Value]:
    for bind in module.code.assignments:
        yield bind.value
    for call in module.code.calls:
        yield from (call.callee, *call.args, *(value for _, value in call.keywords))
    yield from (block.test for block in module.blocks if not isinstance(block.test, Unknown))


def _refs(value: Value) -> Iterator[str]:
    """The names in a value; ``*`` where something in it is not known."""
    waiting: list[Value] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Ref):
            yield part.name.partition(".")[0]
        elif isinstance(part, SequenceDisplay):
            waiting += part.items
        elif isinstance(part, Op):
            waiting += part.operands
        elif isinstance(part, Unknown):
            yield _ALL
        elif isinstance(part, Table):
            waiting += [inner for inner in (*part.keys, *part.values) if inner is not None]


def _loading(project: Project, user: Module, module: Module) -> Iterator[Import]:
    return (record for record in user.code.imports if module in project.imported(user, record))


def _is_given(project: Project, user: Module, module: Module) -> bool:
    """Whether the module itself is given to something, as in ``vars(config)``, or gets another name."""
    own = ("", module.name.rpartition(".")[2])
    records = [record for record in _loading(project, user, module) if record.name in own]
    names = {record.alias or record.name or record.module.partition(".")[0] for record in records}
    given = (value for call in user.code.calls for value in (*call.args, *(v for _, v in call.keywords)))
    bound = (bind.value for bind in user.code.assignments)
    return any(isinstance(value, Ref) and value.name in names for value in (*given, *bound))
