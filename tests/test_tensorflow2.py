"""TensorFlow 2 on npu_device: how the NPU is opened, what runs in compiled functions, what programs are."""

from __future__ import annotations

import pytest

from tests.project_support import Project
from tests.support import facts, lines, programs

_TOP = "import npu_device\nimport tensorflow as tf\n"
_OPEN = "npu_device.open().as_default()\n"
_STEP = """
        with tf.GradientTape() as tape:
            loss = model(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
"""

_DEFAULTS = {
    "at once": (_OPEN, "yes"),
    "later": ("device = npu_device.open()\ndevice.as_default()\n", "yes"),
    "another name": ("from npu_device import open as claim\nclaim(0).as_default()\n", "yes"),
    "never": ("npu_device.open()\n", "no"),
    "assigned, never": ("device = npu_device.open()\n", "no"),
    "in a scope": ("with npu_device.open().scope():\n    pass\n", "unknown"),
    "returned": ("def f():\n    return npu_device.open()\n", "unknown"),
    "passed on": ("use(npu_device.open())\n", "unknown"),
    "kept": ("self.device = npu_device.open()\n", "unknown"),
}


@pytest.mark.parametrize(("text", "default"), _DEFAULTS.values(), ids=_DEFAULTS.keys())
def test_opened_device_becomes_the_default_one_or_not(text: str, default: str) -> None:
    (fact,) = facts(_TOP + text, "npu_open")
    assert fact.get("default") == default


_REACHED = {
    "module level": (_OPEN, "yes"),
    "a called function": ("def f():\n    " + _OPEN + "f()\n", "yes"),
    "a runner's function": ("def main(_):\n    " + _OPEN + "tf.compat.v1.app.run(main)\n", "unknown"),
    "a method": ("class T:\n    def f(self):\n        " + _OPEN, "unknown"),
    "a function called on something": ("def f():\n    " + _OPEN + "config.f()\n", "unknown"),
    "a function that nobody calls": ("def f():\n    " + _OPEN, "no"),
}


@pytest.mark.parametrize(("text", "reached"), _REACHED.values(), ids=_REACHED.keys())
def test_function_that_opens_the_device_is_called_or_not(text: str, reached: str) -> None:
    (fact,) = facts(_TOP + text, "npu_open")
    assert fact.get("reached") == reached


def test_file_that_is_opened_is_no_npu() -> None:
    assert facts(_TOP + "open('a')\ntf.io.gfile.GFile('a').open()\n", "npu_open") == []


_LATE = {
    "a variable": ("v = tf.Variable(1.0)\n" + _OPEN, "variable"),
    "a metric": ("m = tf.keras.metrics.Mean()\n" + _OPEN, "variable"),
    "a functional model": ("i = tf.keras.Input([4])\n" + _OPEN, "model"),
    "a ready-made model": ("i = tf.keras.applications.ResNet50()\n" + _OPEN, "model"),
    "in a function": ("def make():\n    return tf.Variable(1.0)\nmake()\n" + _OPEN, "variable"),
    "in a constructor": (
        "class Net:\n    def __init__(self):\n        self.v = tf.Variable(1.0)\nnet = Net()\n" + _OPEN,
        "variable",
    ),
    "by a runner": (
        "def main(_):\n    tf.Variable(1.0)\n    npu_device.open().as_default()\ntf.compat.v1.app.run()\n",
        "variable",
    ),
    "a function that is not called": ("def make():\n    return tf.Variable(1.0)\n" + _OPEN, "none"),
    "a function called later": ("def make():\n    return tf.Variable(1.0)\n" + _OPEN + "make()\n", "none"),
    "a condition": ("if flag:\n    v = tf.Variable(1.0)\n" + _OPEN, "none"),
    "a conditional call": ("def make():\n    tf.Variable(1.0)\nif flag:\n    make()\n" + _OPEN, "none"),
    "a loop": ("for i in range(n):\n    v = tf.Variable(1.0)\n" + _OPEN, "none"),
    "a compiled function": ("@tf.function\ndef f():\n    tf.Variable(1.0)\nf()\n" + _OPEN, "none"),
    "layers": ("d = tf.keras.layers.Dense(1)\n" + _OPEN, "none"),
    "after": (_OPEN + "v = tf.Variable(1.0)\n", "none"),
}


@pytest.mark.parametrize(("text", "late"), _LATE.values(), ids=_LATE.keys())
def test_what_is_made_before_the_opening_makes_it_late(text: str, late: str) -> None:
    (fact,) = facts(_TOP + text, "npu_open")
    assert fact.get("late") == late


def test_imported_modules_run_where_they_are_imported() -> None:
    nets = "import tensorflow as tf\nscale = tf.Variable(1.0)\nif __name__ == '__main__':\n    tf.random.set_seed(1)\n"
    before = {"nets.py": nets, "train.py": "import npu_device\nimport nets\n" + _OPEN}
    after = {"nets.py": nets, "train.py": "import npu_device\n" + _OPEN + "import nets\n"}
    (late,) = facts(before, "npu_open")
    assert (late.get("late"), late.get("first"), late.get("first_line")) == ("variable", "tensorflow.Variable", "2")
    assert lines(before, "beside_open") == [2]
    assert facts(after, "npu_open")[0].get("late") == "none"
    assert facts(after, "beside_open") == []


def test_options_after_the_opening_are_told_by_the_order_of_execution() -> None:
    late = "npu_device.global_options().precision_mode = 'allow_mix_precision'\n"
    assert lines(_TOP + _OPEN + late, "beside_open") == [4]
    assert lines(_TOP + late + _OPEN, "beside_open") == []
    assert lines(_TOP + "def f():\n    " + late + _OPEN + "f()\n", "beside_open") == [4]
    assert lines(_TOP + "def f():\n    " + late + "f()\n" + _OPEN, "beside_open") == []
    assert lines(_TOP + "if flag:\n    " + _OPEN + late, "beside_open") == []


def test_nested_options_and_those_of_a_name_count() -> None:
    text = _TOP + _OPEN + "o = npu_device.global_options()\no.dump_config.enable_dump = True\n"
    assert lines(text, "beside_open") == [5]


def test_another_device_in_one_process_is_told() -> None:
    two = facts(_TOP + "npu_device.open(0).as_default()\nnpu_device.open(1).as_default()\n", "npu_open")
    assert [f.get("other") for f in two] == ["none", "0"]
    same = facts(_TOP + "npu_device.open(0).as_default()\nnpu_device.open(0).as_default()\n", "npu_open")
    assert [f.get("other") for f in same] == ["none", "none"]
    unknown = facts(_TOP + "npu_device.open(a).as_default()\nnpu_device.open(b).as_default()\n", "npu_open")
    assert [f.get("other") for f in unknown] == ["none", "none"]


_DEF = "def step(x):" + _STEP.replace("\n        ", "\n    ")
_COMPILED = {
    "module level": ("for x in data:" + _STEP.replace("\n        ", "\n    "), "no"),
    "a called function": (_DEF + "for x in data:\n    step(x)\n", "no"),
    "a decorator": ("@tf.function\n" + _DEF + "step(1)\n", "yes"),
    "a decorator with arguments": ("@tf.function(input_signature=s)\n" + _DEF + "step(1)\n", "yes"),
    "the compatible decorator": ("@npu_device.npu_compat_function\n" + _DEF + "step(1)\n", "yes"),
    "wrapped afterwards": (_DEF + "fast = tf.function(step)\nfor x in data:\n    fast(x)\n", "yes"),
    "wrapped by its own name": (_DEF + "step = tf.function(step)\nfor x in data:\n    step(x)\n", "yes"),
    "called from a compiled one": (_DEF + "@tf.function\ndef run(x):\n    step(x)\nrun(1)\n", "yes"),
    "by a strategy in a compiled one": (
        _DEF + "@tf.function\ndef run(x):\n    strategy.run(step, args=(x,))\nrun(1)\n",
        "yes",
    ),
    "by a strategy eagerly": (_DEF + "for x in data:\n    strategy.run(step, args=(x,))\n", "no"),
    "an unknown decorator": ("@timed\n" + _DEF + "step(1)\n", "unknown"),
    "a callback": (_DEF + "train(step)\n", "unknown"),
    "called by nobody": (_DEF, "unknown"),
    "an own wrapper": (_DEF + "fast = maybe_compile(step)\n", "unknown"),
}


@pytest.mark.parametrize(("text", "compiled"), _COMPILED.values(), ids=_COMPILED.keys())
def test_tape_runs_in_a_compiled_function_or_eagerly(text: str, compiled: str) -> None:
    (fact,) = facts(_TOP + text, "tape")
    assert (fact.get("compiled"), fact.get("trains")) == (compiled, "yes")


_BASES = {"tf.keras.Model": "yes", "": "no", "object": "no", "Base": "unknown"}


@pytest.mark.parametrize(("base", "compiled"), _BASES.items())
def test_train_step_of_a_keras_model_is_compiled_by_keras(base: str, compiled: str) -> None:
    text = f"{_TOP}class Net({base}):\n    def train_step(self, x):{_STEP}net = Net()\nnet.train_step(1)\n"
    (fact,) = facts(text, "tape")
    assert fact.get("compiled") == compiled


def test_method_wrapped_in_the_constructor_is_compiled() -> None:
    text = (
        f"{_TOP}class T:\n    def __init__(self):\n        self.fast = tf.function(self.step)\n"
        f"    def step(self, x):{_STEP}    def run(self):\n        self.fast(1)\nT().run()\n"
    )
    (fact,) = facts(text, "tape")
    assert fact.get("compiled") == "yes"


def test_tape_that_applies_nothing_does_not_train() -> None:
    text = (
        _TOP
        + "for x in data:\n    with tf.GradientTape() as tape:\n        y = model(x)\n    show(tape.gradient(y, x))\n"
    )
    (fact,) = facts(text, "tape")
    assert (fact.get("trains"), fact.get("looped")) == ("no", "yes")


_LOOPS = {
    "python": ("@tf.function\n" + _DEF + "for x in data:\n    step(x)\n", 1),
    "python around a function": ("@tf.function\n" + _DEF + "def log(x):\n    step(x)\nfor x in data:\n    log(x)\n", 1),
    "within": (
        _DEF + "@tf.function\ndef run(it, n):\n    for _ in tf.range(n):\n        step(next(it))\n"
        "for _ in range(9):\n    run(it, 5)\n",
        0,
    ),
    "around the tape": (
        "@tf.function\ndef epoch(data):\n    for x in data:" + _STEP + "for _ in range(9):\n    epoch(data)\n",
        0,
    ),
    "none": ("@tf.function\n" + _DEF + "step(1)\n", 0),
    "eager": (_DEF + "for x in data:\n    step(x)\n", 0),
}


@pytest.mark.parametrize(("text", "count"), _LOOPS.values(), ids=_LOOPS.keys())
def test_python_loops_that_call_a_compiled_step_are_found(text: str, count: int) -> None:
    assert len(facts(_TOP + text, "step_call")) == count


def test_a_step_that_a_loop_calls_through_others_has_its_own_name() -> None:
    text = (
        _DEF + "@tf.function\ndef train(x):\n    step(x)\nfor x in data:\n    def run():\n        train(x)\n    run()\n"
    )
    assert [f.name for f in facts(_TOP + text, "step_call")] == ["train"]


_RANGE = "@tf.function\ndef run(it, steps):\n    for _ in tf.range(steps):\n        step(next(it))\n"
_SIZES = {
    "equal": ("npu_device.set_npu_loop_size(5)\n" + _RANGE + "run(it, tf.constant(5))\n", "yes"),
    "other": ("npu_device.set_npu_loop_size(5)\n" + _RANGE + "run(it, tf.constant(6))\n", "no"),
    "unknown": ("npu_device.set_npu_loop_size(5)\n" + _RANGE + "run(it, n)\n", "unknown"),
    "no loop": ("npu_device.set_npu_loop_size(5)\n@tf.function\ndef f(x):\n    step(x)\n", "missing"),
    "an eager loop": ("npu_device.set_npu_loop_size(5)\nfor _ in tf.range(5):\n    step(x)\n", "missing"),
}


@pytest.mark.parametrize(("text", "agrees"), _SIZES.values(), ids=_SIZES.keys())
def test_loop_size_is_compared_with_compiled_loops(text: str, agrees: str) -> None:
    (fact,) = facts(_TOP + text, "loop_size")
    assert fact.get("agrees") == agrees


_COMPILES = {
    "model.compile(optimizer='adam', loss='mse')\n": 1,
    "model.compile('adam', 'mse', run_eagerly=True)\n": 1,
    "tf.keras.Sequential([]).compile('adam')\n": 1,
    "re.compile('a')\n": 0,
    "pattern.compile('a', flags=1)\n": 0,
}


@pytest.mark.parametrize(("text", "count"), _COMPILES.items())
def test_compiling_a_model_is_told_from_other_compiling(text: str, count: int) -> None:
    assert len(facts(_TOP + "import re\n" + text, "model_compile")) == count


_KEPT = {
    "npu_device.distribute.all_reduce(g)\n": "no",
    "if many:\n    npu_device.distribute.all_reduce(g, 'mean')\n": "no",
    "g = npu_device.distribute.all_reduce(g)\n": "yes",
    "apply(npu_device.distribute.all_reduce(g))\n": "yes",
    "g = [npu_device.distribute.all_reduce(x) for x in g]\n": "yes",
    "print(f'{npu_device.distribute.all_reduce(g)}')\n": "yes",
    "npu_device.distribute.all_reduce(g).numpy()\n": "yes",
    "if npu_device.distribute.all_reduce(g) > 0:\n    pass\n": "yes",
    "def f():\n    return npu_device.distribute.all_reduce(g)\n": "yes",
}


@pytest.mark.parametrize(("text", "kept"), _KEPT.items())
def test_result_of_a_reduction_is_kept_or_lost(text: str, kept: str) -> None:
    (fact,) = facts(_TOP + text, "distribution")
    assert fact.get("kept") == kept


_GENERATIONS = {
    "eager": (_TOP + _OPEN + "model = tf.keras.Sequential([])\nmodel.fit(x)\n", "2", "migrated"),
    "names of compat.v1": (
        _TOP + "import tensorflow.compat.v1 as v1\n" + _OPEN + "model = tf.keras.Sequential([])\nmodel.fit(x)\n",
        "2",
        "migrated",
    ),
    "a session beside": (
        _TOP + _OPEN + "tf.compat.v1.Session()\nmodel = tf.keras.Sequential([])\nmodel.fit(x)\n",
        "2",
        "migrated",
    ),
    "never opened": (
        _TOP + "s = tf.compat.v1.Session()\n@tf.function\ndef f():\n    pass\ns.run(g())\n",
        "2",
        "partial",
    ),
    "compat.v1 alone": ("import npu_device\nimport tensorflow.compat.v1 as tf\ntf.Session()\n", "1", "partial"),
    "an operator of npu_bridge beside": (
        _TOP + "from npu_bridge.estimator.npu import npu_aicore_ops\n" + _OPEN,
        "2",
        "migrated",
    ),
    "npu_bridge alone": (_TOP + "from npu_bridge.npu_init import *\ntf.compat.v1.Session()\n", "1", "migrated"),
    "switched over": (_TOP + "npu_device.compat.enable_v1()\ntf.compat.v1.Session()\n", "1", "partial"),
    "original with a decorator": (
        "import tensorflow as tf\n@tf.function(autograph=False)\ndef f():\n    pass\n",
        "2",
        "not_started",
    ),
    "original with contrib of another": (
        "import tensorflow as tf\nimport pypinyin.contrib.tones\n@tf.function\ndef f():\n    pass\n",
        "2",
        "not_started",
    ),
    "original with some compat.v1": (
        "import tensorflow as tf\nimport tensorflow.compat.v1.logging as log\n@tf.function\ndef f():\n    pass\n",
        "2",
        "not_started",
    ),
    "original of TensorFlow 1": ("import tensorflow.compat.v1 as tf\ntf.constant(1)\n", "1", "not_started"),
    "contrib": (
        "import tensorflow as tf\nimport tensorflow.contrib.slim\n@tf.function\ndef f():\n    pass\n",
        "1",
        "not_started",
    ),
}


@pytest.mark.parametrize(("text", "generation", "state"), _GENERATIONS.values(), ids=_GENERATIONS.keys())
def test_generation_and_state_of_programs_of_npu_device(text: str, generation: str, state: str) -> None:
    (program,) = programs({"a.py": text + "if __name__ == '__main__':\n    pass\n"})
    assert (program.fact.get("tensorflow"), program.fact.get("state")) == (generation, state)


def test_program_that_only_shares_modules_with_a_ported_one_is_not_ported_itself() -> None:
    main = "if __name__ == '__main__':\n    pass\n"
    sources = {"lib.py": _TOP, "a.py": _TOP + "import lib\n" + _OPEN + main, "b.py": "import lib\n" + main}
    found = {p.entry: (p.fact.get("npu"), p.fact.get("own_npu")) for p in programs(sources)}
    assert found == {"a.py": ("yes", "yes"), "b.py": ("yes", "no")}
    sources["a.py"] = "import lib\n" + main
    assert {p.fact.get("own_npu") for p in programs(sources)} == {"yes"}


_KERAS = """\
import tensorflow as tf
from tensorflow.keras.layers import GRU, Dense, Input
from tensorflow.keras.models import Model

ids = Input(shape=(None, 8))
model = Model(ids, Dense(9)(GRU(8)(ids)))
model.compile(optimizer, "mse")
model.fit(x, y)
"""
_WRITTEN_FOR = {
    "an array of a result": (_KERAS + "print(model(x).numpy())\n", "2"),
    "an array of something else": (_KERAS + "print(frame.numpy())\n", ""),
    "an optimizer of 1.x": (_KERAS.replace("optimizer,", "tf.train.AdamOptimizer(0.1),"), "1"),
    "layers of both": (_KERAS, ""),
}


@pytest.mark.parametrize(("text", "generation"), _WRITTEN_FOR.values(), ids=_WRITTEN_FOR.keys())
def test_what_only_one_tensorflow_has_says_which_it_is(text: str, generation: str) -> None:
    (program,) = programs({"train.py": text})
    assert program.fact.get("tensorflow") == generation


@pytest.mark.parametrize(("text", "generation"), _WRITTEN_FOR.values(), ids=_WRITTEN_FOR.keys())
def test_control_flow_and_adapter_of_tensorflow_1_are_those_of_programs_for_it(
    text: str, generation: str, project: Project
) -> None:
    report = project.write({"train.py": text}).run("check", "--no-cache", "--min-severity=note").out
    assert ("v1-control-flow" in report) == ("adapter 1.15" in report) == (generation == "1")


@pytest.mark.parametrize(("chip", "severity"), [("910A", "warning"), ("", "note"), ("910B", "note")])
def test_loss_scale_is_a_warning_where_gradients_are_surely_float16(chip: str, severity: str, project: Project) -> None:
    text = """\
import tensorflow as tf

step = tf.train.AdamOptimizer(1e-3).minimize(-tf.reduce_mean(tf.log(tf.get_variable("w", [4]) + 1e-8)))
with tf.Session() as sess:
    sess.run(step)
"""
    target = [f"--target=soc={chip}"] if chip else []
    report = project.write({"train.py": text}).run("check", "--no-cache", "--min-severity=note", *target).out
    assert f"{severity}[no-loss-scale]" in report
    assert "note[small-constant-under-mixed-precision]" in report
