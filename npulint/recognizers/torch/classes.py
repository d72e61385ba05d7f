"""Classes of a project that are never instantiated: unused heads in a copied model file."""

from __future__ import annotations

from npulint.facts.code import Ref
from npulint.model.code.module import Module
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Scope, module_scopes


def is_idle(scope: Scope) -> bool:
    """Whether code is in a class that nothing names, in a file of which another class is used by name. Registered
    (decorated) classes count as used, and so do all classes of a project that looks up classes by name."""
    context, owner = scope.context, scope.owner
    if owner is None or owner.decorators or owner.last_name in _used(context):
        return False
    return any(other.last_name in _used(context) for other in scope.blocks_of("class")) and not _looks_up(context)


@once
def _used(context: Context) -> frozenset[str]:
    """The last segments of what the project calls, passes on or derives from."""
    return frozenset().union(*(module.derive(_used_in) for module in context.project.modules.values()))


def _used_in(module: Module) -> set[str]:
    code = module.code
    found = {module.callee_name(index) for index in range(len(code.calls))}
    for call in code.calls:
        if isinstance(call.callee, Ref):
            found.update(call.callee.name.split("."))
    for written, block in {(record.name, record.block) for record in code.name_uses}:
        owner = module.class_of(block)
        own = module.blocks[owner].name.rpartition(".")[2] if owner >= 0 else ""  # super(Net, self) is no use of Net
        found.update([part for part in written.split(".") if part != own])
    bases = (base for one in module.blocks if one.kind == "class" for base in one.bases)
    found.update(base.name.rpartition(".")[2] for base in bases if isinstance(base, Ref))
    return found


@once
def _looks_up(context: Context) -> bool:
    """Whether an attribute of a module is looked up by a computed name."""
    return any(_is_lookup(call) for module in module_scopes(context) for call in module.calls_named(*_LOOKUPS))


_LOOKUPS = ("getattr", "globals")


def _is_lookup(call: CallSite) -> bool:
    code = call.module.code
    if call.last == "globals":
        return not any(
            assignment.line == call.line and assignment.target.endswith("]") for assignment in code.assignments
        )
    if len(call.args) < 2 or call.args[1].is_literal or not call.args[0].written:
        return False
    return call.args[0].written in {
        import_record.alias or import_record.name or import_record.module for import_record in code.imports
    }
