"""Optimizer classes that are handed on instead of called: in a table, as an argument, as a base class."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.optimizer_classes import FUSED, TABLED, counterpart, family, last_of
from npulint.facts.code import NameUse, Op, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Fact, Span

_ASKED = frozenset(
    "isinstance issubclass hasattr type print callable signature getfullargspec getsource repr str id".split()
)


def named(context: Context, module: Module) -> list[Fact]:
    """The optimizer classes that are only named, where nobody here calls them by that name."""
    found: list[tuple[str, NameUse]] = []
    for record in module.code.name_uses:
        if last_of(record.name) in TABLED or "." not in record.name:
            name = context.names.of_name(module, record.name, record.block, record.line)
            kind = family(context, name) if last_of(name) in TABLED and "()" not in name else None
            if kind is not None:
                found.append((name, record))
    if not found:
        return []
    handed = _handed(context, module)
    bound = {bind.value.name for bind in module.code.assignments if isinstance(bind.value, Ref)}
    called = _called_by_alias(context, module) if bound else set()
    lines = {(n, call.line) for n, call in zip(context.names.of_calls(module), module.code.calls, strict=True)}
    return [
        _mention(context, module, name, record)
        for name, record in found
        if (name, record.line) not in lines and (record.name in handed or (record.name in bound and name not in called))
    ]


def _called_by_alias(context: Context, module: Module) -> set[str]:
    """What the module calls by another name than its own: such a call is reported itself."""
    names = context.names.of_calls(module)
    return {
        name
        for call, name in zip(module.code.calls, names, strict=True)
        if isinstance(call.callee, Ref) and last_of(call.callee.name) != last_of(name)
    }


def _mention(context: Context, module: Module, name: str, record: NameUse) -> Fact:
    span = Span(record.line, record.column, record.line, record.end_column)
    attrs = _attributes(context, name, "name") | {"replaced": _beside(context, module)}
    return Fact("optimizer", name, module.path, span, attrs, None, context.around(module, record.block))


def _beside(context: Context, module: Module) -> str:
    """Whether the module names a fused class as well: a table with both."""
    names = (context.names.of_name(module, m.name, m.block, m.line) for m in module.code.name_uses if "Npu" in m.name)
    return "yes" if any(FUSED.match(name) for name in names) else "no"


def _handed(context: Context, module: Module) -> set[str]:
    """Names that stand in a table or list, are returned or given to a call that may call them."""
    found: set[str] = set()
    for returned in module.code.returns:
        _add(returned.value, found)
    for bind in module.code.assignments:
        if not isinstance(bind.value, Ref) or bind.target.endswith("]"):
            _add(bind.value, found)
    for index, call in enumerate(module.code.calls):
        if module.callee_name(index) in _ASKED or context.names.of_call(module, index) == "functools.partial":
            continue
        for value in (*call.args, *(v for _, v in call.keywords)):
            _add(value, found)
    for block in module.blocks:
        for value in block.defaults:
            _add(value, found)
    return found


def _add(value: Value, names: set[str], depth: int = 0) -> None:
    if isinstance(value, Ref):
        names.add(value.name)
    elif depth < 4 and isinstance(value, SequenceDisplay):
        for item in value.items:
            _add(item, names, depth + 1)
    elif depth < 4 and isinstance(value, Table):
        for item in value.values:
            _add(item, names, depth + 1)
    elif depth < 4 and isinstance(value, Op) and value.op in ("if", "or"):
        for item in value.operands:
            _add(item, names, depth + 1)


def subclasses(context: Context, module: Module) -> list[Fact]:
    """Own classes on top of a stock optimizer; one that has its own ``step`` computes something else."""
    found = []
    for block, record in enumerate(module.blocks):
        if record.kind != "class" or not record.bases or module.definition(block, "step") >= 0:
            continue
        for base in record.bases:
            if not isinstance(base, Ref) or last_of(base.name) in ("object", "Module", "Dataset"):
                continue
            name = context.names.of_name(module, base.name, record.parent, record.line)
            if family(context, name) in ("stock", "apex_gpu"):
                span = Span(record.line, 1, record.line, 1)
                attrs = _attributes(context, name, "subclass") | {"replaced": "no"}
                around = context.around(module, record.parent)
                found.append(Fact("optimizer", name, module.path, span, attrs, None, around))
    return found


def _attributes(context: Context, name: str, via: str) -> dict[str, str | None]:
    return {
        "what": "torch",
        "family": family(context, name),
        "fused": counterpart(name),
        "via": via,
        "spelling": "right",
        "extra": "",
        "amp": "unknown",
        "scaler": "unknown",
        "called": "indirect",
    }
