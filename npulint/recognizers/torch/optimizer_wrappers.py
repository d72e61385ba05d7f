"""Classes that hold an optimizer and step it, without being one: they schedule its learning rate."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Scope, module_scopes

_OPTIMIZER = lazy_compile(r"[Oo]ptim|Opt(?![a-z])|^opt")


@once
def optimizer_wrapper(context: Context) -> str | None:
    """The place (``path:line:column``) where a class of the project steps the optimizer that it holds, in its own
    ``step`` and without ``param_groups``, for which a gradient scaler asks an optimizer; empty if there is none, None
    if there are several."""
    steps = (call for module in module_scopes(context) for call in module.calls_named("step"))
    found = [f"{call.path}:{call.span.line}:{call.span.column}" for call in steps if _is_of_wrapper(call)]
    return None if len(found) > 1 else "".join(found)


def _is_of_wrapper(call: CallSite) -> bool:
    """Whether a call is in the method ``step`` of such a class; a trainer with this method is none, as names show."""
    owner, held = call.scope.owner, call.receiver
    if owner is None or held is None or call.scope.routine.last_name != "step" or not held.written.startswith("self."):
        return False
    if any(base.name.rpartition(".")[2].endswith("Optimizer") for base in owner.bases):
        return False
    named = _OPTIMIZER.search(owner.last_name) and _OPTIMIZER.search(held.written.rpartition(".")[2])
    return bool(named) and not _has_groups(owner)


def _has_groups(owner: Scope) -> bool:
    inside = [
        scope for scope in owner.blocks_of("function") if scope.owner is not None and scope.owner.block == owner.block
    ]
    if any(scope.last_name in ("param_groups", "__getattr__") for scope in inside):
        return True
    return any(assignment.scope.is_inside(owner) for assignment in owner.assignments_to("param_groups"))
