"""Live checks of TensorFlow: every kind of object gives its graph, with the user's lines and the verdicts of a file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from npulint.commands.check.pipeline import facts_of
from npulint.facts.graph import NodeFrame
from npulint.judge.summaries.step_summary import StepOperator
from npulint.live import LiveResult, check_tensorflow
from npulint.live.tensorflow.check import KINDS, built, kind_of
from npulint.live.tensorflow.gradients import forward_names, gradient_frames
from tests.live_support import framework, line_of, loaded, quiet
from tests.project_support import Project

pytestmark = pytest.mark.slow

_NET = """
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
ROWS = np.zeros((2, 4), "float32")
AIMS = np.zeros((2, 2), "float32")


def cut_graph():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2, 4], name="x")
        weight = v1.get_variable("weight", [4, 4])
        hidden = tf.matmul(x, weight)
        for _ in range(3):
            hidden = tf.nn.relu(tf.matmul(hidden, weight))
        one = tf.numpy_function(np.tanh, [hidden], tf.float32)  # first cut
        two = tf.numpy_function(np.tanh, [hidden], tf.float32)  # second cut
        total = tf.reduce_sum(hidden * tf.reshape(one, [2, 4]) * tf.reshape(two, [2, 4]))
        v1.train.AdamOptimizer().minimize(total)
    return graph


def training_graph():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        weight = v1.get_variable("weight", [4, 2])
        total = tf.reduce_sum(tf.math.lgamma(tf.matmul(x, weight)))  # lgamma
        v1.train.AdamOptimizer().minimize(total)  # minimize
    return graph


def meta_graph():
    graph = training_graph()
    return v1.train.export_meta_graph(graph=graph, graph_def=graph.as_graph_def())


def session():
    return v1.Session(graph=training_graph())


@tf.function
def branching(x):
    y = x
    if tf.reduce_sum(x) > 0:
        y = tf.math.lgamma(x)  # in a branch
    for _ in tf.range(3):
        y = y + tf.reshape(tf.py_function(np.tanh, [y], tf.float32), tf.shape(y))  # in a loop
    return y


def plain(x):
    return tf.math.lgamma(x)  # plain


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(2)

    def call(self, x, training=False):
        hidden = self.dense(x)  # dense
        return tf.math.lgamma(hidden)  # activation


def compiled():
    model = Net()
    model.compile("adam", "mse")
    return model


class Wrong(tf.keras.Model):
    def call(self, x):
        raise RuntimeError("the user's own mistake")


def model_fn(features, labels, mode, params):
    weight = v1.get_variable("weight", [4, 2])
    guess = tf.math.lgamma(tf.matmul(features, weight))  # guess
    if mode == "infer":
        return guess
    away = tf.reduce_mean(tf.square(guess - labels))
    return v1.train.GradientDescentOptimizer(0.1).minimize(away, global_step=v1.train.get_global_step())


def input_fn():
    return tf.data.Dataset.from_tensors((ROWS, AIMS)).map(lambda x, y: (tf.math.lgamma(x), y))  # pipeline


class Scale(tf.Module):
    def __init__(self):
        self.weight = tf.Variable(tf.ones([4]))

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def __call__(self, x):
        return tf.math.lgamma(x * self.weight)


def saved(folder):
    tf.saved_model.save(Scale(), folder)
    return tf.saved_model.load(folder)
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The program, imported once: TensorFlow remembers functions by their code, wherever it lies."""
    framework("tensorflow")
    folder = Project(tmp_path_factory.mktemp("net")).write({"npulint.toml": '[target]\ncann = "8.0"\n', "net.py": _NET})
    return loaded(folder.folder / "net.py")


@pytest.fixture
def net(module: Any, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same, in the working directory."""
    monkeypatch.chdir(Path(module.__file__).parent)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    with quiet():
        yield module


def _thing(kind: str, net: Any, folder: Path) -> tuple[Any, tuple[Any, ...]]:
    """One of a kind, with inputs."""
    made: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
        "graph": lambda: (net.training_graph(), ()),
        "graph_def": lambda: (net.training_graph().as_graph_def(), ()),
        "meta_graph": lambda: (net.meta_graph(), ()),
        "session": lambda: (net.session(), ()),
        "concrete": lambda: (net.branching.get_concrete_function(net.tf.TensorSpec([None, 4])), ()),
        "function": lambda: (net.branching, (net.ROWS,)),
        "callable": lambda: (net.plain, (net.ROWS,)),
        "keras": lambda: (net.compiled(), (net.ROWS, net.AIMS)),
        "model_fn": lambda: (net.model_fn, (net.ROWS, net.AIMS)),
        "saved_model": lambda: (net.saved(str(folder / "saved")), ()),
        "estimator": lambda: (_Estimator(net.model_fn), (net.input_fn,)),
    }
    return made[kind]()


class _Checked:
    """What a check says of each kind, checked once. Its calls lie in this project, which is larger than the program's:
    therefore the folder is given."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[Any, tuple[Any, ...], LiveResult]] = {}

    def of(self, kind: str, net: Any) -> tuple[Any, tuple[Any, ...], LiveResult]:
        """The thing, its inputs, and the result."""
        if kind not in self._known:
            thing, inputs = _thing(kind, net, self._folder)
            self._known[kind] = thing, inputs, check_tensorflow(thing, *inputs, root=".")
        return self._known[kind]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> _Checked:
    return _Checked(tmp_path_factory.mktemp("things"))


class _Estimator:
    """What an Estimator of TensorFlow 1.15 to 2.15 can do; newer releases have none."""

    config = None

    def __init__(self, model_fn: Any) -> None:
        self.model_fn = model_fn
        self.params: dict[str, Any] = {}

    def train(self) -> None:
        raise NotImplementedError

    def evaluate(self) -> None:
        raise NotImplementedError


def _of(result: LiveResult, name: str) -> list[StepOperator]:
    return [one for one in result.operators if one.name == name]


def _lines(result: LiveResult, name: str) -> set[tuple[str, int]]:
    return {(one.path, one.line) for one in _of(result, name)}


def _verdicts(result: LiveResult) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for one in result.operators:
        found[one.name, one.verdict] += one.count
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_object_is_told_and_judged_as_its_graph_in_a_file(net: Any, checked: _Checked, kind: str) -> None:
    thing, inputs, result = checked.of(kind, net)
    assert kind_of(thing) == kind
    graph_def, _ = built(thing, kind, inputs, True)
    Path("model.pb").write_bytes(graph_def.SerializeToString())
    from_file: Counter[tuple[str, str]] = Counter()
    for fact in facts_of("model.pb"):
        if fact.kind == "graph_op":
            from_file[fact.name, str(fact.get("place"))] += int(fact.get("count"))
    assert from_file and _verdicts(result) == from_file
    assert "Lgamma" in {one.name for one in result.operators}


@pytest.mark.parametrize(
    ("kind", "operator", "text"),
    [
        ("graph", "Lgamma", "# lgamma"),
        ("graph", "Digamma", "# lgamma"),  # its gradient
        ("graph", "ApplyAdam", "# minimize"),
        ("graph", "ResourceApplyAdam", "# minimize"),
        ("session", "Lgamma", "# lgamma"),
        ("concrete", "Lgamma", "# in a branch"),
        ("function", "Lgamma", "# in a branch"),
        ("function", "EagerPyFunc", "# in a loop"),
        ("callable", "Lgamma", "# plain"),
        ("keras", "Lgamma", "# activation"),
        ("keras", "Digamma", "# activation"),
        ("model_fn", "Lgamma", "# guess"),
    ],
)
def test_operators_lie_at_the_users_line(net: Any, checked: _Checked, kind: str, operator: str, text: str) -> None:
    result = checked.of(kind, net)[2]
    if _of(result, operator) or not operator.endswith("ApplyAdam"):
        assert _lines(result, operator) == {("net.py", line_of(Path("net.py"), text))}


def test_a_finding_names_every_line_that_it_is_about(net: Any) -> None:
    first, second = (line_of(Path("net.py"), f"# {word} cut") for word in ("first", "second"))
    found = [one for one in check_tensorflow(net.cut_graph()).findings if one.topic == "py_func"]
    assert found and all(one.path == "net.py" and one.span.line == first for one in found)
    assert any((place.path, place.span.line) == ("net.py", second) for one in found for place in one.related)
    assert check_tensorflow(net.cut_graph(), ignore=["py_func"]).findings != found


@pytest.mark.parametrize("kind", ["keras", "model_fn"])
def test_without_training_there_is_the_forward_pass_alone(net: Any, checked: _Checked, kind: str) -> None:
    thing, inputs, trained = checked.of(kind, net)
    forward = check_tensorflow(thing, *inputs, train=False, root=".")
    assert _of(forward, "Lgamma") and not _of(forward, "Digamma")
    assert (trained.summary.trains, forward.summary.trains) == (True, False)


def test_a_model_that_was_not_compiled_has_the_gradients_of_its_outputs(net: Any) -> None:
    result = check_tensorflow(net.Net(), net.ROWS, root=".")
    assert _of(result, "Digamma") and result.summary.trains


def test_a_model_that_was_built_needs_no_examples(net: Any) -> None:
    layers = net.tf.keras.layers
    model = net.tf.keras.Sequential([layers.Input((4,)), layers.Dense(3), layers.Lambda(net.plain)])
    result = check_tensorflow(model, train=False, root=".")
    assert [one.line for one in _of(result, "Lgamma")] != []
    with pytest.raises(ValueError, match="example inputs"):
        check_tensorflow(net.Net())


def test_a_check_runs_nothing_and_leaves_the_weights(net: Any) -> None:
    model = net.compiled()
    model(net.ROWS)
    before = [weight.numpy().copy() for weight in model.trainable_variables]
    check_tensorflow(model, net.ROWS, net.AIMS, root=".")
    assert all((old == new.numpy()).all() for old, new in zip(before, model.trainable_variables, strict=True))
    ran: list[Any] = []

    def seen(value: Any) -> Any:
        ran.append(value)
        return value

    check_tensorflow(lambda x: net.tf.py_function(seen, [x], net.tf.float32), net.ROWS, root=".")
    assert ran == []


def test_the_users_own_errors_are_passed_on(net: Any) -> None:
    with pytest.raises(RuntimeError, match="own mistake"):
        check_tensorflow(net.Wrong(), net.ROWS)


@pytest.mark.parametrize(
    ("thing", "words"),
    [(3, "cannot get a Tensor"), (None, "cannot get a Tensor"), ("model.pb", "is a path")],
)
def test_what_holds_no_graph_is_refused(thing: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        check_tensorflow(thing)
    with pytest.raises(TypeError, match="npulint"):
        check_tensorflow(thing, lang="zh")


@pytest.mark.parametrize("kind", ["keras", "function", "callable", "model_fn", "model_fn by input_fn"])
def test_a_dataset_stands_for_its_elements(net: Any, checked: _Checked, kind: str) -> None:
    parts = (net.ROWS, net.AIMS) if kind.startswith(("keras", "model_fn")) else net.ROWS
    examples = net.tf.data.Dataset.from_tensors(parts)
    thing, _, alike = checked.of(kind.partition(" ")[0], net)
    result = check_tensorflow(thing, (lambda: examples) if " " in kind else examples, root=".")
    assert result.graph.bodies and _verdicts(result)["MatMul", "npu"] == _verdicts(alike)["MatMul", "npu"]


def test_nested_examples_keep_their_shape(net: Any) -> None:
    def step(batch: Any, pair: Any, flag: bool) -> Any:
        assert batch["x"].shape == (2, 4) and pair[1].shape == (2, 2) and flag is True
        return net.tf.matmul(batch["x"], net.tf.ones([4, 2])) + pair[1]

    result = check_tensorflow(step, {"x": net.ROWS}, (net.ROWS, net.AIMS), True, root=".")
    assert _of(result, "MatMul")


@pytest.mark.parametrize(
    ("name", "forward"),
    [
        ("gradients/a/Relu_grad/ReluGrad", ["a/Relu"]),
        ("train/gradients_1/MatMul_grad/tuple/group_deps", ["MatMul"]),
        ("gradients/while/cell/MatMul_grad/MatMul/Enter", ["while/cell/MatMul"]),
        ("gradient_tape/net/MatMul/MatMul_1", ["net/MatMul/MatMul_1", "net/MatMul", "net"]),
        ("step/gradient_tape/net/ReluGrad", ["net/Relu", "net"]),
        ("mygradient_tape/net/ReluGrad", []),
        ("gradients/AddN", []),
        ("net/Relu", []),
    ],
)
def test_names_tell_whose_gradient_a_node_is(name: str, forward: list[str]) -> None:
    assert forward_names(name) == forward


def test_gradients_of_one_scope_are_told_apart_by_what_they_take() -> None:
    def at(line: int) -> tuple[NodeFrame, ...]:
        return (NodeFrame("net.py", line),)

    frames = {
        "net/x": at(1),
        "net/Lgamma": at(2),
        "net/Relu": at(3),
        "gradient_tape/net/Digamma": at(9),
        "gradient_tape/net/ReluGrad": at(9),
        "gradient_tape/net/mul": at(9),
        "gradient_tape/other/mul": at(9),
    }
    inputs = {
        "net/Lgamma": ("net/x",),
        "net/Relu": ("net/Lgamma",),
        "gradient_tape/net/Digamma": ("net/x",),
        "gradient_tape/net/mul": ("gradient_tape/net/Digamma",),
    }
    lines = {name: found[-1].line for name, found in gradient_frames(frames, inputs).items()}
    assert lines["gradient_tape/net/ReluGrad"] == 3
    assert set(lines) == {"gradient_tape/net/ReluGrad"}  # the others may belong to several lines
    del frames["net/x"]  # an argument, which no line made
    assert gradient_frames(frames, inputs)["gradient_tape/net/Digamma"] == at(2)
