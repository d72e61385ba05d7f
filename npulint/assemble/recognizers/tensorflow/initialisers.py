"""First runs: which initial operations run together?"""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.runs import is_session_run
from npulint.facts.code import CallResult, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_VARIABLES = frozenset(
    (
        "global_variables_initializer",
        "initialize_all_variables",
        "variables_initializer",
        "global_variables",
        "variables",
    )
)
_ITERATOR = lazy_compile(r"(?:[Ii]terator(?:\w|\.from_structure)*(?:\(\))?|(?:^|[.?_])iter)\.(?:make_)?initializer$")
_DEPTH = 6
_WIDTH = 32


def matches(name: str) -> bool:
    """Runs of a session and groups of operations."""
    return name == "tensorflow.group" or (name.endswith("run") and is_session_run(name))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """An ``init_group`` fact where variables and an iterator are initialised in the same run."""
    call = module.code.calls[index]
    values = call.args[:1] if name.endswith("run") else call.args
    parts = {p for v in values for p in _parts(context, module, v, call.block, call.line, 0)}
    variables = any(p.startswith("tensorflow.") and p.rpartition(".")[2] in _VARIABLES for p in parts)
    if not variables or not any(_ITERATOR.search(p) for p in parts):
        return []
    return [context.call_fact("init_group", name, module, index)]


def _parts(context: Context, module: Module, value: Value, block: int, line: int, depth: int) -> set[str]:
    """The canonical names of the operations in a fetch; lists are followed, groups are not opened."""
    if depth > _DEPTH:
        return set()
    if isinstance(value, CallResult):
        return {context.names.of_call(module, value.call)}
    found: set[str] = set()
    if isinstance(value, Ref):
        found.add(context.names.of_name(module, value.name, block, line))
        for home, bind in context.flow.bindings(module, value.name, block, line)[:_DEPTH]:
            found |= _parts(context, home, bind.value, bind.block, bind.line, depth + 1)
    elif isinstance(value, SequenceDisplay | Op):
        for part in (value.items if isinstance(value, SequenceDisplay) else value.operands)[:_WIDTH]:
            found |= _parts(context, module, part, block, line, depth + 1)
    return found
