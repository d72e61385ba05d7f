"""What the scripts of a project make of their command lines: arguments of frameworks, some with other defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_arguments import configuring_call, frameworks_by_import
from npulint.facts.code import Code, Ref, Value
from npulint.model.values.context import Context, once

_OF_TRAINERS = frozenset(("transformers", "trl"))
_TRAINER = lazy_compile(r"^(?:transformers|trl|optimum|peft|unsloth|sentence_transformers|swift|setfit)\..*Trainer\w*$")


def frameworks_of(context: Context, entry: str) -> list[str]:
    """The frameworks whose names the modules of a script use."""

    def work() -> list[str]:
        used = set(_of_reached(context, entry, _names))
        packages = {name.partition(".")[0] for name in used}
        return [
            framework
            for prefix, framework in frameworks_by_import()
            if prefix.partition(".")[0] in packages
            and any(name == prefix or name.startswith(f"{prefix}.") for name in used)
        ]

    return context.memoize(("configured by", entry), work)


def may_start(context: Context, framework: str) -> bool:
    """Whether a configuration file of a framework may be a training of its own: one of the Trainer only in a project
    that has no code for PyTorch or takes a Trainer from somewhere. Others read the names of its arguments as well, for
    a loop of their own."""
    return framework not in _OF_TRAINERS or _has_trainer(context)


@once
def _has_trainer(context: Context) -> bool:
    codes = [module.code for module in context.project.modules.values()]
    names = [name for code in codes for name in _names(code)]
    roots = {name.partition(".")[0] for name in names}
    return "torch" not in roots or any(_TRAINER.search(name) for name in names)


def fields_of(context: Context, entry: str) -> list[str]:
    """The fields to which classes of a script that extend the arguments of a framework give defaults."""

    def work() -> list[str]:
        return list(dict.fromkeys(_of_reached(context, entry, _fields)))

    return context.memoize(("arguments with defaults", entry), work)


def _of_reached(context: Context, entry: str, what: Callable[[Code], Iterator[str]]) -> Iterator[str]:
    """What a script and the modules that it loads have; many scripts load the same modules."""
    for path in context.project.reached_from(entry):
        yield from context.memoize(("configured", what.__name__, path), partial(_of_module, context, path, what))


def _of_module(context: Context, path: str, what: Callable[[Code], Iterator[str]]) -> list[str]:
    return list(dict.fromkeys(what(context.project.modules[path].code)))


def _names(code: Code) -> Iterator[str]:
    """The names that a module imports, and those of imported modules that it calls or extends:
    ``transformers.HfArgumentParser(...)``."""
    imported = _imported(code)
    yield from (
        f"{import_record.module}.{import_record.name}" if import_record.name else import_record.module
        for import_record in code.imports
    )
    called = [call.callee for call in code.calls]
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
    yield from (assignment.target for assignment in code.assignments if assignment.block in classes)


def _imported(code: Code) -> Mapping[str, str]:
    """What the names mean that a module imports."""
    return {
        import_record.alias
        or import_record.name
        or import_record.module: f"{import_record.module}.{import_record.name}"
        if import_record.name
        else import_record.module
        for import_record in code.imports
        if not import_record.level
    }


def _canonical(value: Value, imported: Mapping[str, str]) -> str:
    """The canonical name of a name that was imported, or belongs to an imported module; else empty."""
    if not isinstance(value, Ref):
        return ""
    first, dot, rest = value.name.partition(".")
    return f"{imported[first]}{dot}{rest}" if first in imported else ""
