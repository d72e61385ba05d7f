"""Session runs: what they fetch, which are in the same loop, which initialise, and how often a Saver saves."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.session_work import TRAINING_NAME

_SESSION_NAME = lazy_compile(r"(?:^|[.?])_?(?:tf)?sess(?:ion)?$")
_METHODS = ("run", "eval")  # also methods of operations and tensors, which use the default session
_RUN = "tensorflow.Session().run"
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
_SAVER = lazy_compile(r"(?:^|[._?])_?saver\w*$")
_EPOCH = lazy_compile(r"epoch")


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
    text = str(level.single)
    return text == "3" or (text.endswith("_TRACE") and not text.endswith("NO_TRACE"))


def runs_each_round(scope: Scope) -> list[CallSite]:
    """The session runs in every iteration of the loop around a block; none outside a loop."""
    loop = scope.loop
    return [] if loop is None else _runs_by_loop(scope).get(loop, [])


@once_per_file
def _runs_by_loop(module: Scope) -> dict[Scope | None, list[CallSite]]:
    loop: dict[Scope | None, list[CallSite]] = {}
    for call in module.calls_named(*_METHODS):
        if not call.scope.is_conditional and (is_session_run(call.name) or _runs_itself(call)):
            loop.setdefault(call.scope.loop, []).append(call)
    return loop


def fetched_names(call: CallSite) -> list[str]:
    """The names that a session run fetches, as written."""
    fetches = call.argument("fetches", 0)
    return [] if fetches is None else _names(fetches)


@walker(depth=16, otherwise=list)
def _names(fetches: Expr) -> list[str]:
    inner = fetches.items or [value for _, value in fetches.entries]
    return [fetches.written] if fetches.written else [name for expr in inner for name in _names(expr)]


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
    names = {value.name} if value.written else set()
    assigned = [assignment.value for assignment in value.assignments[:_ASSIGNMENTS]]
    parts = assigned if value.written else (value.items or value.operands())[:_WIDTH]
    return names.union(*map(_operations, parts))


@fact_kind("checkpoint")
class Checkpoint(CallFact):
    """A Saver saves the variables of a session; the name is always ``tensorflow.train.Saver().save``."""

    @attribute
    def each_step(self) -> bool:
        """Whether it happens in every iteration of a loop that trains one step per iteration."""
        loop = self.scope.loop
        if loop is None or self.scope.is_conditional or not _trains(self.scope) or loop.holds_loop:
            return False
        names = [part.written for part in loop.test.mentioned]
        targets = [
            assignment.target
            for assignment in loop.assignments
            if assignment.scope is loop and assignment.line == loop.record.line
        ]
        return not any(_EPOCH.search(name.lower()) for name in (*names, *targets))


@recognizes(matching=lambda name: name.rpartition(".")[2] == "save")
def checkpoints(call: CallSite) -> list[Checkpoint]:
    """A fact for each call of a method named save, of any object."""
    owner = call.name.rpartition(".")[0]
    is_saver = owner == "tensorflow.train.Saver()" or (_SAVER.search(owner.lower()) and len(call.args) > 1)
    return [Checkpoint(call, "tensorflow.train.Saver().save")] if is_saver else []


def _trains(scope: Scope) -> bool:
    """Whether every iteration of the loop around a block runs a train step."""
    fetched = [name for run in runs_each_round(scope) if is_session_run(run.name) for name in fetched_names(run)]
    return any(TRAINING_NAME.search(name.lower()) for name in fetched)


# Where collective communication starts, and whether the training runs before that function ends.

_TRAINING = frozenset("fit fit_generator train_on_batch train train_and_evaluate".split())
_INITIALISER = "npu_bridge.npu_init.init_resource"


@fact_kind("rank_start")
class RankStart(CallFact):
    """Horovod or the NPU is initialised for collective communication; the name is the canonical function."""

    @attribute
    def trains(self) -> bool:
        """Whether the function that calls it, or the script at module level, also trains, before it ends."""
        own = self.scope.function or self.scope.at(0)
        later = [call for call in own.calls if call.line > self.call.line]
        return any(map(_starts_training_rank, later)) or _reaches_training(own, [call.target for call in later])


@recognizes(matching=lambda name: name == _INITIALISER or (name.startswith("horovod.") and name.endswith(".init")))
def rank_starts(call: CallSite) -> list[RankStart]:
    """The calls that initialise communication."""
    return [RankStart(call, call.name)]


def _starts_training_rank(call: CallSite) -> bool:
    return is_session_run(call.name) or (call.target is None and call.last in _TRAINING)


def _reaches_training(start: Scope, functions: list[Scope | None]) -> bool:
    """Whether one of these functions trains, or calls one that does."""
    queue, seen = [function for function in functions if function is not None], {start}
    while queue:
        current = queue.pop()
        if current in seen:
            continue
        seen.add(current)
        if any(map(_starts_training_rank, current.calls)):
            return True
        queue += [call.target for call in current.calls if call.target is not None]
    return False
