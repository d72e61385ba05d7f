"""Bindings: which assignments may give a name its value, across scopes, classes, modules and star imports."""

from __future__ import annotations

from npulint.facts.code import Assignment
from npulint.model.code.branch_imports import imports_at
from npulint.model.code.module import Module, bound_before
from npulint.model.code.names import Names
from npulint.model.code.recursion import Recursion

Bound = tuple[Module, Assignment]
"""An assignment and the module that it stands in."""


class Bindings:
    """Finds assignments in all modules of a project."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._asked = Recursion(depth=9)

    def of(self, module: Module, name: str, block: int, line: int) -> list[Bound]:
        """The assignments that may give a dotted name its value at a place; empty when it has none here
        (an import of a framework, a parameter, a builtin)."""
        head, _, last = name.rpartition(".")
        if not head:
            return self._plain(module, last, block, line)
        owner = module.owner_of_self(head, block)
        if owner >= 0:
            return self._of_self(module, owner, last, block, line)
        assigned = module.dotted.get(name, [])
        if assigned and module.owner_of_self(head.partition(".")[0], block) >= 0:
            assigned = [b for b in assigned if module.class_of(b.block) == module.class_of(block)]
        if assigned:
            return [(module, b) for b in module.reaching(sorted(assigned, key=_line), block, line)]
        return self._member(self.names.of_name(module, head, block, line), last)

    def _of_self(self, module: Module, owner: int, attribute: str, block: int, line: int) -> list[Bound]:
        bound = self.attribute(module, owner, attribute)
        here = [b for m, b in bound if m is module and module.function_of(b.block) == module.function_of(block)]
        if any(b.line < line for b in here):
            return [(module, b) for b in module.reaching(sorted(here, key=_line), block, line)]
        return bound

    def attribute(self, module: Module, owner: int, attribute: str) -> list[Bound]:
        """The assignments of an attribute in a class, else in the first of its bases that has any."""
        binds = module.attributes.get(owner, {}).get(attribute) or module.names.get(owner, {}).get(attribute)
        question = (module, owner, attribute)
        if binds or not module.blocks[owner].bases or not self._asked.enter(question):
            return [(module, b) for b in binds or ()]
        inherited = self._inherited(module, owner, attribute)
        self._asked.leave(question)
        return inherited

    def _inherited(self, module: Module, owner: int, attribute: str) -> list[Bound]:
        record = module.blocks[owner]
        for base in record.bases:
            target = self.names.function(self.names.of_value(module, base, record.parent, record.line))
            inherited = self.attribute(*target, attribute) if target is not None else []
            if inherited:
                return inherited
        return []

    def _member(self, meaning: str, name: str) -> list[Bound]:
        if meaning.endswith(":"):
            home = self.names.named(meaning[:-1])
            return self._exported(home, name) if home is not None else []
        target = self.names.function(meaning) if ":" in meaning else None
        if target is not None and target[0].blocks[target[1]].kind == "class":
            return self.attribute(*target, name)
        return []

    def _plain(self, module: Module, name: str, block: int, line: int) -> list[Bound]:
        here = block
        while here >= 0:
            record = module.blocks[here]
            if name in module.params.get(here, ()):
                binds = module.names.get(here, {}).get(name, [])  # none of a comprehension's
                before = bound_before(binds, line)
                return [(module, b) for b in module.reaching(before, block, line)] if before else []
            if module.scope[here] == here and (record.kind != "class" or here == module.scope[block]):
                assignments = module.names.get(here, {}).get(name)
                if assignments:
                    return [(module, b) for b in module.reaching(assignments, block, line)]
                if name in module.imports.get(here, ()):
                    return self._imported(module, here, name, block)
            here = record.parent
        return self._starred(module, name)

    def _exported(self, home: Module, name: str) -> list[Bound]:
        binds = home.names.get(0, {}).get(name)
        question = (home, name)
        if binds or not self._asked.enter(question):
            return [(home, b) for b in (binds or ())[::-1]]
        is_imported = name in home.imports.get(0, ())
        exported = self._imported(home, 0, name, 0) if is_imported else self._starred(home, name)
        self._asked.leave(question)
        return exported

    def _imported(self, module: Module, scope: int, name: str, block: int) -> list[Bound]:
        exported: list[Bound] = []
        for record in imports_at(module, module.imports[scope][name], scope, block):
            home = self.names.project.source(record, module) if record.name else None
            bound = self._exported(home, record.name) if home is not None else []
            if not bound:
                return []
            exported += bound
        return exported

    def _starred(self, module: Module, name: str) -> list[Bound]:
        for record in module.stars:
            home = self.names.project.find(record.module, module, record.level)
            starred = self._exported(home, name) if home is not None and not name.startswith("_") else []
            if starred:
                return starred
        return []


def taker(module: Module, name: str, block: int) -> int:
    """The innermost function around `block` that has a parameter of this name, or -1."""
    function = module.function_of(block)
    while function >= 0 and name not in module.blocks[function].params:
        function = module.function_of(module.blocks[function].parent)
    return function


def surely_set(module: Module, name: str, block: int, binds: list[Bound]) -> bool:
    """Whether one of the assignments of an object's attribute runs on every way to `block`; plain names and own
    attributes have no other values."""
    head = name.partition(".")[0]
    if head == name or module.owner_of_self(head, block) >= 0:
        return True
    around = module.ancestors(block)
    return any(
        home.blocks[bind.block].kind in ("module", "class") or (home is module and bind.block in around)
        for home, bind in binds
    )


def may_be_passed(module: Module, function: int, block: int, binds: list[Bound]) -> bool:
    """Whether no assignment on the way has certainly replaced a parameter of `function`."""
    around = [inner for inner in module.ancestors(block) if inner >= function]
    return not any(home is module and bind.block in around for home, bind in binds)


def _line(bind: Assignment) -> int:
    return bind.line
