"""Attributes of a program as a whole: framework, mode, role, migration state, precision, devices."""

from __future__ import annotations

from collections.abc import Callable

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
_GRADIENTS = "tensorflow.gradients"
_BUILT = frozenset(("minimize", "apply_gradients", "create_train_op", "optimize_loss"))


def describe(
    index: Index,
    entry_word: Purpose,
    adapter: str,
    torch: str,
    may_run: Callable[[list[Fact], bool], bool],
    surely_runs: Callable[[Fact], bool],
    adapted: bool = False,
    entry: str = "",
    is_loaded: Callable[[Fact], bool] = lambda _: True,
) -> ProgramFact:
    """The fact of a program, without its name and place. `entry_word` is the role that its entry script's name
    indicates, `adapter` the adapter release to assume, `torch` that of PyTorch (empty: unknown); `may_run` returns
    whether the program can reach any of some facts, as far as its calls are resolved or (True) by their names alone;
    `surely_runs` whether it surely reaches a fact;
    `adapted`: packages of the project apply an adaptor to it; `entry` the path of its entry script, if it has one;
    `is_loaded` whether an import may run in the processes that train."""
    framework = _framework(index)
    by_name = entry_word == "train" or framework != "torch"  # a script that says that it trains may compute its calls
    trains = _trains(index, entry_word, lambda facts: may_run(facts, by_name))
    if trains and framework == "tensorflow" and entry_word != "train" and entry:
        trains = _runs_training(index, lambda facts: may_run(facts, False))
    fact = ProgramFact(
        framework=framework,
        npu=any(map(is_of_adapter, index.names("import"))),
        trains=trains,
        purpose="train" if trains else entry_word,
        evaluates=entry_word == "evaluate",
        exports=entry_word == "export",
    )
    if fact.framework == "torch":
        torch_state.describe(fact, index, torch, adapted, surely_runs, is_loaded)
    else:
        tensorflow_state.describe(fact, index, adapter, entry, surely_runs)
    return fact


def is_of_adapter(name: str) -> bool:
    """Whether an import is that of an NPU adapter."""
    return name.partition(".")[0] in _ADAPTERS


def _framework(index: Index) -> Framework:
    roots = {name.partition(".")[0] for name in index.names("import")}
    torch = bool(roots & _TORCH)
    if roots & {"npu_bridge", "npu_device"} or any(
        fact.get("via") == "session_key" for fact in index.of_kind("setting")
    ):
        return "tensorflow"
    if roots & {"tensorflow", "tf_slim", "keras"}:
        return "torch" if torch and _mostly_torch(index) else "tensorflow"
    return "torch" if torch or "transformers" in roots else "none"


def _mostly_torch(index: Index) -> bool:
    """Whether a program that imports both frameworks belongs to PyTorch and only borrows a callback or a logger."""
    names = [f.name for f in index.of_kind("call")]
    return sum(n.startswith("torch") for n in names) > sum(n.startswith(("tensorflow.", "keras.")) for n in names)


def _runs_training(index: Index, may_run: Callable[[list[Fact]], bool]) -> bool:
    """Whether a TensorFlow program may run the steps that it builds: a model function builds them for prediction as
    well, and then nothing runs them."""
    steps = [fact for fact in index.of_kind("train_step") if fact.get("in_test") != "yes"]
    built = [fact for fact in steps if fact.name in _BUILT and fact.get("gradients") != "tape"]
    runners = [*index.of_kind("session"), *index.of_kind("estimator")]
    if len(built) == 0 or not runners:
        return True
    running = [fact for fact in steps if fact not in built]
    sessions = [fact for fact in index.of_kind("session") if fact.get("purpose") in ("train", "unknown")]
    return may_run([*running, *sessions])


def _trains(index: Index, entry_word: str, may_run: Callable[[list[Fact]], bool]) -> bool:
    if entry_word in ("evaluate", "export", "data"):
        return False
    steps = [f for f in index.of_kind("train_step") if f.get("in_test") != "yes" and f.get("active") != "no"]
    if not steps and entry_word == "train":  # the loss may be in a class that is looked up by name
        uses = [f for f in index.of_kind("optimizer_use") if f.name == "step" and f.get("in_test") != "yes"]
        steps = [f for f in uses if not str(f.get("function")).endswith(".step")]  # not a wrapper of an optimizer
    if not steps and entry_word == "train":  # a hand-written update rule
        steps = [f for f in index.named("call", "gradients") if f.name == _GRADIENTS and f.get("in_test") != "yes"]
    return bool(steps) and may_run(steps)
