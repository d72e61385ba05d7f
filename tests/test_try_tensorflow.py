"""``npulint try`` with TensorFlow: sound programs, and programs with one fault each."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from npulint.fakes.tensorflow.records import Failure
from npulint.fakes.tensorflow.stops import reason_of
from npulint.fakes.tensorflow.trial import absent_from
from npulint.hosts.cli.main import main
from tests.daily import parameters
from tests.live_support import installed, line_of
from tests.test_fix_runs_programs import tensorflow1

_HEAD = """
import numpy as np
import tensorflow as tf
"""
_BRIDGE = "from npu_bridge.npu_init import *\n"
_DEVICE = "import npu_device as npu\n"
_DATA = """
def batches():
    rows = np.arange(256, dtype="float32").reshape(64, 4) / 256
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1]))
    return data.repeat().batch(8, drop_remainder=True)
"""
_GRAPH = """
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [8, 4], name="x")
w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
_CONFIG = """
config = tf.ConfigProto(allow_soft_placement=True)
options = config.graph_options.rewrite_options.custom_optimizers.add()
options.name = "NpuOptimizer"
options.parameter_map["precision_mode"].s = b"allow_mix_precision"
"""
_LOOP = """
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print("LOSS", sess.run([train, loss], {x: np.ones((8, 4))})[1])
"""
_MODEL_FN = (
    _DATA
    + """
def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
)
_KERAS_DATA = """
rows = np.arange(256, dtype="float32").reshape(64, 4) / 256
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(4,))])
"""
_SOUND_1 = {
    "session with feeds": _BRIDGE + _GRAPH + _CONFIG + _LOOP,
    "iterator of a dataset": _BRIDGE + _DATA + """
x, y = tf.data.make_one_shot_iterator(batches()).get_next()
""" + _GRAPH.replace('x = tf.placeholder(tf.float32, [8, 4], name="x")\n', "") + _CONFIG + """
with tf.Session(config=npu_config_proto(config_proto=config)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print("LOSS", sess.run([loss, train])[0])
""",
    "estimator": _BRIDGE + _MODEL_FN + """
estimator = NPUEstimator(model_fn, config=NPURunConfig(model_dir="model", precision_mode="allow_mix_precision"))
estimator.train(batches, steps=20)
""",
    "monitored session": _BRIDGE + _GRAPH.replace("minimize(loss)", "minimize(loss, tf.train.create_global_step())")
    + _CONFIG + """
with tf.train.MonitoredTrainingSession(config=config, checkpoint_dir="checkpoints") as sess:
    for step in range(3):
        print("LOSS", sess.run([train, loss], {x: np.ones((8, 4))})[1])
""",
    "Keras": _BRIDGE + _KERAS_DATA + """
tf.keras.backend.set_session(tf.Session(config=npu_config_proto()))
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
print("LOSS", model.fit(rows, rows[:, :1], batch_size=32, epochs=1, shuffle=False).history["loss"])
""",
    "queues": _BRIDGE
    + _GRAPH.replace('tf.placeholder(tf.float32, [8, 4], name="x")', "tf.train.batch([tf.ones([4])], 8, capacity=999)")
    + _CONFIG
    + """
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.start_queue_runners(sess)
    __import__("time").sleep(1)
    for step in range(3):
        print("LOSS", sess.run([train, loss])[1])
""",
    "loop on the device": _BRIDGE + _GRAPH + _CONFIG + """
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    step = util.set_iteration_per_loop(sess, train, 100)
    sess.run(step, {x: np.ones((8, 4))})
    print("LOSS", sess.run(loss, {x: np.ones((8, 4))}))
""",
}  # fmt: skip
_OPEN = "npu.global_options().precision_mode = 'allow_mix_precision'\nnpu.open().as_default()\n"
_STEP = """
optimizer = tf.keras.optimizers.SGD(0.1)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

for number in range(3):
    print("LOSS", float(step(rows, rows[:, :1])))
"""
_COMPAT = _GRAPH + _CONFIG + _LOOP
_SOUND_2 = {
    "Keras": _DEVICE + _OPEN + _KERAS_DATA + """
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse", jit_compile=False)
print("LOSS", model.fit(rows, rows[:, :1], batch_size=32, epochs=1, shuffle=False, verbose=0).history["loss"])
""",
    "own loop": _DEVICE + _OPEN + _KERAS_DATA + _STEP,
    "sessions": "import npu_device\nfrom npu_device.compat.v1.npu_init import *\nnpu_device.compat.enable_v1()\n"
    "tf = tf.compat.v1\n" + _COMPAT,
}  # fmt: skip
_FAULTS_1 = {  # program, and the check that reports the line with the mark
    "option misspelt": (
        _BRIDGE + _GRAPH + _CONFIG.replace('["precision_mode"].s', '["precison_mode"].s  # here\n').replace(
            "# here\n =", "= b''  # here\n#") + _LOOP, "NPU1106"),
    "value of an option": (
        _BRIDGE + _GRAPH + _CONFIG.replace('b"allow_mix_precision"', 'b"allow_mix_precison"  # here') + _LOOP,
        "NPU1109",
    ),
    "name of the adapter": ("from npu_bridge.npu_init import NPUDistributedOptimiser  # here\n" + _GRAPH, "NPU11A1"),
    "module of the adapter": ("import npu_bridge.estimator.npu.npu_lstm  # here\n" + _GRAPH, "NPU41S1"),
    "device of a GPU": (
        "config = tf.ConfigProto()\nwith tf.device('/gpu:0'):\n    v = tf.get_variable('v', [2])  # here\n"
        + _GRAPH + _LOOP, "NPU41S3"),
    "Horovod": ("import importlib\nhvd = importlib.import_module('horovod.tensorflow')  # here\n" + _GRAPH, "NPU41S4"),
    "session left on the host": (
        _GRAPH + "config = None\n" + _LOOP.replace("as sess:", "as sess:  # here"), "NPU41S5"),
    "configuration of an estimator": (
        _BRIDGE + _MODEL_FN + "\nNPUEstimator(model_fn, config=tf.estimator.RunConfig())  # here\n", "NPU41S2"),
    "rank before the device is open": (_BRIDGE + "print(get_rank_id())  # here\n" + _GRAPH, "NPU1126"),
}  # fmt: skip
_FAULTS_2 = {
    "value of an option": (
        _DEVICE + _OPEN.replace("precision'", "precison'  # here", 1) + _KERAS_DATA + _STEP, "NPU1109"),
    "unknown option": (
        _DEVICE + "npu.global_options().precison_mode = 'x'  # here\n" + _OPEN + _KERAS_DATA + _STEP, "NPU1106"),
    "option after opening": (
        _DEVICE + _OPEN + "npu.global_options().deterministic = 1  # here\n" + _KERAS_DATA + _STEP, "NPU1184"),
    "unknown name": (_DEVICE + _OPEN + "npu.close_all()  # here\n" + _KERAS_DATA + _STEP, "NPU41S1"),
    "not opened": (
        _KERAS_DATA + _STEP.replace("model.trainable_variables))", "model.trainable_variables))  # here"), "NPU1135"),
    "adapter of TensorFlow 1": (_BRIDGE.strip() + "  # here\n" + _KERAS_DATA + _STEP, "NPU41S1"),
}  # fmt: skip


def _tried(folder: Path, program: str, python: str, capfd: pytest.CaptureFixture[str], *words: str) -> Any:
    """The exit code, the report as JSON and standard error of a program."""
    (folder / "train.py").write_text(_HEAD + textwrap.dedent(program))
    capfd.readouterr()
    code = main(["try", "--format", "json", "--isolated", "--python", python, *words, "train.py"])
    told = capfd.readouterr()
    return code, json.loads(told.out) if told.out else None, told.err


def _losses(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("LOSS")]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_LANG", "en")
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def _is_sound(folder: Path, program: str, python: str, capfd: pytest.CaptureFixture[str], plain: str) -> None:
    """The program has no error under the fakes, and computes what a plain one does."""
    code, found, said = _tried(folder, program, python, capfd)
    assert code == 0, said[-2000:]
    assert [one for one in found["findings"] if one["severity"] == "error"] == []
    if "LOSS" in plain:
        (folder / "plain.py").write_text(_HEAD + plain)
        done = subprocess.run([python, "plain.py"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert _losses(said) == _losses(done.stdout) != []


@pytest.mark.slow
@pytest.mark.parametrize("name", _SOUND_1)
def test_a_sound_program_of_tensorflow_1(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = _SOUND_1[name]
    plain = program.replace(_BRIDGE, "").replace('options.name = "NpuOptimizer"', 'options.name = "none"')
    plain = plain.replace("npu_config_proto(config_proto=config)", "None").replace("npu_config_proto()", "None")
    plain = plain.replace(_CONFIG.strip(), "config = None").replace(
        _CONFIG.replace("NpuOptimizer", "none").strip(), "config = None"
    )
    if "set_iteration_per_loop" in plain:
        plain = plain.replace("util.set_iteration_per_loop(sess, train, 100)", "train")
        plain = plain.replace("    sess.run(step, {", "    for _ in range(3): sess.run(step, {")
    _is_sound(tmp_path, program, tensorflow1(), capfd, plain)


@pytest.mark.slow
@pytest.mark.parametrize("name", parameters(_SOUND_2, str, per_group=1))
def test_a_sound_program_of_tensorflow_2(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    installed("tensorflow")
    program = _SOUND_2[name]
    plain = program.replace(_DEVICE + _OPEN, "").replace(_CONFIG, "\nconfig = None\n")
    plain = plain.replace("import npu_device\nfrom npu_device.compat.v1.npu_init import *\n", "")
    plain = plain.replace("npu_device.compat.enable_v1()", "tf.compat.v1.disable_v2_behavior()")
    _is_sound(tmp_path, program, sys.executable, capfd, plain)


def _fails(folder: Path, program: str, check: str, python: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, found, said = _tried(folder, program, python, capfd)
    line = line_of(folder / "train.py", "# here")
    errors = [one for one in found["findings"] if one["severity"] == "error"] if found else []
    assert code == 1, said[-3000:]
    assert {(one["path"], one["line"]) for one in errors} == {("train.py", line)}
    assert {one["code"] for one in errors} == {check}


@pytest.mark.slow
@pytest.mark.parametrize("name", _FAULTS_1)
def test_a_fault_of_tensorflow_1_is_an_error_at_its_line(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _fails(tmp_path, *_FAULTS_1[name], tensorflow1(), capfd)


@pytest.mark.slow
@pytest.mark.parametrize("name", parameters(_FAULTS_2, str, per_group=1))
def test_a_fault_of_tensorflow_2_is_an_error_at_its_line(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    installed("tensorflow")
    _fails(tmp_path, *_FAULTS_2[name], sys.executable, capfd)


@pytest.mark.slow
def test_host_operators_are_told_with_what_ran(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    python = tensorflow1()
    inside = """
h = tf.nn.relu(tf.matmul(x, w))
y = tf.py_func(lambda v: v, [h], tf.float32)  # here
loss = tf.reduce_mean(tf.square(tf.reshape(y, [8, 1]) * h - 1.0))
"""
    graph = _GRAPH.replace("[8, 4]", "[None, 4]").replace("loss = tf.reduce_mean(", f"{inside}\n#")
    (tmp_path / "train.py").write_text(_HEAD + _BRIDGE + graph + _CONFIG + _LOOP)
    assert main(["try", "--isolated", "--python", python, "train.py"]) == 0
    told = capfd.readouterr().out
    line = line_of(tmp_path / "train.py", "# here")
    assert f"train.py:{line}" in told and "splits the graph of the training step" in told
    row = next(one for one in told.split("\n") if "GradientDescent" in one)
    assert row.split()[-3:-1] == ["yes", "3"]


@pytest.mark.slow
def test_an_option_of_a_newer_release_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    installed("tensorflow")
    program = _DEVICE + "npu.global_options().oo_level = 'O3'  # here\n" + _OPEN + _KERAS_DATA + _STEP
    code, found, said = _tried(tmp_path, program, sys.executable, capfd, "--target", "cann=6.0.1")
    errors = {(one["code"], one["line"]) for one in found["findings"] if one["severity"] == "error"}
    assert (code, {line for _, line in errors}) == (1, {line_of(tmp_path / "train.py", "# here")}), said
    assert "has no option oo_level" in said


@pytest.mark.slow
def test_nothing_is_written_elsewhere(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    python, outside, inner = tensorflow1(), tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    inner.mkdir()
    (outside / "kept").write_text("kept")
    program = f"""
import os, socket, subprocess, sys
there = {str(outside)!r}
def refused(work, *errors):
    try:
        work()
    except errors:
        return
    raise AssertionError(work)
refused(lambda: open(there + "/new", "w"), PermissionError)
refused(lambda: os.remove(there + "/kept"), PermissionError)
refused(lambda: os.makedirs(there + "/folder"), PermissionError)
refused(lambda: os.rename(there + "/kept", there + "/other"), PermissionError)
refused(lambda: os.system("true"), PermissionError)
refused(lambda: subprocess.Popen(["sed"]), PermissionError)
refused(lambda: socket.create_connection(("192.0.2.1", 80), 1), OSError)
os.makedirs(there, exist_ok=True)
tf.gfile.MakeDirs(there + "/made")
tf.gfile.DeleteRecursively(there)
with tf.gfile.GFile(there + "/made/text", "w") as file:
    file.write("text")
assert tf.gfile.GFile(there + "/made/text").read() == "text" and tf.gfile.Exists(there + "/kept")
{_BRIDGE}{_GRAPH}{_CONFIG}
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    tf.summary.FileWriter(there + "/events", sess.graph).close()
    saver = tf.train.Saver()
    saver.save(sess, there + "/model/ckpt", global_step=1)
    saver.restore(sess, tf.train.latest_checkpoint(there + "/model"))
    saver.restore(sess, there + "/model/ckpt-1")
    for step in range(3):
        sess.run(train, {{x: np.ones((8, 4))}})
"""
    monkey = pytest.MonkeyPatch()
    monkey.chdir(inner)
    code, _, said = _tried(inner, program, python, capfd)
    monkey.undo()
    assert code == 0, said[-3000:]
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert [path.name for path in inner.iterdir()] == ["train.py"]


@pytest.mark.slow
def test_an_interpreter_without_tensorflow_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text(_HEAD)
    (tmp_path / "empty").write_text("#!/bin/sh\nexec " + sys.executable + ' -S -I -c "import sys; sys.exit(3)"\n')
    (tmp_path / "empty").chmod(0o755)
    assert main(["try", "--framework", "tensorflow", "--python", "./empty", "train.py"]) == 2
    assert "could not be run (exit code 3)" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (Failure("ValueError", "bad value", adapter="/fakes/npulint_adapter/options.py"), "option"),
        (Failure("ValueError", "bad value", adapter="/fakes/npulint_adapter/estimators.py"), "adapter_call"),
        (Failure("NotImplementedError", "does not simulate x", adapter="/fakes/modules.py"), None),
        (Failure("ImportError", "cannot import name 'x' from 'npu_bridge.npu_init' (unknown)"), "adapter_name"),
        (Failure("AttributeError", "module 'npu_device.ops' has no attribute 'x'"), "adapter_name"),
        (Failure("AttributeError", "module 'numpy' has no attribute 'float'"), None),
        (Failure("ModuleNotFoundError", "No module named 'horovod'", module="horovod"), "library"),
        (Failure("ModuleNotFoundError", "No module named 'cv2'", module="cv2"), None),
        (Failure("InvalidArgumentError", "Cannot assign a device for operation a: ... /device:GPU:0"), "gpu_device"),
        (Failure("InvalidArgumentError", "Cannot assign a device for operation a: ... /device:TPU:0"), None),
        (Failure("InvalidArgumentError", "Nan in summary histogram"), None),
    ],
)
def test_only_errors_of_a_server_count(failure: Failure, reason: str | None) -> None:
    assert reason_of(failure) == reason


def test_a_declared_release_lacks_what_came_later_or_is_gone() -> None:
    assert absent_from("", "") is None
    older, newer = absent_from("", "6.0.1"), absent_from("", "9.0")
    assert older is not None and newer is not None
    assert "oo_level" in older["options"]["npu_options"] and "oo_level" not in newer["options"].get("npu_options", ())
    assert "never_nested_function" in newer["symbols"]["npu_device"]
