"""Runs texts of examples against TensorFlow, in a process of its own: reads ``[[setting, text], …]`` as JSON and
answers with the numbers that each comes to. `tests/test_fix_numbers_tensorflow.py` compares them."""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
Numbers = dict[str, Any]
_RANDOM = np.random.default_rng(7)
_VECTORS = _RANDOM.normal(size=(2, 3, 2, 2, 4)).astype(np.float32)
_IMAGES = _RANDOM.integers(-9, 10, size=(2, 8, 8, 3)).astype(np.float32)  # float16 adds these without a rest
_LOSSES = _RANDOM.normal(size=(3, 40)).astype(np.float32)


def _npu_bridge() -> types.ModuleType:
    """The names of the adapter whose arguments the texts give, done by TensorFlow."""
    module = types.ModuleType("npu_bridge.npu_init")

    def npu_hooks_append(hooks_list: list[Any] | tuple[()] = ()) -> list[Any]:
        return npu_callbacks_append(hooks_list)

    def npu_callbacks_append(callbacks_list: list[Any] | tuple[()] = ()) -> list[Any]:
        modules = callbacks_list if isinstance(callbacks_list, list) else []
        modules.append(types.SimpleNamespace())
        return modules

    class npu_ops:
        @staticmethod
        def dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None) -> Any:
            return v1.nn.dropout(x, keep_prob=keep_prob, noise_shape=noise_shape, seed=seed)

    for one in (npu_hooks_append, npu_callbacks_append, npu_ops):
        setattr(module, one.__name__, one)
    return module


@contextmanager
def _known_as(tensorflow: Any) -> Iterator[None]:
    """While this lasts the texts import these modules."""
    adapter = _npu_bridge()
    package = types.ModuleType("npu_bridge")
    vars(package)["npu_init"] = adapter
    modules: Numbers = {"tensorflow": tensorflow, "npu_bridge": package, "npu_bridge.npu_init": adapter}
    modules |= {} if tensorflow is v1 else {"tensorflow.compat.v1": tensorflow}
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _run(text: str, tensorflow: Any, names: Numbers) -> Numbers:
    with _known_as(tensorflow):
        exec(compile(text, "example", "exec"), names)
    return names


def _graph(text: str, names: Callable[[], Numbers], evaluate: Callable[[Numbers], Numbers]) -> Numbers:
    """The values of tensors of a TensorFlow 1 graph, with static shapes where requested."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        found = evaluate(_run(text, v1, names()))
        tensors = {name: one for name, one in found.items() if tf.is_tensor(one)}
        session.run(v1.global_variables_initializer())
        return {**found, **session.run(tensors)}


def half_sum(text: str) -> Numbers:
    """The sum of an image batch in float16; its type as well."""
    return _graph(
        text,
        lambda: {"x": tf.constant(_IMAGES)},
        lambda names: _typed(names["total"] if "total" in names else names[_function(names)](tf.constant(_IMAGES))),
    )


def many_ones(text: str) -> Numbers:
    """The sum of more ones than float16 counts one by one."""
    ones = np.ones((1, 3000, 3), np.float32)
    return _graph(text, lambda: {"x": tf.constant(ones)}, lambda names: _typed(names["total"]))


def _typed(tensor: Any) -> Numbers:
    return {"value": tensor, "type": tensor.dtype.name}


def _function(names: Numbers) -> str:
    return next(name for name, one in names.items() if isinstance(one, types.FunctionType))


def root(text: str) -> Numbers:
    """Lengths of vectors, and their gradients."""
    return _graph(text, lambda: {"v": v1.Variable(_VECTORS)}, _lengths)


def root_of_zero(text: str) -> Numbers:
    """The same where one vector is zero."""
    vectors = _VECTORS.copy()
    vectors[0, 0, 0, 0] = 0
    return _graph(text, lambda: {"v": v1.Variable(vectors)}, _lengths)


def _lengths(names: Numbers) -> Numbers:
    return {"value": names["length"], "gradient": v1.gradients(names["length"], names["v"])[0]}


def hardest(text: str) -> Numbers:
    """A sum of the largest losses, for batches with several numbers of positive samples, and its gradients."""
    found: Numbers = {}
    for count in (1, 7, 30):
        positive = np.full((3,), count / 3, np.float32)

        def wanted(names: Numbers, positive: Any = positive) -> Numbers:
            loss = v1.Variable(_LOSSES)
            total = names["hard_loss"](loss, tf.constant(positive))
            return {"value": total, "gradient": v1.gradients(total, loss)[0]}

        found.update({f"{name} for {count}": one for name, one in _graph(text, dict, wanted).items()})
    return found


def swapped_loop(text: str) -> Numbers:
    """A loop with its gradient."""
    names = {"more": lambda x: tf.reduce_sum(x) < 50, "body": lambda x: x * 1.5}

    def wanted(found: Numbers) -> Numbers:
        return {"value": found["total"], "gradient": v1.gradients(found["total"], found["x"])[0]}

    return _graph(text, lambda: {**names, "x": v1.Variable([1.0, 2.0])}, wanted)


def dropped(text: str) -> Numbers:
    """Dropout of a fixed mask: where zeros are and by what the rest is multiplied."""
    return _graph(text, lambda: {"h": tf.ones([50, 20])}, lambda names: {"value": names["h"]})


def batches(text: str) -> Numbers:
    """The elements of a data set that is made of the files `files`."""
    folder = os.environ["NUMBERS_FOLDER"]
    files = os.path.join(folder, "numbers.tfrecord")
    with tf.io.TFRecordWriter(files) as writer:
        for number in range(100):
            writer.write(np.float32(number).tobytes())
    weight = tf.Variable(1.0)
    names = {
        "files": files,
        "parse": lambda record: tf.io.decode_raw(record, tf.float32),
        "net": lambda ds: lambda: weight * 2.0,
    }
    found = _run(text, v1, names)
    return {"value": np.stack(list(found["ds"].as_numpy_iterator()))}


def probabilities(text: str) -> Numbers:
    """What a Keras model predicts after it was made and trained by the text, with its weights."""
    return _predicted(text)


def half_probabilities(text: str) -> Numbers:
    """The type of what it predicts under a policy of float16."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = _run(text, tf, {})["model"]
        return {"type": model(tf.ones([2, 4])).dtype.name}
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def _predicted(text: str) -> Numbers:
    tf.keras.utils.set_random_seed(3)
    model = _run(text, tf, {})["model"]
    weights = {f"weight {number}": one for number, one in enumerate(model.get_weights())}
    return {"value": model.predict(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4), verbose=0), **weights}


def last_callback(text: str) -> Numbers:
    """The history that the text prints from the end of its list, and the number of callbacks passed to `fit`."""
    modules: list[int] = []
    printed: list[Any] = []

    def fit(x: Any, y: Any, callbacks: list[Any]) -> None:
        modules.append(len(callbacks))
        callbacks[0].history = {"loss": [1.0, 0.5]}

    names = {"model": types.SimpleNamespace(fit=fit), "x": 0, "y": 0, "print": printed.append}
    tensorflow = types.SimpleNamespace(keras=tf.keras)
    tensorflow.compat = types.SimpleNamespace(v1=tensorflow)
    _run(text, tensorflow, names)
    return {"given": modules[0], "losses": printed[0]["loss"]}


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float | list):
        return value
    return np.asarray(value).astype(np.float64).tolist()


def main() -> None:
    """Answer for every text: its numbers, or the name of the error that it ends in."""
    tf.config.run_functions_eagerly(True)  # one step is trained; to compile it would take longer
    cases = json.load(sys.stdin)
    answers: list[Numbers] = []
    for setting, text in cases:
        try:
            with redirect_stdout(sys.stderr):
                found = globals()[setting](text)
            answers.append({name: _plain(one) for name, one in found.items()})
        except Exception as error:
            answers.append({"error": type(error).__name__, "message": str(error)[:500]})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
