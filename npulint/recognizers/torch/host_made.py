"""Tensors that are made on the host although they are needed on the device."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at
from npulint.model.values.walker import walker

_FACTORIES = frozenset(
    """torch.zeros torch.ones torch.full torch.empty torch.tensor torch.arange torch.linspace torch.eye torch.rand
    torch.randn torch.randint torch.FloatTensor torch.LongTensor torch.Tensor torch.IntTensor""".split()
)
_FROM_ARRAYS = frozenset(("torch.from_numpy", "torch.as_tensor"))


def is_made_on_host(value: Expr) -> bool:
    """Whether a value is a new tensor without a device: ``torch.zeros(n)``, or a table of numbers that was an array."""
    made = value.call
    if made is None or made.has_keyword("device") or made.has_keyword("**"):
        return False
    return made.name in _FACTORIES or (made.name in _FROM_ARRAYS and any(map(_is_table, made.args[:1])))


def _is_table(value: Expr) -> bool:
    """Whether an array is an attribute of an object, also where callers pass it: it was there before the step."""
    if value.written.startswith("self."):
        return True
    function = value.parameter_of
    passed = () if function is None else function.passed(value.written)
    return any(expr is not None and expr.written.startswith("self.") for _, expr in passed)


def stored_from_host(module: Scope) -> Iterator[CallSite]:
    """The calls in a module that make a tensor on the host whose elements are then stored into one of the device:
    ``gain[2:6] = torch.tensor(shape)``."""
    stores = [
        assignment for target, records in module.module.dotted.items() if target.endswith("]") for assignment in records
    ]
    for record in stores:
        store = assignment_at(module.context, module.module, record)
        made = _source(store.value)
        if made is not None and is_made_on_host(made.result) and _is_on_device(store):
            yield made


@walker(depth=6, otherwise=lambda: None)
def _source(value: Expr) -> CallSite | None:
    """The call whose result, or part of it, a value is."""
    if value.operator == "[]":
        return _source(value.operands()[0])
    return value.call


def _is_on_device(store: AssignmentSite) -> bool:
    """Whether the tensor that is stored into was made on a device: with a ``device`` that is not the host."""
    made = [call for assignment in store.holder.assignments if (call := _source(assignment.value)) is not None]
    devices = [device for call in made if (device := call.argument("device")) is not None]
    return bool(devices) and all(device.single != "cpu" for device in devices)
