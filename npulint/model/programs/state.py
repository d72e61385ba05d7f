"""Attributes of a program as a whole: framework, mode, role, migration state, precision, devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from npulint.facts.model import Fact
from npulint.model.code.index import Index
from npulint.model.programs import tensorflow_state, torch_state
from npulint.model.programs.program_fact import Framework, ProgramFact
from npulint.model.values.script_role import Purpose

_ADAPTERS = ("npu_bridge", "npu_device", "torch_npu")
_TORCH = frozenset(
    "torch torch_npu apex lightning pytorch_lightning lightning_fabric accelerate deepspeed trl sentence_transformers "
    "megatron".split()
)
"""PyTorch, and libraries that work with nothing else."""
_GRADIENTS = ("tensorflow.gradients", "tensorflow.GradientTape().gradient")
_ASSIGNING = ("assign", "assign_add", "assign_sub")
_BUILT = frozenset(("minimize", "apply_gradients", "create_train_op", "optimize_loss"))

MayRun = Callable[[Sequence[Fact], bool], bool]
"""Whether a program can reach any of some facts, as far as its calls are resolved or (True) by their names alone."""


class ProgramReach(NamedTuple):
    """What a program reaches: whether it may run some facts, whether it surely comes to one, and whether an import may
    run in the processes that train."""

    may_run: MayRun
    surely_runs: Callable[[Fact], bool]
    is_loaded: Callable[[Fact], bool] = lambda _: True


def describe(
    index: Index,
    named: Purpose,
    adapter: str,
    torch: str,
    reached: ProgramReach,
    adapted: bool = False,
    entry: str = "",
    starts_workers: bool = False,
) -> ProgramFact:
    """The fact of a program, without its name and place. `named` is the role that its entry script's name indicates,
    for a program that does not train; `adapter` the adapter release to assume, `torch` that of PyTorch (empty:
    unknown); `reached` what it reaches; `adapted`: packages of the project apply an adaptor to it;
    `entry` the path of its entry script, if it has one; `starts_workers`: a framework starts its trainings by that
    script, whose workers it makes by name."""
    framework = _framework(index, reached.may_run)
    trains = _trains(index, reached.may_run, starts_workers)
    if trains and framework == "tensorflow" and entry:
        trains = _runs_training(index, reached.may_run)
    role: Purpose = "unknown" if named == "train" else named
    fact = ProgramFact(
        framework=framework,
        npu=any(map(is_of_adapter, index.names("import"))),
        trains=trains,
        purpose="train" if trains else role,
        evaluates=role == "evaluate",
        exports=role == "export",
    )
    if fact.framework == "torch":
        torch_state.describe(fact, index, torch, adapted, reached.surely_runs, reached.is_loaded)
    else:
        tensorflow_state.describe(fact, index, adapter, entry, reached.surely_runs)
    return fact


def is_of_adapter(name: str) -> bool:
    """Whether an import is that of an NPU adapter."""
    return name.partition(".")[0] in _ADAPTERS


def _framework(index: Index, may_run: MayRun) -> Framework:
    """The framework of a program that imports several is that of the training steps that it reaches."""
    roots = {name.partition(".")[0] for name in index.names("import")}
    torch = bool(roots & _TORCH) or any(map(_is_library_of_torch, index.of_kind("train_step")))
    if roots & {"npu_bridge", "npu_device"} or any(
        fact.get("via") == "session_key" for fact in index.of_kind("setting")
    ):
        return "tensorflow"
    if roots & {"tensorflow", "tf_slim", "keras"}:
        return "torch" if torch and _is_of_torch(index, may_run) else "tensorflow"
    return "torch" if torch or "transformers" in roots else "none"


def _is_library_of_torch(step: Fact) -> bool:
    """Whether a training step is the call of a library of PyTorch that trains; ``backward`` may be a method of any."""
    return step.get("framework") == "torch" and step.name != "backward"


def _is_of_torch(index: Index, may_run: MayRun) -> bool:
    """Whether a program that imports both frameworks trains with PyTorch, and takes a logger or a reader of data from
    the other; where it trains with both or with neither, whether it calls more of PyTorch."""
    steps = _steps(index)
    by_torch, by_other = (
        may_run([step for step in steps if (step.get("framework") == "torch") is torch], False)
        for torch in (True, False)
    )
    if by_torch is not by_other:
        return by_torch
    names = [f.name for f in index.of_kind("call")]
    return sum(n.startswith("torch") for n in names) > sum(n.startswith(("tensorflow.", "keras.")) for n in names)


def _runs_training(index: Index, may_run: MayRun) -> bool:
    """Whether a TensorFlow program may run the steps that it builds: a model function builds them for prediction as
    well, and then nothing runs them."""
    steps = _steps(index)
    built = [fact for fact in steps if fact.name in _BUILT and fact.get("gradients") != "tape"]
    runners = [*index.of_kind("session"), *index.of_kind("estimator")]
    if len(built) == 0 or not runners:
        return True
    running = [fact for fact in steps if fact not in built]
    handed_on = [] if running else index.of_kind("estimator")  # nothing is seen that trains one
    return may_run([*running, *_may_train([*index.of_kind("session"), *handed_on])], False)


def _trains(index: Index, may_run: MayRun, starts_workers: bool) -> bool:
    """Whether a program reaches a training step. Of one that is only reached by its name, a method of an object that is
    looked up, it must make the optimizer or clear its gradients where it steps, or be known to start workers."""
    steps = _steps(index)
    if may_run(steps, False) or _updates_by_hand(index, may_run):
        return True
    uses = _outside_tests(index.of_kind("optimizer_use"))
    updates = [use for use in uses if use.name == "step" and not use.get_text("function").endswith(".step")]
    clearing = {_routine(use) for use in uses if use.name == "zero_grad"}  # above: no wrapper of an optimizer
    own = [*_outside_tests(index.of_kind("optimizer")), *(use for use in updates if _routine(use) in clearing)]
    return (starts_workers or may_run(own, False)) and may_run([*steps, *updates], True)


def _updates_by_hand(index: Index, may_run: MayRun) -> bool:
    """Whether a program takes gradients of TensorFlow and assigns variables itself, without an optimizer: in the same
    function, or by what a session runs."""
    taking = (fact for name in _GRADIENTS for fact in index.named("call", name.rpartition(".")[2]))
    gradients = [fact for fact in _outside_tests([*taking]) if fact.name in _GRADIENTS]
    if not may_run(gradients, False):
        return False
    assigning = {_routine(fact) for last in _ASSIGNING for fact in index.named("call", last)}
    if may_run([fact for fact in gradients if _routine(fact) in assigning], False):
        return True
    return may_run(_may_train(index.of_kind("session")), False)


def _may_train(runners: Sequence[Fact]) -> list[Fact]:
    """The sessions and Estimators that train, or of which it is not known what they do."""
    return [fact for fact in runners if fact.get("purpose") in ("train", "unknown")]


def _routine(fact: Fact) -> tuple[str, str]:
    return fact.path, fact.get_text("function")


def _steps(index: Index) -> list[Fact]:
    """The training steps of a program that are not off."""
    return [fact for fact in _outside_tests(index.of_kind("train_step")) if fact.get("active") != "no"]


def _outside_tests(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.get("in_test") != "yes"]
