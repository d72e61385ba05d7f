"""Estimators: does their graph reach the NPU, and what are they for?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.reach import HowReached
from npulint.model.values.choices import choices
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.script_role import Purpose
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.tensorflow.estimator_classes import (
    ANY_ESTIMATOR,
    PLAIN,
    RUNNERS,
    TPU,
    is_maker,
    is_npu,
)
from npulint.recognizers.tensorflow.session_work import estimator_purpose
from npulint.recognizers.tensorflow.sessions import is_none

# Arguments of Estimators: calls without any of them are not looked into.
_GIVEN = frozenset(
    "model_fn config run_config model_dir params feature_columns hidden_units n_classes head optimizer "
    "linear_feature_columns dnn_feature_columns n_batches_per_layer keras_model warm_start_from **".split()
)
_OWN = lazy_compile(r":[\w.]*Estimator\w*$")


@fact_kind("estimator")
class Estimator(CallFact):
    """An Estimator, or one of a class of the project that is derived from one, is created; the name is its class, or
    the function that makes it. One fact where the class is looked up among several."""

    _base: str
    reached: HowReached = "no"
    """Whether a training program reaches it: surely, maybe (through calls that depend on something, or on an object of
    unknown class) or not; set when the programs are known."""

    @attribute
    def what(self) -> Literal["estimator", "canned", "tpu", "npu"]:
        """The kind of its class: plain, with its own model (also a derived class), for TPUs or for NPUs."""
        if is_npu(self._base):
            return "npu"
        return "tpu" if self._base in TPU else "estimator" if self._base in PLAIN else "canned"

    @attribute
    def npu(self) -> Flag:
        """Whether its graph reaches the NPU."""
        if self.what == "npu" or self.config in ("npu", "wrapped"):
            return "yes"
        return "unknown" if self.config == "unknown" else "no"

    @attribute
    def config(self) -> Literal["none", "npu", "wrapped", "other", "unknown"]:
        """Its run configuration: none, npu (an NPURunConfig), wrapped (by npu_run_config_init), other or unknown."""
        if self._base != self.name and self.call.target is not None:
            return self._of_derived
        value = self.call.argument("config", -1 if self.what == "canned" else 2)
        return self._kind_of(value)

    @property
    def _of_derived(self) -> Literal["none", "npu", "wrapped", "other", "unknown"]:
        """The run configuration of a derived class: it is known if its constructor has a parameter of that name."""
        made = None if self.call.target is None else self.call.target.called_block
        params = () if made is None else made.record.params
        if "config" not in params:
            return "unknown"
        return self._kind_of(self.call.argument("config", params.index("config") - 1))

    def _kind_of(self, value: Expr | None) -> Literal["none", "npu", "wrapped", "other", "unknown"]:
        if value is None or is_none(value):
            return "unknown" if value is None and self.call.has_unknown_options else "none"
        names = [maker.name for maker in value.sites] or [m.name for expr in _from_runner(value) for m in expr.sites]
        if any("NPURunConfig" in name for name in names):
            return "npu"
        if any("npu_run_config_init" in name for name in names):
            return "wrapped"
        return "other" if names and all("RunConfig" in name for name in names) else "unknown"

    @attribute
    def wrapped(self) -> bool:
        """Whether its argument for the run configuration is a call of npu_run_config_init."""
        value = self.call.argument("config", -1 if self.what == "canned" else 2)
        return value is not None and value.call is not None and value.call.last == "npu_run_config_init"

    @attribute
    def purpose(self) -> Purpose:
        """What it is for: by the methods that are called of it if they are seen, otherwise by the names around it."""
        return estimator_purpose(self.call)

    @attribute
    def model_dir(self) -> Literal["same", "differs", "unknown"]:
        """Whether it and its NPURunConfig name the same folder."""
        own, config = self.call.argument("model_dir", 1), self.call.argument("config", 2)
        makers = [] if own is None or config is None else config.sites
        if own is None or len(makers) != 1 or not makers[0].name.endswith("NPURunConfig"):
            return "unknown"
        other = makers[0].argument("model_dir", 2)
        folders = [own.known] if other is None else [own.known, other.known]
        if other is None or any(folder.symbol or not isinstance(folder.single, str) for folder in folders):
            return "unknown"
        return "same" if folders[0].single == folders[1].single else "differs"


def _from_runner(value: Expr) -> list[Expr]:
    """What ``learn_runner.run(experiment_fn, run_config=…)`` passes for a parameter of the function that it calls."""
    function = value.passed_to
    if function is None or not value.written.endswith("config"):
        return []
    runs = [call for module in module_scopes(value.context) for call in module.calls_named("run")]
    runs = [call for call in runs if call.name in RUNNERS and call.args and function in call.args[0].functions]
    return [given for call in runs if (given := call.argument("run_config", 3)) is not None]


@recognizes(matching=lambda name: is_maker(name) or (":" in name and _OWN.search(name) is not None))
def estimators(call: CallSite) -> list[Estimator]:
    """The Estimators that are made."""
    name = call.name
    if is_maker(name):
        return [Estimator(call, name, _base=name)]
    target = call.target
    bases = [base.name for base in target.bases] if target is not None and target.kind == "class" else []
    return [Estimator(call, name, _base=base) for base in bases if is_maker(base)][:1]


@recognizes_in_modules
def chosen_estimators(module: Scope) -> Iterator[Estimator]:
    """The Estimators whose class is looked up: ``CLASSES[name](…)``, ``getattr(tf.estimator, name)(…)``."""
    for index, record in enumerate(module.module.code.calls):
        if not any(key in _GIVEN for key, _ in record.keywords):
            continue
        call = module.call(index)
        name = call.name
        is_named = is_maker(name) or call.target is not None or not ("?" in name or name.endswith(("[]", "()")))
        chosen = [] if is_named else choices(call.callee)
        if chosen and all(is_maker(choice) or choice == ANY_ESTIMATOR for choice in chosen):
            name = chosen[0] if chosen[0] != ANY_ESTIMATOR else "tensorflow.estimator.Estimator"
            yield Estimator(call, name, _base=chosen[0])
