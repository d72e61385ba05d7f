"""Operators that the NPU lacks or that its documentation lists as unsupported; calls whose shape makes them slow."""

from __future__ import annotations

from functools import lru_cache, partial

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.tensors import on_host
from npulint.data.torch_api import Api, added, find, kernel, known_last_segments, refused, support
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact, Span

_KIND = "torch_api"
_SCATTERS = frozenset(("torch.scatter", "torch.Tensor.scatter", "torch.Tensor.scatter_"))
_GATHERS = frozenset(("torch.gather", "torch.Tensor.gather"))
_REPEATING = frozenset(("expand", "expand_as", "repeat", "tile", "broadcast_to"))


def matches(name: str) -> bool:
    """Recorded names of PyTorch, and methods of that name on tensors."""
    return name.rpartition(".")[2] in known_last_segments() and find(name) is not None


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``torch_api`` fact, unless these arguments make another operator of it."""
    found = find(name)
    if found is None:
        return []
    spelling, api = found
    call = module.code.calls[index]
    if spelling == "torch.Tensor.share_memory_":  # moves memory of the host, on tensors of the host
        return []
    if spelling in _SCATTERS and argument(call, "reduce", -1) is None:
        return []
    attrs = _said(api, context.torch) | {"what": _what(spelling)}
    if spelling in _GATHERS:
        position = 1 if spelling.startswith("torch.Tensor.") else 2
        if argument(call, "index", position) is None:
            return []
        attrs["along"] = partial(_along, module, call, position)
    if attrs["kernel"] in ("cpu", "backward_cpu", "none") and _made_by(".cpu()", context, module, call):
        return []
    if attrs["kernel"] == "no_gradient" and _made_by(".detach()", context, module, call):
        return []
    if attrs["group"] == "sparse_product":
        attrs["host"] = partial(_may_be_on_host, context, module, call)
    return [context.call_fact(_KIND, spelling, module, index, **attrs)]


def _made_by(method: str, context: Context, module: Module, call: Call) -> bool:
    """Whether an operator is given a tensor that its own line, or one before, has put through a method: ``.cpu()``
    copies it to the host."""
    value = call.args[0] if call.args else receiver_of(call)
    return value is not None and method in context.names.of_value(module, value, call.block, call.line)


def _may_be_on_host(context: Context, module: Module, call: Call) -> str:
    """Whether an argument may have been copied to the host before."""
    return "yes" if any(on_host(context, module, value, call.block, call.line) for value in call.args) else "no"


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """What is named without a call: base classes, and what stands in tables or is handed on."""
    last_segments = known_last_segments()
    found = []
    for block in module.blocks:
        for base in block.bases:
            if isinstance(base, Ref) and base.name.rpartition(".")[2] in last_segments:
                name = context.names.of_name(module, base.name, block.parent, block.line)
                found += _named(context, module, name, Span(block.line, 1, block.line, 1), block.parent, "base")
    mentions = [m for m in module.code.name_uses if m.name.rpartition(".")[2] in last_segments]
    idle = _idle(module) if mentions else set()
    for record in mentions:
        if (record.name, record.line) not in idle:
            name = context.names.of_name(module, record.name, record.block, record.line)
            span = Span(record.line, record.column, record.line, record.end_column)
            found += _named(context, module, name, span, record.block, "mention")
    return found


def _idle(module: Module) -> set[tuple[str, int]]:
    """Names by line that are found elsewhere (called, a base class, given another name) or only asked for a type."""
    found = {(bind.value.name, bind.line) for bind in module.code.assignments if isinstance(bind.value, Ref)}
    found.update((call.callee.name, call.line) for call in module.code.calls if isinstance(call.callee, Ref))
    found.update((base.name, b.line) for b in module.blocks for base in b.bases if isinstance(base, Ref))
    for index in module.calls_of("isinstance", "issubclass"):
        call = module.code.calls[index]
        for value in call.args[1:]:
            parts = value.items if isinstance(value, SequenceDisplay) else (value,)
            found.update(
                (p.name, line) for p in parts if isinstance(p, Ref) for line in range(call.line, call.end_line + 1)
            )
    return found


def _named(context: Context, module: Module, name: str, span: Span, block: int, what: str) -> list[Fact]:
    found = find(name) if name.startswith("torch.") else None
    if found is None or found[0] in _SCATTERS:
        return []
    attrs = _said(found[1], context.torch) | {"what": what}
    return [Fact(_KIND, found[0], module.path, span, attrs, None, context.around(module, block))]


def _what(spelling: str) -> str:
    if spelling.startswith("torch.Tensor."):
        return "method"
    return "class" if spelling.rpartition(".")[2][:1].isupper() else "function"


@lru_cache(maxsize=4096)
def _answers(api: Api, release: str) -> dict[str, str]:
    return {
        "support": support(api, release),
        "kernel": kernel(api, release),
        "versions_no": refused(api) or "-",
        "added": added(api),
        "ops": api.ops.replace(" ", ", "),
        "instead": api.instead,
        "group": api.group,
    }


def _said(api: Api, release: str) -> dict[str, object]:
    return dict(_answers(api, release))


def _along(module: Module, call: Call, position: int) -> str:
    """Whether the index of a gather is one column repeated along the others."""
    value = argument(call, "index", position)
    return "repeated" if value is not None and _is_repeated(module, value, call.block) else "other"


def _is_repeated(module: Module, value: Value, block: int, depth: int = 0) -> bool:
    if isinstance(value, CallResult):
        return module.callee_name(value.call) in _REPEATING
    if isinstance(value, Ref) and "." not in value.name and depth < 3:
        binds = module.names.get(module.scope[block], {}).get(value.name, ())
        return len(binds) > 0 and all(_is_repeated(module, b.value, b.block, depth + 1) for b in binds)
    return (
        isinstance(value, Op) and value.op == "if" and all(_is_repeated(module, v, block) for v in value.operands[1:])
    )
