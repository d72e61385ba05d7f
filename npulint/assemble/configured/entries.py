"""What the scripts of a project make of their command lines: arguments of frameworks, some with other defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.data.training_arguments import configuring_call, frameworks_by_import
from npulint.facts.code import Code, Ref, Value


def frameworks_of(context: Context, entry: str) -> list[str]:
    """The frameworks whose names the modules of a script use."""

    def work() -> list[str]:
        used = {name for module in _reached(context, entry) for name in _of_module(context, module, _names)}
        return [
            framework
            for prefix, framework in frameworks_by_import()
            if any(name == prefix or name.startswith(f"{prefix}.") for name in used)
        ]

    return context.memoize(("configured by", entry), work)


def fields_of(context: Context, entry: str) -> list[str]:
    """The fields to which classes of a script that extend the arguments of a framework give defaults."""

    def work() -> list[str]:
        found = (name for module in _reached(context, entry) for name in _of_module(context, module, _fields))
        return list(dict.fromkeys(found))

    return context.memoize(("arguments with defaults", entry), work)


def _of_module(context: Context, module: Module, what: Callable[[Code], Iterator[str]]) -> list[str]:
    """What a module has; many scripts use the same modules."""
    return context.memoize(("configured", what.__name__, module.path), lambda: list(dict.fromkeys(what(module.code))))


def _reached(context: Context, entry: str) -> Iterator[Module]:
    """A script and the modules that it uses."""
    seen, queue = {entry}, [entry]
    while queue:
        module = context.project.modules[queue.pop()]
        yield module
        more = [path for path in context.project.uses(module.path) if path not in seen]
        seen.update(more)
        queue += more


def _names(code: Code) -> Iterator[str]:
    """The names that a module imports, and those of imported modules that it calls or extends:
    ``transformers.HfArgumentParser(...)``."""
    imported = _imported(code)
    yield from (f"{one.module}.{one.name}" if one.name else one.module for one in code.imports)
    called = [one.callee for one in code.calls]
    for one in (*called, *(base for block in code.blocks for base in block.bases)):
        name = _canonical(one, imported)
        if name:
            yield name


def _fields(code: Code) -> Iterator[str]:
    imported = _imported(code)
    classes = {
        number
        for number, block in enumerate(code.blocks)
        if any(configuring_call(_canonical(base, imported)) is not None for base in block.bases)
    }
    yield from (one.target for one in code.assignments if one.block in classes)


def _imported(code: Code) -> Mapping[str, str]:
    """What the names mean that a module imports."""
    return {
        one.alias or one.name or one.module: f"{one.module}.{one.name}" if one.name else one.module
        for one in code.imports
        if not one.level
    }


def _canonical(value: Value, imported: Mapping[str, str]) -> str:
    """The canonical name of a name that was imported, or belongs to an imported module; else empty."""
    if not isinstance(value, Ref):
        return ""
    first, dot, rest = value.name.partition(".")
    return f"{imported[first]}{dot}{rest}" if first in imported else ""
