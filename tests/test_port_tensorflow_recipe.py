"""What the port of TensorFlow programs leaves to a person, with the reason, and that it does nothing by half."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.port.model import PortPlan
from tests.test_port import lay_out, planned, texts

SESSION = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        sess.run(train_op)
"""
LOSS = """\
import tensorflow as tf

loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.ones([8, 4]), 1)))
"""
HAND_SCALED = f"""\
{LOSS}optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
pairs = optimizer.compute_gradients(loss * 128.0)
train_op = optimizer.apply_gradients([(grad / 128.0, variable) for grad, variable in pairs])
{SESSION}"""
JOINT = f"""\
{LOSS}first = tf.train.AdamOptimizer(1e-3).minimize(loss)
second = tf.train.AdamOptimizer(1e-4).minimize(-loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        sess.run([first, second])
"""
RECURRENT = f"""\
import tensorflow as tf

cell = tf.nn.rnn_cell.BasicLSTMCell(8)
outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([8, 4, 4]), dtype=tf.float32)
loss = tf.reduce_mean(tf.square(outputs))
train_op = tf.train.AdamOptimizer(1e-3).minimize(loss)
{SESSION}"""
FED = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [8, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train_op = tf.train.AdamOptimizer(1e-3).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        sess.run(train_op, feed_dict={x: np.ones([8, 4])})
"""
WIDE_AND_DEEP = """\
import tensorflow as tf

model = tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=columns, linear_optimizer=tf.train.FtrlOptimizer(0.1),
    dnn_feature_columns=columns, dnn_hidden_units=[8], dnn_optimizer=tf.train.AdagradOptimizer(0.1))
model.train(input_fn, steps=100)
"""
TAPE = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


for _ in range(100):
    step(tf.ones([8, 4]), tf.ones([8, 1]))
"""
HOROVOD = """\
import tensorflow as tf
import horovod.tensorflow as hvd


def main():
    hvd.init()
    loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.ones([8, 4]), 1)))
    opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(1e-3 * hvd.size()))
    train_op = opt.minimize(loss)
    mean = hvd.allreduce(loss)
    with tf.Session() as sess:
        sess.run(hvd.broadcast_global_variables(0))
        for _ in range(100):
            sess.run([train_op, mean])


main()
"""
MPI = "export CUDA_VISIBLE_DEVICES=0,1\nmpirun -np 2 -x NCCL_DEBUG=INFO python train.py\n"

REASONS = {
    "hand-scaled loss": (HAND_SCALED, "no-loss-scale", "manually (train.py:6)"),
    "two steps in one run": (JOINT, "no-loss-scale", "several optimizers (train.py:10)"),
    "no mode without a scale": (JOINT, "training-without-precision-mode", "belongs together with a loss scale"),
    "recurrent layer": (RECURRENT, "dynamic-rnn", "results and checkpoints change"),
    "iterations of fed steps": (FED, "no-iterations-per-loop", "feed_dict (train.py:16)"),
    "two optimizers of an estimator": (WIDE_AND_DEEP, "no-loss-scale", "several optimizers in one run"),
    "gradients of a tape": (TAPE, "training-without-precision-mode", "get_scaled_loss within the tape"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reasons(plan: PortPlan) -> dict[str, str]:
    """The reason by check of what is left."""
    return {one.finding.name: one.reason for one in plan.left}


@pytest.mark.parametrize(("program", "check", "reason"), REASONS.values(), ids=REASONS)
def test_what_is_left_says_why(folder: Path, program: str, check: str, reason: str) -> None:
    lay_out(folder, {"train.py": program})
    assert reason in reasons(planned())[check]


TRIED = """\
import tensorflow as tf


def net(x):
    return tf.layers.dense(x, 1)


def main(_):
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    pairs = optimizer.compute_gradients(net(tf.ones([8, 4])) * 128.0)
    step = optimizer.apply_gradients([(grad / 128.0, variable) for grad, variable in pairs])
    with tf.Session() as sess:
        sess.run(step)


"""
USES_NET = f"""\
import tensorflow as tf
import nets

loss = tf.reduce_mean(tf.square(nets.net(tf.ones([8, 4]))))
train_op = tf.train.AdamOptimizer(1e-3).minimize(loss)
{SESSION}"""


@pytest.mark.parametrize(
    ("end", "mode"),
    [
        pytest.param('if __name__ == "__main__":\n    main(0)\n', True, id="called"),
        pytest.param('if __name__ == "__main__":\n    tf.app.run(main)\n', True, id="passed to app.run"),
        pytest.param("main(0)\n", False, id="run by the import"),
    ],
)
def test_what_an_imported_file_does_when_it_is_started_decides_no_mode(folder: Path, end: str, mode: bool) -> None:
    lay_out(folder, {"train.py": USES_NET, "nets.py": TRIED + end})
    assert ("precision_mode" in texts(planned())["train.py"]) is mode


def test_a_loss_that_is_scaled_by_hand_is_scaled_no_second_time(folder: Path) -> None:
    lay_out(folder, {"train.py": HAND_SCALED})
    after = texts(planned())["train.py"]
    assert "npu_config_proto" in after
    assert "NPULossScaleOptimizer" not in after and "precision_mode" not in after


def test_ranks_and_reductions_become_those_of_hccl(folder: Path) -> None:
    lay_out(folder, {"train.py": HOROVOD, "run.sh": MPI})
    plan = planned()
    after = texts(plan)
    assert "hvd" not in after["train.py"]
    assert 'mean = hccl_ops.allreduce(loss, "sum") / get_npu_rank_size()' in after["train.py"]
    assert "init_resource(config=init_config)" in after["train.py"]
    assert "RANK_ID=$rank DEVICE_ID=$rank ASCEND_DEVICE_ID=$rank python train.py &" in after["run_npu.sh"]
    assert not any(word in after["run_npu.sh"] for word in ("CUDA", "NCCL", "mpirun"))
    assert "run.sh" not in {one.path for one in plan.files} | {one.finding.path for one in plan.left}
    assert [one.status for one in plan.programs] == ["trains"]


def test_one_call_without_counterpart_keeps_all_of_horovod(folder: Path) -> None:
    lay_out(folder, {"train.py": HOROVOD.replace("hvd.allreduce(loss)", "hvd.allgather(tf.reshape(loss, [1]))")})
    plan = planned()
    after = texts(plan)["train.py"]
    assert after.count("hvd.") == HOROVOD.count("hvd.")
    assert "init_resource" not in after and "hccl_ops" not in after
    assert "`allgather` (train.py:" in reasons(plan)["horovod-not-migrated"]
    assert [one.because for one in plan.programs] == ["horovod"]


def test_a_launcher_for_several_machines_is_left_to_a_person(folder: Path) -> None:
    lay_out(folder, {"train.py": HOROVOD, "run.sh": "horovodrun -np 16 -H a:8,b:8 python train.py\n"})
    plan = planned()
    assert "run_npu.sh" not in texts(plan)
    assert "tensorflow-launcher-for-gpus" in reasons(plan)


def test_a_compiled_model_gets_mode_and_scale_before_the_device_is_open(folder: Path) -> None:
    fit = 'model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")\nmodel.fit(x, y, batch_size=8)\n'
    lay_out(folder, {"train.py": f"{TAPE[: TAPE.index('optimizer')]}{fit}"})
    lines = texts(planned())["train.py"].splitlines()
    mode = lines.index('npu_device.global_options().precision_mode = "allow_mix_precision"')
    assert lines[mode + 1] == "npu_device.open().as_default()"
    assert any("NpuLossScaleOptimizer(tf.keras.optimizers.Adam(1e-3))" in line for line in lines)
