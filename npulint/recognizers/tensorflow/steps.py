"""Train steps: minimize, apply_gradients, fit, Estimator.train, ready-made training loops; steps counted by hand."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.conditions import BRANCHES
from npulint.model.running.reach import HowReached
from npulint.model.values.choices import choices
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.estimator_classes import (
    ANY_ESTIMATOR,
    EXPERIMENT,
    RUNNERS,
    is_copier,
    is_maker,
)
from npulint.recognizers.tensorflow.gradients import gradient_calls
from npulint.recognizers.tensorflow.optimizers import OPTIMIZE_LOSS, layers, scales, scales_for_npu
from npulint.recognizers.tensorflow.session_work import made_by

_ASSIGNING = frozenset(("tensorflow.assign", "tensorflow.assign_add"))
_METHODS = (".assign", ".assign_add")
_NAME = lazy_compile(r"(?:^|[._])global_?step(?:_tensor|_op|_var)?$")
_CHOOSING = frozenset(("tensorflow.cond", "tensorflow.where", "tensorflow.case"))
_MADE = ("get_global_step()", "get_or_create_global_step()", "create_global_step()")
_STEPS = frozenset(("minimize", "apply_gradients"))
_ESTIMATOR_STEPS = frozenset(("train", "train_and_evaluate"))
_KERAS_STEPS = frozenset(("fit", "fit_generator", "train_on_batch"))
_KERAS_MODEL = lazy_compile(
    r"^(?:tensorflow\.)?keras\."
    r"(?:(?:models?\.)?(?:Model|Sequential)|applications(?:\.\w+)?\.\w+|utils\.multi_gpu_model"
    r"|models\.(?:load_model|clone_model|model_from_\w+))\(\)"
)
_LOOPS = frozenset(
    (
        "tensorflow.contrib.slim.learning.train",
        "tensorflow.contrib.training.train",
        "tensorflow.estimator.train_and_evaluate",
        "tensorflow.contrib.gan.gan_train",
        "tensorflow_gan.gan_train",
    )
)
_MAKERS = {  # functions that create the train step of an optimizer argument: its position
    "tensorflow.contrib.slim.learning.create_train_op": 1,
    "tensorflow.contrib.training.create_train_op": 1,
    OPTIMIZE_LOSS: 3,
}
_ITERATORS = frozenset(("zip", "map"))
_WORDS = _STEPS | _ESTIMATOR_STEPS | _KERAS_STEPS
_MODEL_NAME = lazy_compile(r"model$|net$")
_OPTIMIZER_NAME = lazy_compile(r"opt(?:im)?(?:izer)?\d*(?:\(\))?(?:\[\])?$|solver$|trainer$")
Gradients = Literal["compute_gradients", "tf.gradients", "tape", "unknown"]


@fact_kind("train_step")
class LibraryTraining(CallFact):
    """A loop of Keras, of an Estimator or of slim is started; the name is the method or function."""

    on: str
    """The receiver: keras, or a canonical name."""
    framework: Literal["tensorflow"] = "tensorflow"
    """The framework that computes the gradients."""
    scaled: Literal["unknown"] = "unknown"
    """Whether the optimizer scales the loss."""
    gradients: Literal["unknown"] = "unknown"
    """The origin of the gradients."""
    reached: HowReached = "no"
    """Whether a training program reaches it: surely, maybe (through calls that depend on something, or on an object of
    unknown class) or not; set when the programs are known."""


@fact_kind("train_step")
class MadeStep(CallFact):
    """``create_train_op(loss, optimizer)`` or ``optimize_loss(loss, step, rate, optimizer)``; the name is the
    function."""

    on: str
    """The canonical name of the function."""
    framework: Literal["tensorflow"] = "tensorflow"
    """The framework that computes the gradients."""
    gradients: Literal["compute_gradients"] = "compute_gradients"
    """The origin of the gradients."""
    reached: HowReached = "no"
    """Whether a training program reaches it: surely, maybe (through calls that depend on something, or on an object of
    unknown class) or not; set when the programs are known."""

    @attribute
    def scaled(self) -> Flag:
        """Whether the optimizer may be one that scales the loss; unknown if it is not found."""
        return _may_scale(self.call)


@fact_kind("train_step")
class OptimizerStep(CallFact):
    """``minimize`` or ``apply_gradients`` of an optimizer; the name is the method."""

    on: str
    """The canonical name of the receiver."""
    framework: Literal["tensorflow"] = "tensorflow"
    """The framework that computes the gradients."""
    reached: HowReached = "no"
    """Whether a training program reaches it: surely, maybe (through calls that depend on something, or on an object of
    unknown class) or not; set when the programs are known."""

    @attribute
    def scaled(self) -> Flag:
        """Whether the optimizer may be one that scales the loss; unknown if it is not found."""
        return _may_scale(self.call)

    @attribute
    def beside_scaled(self) -> Flag:
        """Whether the same file scales the loss of another optimizer; unknown under a condition that chooses between
        them."""
        if any(scope.kind in BRANCHES and not scope.has_main_test for scope in self.call.scope.ancestors):
            return "unknown"
        return flag(scales_for_npu(self.call.scope))

    @attribute
    def gradients(self) -> Gradients:
        """The calls that computed the gradients for apply_gradients."""
        names = {call.name.rpartition(".")[2] for call in gradient_calls(self.call)}
        if "compute_gradients" in names:
            return "compute_gradients"
        return "tf.gradients" if "gradients" in names else "tape" if "gradient" in names else "unknown"

    @attribute
    def pairs(self) -> Literal["iterator", "other", "unknown"]:
        """What holds the pairs for apply_gradients: an iterator (zip or map), which can be read only once, or anything
        else."""
        value = self.call.argument("grads_and_vars", 0)
        names = set() if value is None or self.name != "apply_gradients" else {site.name for site in value.sites}
        if not names:
            return "unknown"
        return "iterator" if names <= _ITERATORS else "other"

    @attribute
    def source_scaled(self) -> Flag:
        """Whether the optimizer that computed the applied gradients scales the loss; unknown also if it depends on a
        condition."""
        if self.name != "apply_gradients":
            return "unknown"
        sources = [call for call in gradient_calls(self.call) if call.last == "compute_gradients"]
        answers = {all_scaled(call) for call in sources}
        return answers.pop() if len(answers) == 1 and all_scaled(self.call) != "unknown" else "unknown"


def _is_step(name: str) -> bool:
    return name.rpartition(".")[2] in _WORDS or name in _LOOPS or name in _MAKERS or name in RUNNERS


@recognizes(matching=_is_step)
def train_steps(call: CallSite) -> list[LibraryTraining] | list[MadeStep] | list[OptimizerStep]:
    """Methods of optimizers, Estimators and Keras models that train, and functions of slim that do so."""
    name = call.name
    on, _, last = name.rpartition(".")
    if last in _STEPS:
        return [OptimizerStep(call, last, on)] if _is_on_optimizer(call, on) else []
    if name in _MAKERS:
        return [MadeStep(call, last, name)]
    if name in _LOOPS or name in RUNNERS or (last in _ESTIMATOR_STEPS and _is_estimator(call, on)):
        return [LibraryTraining(call, last, on)]
    if last in _KERAS_STEPS and (_KERAS_MODEL.match(name) or _is_named_like_model(on) or _is_of_keras(call)):
        return [LibraryTraining(call, last, "keras")]
    return []


def _is_estimator(call: CallSite, on: str) -> bool:
    """Whether a method belongs to an Estimator, by its class, by the name of the object or by what made it."""
    if _is_estimator_class(on) or is_copier(on.removesuffix("()")) or on.lower().endswith("estimator"):
        return True
    sites = [] if call.receiver is None else made_by(call.receiver)
    return bool(sites) and all(_is_estimator_class(f"{site.name}()") or _is_chosen_estimator(site) for site in sites)


def _is_estimator_class(name: str) -> bool:
    """Whether an object of this name is an Estimator, including the predefined ones."""
    maker = name.removesuffix("()")
    return is_maker(maker) or maker == EXPERIMENT or "Estimator()" in name


def _is_chosen_estimator(site: CallSite) -> bool:
    """Whether the class that makes an object is looked up among Estimators."""
    chosen = [] if site.target is not None else choices(site.callee)
    return bool(chosen) and all(is_maker(choice) or choice == ANY_ESTIMATOR for choice in chosen)


def _is_of_keras(call: CallSite) -> bool:
    """Whether a method belongs to a Keras model that the project makes elsewhere, or has a name of Keras only."""
    if call.receiver is None or call.target is not None:
        return False
    return call.last == "fit_generator" or any(_KERAS_MODEL.match(f"{site.name}()") for site in call.receiver.sites)


def _is_named_like_model(name: str) -> bool:
    """Whether an object has the name of a model (``?self.model``)."""
    return name.startswith("?") and bool(_MODEL_NAME.search(name.lower()))


def _is_on_optimizer(call: CallSite, on: str) -> bool:
    """Whether a method belongs to an optimizer, by its canonical name or by where the project creates the object."""
    if _is_optimizer(on) or (on.startswith("?") and _OPTIMIZER_NAME.search(on.rpartition(".")[2].lower())):
        return True
    sites = [] if call.receiver is None else call.receiver.sites
    return bool(sites) and all(_is_optimizer(f"{site.name}()") for site in sites)


def _is_optimizer(name: str) -> bool:
    return (
        name.startswith("tensorflow.keras.optimizers.")
        or "optimizer" in name.lower()
        or name.endswith("mixed_precision_graph_rewrite()")
    )


def step_optimizer(call: CallSite) -> Expr | None:
    """The optimizer whose step a call of minimize, apply_gradients, create_train_op or the like makes."""
    return call.argument("optimizer", _MAKERS[call.name]) if call.name in _MAKERS else call.receiver


def is_scaled(call: CallSite) -> bool:
    """Whether the train step that a call creates may belong to a loss scale optimizer."""
    return _may_scale(call) == "yes"


def _may_scale(call: CallSite) -> Flag:
    optimizer = step_optimizer(call)
    sites = [] if optimizer is None else optimizer.sites
    return flag(any(map(scales, layers(sites))) if sites else None)


def all_scaled(call: CallSite) -> Flag:
    """Whether every optimizer that a method may belong to scales the loss: yes, no (none does) or unknown."""
    sites = [] if call.receiver is None else call.receiver.sites
    answers = {any(map(scales, layers([site]))) for site in sites}
    return flag(answers.pop() if len(answers) == 1 else None)


@fact_kind("step_count")
class StepCount(CallFact):
    """The global step is assigned, in a graph and unconditionally; the name is the canonical callee."""

    @attribute
    def beside_scaled(self) -> bool:
        """Whether the file also has a train step of a loss scale optimizer of the adapter."""
        return _has_scaled_step(self.scope)


@recognizes(matching=lambda name: name in _ASSIGNING or name.endswith(_METHODS))
def step_counts(call: CallSite) -> list[StepCount]:
    """Assignments of TensorFlow variables."""
    by_function = call.name in _ASSIGNING
    counted = call.argument("ref", 0) if by_function else call.receiver
    if counted is None or not (_NAME.search(counted.written) or counted.name.endswith(_MADE)):
        return []
    new = call.argument("value", 1 if by_function else 0)
    if (new is not None and _is_chosen(new)) or call.scope.routine.kind == "lambda":
        return []
    return [StepCount(call, call.name)]


@walker(depth=6, otherwise=bool)
def _is_chosen(value: Expr) -> bool:
    """Whether a value comes from ``tf.cond`` or the like, which may leave the step unchanged."""
    call = value.call
    if call is not None:
        return call.name in _CHOOSING or any(map(_is_chosen, call.args))
    assigned = [assignment.value for assignment in value.assignments[:4]]
    return any(map(_is_chosen, value.operands() or assigned))


@once_per_file
def _has_scaled_step(module: Scope) -> bool:
    return scales_for_npu(module) and any(map(is_scaled, module.calls_named("apply_gradients", "minimize")))
