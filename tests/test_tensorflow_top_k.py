"""The k of top_k: computed by the graph, wherever it comes from, or fixed beside a number of the batch."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts

_HEAD = "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"


def _top_k(sources: str | dict[str, str]) -> Fact:
    named = {"train.py": sources} if isinstance(sources, str) else sources
    (fact,) = facts({path: _HEAD + text for path, text in named.items()}, "top_k")
    return fact


_HELPER = "def hard(loss, count):\n    return tf.reduce_sum(tf.nn.top_k(loss, count)[0])\n"
_COUNT = "tf.cast(tf.reduce_sum(positive), tf.int32)"
_TENSORS: dict[str, str | dict[str, str]] = {
    "a helper": f"{_HELPER}hard(x, {_COUNT})\n",
    "a named count": f"{_HELPER}def step(positive):\n    n = 3 * {_COUNT}\n    return hard(x, n)\n",
    "a keyword": f"{_HELPER}hard(x, count=tf.minimum({_COUNT}, 100))\n",
    "a helper of another module": {
        "train.py": f"from losses import hard\nhard(x, {_COUNT})\n",
        "losses.py": _HELPER,
    },
    "a star import": {"train.py": f"from losses import *\nhard(x, {_COUNT})\n", "losses.py": _HELPER},
    "a module by its name": {"train.py": f"import losses as l\nl.hard(x, {_COUNT})\n", "losses.py": _HELPER},
    "two helpers": f"{_HELPER}def both(a, n):\n    return hard(a, n * 3)\nboth(x, {_COUNT})\n",
    "what a function returns": "def number(p):\n    return tf.to_int32(tf.reduce_sum(p))\ntf.nn.top_k(x, number(p))\n",
    "an attribute": f"class Loss:\n    def __init__(self, positive):\n        self.n = {_COUNT}\n"
    "    def hard(self, x):\n        return tf.math.top_k(x, self.n)\n",
    "a method": f"class Loss:\n    def number(self, positive):\n        return {_COUNT}\n"
    "    def hard(self, x, p):\n        return tf.math.top_k(x, k=self.number(p) * 3)\n",
    "a default that is replaced": "def hard(loss, count=64):\n    return tf.nn.top_k(loss, count)\n"
    f"hard(x)\nhard(x, {_COUNT})\n",
    "a partial count": f"n = 100 if limited else {_COUNT}\ntf.nn.top_k(x, n)\n",
}


@pytest.mark.parametrize("sources", _TENSORS.values(), ids=_TENSORS.keys())
def test_k_that_the_graph_computes_is_a_tensor(sources: str | dict[str, str]) -> None:
    assert _top_k(sources).get("k") == "tensor"


_NO_TENSORS: dict[str, tuple[str, str]] = {
    "a helper": (f"{_HELPER}hard(x, 64)\n", "constant"),
    "a default": ("def hard(loss, count=64):\n    return tf.nn.top_k(loss, count)\nhard(x)\n", "constant"),
    "an option": (
        f"tf.flags.DEFINE_integer('k', 64, '')\nFLAGS = tf.flags.FLAGS\n{_HELPER}hard(x, FLAGS.k)\n",
        "constant",
    ),
    "an option of argparse": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--k', type=int, default=64)\n"
        f"args = p.parse_args()\n{_HELPER}hard(x, args.k)\n",
        "constant",
    ),
    "a number of the shape": (f"{_HELPER}hard(x, x.shape[0].value)\n", "unknown"),
    "a value of NumPy": (f"import numpy as np\n{_HELPER}hard(x, int(np.mean(y)))\n", "unknown"),
    "nobody calls it": (_HELPER, "unknown"),
}


@pytest.mark.parametrize(("text", "kind"), _NO_TENSORS.values(), ids=_NO_TENSORS.keys())
def test_k_of_the_host_is_no_tensor(text: str, kind: str) -> None:
    assert _top_k(text).get("k") == kind


_LOSS = "def loss(x, positive, bce):\n    n = tf.reduce_sum(positive)\n    hard, _ = tf.nn.top_k(x, 1500)\n"
_BESIDE: dict[str, str | dict[str, str]] = {
    "a balanced loss": f"{_LOSS}    return (tf.reduce_sum(bce) + tf.reduce_sum(hard)) / (n + 3 * n + 1e-6)\n",
    "steps with names": f"{_LOSS}    count = tf.cast(n, tf.float32)\n    total = tf.reduce_sum(hard)\n"
    "    both = total + bce\n    return both / count\n",
    "functions": f"{_LOSS}    return tf.divide(tf.add(tf.reduce_sum(hard), bce), tf.maximum(n, 1.0))\n",
    "no division by zero": f"{_LOSS}    return tf.math.div_no_nan(tf.reduce_sum(hard), n)\n",
    "values": "def loss(x, p):\n    best = tf.nn.top_k(x, k=1500)\n"
    "    return tf.reduce_sum(best.values) / tf.to_float(tf.count_nonzero(p))\n",
    "at once": "def loss(x, p):\n    return tf.reduce_sum(tf.nn.top_k(x, 1500)[0]) / tf.reduce_sum(p)\n",
    "a constant": f"K = 3 * 500\n{_LOSS.replace('1500', 'K')}    return tf.reduce_sum(hard) / n\n",
    "an option": "tf.flags.DEFINE_integer('k', 64, '')\nFLAGS = tf.flags.FLAGS\n"
    f"{_LOSS.replace('1500', 'FLAGS.k')}    return tf.reduce_sum(hard) / n\n",
    "methods": "class Loss:\n    def __call__(self, x, p):\n        n = self.count(p)\n"
    "        return tf.reduce_sum(self.hard(x)) / n\n"
    "    def count(self, p):\n        return tf.reduce_sum(p)\n"
    "    def hard(self, x):\n        return tf.nn.top_k(x, 1500)[0]\n",
    "a helper of another module": {
        "train.py": "from losses import hard\ndef loss(x, p):\n    return hard(x, 64) / tf.reduce_sum(p)\n",
        "losses.py": _HELPER,
    },
}


@pytest.mark.parametrize("sources", _BESIDE.values(), ids=_BESIDE.keys())
def test_fixed_k_stands_beside_a_count_of_the_batch(sources: str | dict[str, str]) -> None:
    assert _top_k(sources).get("beside_count") == "yes"


_ALONE = {
    "accuracy": "def accuracy(x):\n    return tf.nn.top_k(x, 5)\n",
    "a mean": f"{_LOSS}    return tf.reduce_mean(hard) + tf.reduce_sum(bce) / n\n",
    "a mask": f"{_LOSS}    mask = tf.cast(tf.range(1500) < n, tf.float32)\n"
    "    return tf.reduce_sum(hard * mask) / tf.reduce_sum(mask)\n",
    "the fixed number": f"{_LOSS}    return tf.reduce_sum(hard) / 1500.0\n",
    "a static size": f"{_LOSS}    return tf.reduce_sum(hard) / tf.to_float(tf.size(hard))\n",
    "another loss": f"{_LOSS}    return tf.reduce_sum(hard), tf.reduce_sum(bce) / n\n",
    "the places": "def loss(x, p):\n    _, places = tf.nn.top_k(x, 9)\n"
    "    return tf.reduce_sum(places) / tf.reduce_sum(p)\n",
    "a k of the graph": f"{_LOSS.replace('1500', 'tf.to_int32(n)')}    return tf.reduce_sum(hard) / n\n",
    "another function": f"{_LOSS}    return tf.reduce_sum(hard)\ndef other(a, b):\n    return a / tf.reduce_sum(b)\n",
}


@pytest.mark.parametrize("text", _ALONE.values(), ids=_ALONE.keys())
def test_fixed_k_without_such_a_count(text: str) -> None:
    assert _top_k(text).get("beside_count") == "no"
