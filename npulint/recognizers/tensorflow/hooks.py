"""Lists of hooks and callbacks to which the adapter appends its own: is their last element used afterwards?"""

from __future__ import annotations

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.registry import recognizes

_APPENDING = {
    "npu_bridge.npu_init.npu_hooks_append": "hooks_list",
    "npu_bridge.npu_init.npu_callbacks_append": "callbacks_list",
}


@recognizes(*_APPENDING)
@fact_kind("hooks")
class AppendedHooks(CallFact):
    """A helper appends the NPU's broadcast to a list of hooks or callbacks; the name is the canonical helper."""

    @attribute
    def list(self) -> str:
        """The name of the list as written; empty for other expressions."""
        value = self.call.argument(_APPENDING[self.name], 0)
        return "" if value is None else value.written

    @attribute
    def read_from_end(self) -> bool:
        """Whether the same function reads the last element of the list afterwards."""
        values = _after(self.call, self.call.record.end_line) if self.list else ()
        return any(_is_end(part, self.list) for value in values for part in value.nested)

    @attribute
    def kept(self) -> bool:
        """Whether the result is used."""
        return any(part.call == self.call for value in _after(self.call, self.call.line - 1) for part in value.nested)


def _after(call: CallSite, line: int) -> tuple[Expr, ...]:
    """The values in the same function after a line."""
    routine = call.scope.routine
    assigned = [
        assignment
        for assignment in routine.assignments
        if assignment.line > line and assignment.scope.routine is routine
    ]
    calls = [later for later in routine.calls if later.line > line]
    return (
        *(assignment.value for assignment in assigned),
        *(value for later in calls for value in (later.callee, *later.arguments)),
    )


def _is_end(value: Expr, name: str) -> bool:
    """Whether an expression is the last element of a list, or is built from it."""
    holder, index = value.subscript or (value, value)
    return value.written.startswith(f"{name}[-1]") or (holder.written == name and index.literal == -1)
