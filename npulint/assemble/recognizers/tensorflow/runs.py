"""Session runs: what they fetch, and which of them share a loop."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_SESSION_NAME = lazy_compile(r"(?:^|[.?])_?(?:tf)?sess(?:ion)?$")


_OWN = frozenset(("run", "eval"))  # of an operation or tensor: they run the default session


def matches(name: str) -> bool:
    """Methods called run or eval, of whatever."""
    return name.rpartition(".")[2] in _OWN


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``run`` fact of a session's run, also by ``tensor.eval(feed_dict=…)`` and ``operation.run(feed_dict=…)``."""
    if name.endswith("run") and is_session_run(name):
        return [_run(context, module, index)]
    return [_own_run(context, module, index)] if _runs_itself(module, index) else []


def _runs_itself(module: Module, index: int) -> bool:
    """Whether a tensor or operation is evaluated: only these methods take a session or what to feed."""
    return any(key in ("feed_dict", "session") for key, _ in module.code.calls[index].keywords)


def _own_run(context: Context, module: Module, index: int) -> Fact:
    call = module.code.calls[index]
    written = call.callee.name.rpartition(".")[0] if isinstance(call.callee, Ref) else ""
    return _fact(context, module, index, fetches=written, fed=argument(call, "feed_dict", 0) is not None)


def is_session_run(name: str) -> bool:
    """Whether ``….run`` belongs to a session."""
    base = name.rpartition(".")[0]
    return base.endswith(("Session()", "session()")) or bool(_SESSION_NAME.search(base))


def _run(context: Context, module: Module, index: int) -> Fact:
    call = module.code.calls[index]
    fetches = " ".join(fetched_names(argument(call, "fetches", 0)))
    return _fact(context, module, index, fetches=fetches, fed=argument(call, "feed_dict", 1) is not None)


def _fact(context: Context, module: Module, index: int, fetches: str, fed: bool) -> Fact:
    block = module.code.calls[index].block
    return context.call_fact(
        "run",
        "tensorflow.Session().run",
        module,
        index,
        fetches=fetches,
        fed="yes" if fed else "no",
        loops=str(context.loops(module, block)),
        gated="yes" if context.gated(module, block) else "no",
        runs=lambda: len(runs_beside(context, module, block)),
        deepest=lambda: "no" if holds_loop(module, context.loop_of(module, block)) else "yes",
        traced=lambda: _traced(context, module, index),
    )


def _traced(context: Context, module: Module, index: int) -> str:
    """Whether a run is traced: it is given RunOptions that ask for a trace, and nothing else."""
    call = module.code.calls[index]
    value = argument(call, "options", 2)
    if value is None:
        return "no"
    sites = context.flow.sites(module, value, call.block, call.line)
    if not sites or None in context.known(module, value, call).values:
        return "unknown"
    return "yes" if all(_asks_for_trace(context, home, at) for home, at in sites) else "unknown"


def _asks_for_trace(context: Context, module: Module, index: int) -> bool:
    if context.names.of_call(module, index) != "tensorflow.RunOptions":
        return False
    call = module.code.calls[index]
    level = argument(call, "trace_level", -1)
    known = None if level is None else context.known(module, level, call).single
    return known == 3 or (str(known).endswith("_TRACE") and not str(known).endswith("NO_TRACE"))


def holds_loop(module: Module, loop: int) -> bool:
    """Whether a loop has another one inside: then its rounds are no single steps."""
    return loop >= 0 and any(
        b != loop and r.kind == "loop" and loop in module.ancestors(b) for b, r in enumerate(module.blocks)
    )


def runs_beside(context: Context, module: Module, block: int) -> list[int]:
    """The session runs that happen in every round of the loop around `block`; none outside a loop."""
    loop = context.loop_of(module, block)
    return (
        [] if loop < 0 else context.memoize(("runs", module.path), lambda: _runs_by_loop(context, module)).get(loop, [])
    )


def _runs_by_loop(context: Context, module: Module) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for index in module.calls_of(*_OWN):
        call = module.code.calls[index]
        if context.gated(module, call.block):
            continue
        if is_session_run(context.names.of_call(module, index)) or _runs_itself(module, index):
            found.setdefault(context.loop_of(module, call.block), []).append(index)
    return found


def fetched_names(value: Value | None) -> list[str]:
    """The names that a fetch mentions, as written."""
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, SequenceDisplay):
        return [n for v in value.items for n in fetched_names(v)]
    if isinstance(value, Table):
        return [n for v in value.values for n in fetched_names(v)]
    return []
