"""Libraries that need a GPU or an Ascend build: where they are imported and whether they are used there."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.execution_order import placed
from npulint.data.libraries import Library, library, library_roots
from npulint.facts.code import Import, Ref
from npulint.facts.model import Fact, GenericFact, Span


def matches(name: str) -> bool:
    """Calls tell nothing that the imports do not."""
    return False


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """No facts."""
    return []


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """A ``library`` fact for each import of a recorded library that is no module of the project."""
    found: list[Fact] = []
    seen: set[tuple[str, int]] = set()
    for record in module.code.imports:
        if record.level or record.module.partition(".")[0] not in library_roots():
            continue
        name = record.module if record.name in ("", "*") else f"{record.module}.{record.name}"
        known = library(name)
        if known is None or (known.name, record.line) in seen or context.project.imported(module, record):
            continue
        if _in_project(context, module, known):
            continue
        seen.add((known.name, record.line))
        found.append(_fact(context, module, record, known, name))
    return found


def _in_project(context: Context, module: Module, known: Library) -> bool:
    """Whether the project brings a package of that name: a stub, or a copy that was adapted."""
    root = known.name.partition(".")[0]
    if root == "torch":
        return False
    key = ("library in project", module.folder, root)
    return context.memoize(key, lambda: context.project.find(root, module) is not None)


def _fact(context: Context, module: Module, record: Import, known: Library, name: str) -> Fact:
    attrs = {
        "member": name,
        "group": known.group,
        "works": known.works,
        "substitute": known.substitute,
        "placed": placed(scope_at(context, module, record.block)),
        "used": lambda: _used(context, module, record, name),
    }
    span = Span(record.line, record.column, record.line, record.end_column)
    return GenericFact("library", known.name, module.path, span, attrs, None, context.around(module, record.block))


def _used(context: Context, module: Module, record: Import, name: str) -> str:
    """Whether the module calls or names what the import binds."""
    if record.name == "*":
        return "unknown"
    inside = (name, name + ".")
    if any(called == name or called.startswith(inside[1]) for called in context.names.of_calls(module)):
        return "yes"
    written = record.alias or name
    named = (mention.name for mention in module.code.name_uses)
    if any(one == written or one.startswith(written + ".") for one in named):
        return "yes"
    bases = (base for block in module.blocks for base in (*block.bases, *block.decorators) if isinstance(base, Ref))
    return "yes" if any(base.name == written or base.name.startswith(written + ".") for base in bases) else "no"
