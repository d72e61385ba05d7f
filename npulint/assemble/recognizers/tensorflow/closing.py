"""Sessions that end: which of them are closed, by ``with``, by close() or by the adapter's close_session()."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.protos import site_key
from npulint.facts.calls import receiver_of
from npulint.facts.code import CallResult, Ref, Value
from npulint.lazy_regex import lazy_compile

_SESSION_NAME = lazy_compile(r"(?:^|[._])(?:tf)?sess(?:ion)?\d*$")
_TAKERS = frozenset(("close_session", "closing", "enter_context"))
_SELF_CLOSING = (
    "MonitoredTrainingSession",
    "MonitoredSession",
    "managed_session",
    "learning.train",
    "training.train",
    "ChiefSessionCreator",
)
_KEPT = frozenset(("InteractiveSession", "Session"))


def closed(context: Context, module: Module, index: int, name: str) -> str:
    """Whether a session is closed: yes, no (it lives until Python exits), or unknown where it is handed on, where it
    ends with its function, or where something unknown is closed."""
    if name.rpartition(".")[2] not in _KEPT:
        return "yes" if name.endswith(_SELF_CLOSING) else "unknown"
    ends, loose = context.memoize("closed sessions", lambda: _ends(context))
    if site_key((module, index)) in ends:
        return "yes"
    return "unknown" if loose or not _stays(module, index, name) else "no"


def _stays(module: Module, index: int, name: str) -> bool:
    """Whether the session is kept as an attribute or at module level, or keeps itself as an InteractiveSession does."""
    binds = [b for b in module.code.assignments if b.value == CallResult(index)]
    own = name.endswith("InteractiveSession")
    return any(own or "." in b.target or module.scope[b.block] == 0 for b in binds)


def _ends(context: Context) -> tuple[set[str], bool]:
    """Where the sessions are made that something closes, and whether a close() cannot be followed to one."""
    ends: set[str] = set()
    loose = False
    for module in context.project.modules.values():
        for record in module.blocks:
            if record.kind == "with":
                ends |= _sites(context, module, record.test, record.parent, record.line)
        for index in module.calls_of("close", *_TAKERS):
            call = module.code.calls[index]
            method = module.callee_name(index) == "close"
            value = receiver_of(call) if method else call.args[0] if call.args else None
            found = set() if value is None else _sites(context, module, value, call.block, call.line)
            ends |= found
            loose = loose or (method and not found and _may_be_session(value)) or (not method and not found)
    return ends, loose


def _may_be_session(value: Value | None) -> bool:
    return isinstance(value, Ref) and bool(_SESSION_NAME.search(value.name))


def _sites(context: Context, module: Module, value: Value, block: int, line: int) -> set[str]:
    """Where the sessions are made that a value may be."""
    sites: list[Site] = context.flow.sites(module, value, block, line)
    return {site_key(site) for site in sites}
