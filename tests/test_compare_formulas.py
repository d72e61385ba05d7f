"""Which formulas decide numbers."""

from __future__ import annotations

import pytest

from npulint.commands.training_config.steps.formatting import shown
from npulint.facts.model import FileFacts
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from npulint.model.values.cursors import module_scopes
from npulint.read.python import read_python
from tests.compare_support import short_differences

_PROGRAM = """
import time
import cv2
import numpy as np
import tensorflow as tf

def load_images(folder, names):
    images = [cv2.resize(cv2.imread(name), (64, 64)) for name in names]
    {load}
    return np.stack(images)

data = load_images(args.folder, args.names)
lr = args.lr
{rate}
loss = tf.losses.mean_squared_error(data, tf.layers.dense(data, 10))
train_op = tf.train.AdamOptimizer(lr).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op)
"""


def _program(load: str = "pass", rate: str = "") -> str:
    return _PROGRAM.format(load=load, rate=rate)


@pytest.mark.parametrize(
    "load",
    [
        "logs = '{}/logs/'.format(folder) + '.txt'",
        "first = args.root + '/batch_1'",
        "epoch_time = now2 - now",
    ],
)
def test_texts_and_clocks_are_no_formulas(load: str) -> None:
    assert short_differences(_program(), _program(load=load)) == []


def test_arithmetic_of_data_is_a_formula() -> None:
    assert [one[:2] for one in short_differences(_program(), _program(load="images = np.array(images) * 2 - 1"))] == [
        ("arithmetic", "added")
    ]


@pytest.mark.parametrize("rate", ["lr[3:] = lr[0] / 10.0", "lr = lr * workers"])
def test_a_learning_rate_that_is_no_longer_calculated(rate: str) -> None:
    assert [one[:2] for one in short_differences(_program(rate=rate), _program())] == [("learning_rate", "removed")]


def test_a_schedule_of_rounds_is_none_of_the_learning_rate() -> None:
    rounds = "schedule[-1] = args.num_epochs - sum(schedule)"
    assert short_differences(_program(), _program(rate=rounds)) == []


@pytest.mark.parametrize(("one", "other", "differs"), [("tf.int32", "tf.int64", 0), ("tf.int32", "tf.float32", 1)])
def test_whole_numbers_of_another_width_are_the_same(one: str, other: str, differs: int) -> None:
    texts = [_program(rate=f"steps = tf.cast(tf.reduce_sum(data), {kind})") for kind in (one, other)]
    assert len(short_differences(*texts)) == differs


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("(a + b) * 2.0", "(a + b) * 2.0"),
        ("a + b * 2.0", "a + b * 2.0"),
        ("a - (b - 2.0)", "a - (b - 2.0)"),
        ("a - b - 2.0", "a - b - 2.0"),
        ("a / (b * 2.0)", "a / (b * 2.0)"),
        ("(a * 2.0).sum() / b", "(a * 2.0).sum() / b"),
        ("(a + b)[0] * 2.0", "(a + b)[0] * 2.0"),
    ],
)
def test_formulas_are_shown_as_they_are_meant(formula: str, text: str) -> None:
    code, _ = read_python(f"x = {formula}\n", "a.py")
    (module,) = module_scopes(Context(Project("", [FileFacts("a.py", "python", code)])))
    assert shown(module.assignments[0].value) == text
