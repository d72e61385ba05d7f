"""Sessions and Estimators: does the graph reach the NPU?"""

from __future__ import annotations

from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.closing import closed
from npulint.assemble.recognizers.tensorflow.protos import Protos, protos_of, site_key
from npulint.assemble.script_role import purpose
from npulint.facts.code import CallResult, Const, Op, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

# Constructor -> (keyword of the config, its position).
SESSIONS = {
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
}
_MONITORED = "tensorflow.train.MonitoredSession"
_CANNED = lazy_compile(
    r"^tensorflow\.estimator\.(?:DNN|Linear|Baseline|BoostedTrees)\w*(?:Classifier|Regressor|Estimator)$"
)
_TPU = frozenset(("tensorflow.contrib.tpu.TPUEstimator", "tensorflow.estimator.tpu.TPUEstimator"))
_PLAIN = frozenset(("tensorflow.estimator.Estimator", "tensorflow.contrib.learn.Estimator"))
_NPU_PROTO = ("npu_config_proto", "npu_run_config_init", "session_dump_config")


def matches(name: str) -> bool:
    """Constructors of sessions and estimators."""
    return (
        name in SESSIONS
        or name in _PLAIN
        or name in _TPU
        or name.endswith(".NPUEstimator")
        or bool(_CANNED.match(name))
    )


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``session`` or ``estimator`` fact for a wanted call."""
    return Sessions(context, protos_of(context)).of_call(module, index, name)


class Sessions:
    """Recognises sessions and estimators with the help of the project's ConfigProto objects."""

    def __init__(self, context: Context, protos: Protos) -> None:
        self.context = context
        self.protos = protos

    def of_call(self, module: Module, index: int, name: str) -> list[Fact]:
        """A ``session`` or ``estimator`` fact for a wanted call."""
        if name == _MONITORED and argument(module.code.calls[index], *SESSIONS[name]) is not None:
            return []  # the creator that it is given makes the session
        if name in SESSIONS:
            return [] if _only_asked(module, index) else [self._session(module, index, name)]
        return [self._estimator(module, index, name)]

    def _session(self, module: Module, index: int, name: str) -> Fact:
        keyword, position = SESSIONS[name]
        call = module.code.calls[index]
        value = argument(call, keyword, position)
        starred = any(k == "**" for k, _ in call.keywords)
        npu, config = ("unknown", "unknown") if value is None and starred else self._npu(module, value, index)
        role = purpose(scope_at(self.context, module, call.block))
        ends = partial(closed, self.context, module, index, name)
        return self.context.call_fact(
            "session",
            name,
            module,
            index,
            npu=npu,
            config=config,
            purpose=role,
            closed=ends,
            keyword=keyword,
            position=str(position),
        )

    def _npu(self, module: Module, value: Value | None, index: int) -> tuple[str, str]:
        """(reaches the NPU: yes/no/unknown, where the config comes from: none/local/unknown)."""
        if value is None or (isinstance(value, Const) and value.value is None):
            return "no", "none"
        call = module.code.calls[index]
        sites = self.context.flow.sites(module, value, call.block, call.line)
        answers = {self._site_npu(home, at) for home, at in sites}
        if not answers or "unknown" in answers:
            return "unknown", "unknown"
        return ("yes" if "yes" in answers else "no"), "local"

    def _site_npu(self, module: Module, index: int) -> str:
        name = self.context.names.of_call(module, index)
        last = name.rpartition(".")[2]
        if last in _NPU_PROTO or "npu" in last.lower():
            return "yes"
        proto = self.protos.by_site.get(site_key((module, index)))
        if proto is not None and (proto.entries or proto.helpers & set(_NPU_PROTO)):
            return "yes"
        if name == "tensorflow.ConfigProto":
            return "unknown" if self.protos.unplaced and not (proto and proto.entries) else "no"
        return "unknown"

    def _estimator(self, module: Module, index: int, name: str) -> Fact:
        call = module.code.calls[index]
        own = name.endswith(".NPUEstimator")
        what = "npu" if own else "tpu" if name in _TPU else "estimator" if name in _PLAIN else "canned"
        value = argument(call, "config", -1 if what == "canned" else 2)
        config = self._run_config(module, value, index)
        npu = "yes" if own or config in ("npu", "wrapped") else "unknown" if config == "unknown" else "no"
        role = purpose(scope_at(self.context, module, call.block))
        folder = partial(self._model_dir, module, index)
        return self.context.call_fact(
            "estimator", name, module, index, npu=npu, what=what, config=config, purpose=role, model_dir=folder
        )

    def _model_dir(self, module: Module, index: int) -> str:
        """Whether an estimator and its NPURunConfig name the same folder: same, differs or unknown."""
        call = module.code.calls[index]
        own, config = argument(call, "model_dir", 1), argument(call, "config", 2)
        sites = [] if own is None or config is None else self.context.flow.sites(module, config, call.block, call.line)
        if own is None or len(sites) != 1 or not self.context.names.of_call(*sites[0]).endswith("NPURunConfig"):
            return "unknown"
        home, at = sites[0]
        other = argument(home.code.calls[at], "model_dir", 2)
        if other is None:
            return "unknown"
        known = (self.context.known(module, own, call), self.context.known(home, other, home.code.calls[at]))
        if any(k.symbol or not isinstance(k.single, str) for k in known):
            return "unknown"
        return "same" if known[0].single == known[1].single else "differs"

    def _run_config(self, module: Module, value: Value | None, index: int) -> str:
        """What kind of run configuration an estimator gets: none, npu (an NPURunConfig), wrapped (by
        npu_run_config_init), other or unknown."""
        call = module.code.calls[index]
        if value is None or (isinstance(value, Const) and value.value is None):
            return "unknown" if value is None and any(k == "**" for k, _ in call.keywords) else "none"
        sites = self.context.flow.sites(module, value, call.block, call.line)
        names = [self.context.names.of_call(home, at) for home, at in sites]
        if any("NPURunConfig" in n for n in names):
            return "npu"
        if any("npu_run_config_init" in n for n in names):
            return "wrapped"
        return "other" if names and all("RunConfig" in n for n in names) else "unknown"


def _only_asked(module: Module, index: int) -> bool:
    """``tf.Session().list_devices()`` runs no graph."""
    asked = Op(".", (CallResult(index), Const("list_devices")))
    return any(call.callee == asked for call in module.code.calls)
