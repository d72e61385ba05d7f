"""Session runs: what they fetch, and which of them share a loop."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Items, Ref, Table, Value
from npulint.facts.model import Fact
from npulint.later import regex

_SESSION_NAME = regex(r"(?:^|[.?])_?(?:tf)?sess(?:ion)?$")


def wants(name: str) -> bool:
    """Methods called run, of whatever."""
    return name.rpartition(".")[2] == "run"


def of_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``run`` fact of a session's run."""
    return [_run(context, module, index)] if is_session_run(name) else []


def is_session_run(name: str) -> bool:
    """Whether ``….run`` belongs to a session."""
    base = name.rpartition(".")[0]
    return base.endswith(("Session()", "session()")) or bool(_SESSION_NAME.search(base))


def _run(context: Context, module: Module, index: int) -> Fact:
    call = module.code.calls[index]
    fetched = argument(call, "fetches", 0)
    fed = argument(call, "feed_dict", 1)
    return context.call_fact(
        "run",
        "tensorflow.Session().run",
        module,
        index,
        fetches=" ".join(fetched_names(fetched)),
        fed="yes" if fed is not None else "no",
        loops=str(context.loops(module, call.block)),
        gated="yes" if context.gated(module, call.block) else "no",
        runs=lambda: len(runs_beside(context, module, call.block)),
    )


def runs_beside(context: Context, module: Module, block: int) -> list[int]:
    """The session runs that happen in every round of the loop around `block`; none outside a loop."""
    loop = context.loop_of(module, block)
    return [] if loop < 0 else context.once(("runs", module.path), lambda: _runs_by_loop(context, module)).get(loop, [])


def _runs_by_loop(context: Context, module: Module) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for index, call in enumerate(module.code.calls):
        if module.written(index) != "run" or context.gated(module, call.block):
            continue
        if is_session_run(context.names.of_call(module, index)):
            found.setdefault(context.loop_of(module, call.block), []).append(index)
    return found


def fetched_names(value: Value | None) -> list[str]:
    """The names that a fetch mentions, as written."""
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Items):
        return [n for v in value.items for n in fetched_names(v)]
    if isinstance(value, Table):
        return [n for v in value.values for n in fetched_names(v)]
    return []
