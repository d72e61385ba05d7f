"""Imports of one name in the branches of a condition: outside of them the name means either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npulint.facts.code import Import

if TYPE_CHECKING:
    from npulint.model.code.module import Module
    from npulint.model.code.names import Names

_DEEP = 4  # modules that import from each other


def branch_imports(module: Module) -> dict[tuple[int, str], list[Import]]:
    """By scope and name the imports that stand in different branches of one condition, where a name has such."""
    several: dict[tuple[int, str], list[Import]] = {}
    for record in module.code.imports:
        if record.alias:
            several.setdefault((module.scope[record.block], record.alias), []).append(record)
    return {
        key: records
        for key, records in several.items()
        if len(records) > 1 and any(_exclude(module, records[0].block, other.block) for other in records[1:])
    }


def imports_at(module: Module, scope: int, name: str, block: int) -> list[Import]:
    """The imports that may have bound a name of a scope for what stands in a block: one, unless the block is outside of
    the branches in which several stand."""
    records = module.derive(branch_imports).get((scope, name))
    if records is None:
        return [module.imports[scope][name]]
    around = module.ancestors(block)
    inside = [record for record in records if record.block in around and record.block != scope]
    possible = [record for record in records if not _exclude(module, record.block, block)]
    return inside[-1:] or possible or records


def _exclude(module: Module, first: int, second: int) -> bool:
    """Whether two blocks stand in different branches of one condition."""
    one, other = set(module.ancestors(first)), set(module.ancestors(second))
    return any(
        block in around and opposite in elsewhere
        for around, elsewhere in ((one, other), (other, one))
        for block in around
        if (opposite := module.if_of_else.get(block, -1)) >= 0
    )


def meaning_of_imports(names: Names, module: Module, name: str, records: list[Import]) -> str:
    """The canonical name that imports bind a name to; unknown if it may mean something of the project or another
    thing."""
    meanings = _meanings(names, module, records)
    own = len(meanings) > 1 and any(":" in meaning for meaning in meanings)
    return f"?{name}" if own else meanings[0]


def _meanings(names: Names, module: Module, records: list[Import]) -> list[str]:
    """What imports bind a name to, but for those from packages of the project that have no such module: where these
    run, the program stops."""
    there = [record for record in records if not _is_missing(names, module, record)]
    return list(dict.fromkeys(names.of_import(module, record) for record in there or records))


def _is_missing(names: Names, module: Module, record: Import) -> bool:
    """Whether an import is of a package of the project, in which there is no module of that name."""
    root, *inner = record.module.split(".")
    if record.level or not inner or names.project.find(record.module, module) is not None:
        return False
    return module.name.startswith(f"{root}.")


def imported_choices(names: Names, module: Module, name: str, block: int) -> list[str]:
    """What a name may mean that is imported in the branches of a condition, here or where it is imported from, by
    canonical names; empty for other names."""
    for _ in range(_DEEP):
        scope = _scope_of_import(module, name, block)
        records = imports_at(module, scope, name, block) if scope >= 0 else []
        if len(records) > 1:
            return _meanings(names, module, records)
        base = names.project.source(records[0], module) if records and records[0].name else None
        if base is None:
            return []
        module, name, block = base, records[0].name, 0
    return []


def _scope_of_import(module: Module, name: str, block: int) -> int:
    """The scope around a block in which an import binds a name; -1 if something else does, or nothing."""
    here = block
    while here >= 0:
        if name in module.params.get(here, ()) or (module.scope[here] == here and name in module.names.get(here, {})):
            return -1
        if module.scope[here] == here and name in module.imports.get(here, ()):
            return here
        here = module.blocks[here].parent
    return -1
