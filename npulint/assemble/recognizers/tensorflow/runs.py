"""Session runs: what they fetch, and which of them are in the same loop."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr, Scope
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.walker import walker
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_SESSION_NAME = lazy_compile(r"(?:^|[.?])_?(?:tf)?sess(?:ion)?$")
_METHODS = ("run", "eval")  # also methods of operations and tensors, which use the default session
_RUN = "tensorflow.Session().run"


@fact_kind("run")
class SessionRun(CallFact):
    """A session runs; the name is always ``tensorflow.Session().run``."""

    @attribute
    def fetches(self) -> str:
        """The names that it fetches, as written, joined by spaces."""
        return " ".join(fetched_names(self.call))

    @attribute
    def fed(self) -> bool:
        """Whether it has a feed_dict."""
        return self.call.argument("feed_dict", 1) is not None

    @attribute
    def loops(self) -> str:
        """How many loops surround it within its function."""
        return str(self.scope.loops)

    @attribute
    def gated(self) -> bool:
        """Whether it happens only in some iterations of its loop."""
        return self.scope.is_conditional

    @attribute
    def runs(self) -> int:
        """The number of runs in every iteration of its loop; 0 outside a loop."""
        return len(runs_each_round(self.scope))

    @attribute
    def deepest(self) -> bool:
        """Whether its loop contains no other loop, so that an iteration may be a single step."""
        loop = self.scope.loop
        return loop is None or not loop.holds_loop

    @attribute
    def traced(self) -> Flag:
        """Whether it gets RunOptions that only request a trace."""
        value = self.call.argument("options", 2)
        if value is None:
            return "no"
        sites = value.sites
        surely = bool(sites) and None not in value.known.values and all(map(_asks_for_trace, sites))
        return flag(True if surely else None)


@fact_kind("run")
class OwnRun(SessionRun):
    """A tensor or operation runs in the default session: ``tensor.eval(feed_dict=…)``, ``operation.run(session=…)``."""

    @attribute
    def fetches(self) -> str:
        """The tensor or operation, as written."""
        return self.call.written.rpartition(".")[0]

    @attribute
    def fed(self) -> bool:
        """Whether it has a feed_dict."""
        return self.call.argument("feed_dict", 0) is not None


@recognizes(matching=lambda name: name.rpartition(".")[2] in _METHODS)
def runs(call: CallSite) -> list[SessionRun]:
    """Methods called run or eval, of whatever."""
    if call.name.endswith("run") and is_session_run(call.name):
        return [SessionRun(call, _RUN)]
    return [OwnRun(call, _RUN)] if _runs_itself(call) else []


def _runs_itself(call: CallSite) -> bool:
    """Whether a tensor or operation is evaluated: only these methods have the arguments session and feed_dict."""
    return call.has_keyword("feed_dict") or call.has_keyword("session")


def is_session_run(name: str) -> bool:
    """Whether ``….run`` is the method of a session."""
    base = name.rpartition(".")[0]
    return base.endswith(("Session()", "session()")) or bool(_SESSION_NAME.search(base))


def _asks_for_trace(call: CallSite) -> bool:
    level = call.argument("trace_level")
    if call.name != "tensorflow.RunOptions" or level is None:
        return False
    known = str(level.single)
    return known == "3" or (known.endswith("_TRACE") and not known.endswith("NO_TRACE"))


def runs_each_round(scope: Scope) -> list[CallSite]:
    """The session runs in every iteration of the loop around a block; none outside a loop."""
    loop = scope.loop
    if loop is None:
        return []
    return scope.context.memoize(("runs", scope.path), lambda: _runs_by_loop(scope)).get(loop, [])


def _runs_by_loop(module: Scope) -> dict[Scope | None, list[CallSite]]:
    found: dict[Scope | None, list[CallSite]] = {}
    for call in module.calls_named(*_METHODS):
        if not call.scope.is_conditional and (is_session_run(call.name) or _runs_itself(call)):
            found.setdefault(call.scope.loop, []).append(call)
    return found


def fetched_names(call: CallSite) -> list[str]:
    """The names that a session run fetches, as written."""
    fetches = call.argument("fetches", 0)
    return [] if fetches is None else _names(fetches)


@walker(depth=16, otherwise=list)
def _names(fetches: Expr) -> list[str]:
    inner = fetches.items or [value for _, value in fetches.entries]
    return [fetches.written] if fetches.written else [name for one in inner for name in _names(one)]
