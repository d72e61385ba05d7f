"""Whether sessions are closed: by ``with``, by close() or by the adapter's close_session()."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.cursors import CallSite, Expr, Scope, module_scopes
from npulint.facts.attributes import Flag
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


def closed(session: CallSite) -> Flag:
    """Whether a session is closed: yes, no (it lives until Python exits), or unknown if it is passed on, if it ends
    with its function, or if an unknown object is closed."""
    name = session.name
    if name.rpartition(".")[2] not in _KEPT:
        return "yes" if name.endswith(_SELF_CLOSING) else "unknown"
    context = session.context
    ended, others_end = context.memoize("closed sessions", lambda: _ended(context))
    if session in ended:
        return "yes"
    return "unknown" if others_end or not _is_kept(session) else "no"


def _is_kept(session: CallSite) -> bool:
    """Whether the session is stored in an attribute or at module level, or is an InteractiveSession, which stores
    itself."""
    made = session.result.value
    assigned = [one for one in session.scope.assignments if one.record.value == made]
    keeps_itself = session.name.endswith("InteractiveSession")
    return any(keeps_itself or "." in one.target or _is_at_module_level(one.scope) for one in assigned)


def _is_at_module_level(scope: Scope) -> bool:
    """Whether a block binds names at module level."""
    return scope.module.scope[scope.block] == 0


def _ended(context: Context) -> tuple[set[CallSite], bool]:
    """The calls that create sessions which are closed, and whether some close() has an unknown receiver."""
    ended: set[CallSite] = set()
    others_end = False
    for module in module_scopes(context):
        for block, record in enumerate(module.module.blocks):
            if record.kind == "with":
                ended.update(module.at(block).test.sites)
        for call in module.calls_named("close", *_TAKERS):
            is_method = call.last == "close"
            value = call.receiver if is_method else call.args[0] if call.args else None
            makers = [] if value is None else value.sites
            ended.update(makers)
            others_end = others_end or (not makers and (not is_method or _may_be_session(value)))
    return ended, others_end


def _may_be_session(value: Expr | None) -> bool:
    return value is not None and _SESSION_NAME.search(value.written) is not None
