"""Imports of one name in the branches of a condition: outside of them the name means either."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npulint.facts.code import Import
from npulint.model.code.module import Module
from npulint.model.code.project import Project

_DEEP = 4  # modules that import from each other


def imports_at(module: Module, record: Import, scope: int, block: int) -> list[Import]:
    """The imports that may have bound the name of an import of a scope for what stands in a block: this one, unless the
    block is outside of the branches in which several stand."""
    records = module.branch_imports.get((scope, record.alias))
    if records is None:
        return [record]
    around = module.ancestors(block)
    inside = [record for record in records if record.block in around and record.block != scope]
    possible = [record for record in records if not module.are_alternatives(record.block, block)]
    return inside[-1:] or possible or records


class ImportMeanings:
    """What names mean that several imports may have bound. `of_import` gives the canonical name that one import
    binds."""

    def __init__(self, project: Project, of_import: Callable[[Module, Import], str]) -> None:
        self._project, self._of_import = project, of_import

    def meaning(self, module: Module, name: str, records: Sequence[Import]) -> str:
        """The canonical name that imports bind a name to; unknown if it may mean something of the project or another
        thing."""
        meanings = self._meanings(module, records)
        own = len(meanings) > 1 and any(":" in meaning for meaning in meanings)
        return f"?{name}" if own else meanings[0]

    def choices(self, module: Module, name: str, block: int) -> list[str]:
        """What a name may mean that is imported in the branches of a condition, here or where it is imported from, by
        canonical names; empty for other names."""
        for _ in range(_DEEP):
            scope = _scope_of_import(module, name, block)
            records = imports_at(module, module.imports[scope][name], scope, block) if scope >= 0 else []
            if len(records) > 1:
                return self._meanings(module, records)
            base = self._project.source(records[0], module) if records and records[0].name else None
            if base is None:
                return []
            module, name, block = base, records[0].name, 0
        return []

    def _meanings(self, module: Module, records: Sequence[Import]) -> list[str]:
        """What imports bind a name to, but for those from packages of the project that have no such module: where these
        run, the program stops."""
        there = [record for record in records if not self._is_missing(module, record)]
        return list(dict.fromkeys(self._of_import(module, record) for record in there or records))

    def _is_missing(self, module: Module, record: Import) -> bool:
        """Whether an import is of a package of the project, in which there is no module of that name."""
        root, *inner = record.module.split(".")
        if record.level or not inner or self._project.find(record.module, module) is not None:
            return False
        return module.name.startswith(f"{root}.")


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
