"""Which initialisation operations run together."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.recognizers.tensorflow.runs import is_session_run
from npulint.assemble.walker import walker
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_VARIABLES = frozenset(
    f"tensorflow.{name}"
    for name in (
        "global_variables_initializer",
        "initialize_all_variables",
        "variables_initializer",
        "global_variables",
        "variables",
    )
)
_ITERATOR = lazy_compile(r"(?:[Ii]terator(?:\w|\.from_structure)*(?:\(\))?|(?:^|[.?_])iter)\.(?:make_)?initializer$")
_ASSIGNMENTS = 6
_WIDTH = 32


@fact_kind("init_group")
class InitialGroup(CallFact):
    """Variables and an iterator are initialised in the same run; the name is the canonical callee."""


@recognizes(matching=lambda name: name == "tensorflow.group" or (name.endswith("run") and is_session_run(name)))
def initial_groups(call: CallSite) -> list[InitialGroup]:
    """Session runs and group operations."""
    values = call.args[:1] if call.name.endswith("run") else call.args
    operations = {name for value in values for name in _operations(value)}
    variables = any(name in _VARIABLES for name in operations)
    return [InitialGroup(call, call.name)] if variables and any(map(_ITERATOR.search, operations)) else []


@walker(depth=7, otherwise=set)
def _operations(value: Expr) -> set[str]:
    """The canonical names of the operations in a fetch; lists are followed, groups are not opened."""
    call = value.call
    if call is not None:
        return {call.name}
    found = {value.name} if value.written else set()
    assigned = [one.value for one in value.assignments[:_ASSIGNMENTS]]
    parts = assigned if value.written else (value.items or value.operands())[:_WIDTH]
    return found.union(*map(_operations, parts))
