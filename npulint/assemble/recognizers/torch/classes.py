"""Classes that a project brings along and never makes an object of: the other heads of a copied model file."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import Const, Ref

_BY_NAME = ("getattr", "globals")


def is_idle(context: Context, module: Module, block: int) -> bool:
    """Whether code stands in a class that nobody names, in a file of which another class is used by its name.

    A registered (decorated) class counts as used, and so do all of a project that looks its classes up by name.
    """
    owner = module.class_of(block)
    if owner < 0 or module.blocks[owner].decorators or _last(module, owner) in _used(context):
        return False
    return any(
        record.kind == "class" and _last(module, other) in _used(context) for other, record in enumerate(module.blocks)
    ) and not context.memoize("classes by name", lambda: _looks_up(context))


def _last(module: Module, block: int) -> str:
    return module.blocks[block].name.rpartition(".")[2]


def _used(context: Context) -> frozenset[str]:
    """The last segments of what the project calls, hands on or derives from."""

    def look() -> frozenset[str]:
        found: set[str] = set()
        for module in context.project.modules.values():
            found.update(module.callee_name(index) for index in range(len(module.code.calls)))
            for record in module.code.name_uses:
                owner = module.class_of(record.block)
                own = _last(module, owner) if owner >= 0 else ""  # super(Net, self) is no use of Net
                found.update(part for part in record.name.split(".") if part != own)
            found.update(b.name.rpartition(".")[2] for r in module.blocks for b in r.bases if isinstance(b, Ref))
            found.update(
                part
                for call in module.code.calls
                if isinstance(call.callee, Ref)
                for part in call.callee.name.split(".")
            )
        return frozenset(found)

    return context.memoize("names used", look)


def _looks_up(context: Context) -> bool:
    """Whether something is fetched from a module by a computed name."""
    for module in context.project.modules.values():
        imported = {record.alias or record.name or record.module for record in module.code.imports}
        for index in module.calls_of(*_BY_NAME):
            args = module.code.calls[index].args
            if module.callee_name(index) == "globals":
                line = module.code.calls[index].line
                if not any(bind.line == line and bind.target.endswith("]") for bind in module.code.assignments):
                    return True
            if (
                len(args) > 1
                and isinstance(args[0], Ref)
                and args[0].name in imported
                and not isinstance(args[1], Const)
            ):
                return True
    return False
