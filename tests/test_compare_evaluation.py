"""What is evaluated, how often, and with which samples."""

from __future__ import annotations

from tests.compare_support import differences, short_differences

_LOOP = """
import tensorflow as tf

images, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(images, 10))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

def eval_one_epoch(sess):
    return sum(sess.run(loss, feed) for feed in batches(test))

def measured(sess, samples):
    return sess.run(loss, samples)

with tf.Session() as sess:
    for epoch in range(10):
        sess.run(train_op, feed)
        {body}
"""


def _loop(body: str) -> str:
    return _LOOP.format(body=body)


def test_an_evaluation_that_is_left_out() -> None:
    found = short_differences(_loop("eval_one_epoch(sess)"), _loop("pass"))
    assert [one[:3] for one in found] == [("evaluation", "removed", "eval_one_epoch")]


def test_how_often_is_told_by_the_name_of_the_result() -> None:
    every = "if epoch % {} == 0:\n            test_loss = measured(sess, test)"
    found = short_differences(_loop(every.format(5)), _loop(every.format(1)))
    assert [(one[0], one[3], one[4]) for one in found] == [("evaluation", "5", "1")]


_METHOD = {
    "train.py": """
import tensorflow as tf
from network import Network

def start(network, samples, rest):
    network.learn(samples, {samples}, batch_size=64)

start(Network(), load('train'), load('test'))
""",
    "network.py": """
import tensorflow as tf

class Network:
    def __init__(self):
        self.images = tf.placeholder(tf.float32, [None, 784])
        self.loss = tf.losses.mean_squared_error(self.images, tf.layers.dense(self.images, 784))

    def learn(self, data, eval_data, batch_size):
        train_op = tf.train.AdamOptimizer(0.001).minimize(self.loss)
        with tf.Session() as sess:
            for step in range(100):
                sess.run(train_op, {self.images: data})
            self.evaluate(sess, eval_data)

    def evaluate(self, sess, eval_data):
        return sess.run(self.loss, {self.images: eval_data})
""",
}


def _method(samples: str) -> dict[str, str]:
    return {name: text.replace("{samples}", samples) for name, text in _METHOD.items()}


def test_a_part_of_the_samples_instead_of_all_may_be_a_difference() -> None:
    found = [one for one in differences(_method("rest[0:20]"), _method("rest")) if one.change == "changed"]
    assert [(one.part, one.argument, one.certain) for one in found] == [("evaluation", "eval_data", False)]


def test_the_same_part_of_the_samples_is_none() -> None:
    assert short_differences(_method("rest[0:20]"), _method("rest[:20]")) == []


def test_counting_hits_is_no_preprocessing() -> None:
    count = "right = (predicted.argmax(1) == labels){}.mean()"
    texts = [
        "import numpy as np\n"
        + _loop("eval_one_epoch(sess)").replace(
            "    return sum(", f"    {count.format(cast)}\n    image = np.zeros(3)\n    return sum("
        )
        for cast in ("", ".astype(np.int64)")
    ]
    assert short_differences(*texts) == []
