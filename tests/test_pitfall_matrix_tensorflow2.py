"""The pitfalls of TensorFlow 2 on the NPU: one correct script, and what is said when a few of its lines are replaced.

A finding can only come from what was replaced, for the script itself has none above a note.
"""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tests.project_support import Project

CORRECT = """\
import npu_device
import tensorflow as tf

<early>
npu_device.global_options().precision_mode = "allow_mix_precision"
npu_device.open().as_default()
<late>


def batches(path):
    dataset = tf.data.TFRecordDataset(path).map(parse).shuffle(1000).repeat()
    return dataset.batch(64, drop_remainder=True).prefetch(2)


model = tf.keras.Sequential([tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(10)])
<optimizer>


<decorator>
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(labels, model(images)))
        <scale>
    <reduce>
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


<train>


def main():
    iterator = iter(batches("train.tfrecord"))
    <loop>


if __name__ == "__main__":
    main()
"""
PARTS = {
    "early": "",
    "late": "tf.random.set_seed(1)",
    "optimizer": "optimizer = npu_device.train.optimizer.NpuLossScaleOptimizer(tf.keras.optimizers.SGD(0.1))",
    "decorator": "",
    "scale": "loss = optimizer.get_scaled_loss(loss)",
    "reduce": """
        gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, model.trainable_variables))
        gradients = npu_device.distribute.all_reduce(gradients, "mean")
        """,
    "train": """
        @tf.function
        def train(iterator, steps):
            for _ in tf.range(steps):
                images, labels = next(iterator)
                train_step(images, labels)
        """,
    "loop": """
        npu_device.distribute.broadcast(model.trainable_variables)
        npu_device.set_npu_loop_size(100)
        for _ in range(100):
            train(iterator, tf.constant(100))
        """,
}
MARK = "# here"
PYTHON_LOOP = """
    npu_device.distribute.broadcast(model.trainable_variables)
    for images, labels in iterator:
        train_step(images, labels)
    """


def script(parts: dict[str, str]) -> str:
    """The correct script with some parts replaced."""
    assert parts.keys() <= PARTS.keys()
    text = CORRECT
    for name, part in {**PARTS, **parts}.items():
        line = next(line for line in text.split("\n") if line.strip() == f"<{name}>")
        text = text.replace(line, indent(dedent(part).strip(), line[: len(line) - len(line.lstrip())]))
    return text


PITFALLS = {
    "a variable before the opening": ("npu-opened-too-late", {"early": "steps = tf.Variable(0)"}, "npu_device.open()"),
    "a seed before the opening": ("seed-set-before-opening", {"early": "tf.random.set_seed(1)  # here"}, MARK),
    "threads before the opening": (
        "thread-count-set-before-opening",
        {"early": "tf.config.threading.set_inter_op_parallelism_threads(8)  # here"},
        MARK,
    ),
    "threads after the opening": (
        "thread-count-after-opening",
        {"late": "tf.config.threading.set_inter_op_parallelism_threads(8)  # here"},
        MARK,
    ),
    "an option after the opening": (
        "option-set-after-opening",
        {"late": "npu_device.global_options().jit_compile = 'true'  # here"},
        MARK,
    ),
    "another device": (
        "second-npu-in-one-process",
        {"late": "npu_device.open(2).as_default()\nnpu_device.open(3).as_default()  # here"},
        MARK,
    ),
    "functions run eagerly": (
        "eager-execution-forced",
        {"late": "tf.config.run_functions_eagerly(True)  # here"},
        MARK,
    ),
    "saturation": (
        "saturation-mode-chosen",
        {"late": "npu_device.npu_device.set_device_sat_mode(0)  # here"},
        MARK,
    ),
    "an eager step": ("eager-training-step", {"train": "", "loop": PYTHON_LOOP}, "tf.GradientTape()"),
    "a step by step loop": (
        "step-function-called-per-batch",
        {"decorator": "@tf.function", "loop": PYTHON_LOOP.replace("labels)", "labels)  # here", 1)},
        MARK,
    ),
    "another loop size": (
        "npu-loop-size-mismatch",
        {
            "loop": """
                npu_device.set_npu_loop_size(50)  # here
                train(iterator, tf.constant(100))
                """
        },
        MARK,
    ),
    "XLA": ("function-compiled-by-xla", {"decorator": "@tf.function(jit_compile=True)  # here"}, MARK),
    "gradients not unscaled": (
        "scaled-loss-half-used",
        {
            "scale": "loss = optimizer.get_scaled_loss(loss)  # here",
            "reduce": "gradients = npu_device.distribute.all_reduce(tape.gradient(loss, model.trainable_variables))",
        },
        MARK,
    ),
    "loss not scaled": (
        "scaled-loss-half-used",
        {
            "scale": "",
            "reduce": "gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, variables))  # here",
        },
        MARK,
    ),
    "neither": (
        "loss-scale-optimizer-without-scaling",
        {"scale": "", "reduce": "gradients = tape.gradient(loss, model.trainable_variables)"},
        "optimizer.apply_gradients",
    ),
    "reduced for nothing": (
        "reduced-gradients-thrown-away",
        {
            "reduce": """
                gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, model.trainable_variables))
                npu_device.distribute.all_reduce(gradients, "mean")  # here
                """
        },
        MARK,
    ),
    "a policy without loss scale": (
        "float16-policy-without-loss-scale",
        {
            "late": "tf.keras.mixed_precision.set_global_policy('mixed_float16')  # here",
            "optimizer": "optimizer = tf.keras.optimizers.SGD(0.1)",
            "scale": "",
            "reduce": "gradients = tape.gradient(loss, model.trainable_variables)",
        },
        MARK,
    ),
    "two mixed precisions": (
        "two-mixed-precision-methods",
        {
            "late": "tf.keras.mixed_precision.set_global_policy('mixed_float16')  # here",
            "optimizer": "optimizer = tf.keras.optimizers.SGD(0.1)",
            "scale": "",
            "reduce": "gradients = tape.gradient(loss, model.trainable_variables)",
        },
        MARK,
    ),
}


def test_correct_script_has_no_finding(project: Project) -> None:
    answer = project.write({"train.py": script({})}).check()
    assert [f for f in answer.findings if f["severity"] != "note"] == []
    assert not {name for name, _, _ in PITFALLS.values()} & set(answer.names)


@pytest.mark.parametrize(("name", "parts", "said"), PITFALLS.values(), ids=PITFALLS.keys())
def test_pitfall_is_reported_at_its_line(project: Project, name: str, parts: dict[str, str], said: str) -> None:
    """`said` is a piece of the line where it is reported."""
    text = script(parts)
    (line,) = [number for number, line in enumerate(text.split("\n"), 1) if said in line]
    assert project.write({"train.py": text}).check().places(name) == [f"train.py:{line}"]
