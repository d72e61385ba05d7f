"""Sessions: does the graph reach the NPU, and is the session closed?"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.code import CallResult, Const, Op
from npulint.facts.kinds import fact_kind
from npulint.model.code.module import Module
from npulint.model.running.code_facts import CallFact
from npulint.model.running.reach import HowReached
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, module_scopes
from npulint.model.values.script_role import Purpose
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.protos import protos_of
from npulint.recognizers.tensorflow.session_work import session_purpose

_SESSION_NAME = lazy_compile(r"(?:^|[._])(?:tf)?sess(?:ion)?\d*$")
_TAKERS = frozenset(("close_session", "closing", "enter_context"))
_SELF_CLOSING = (
    "MonitoredTrainingSession",
    "MonitoredSession",
    "managed_session",
    "learning.train",
    "training.train",
    "gan_train",
    "ChiefSessionCreator",
)
_KEPT = frozenset(("InteractiveSession", "Session"))
# Constructor -> (keyword of the config, its position).
_SESSIONS = {
    "tensorflow.Session": ("config", 2),
    "tensorflow.InteractiveSession": ("config", 2),
    "tensorflow.train.MonitoredTrainingSession": ("config", 9),
    "tensorflow.train.SingularMonitoredSession": ("config", 3),
    "tensorflow.train.MonitoredSession": ("session_creator", 0),
    "tensorflow.train.ChiefSessionCreator": ("config", 2),
    "tensorflow.train.WorkerSessionCreator": ("config", 2),
    "tensorflow.train.Supervisor().managed_session": ("config", 1),
    "tensorflow.train.Supervisor().prepare_or_wait_for_session": ("config", 1),
    "tensorflow.train.Supervisor().PrepareSession": ("config", 1),
    "tensorflow.train.SessionManager().prepare_session": ("config", 7),
    "tensorflow.train.SessionManager().recover_session": ("config", 6),
    "tensorflow.train.SessionManager().wait_for_session": ("config", 1),
    "tensorflow.contrib.slim.learning.train": ("session_config", 22),
    "tensorflow.contrib.training.train": ("config", 9),
    "tensorflow.contrib.training.evaluate_once": ("config", 8),
    "tensorflow.contrib.training.evaluate_repeatedly": ("config", 9),
    "tensorflow.contrib.slim.evaluation.evaluate_once": ("session_config", 13),
    "tensorflow.contrib.slim.evaluation.evaluation_loop": ("session_config", 16),
    "tensorflow.contrib.gan.gan_train": ("config", 10),
    "tensorflow_gan.gan_train": ("config", 11),
}
_MONITORED = "tensorflow.train.MonitoredSession"
_NPU_PROTO = ("npu_config_proto", "npu_run_config_init", "session_dump_config")


@fact_kind("session")
class Session(CallFact):
    """A session is created, directly or in a function that trains or evaluates; the name is the constructor or
    function."""

    reached: HowReached = "no"
    """Whether a training program reaches it: surely, maybe (through calls that depend on something, or on an object of
    unknown class) or not; set when the programs are known."""

    @attribute
    def keyword(self) -> str:
        """The keyword of its config argument."""
        return _SESSIONS[self.name][0]

    @attribute
    def position(self) -> str:
        """The position of its config argument."""
        return str(_SESSIONS[self.name][1])

    @cached_property
    def _config(self) -> Expr | None:
        return self.call.argument(*_SESSIONS[self.name])

    @attribute
    def npu(self) -> Flag:
        """Whether its graph reaches the NPU."""
        if self._config is None or is_none(self._config):
            return "unknown" if self._config is None and self.call.has_unknown_options else "no"
        answers = {_reaches_npu(maker) for maker in self._config.sites}
        if not answers or "unknown" in answers:
            return "unknown"
        return "yes" if "yes" in answers else "no"

    @attribute
    def config(self) -> Literal["none", "local", "unknown"]:
        """The origin of its config: there is none, the project creates it, or unknown."""
        if self._config is None or is_none(self._config):
            return "unknown" if self.npu == "unknown" else "none"
        return "unknown" if self.npu == "unknown" else "local"

    @attribute
    def wrapped(self) -> bool:
        """Whether its config argument is a call of npu_config_proto."""
        made = None if self._config is None else self._config.call
        return made is not None and made.last == "npu_config_proto"

    @attribute
    def purpose(self) -> Purpose:
        """What it is for: by what it runs if that is seen, otherwise by the names around it."""
        return session_purpose(self.call)

    @attribute
    def closed(self) -> Flag:
        """Whether it is closed; no where it lives until Python exits."""
        return closed(self.call)


@recognizes(*_SESSIONS)
def sessions(call: CallSite) -> list[Session]:
    """The sessions that run a graph, except a MonitoredSession with a creator, which creates the session."""
    is_made_elsewhere = call.name == _MONITORED and call.argument(*_SESSIONS[_MONITORED]) is not None
    return [] if is_made_elsewhere or _is_only_asked(call) else [Session(call, call.name)]


@walker(depth=4, otherwise=bool)
def is_none(value: Expr) -> bool:
    """Whether an argument is None, also as the default of a parameter that no call of the project gives."""
    if value.is_literal:
        return value.literal is None
    function = value.passed_to
    default = None if function is None else function.default(value.written)
    if function is None or default is None or not is_none(default):
        return False
    given = [passed for _, passed in function.passed(value.written)]
    return bool(given) and all(expr is None or is_none(expr) for expr in given)


def _reaches_npu(config: CallSite) -> Flag:
    """Whether the config created by a call moves the graph to the NPU."""
    name = config.name
    last = name.rpartition(".")[2]
    if last in _NPU_PROTO or "npu" in last.lower():
        return "yes"
    protos = protos_of(config.context)
    proto = protos.by_maker.get(config)
    if proto is not None and (proto.optimizers or proto.helpers.intersection(_NPU_PROTO)):
        return "yes"
    return "unknown" if name != "tensorflow.ConfigProto" or protos.has_unplaced else "no"


def _is_only_asked(session: CallSite) -> bool:
    """Whether a session runs no graph: ``tf.Session().list_devices()``."""
    return session.index in session.module.derive(_asked_for_devices)


def _asked_for_devices(module: Module) -> frozenset[int]:
    """The calls of a module whose result is asked for the devices."""
    methods = [call.callee for call in module.code.calls if isinstance(call.callee, Op)]
    return frozenset(
        method.operands[0].call
        for method in methods
        if method.op == "."
        and isinstance(method.operands[0], CallResult)
        and method.operands[1] == Const("list_devices")
    )


def closed(session: CallSite) -> Flag:
    """Whether a session is closed: yes, no (it lives until Python exits), or unknown if it is passed on, if it ends
    with its function, or if an unknown object is closed."""
    name = session.name
    if name.rpartition(".")[2] not in _KEPT:
        return "yes" if name.endswith(_SELF_CLOSING) else "unknown"
    ended, others_end = _ended(session.context)
    if session in ended:
        return "yes"
    return "unknown" if others_end or not _is_kept(session) else "no"


def _is_kept(session: CallSite) -> bool:
    """Whether the session is stored in an attribute or at module level, or is an InteractiveSession, which stores
    itself; not under a name that only hands it on to what owns it then."""
    made = session.result.value
    assigned = [
        assignment
        for assignment in session.scope.assignments
        if assignment.record.value == made and not _is_handed_on(assignment)
    ]
    keeps_itself = session.name.endswith("InteractiveSession")
    return any(
        keeps_itself or "." in assignment.target or assignment.scope.module.scope[assignment.scope.block] == 0
        for assignment in assigned
    )


def _is_handed_on(assignment: AssignmentSite) -> bool:
    """Whether calls of the module get what a name stands for, and nothing there uses it itself."""
    calls, name = assignment.scope.all_calls, assignment.target
    passed = any(value.written == name for call in calls for value in call.arguments)
    return passed and not any(call.written.startswith(f"{name}.") for call in calls)


@once
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
