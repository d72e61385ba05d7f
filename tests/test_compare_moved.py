"""Code that stands elsewhere in the migrated program, and choices that the start makes."""

from __future__ import annotations

from tests.compare_support import differences, short_differences

_STEP = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam(0.001)
objective = tf.keras.losses.MeanSquaredError()

{functions}

for images, labels in data:
    step(images, labels)
"""
_WHOLE = """
def step(images, labels):
    with tf.GradientTape() as tape:
        answers = model(images, training=True)
        loss = objective(labels, answers)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    count = tf.cast(tf.shape(images)[0], tf.float32)
    mean = tf.reduce_mean(loss) / count
    top = tf.reduce_max(answers)
    bottom = tf.reduce_min(answers)
    return mean, top, bottom
"""
_SPLIT = """
@tf.function
def execute(images, labels):
    with tf.GradientTape() as tape:
        answers = model(images, training=True)
        loss = objective(labels, answers)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, answers

def step(images, labels):
    loss, answers = execute(images, labels)
    count = tf.cast(tf.shape(images)[0], tf.float32)
    mean = tf.reduce_mean(loss) / count
    top = tf.reduce_max(answers)
    bottom = tf.reduce_min(answers)
    return mean, top, bottom
"""


def test_a_function_that_was_split_does_the_same() -> None:
    assert short_differences(_STEP.format(functions=_WHOLE), _STEP.format(functions=_SPLIT)) == []
    assert short_differences(_STEP.format(functions=_SPLIT), _STEP.format(functions=_WHOLE)) == []


def test_a_function_that_does_something_new_is_still_told() -> None:
    more = _WHOLE.replace("    return mean", "    mean = smooth(mean)\n    return mean")
    new = "def smooth(value):\n    return tf.nn.dropout(tf.nn.relu(value), 0.5)\n"
    assert [
        one[2] for one in short_differences(_STEP.format(functions=_WHOLE), _STEP.format(functions=new + more))
    ] == ["smooth"]


_CHOSEN = """
import tensorflow as tf
FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string('dataset', 'small', '')
if FLAGS.dataset == 'small':
    from small import inputs
{other}
def main(_):
    images, labels = inputs(batch_size=32)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(images, 10))
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as sess:
        sess.run(train_op)
tf.app.run()
"""
_OTHER = "elif FLAGS.dataset == 'large':\n    from large import inputs\n"
_INPUTS = """
import tensorflow as tf
def inputs(batch_size):
    dataset = tf.data.TFRecordDataset('{name}.tfrecord').map(decode).shuffle({buffer}).batch(batch_size)
    return dataset.make_one_shot_iterator().get_next()
def decode(record):
    return tf.image.resize_images(tf.decode_raw(record, tf.uint8), [{size}, {size}]), 0
"""


def _chosen(other: str, batch: int = 32) -> dict[str, str]:
    files = {
        "train.py": _CHOSEN.format(other=other).replace("batch_size=32", f"batch_size={batch}"),
        "small.py": _INPUTS.format(name="small", buffer=1000, size=32),
    }
    if other:
        files["large.py"] = _INPUTS.format(name="large", buffer=50, size=224)
    return files


def test_a_data_set_that_the_start_does_not_choose_may_go() -> None:
    assert short_differences(_chosen(_OTHER), _chosen("")) == []


def test_what_the_chosen_function_is_given_is_compared() -> None:
    found = short_differences(_chosen(_OTHER), _chosen("", batch=64))
    assert [(one[0], one[3], one[4]) for one in found] == [("batch_size", "32", "64")]


_SCRIPT = """
import tensorflow as tf
from model import {name}
rate = 0.001
network = {name}(hidden={hidden})
network.compile(optimizer=tf.keras.optimizers.Adam(rate), loss='binary_crossentropy')
network.fit(x, y, epochs={epochs}, batch_size=4096)
"""
_MODEL = """
import tensorflow as tf
class {name}(tf.keras.Model):
    def __init__(self, hidden):
        super().__init__()
        self.first = tf.keras.layers.Dense(hidden, activation='{act}')
        self.last = tf.keras.layers.Dense(1)
    def call(self, x):
        return self.last({call})
"""


def _variant(name: str, act: str, call: str, epochs: int) -> dict[str, str]:
    return {
        f"{name}/train.py": _SCRIPT.format(name=name, hidden=64, epochs=epochs),
        f"{name}/model.py": _MODEL.format(name=name, act=act, call=call),
    }


def test_of_many_variants_the_one_whose_model_was_taken_over_is_the_reference() -> None:
    reference = _variant("Cross", "relu", "tf.nn.relu(tf.reduce_sum(self.first(x), axis=1))", 10)
    reference |= _variant("Wide", "tanh", "tf.concat([x, self.first(x)], axis=-1)", 20)
    migrated = {
        name.rpartition("/")[2]: text
        for name, text in _variant("Wide", "tanh", "tf.concat([x, self.first(x)], axis=-1)", 20).items()
    }
    assert [one for one in differences(reference, migrated) if one.change not in ("none", "unknown")] == []


_SCALED = """
import tensorflow as tf
{imports}
optimizer = tf.train.AdamOptimizer(0.001)
if kind == 'momentum':
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    {first}
elif kind == 'adam':
    optimizer = tf.train.AdamOptimizer(0.001)
    {second}
train_op = optimizer.minimize(tf.losses.mean_squared_error(y, tf.layers.dense(x, 1)))
with tf.Session() as sess:
    sess.run(train_op)
"""
_MANAGED = (
    "manager = ExponentialUpdateLossScaleManager(init_loss_scale=2**{power})\n"
    "    optimizer = NPULossScaleOptimizer(optimizer, manager)"
)


def test_loss_scales_of_two_branches_are_two_differences() -> None:
    reference = _SCALED.format(imports="", first="pass", second="pass")
    parts = {"first": _MANAGED.format(power=7), "second": _MANAGED.format(power=8)}
    migrated = _SCALED.format(imports="from npu_bridge.npu_init import *", **parts)
    found = [one for one in differences(reference, migrated) if one.part == "loss_scale" and one.change == "added"]
    assert len(found) == len(parts)
    assert len({one.migrated.span.line for one in found if one.migrated}) == len(parts)


_BUILT = """
import tensorflow as tf

class Net:
    def __init__(self):
        self.images = tf.placeholder(tf.float32, [None, 784])
        {first}

    def build(self):
        self.loss = tf.losses.mean_squared_error(self.images, tf.layers.dense(self.images, 784))

    def train(self):
        {second}
        train_op = tf.train.AdamOptimizer(0.001).minimize(self.loss)
        with tf.Session() as sess:
            sess.run(train_op)

net = Net()
net.train()
"""


def test_a_function_that_is_called_elsewhere_is_called_once_on_both_sides() -> None:
    early = _BUILT.format(first="self.build()", second="pass")
    late = _BUILT.format(first="pass", second="self.build()")
    assert short_differences(early, late) == []
    assert [one[2] for one in short_differences(early, _BUILT.format(first="pass", second="pass"))] == ["build"]


_INPUT = """
import tensorflow as tf

def get_input(training):
    def input_fn():
        return tf.data.TFRecordDataset('a.tfrecord').map(decode).batch(8)
    {given}

def decode(record):
    image = tf.image.resize_images(tf.image.decode_jpeg(record), [64, 64])
    {jitter}
    return image, 0

def random_jitter(image):
    return image + tf.random_uniform(tf.shape(image), -0.1, 0.1)

estimator = tf.estimator.Estimator(model_fn)
estimator.train({call}, max_steps=100)
"""


def _input(given: str, call: str, jitter: str = "pass") -> str:
    return _INPUT.format(given=given, call=call, jitter=jitter)


def test_a_function_may_be_called_where_the_other_program_returned_it() -> None:
    reference = _input("return input_fn", "get_input(True)")
    assert short_differences(reference, _input("return input_fn()", "lambda: get_input(True)")) == []


def test_an_own_augmentation_that_is_left_out_is_a_step_of_the_preprocessing() -> None:
    given = "return input_fn", "get_input(True)"
    found = short_differences(_input(*given, "image = random_jitter(image)"), _input(*given))
    assert [one[:3] for one in found] == [("transform", "removed", "random_jitter")]


_ELSEWHERE = """
import tensorflow as tf

class First:
    def loss(self, x):
        total = tf.reduce_sum(tf.multiply(x, x))
        return total / tf.cast(tf.size(x), tf.float32)
{second}
value = tf.layers.dense(tf.placeholder(tf.float32, [None, 10]), 10)
train_op = tf.train.AdamOptimizer(0.001).minimize(First().loss(value))
with tf.Session() as sess:
    sess.run(train_op)
"""
_LENGTH = """
class Second:
    def lengths(self, x):
        return tf.cast(tf.reduce_sum(tf.sign(x)), tf.int32)
second = Second().lengths(value)
"""


def test_calls_of_unlike_functions_are_not_each_others_counterparts() -> None:
    reference = _ELSEWHERE.format(second="")
    migrated = reference.replace(" / tf.cast(tf.size(x), tf.float32)", "").replace("value = ", "value = ", 1)
    migrated = migrated.replace("with tf.Session", _LENGTH.strip() + "\nwith tf.Session")
    assert [one for one in short_differences(reference, migrated) if one[2] == "tensorflow.cast(dtype)"] == []
