"""Tables of back ends that name modules as texts: ``{"npu": "ops.npu:rope", "triton": Spec("ops.triton:rope")}``."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import CallResult, Const, Table, Value, nested, written_values
from npulint.model.code.module import Module
from npulint.model.running.importers import import_places
from npulint.model.values.context import Context, once

_ENTRY = lazy_compile(r"^([A-Za-z_]\w*(?:\.\w+)+)(?::\w+)?$")
_NPU = ("npu", "ascend")


@once
def modules_of_other_backends(context: Context) -> frozenset[str]:
    """The paths of modules that nothing imports, and that are named in such a table beside an entry for the NPU, for
    other back ends only."""
    for_npu: set[str] = set()
    for_others: set[str] = set()
    for module in context.project.modules.values():
        for table in _tables(module) if module.code.npu else ():
            for key, value in zip(table.keys, table.values, strict=True):
                named = for_npu if _is_npu(key) else for_others
                named.update(_modules(context, module, value))
    return frozenset(for_others - for_npu - import_places(context).keys())


def _tables(module: Module) -> Iterator[Table]:
    """The displays of a module that have an entry for the NPU and others."""
    for value, _, _ in written_values(module.code):
        for part in nested(value):
            if isinstance(part, Table) and any(map(_is_npu, part.keys)):
                yield part


def _is_npu(key: Value | None) -> bool:
    return isinstance(key, Const) and key.value in _NPU


def _modules(context: Context, module: Module, value: Value) -> Iterator[str]:
    """The modules that an entry names, also as an argument of what it calls."""
    values = [value]
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        values = [*call.args, *(argument for _, argument in call.keywords)]
    for text in values:
        match = _ENTRY.match(text.value) if isinstance(text, Const) and isinstance(text.value, str) else None
        found = None if match is None else context.project.find(match[1], module)
        if found is not None:
            yield found.path
