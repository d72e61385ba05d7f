"""What becomes of the values of top_k: only where they are summed may zeros stand beside them."""

from __future__ import annotations

import pytest

from tests.support import facts

_HEAD = "import tensorflow as tf\ndef f(loss, positive):\n    k = tf.to_int32(tf.reduce_sum(positive))\n"

_TOP = "    hard, _ = tf.nn.top_k(loss, k)\n"

_NAMED = {
    "unpacked": "    hard, _ = tf.nn.top_k(tf.reshape(loss, [-1]), k)\n    return tf.reduce_sum(hard) / 2\n",
    "by its first element": "    hard = tf.nn.top_k(loss, k=k)[0]\n    return tf.reduce_sum(input_tensor=hard)\n",
    "by its attribute": "    hard = tf.math.top_k(loss, k=k).values\n    return tf.reduce_sum(hard, axis=-1)\n",
    "the name is bound anew": "    loss, _ = tf.nn.top_k(loss, k)\n    loss = tf.reduce_sum(loss)\n    return loss\n",
    "the places have a name": "    hard, places = tf.nn.top_k(loss, k)\n    return tf.reduce_sum(hard)\n",
}
_DIRECT = {
    "element": "    return tf.reduce_sum(tf.nn.top_k(loss, k)[0])\n",
    "attribute": "    return tf.reduce_sum(tf.nn.top_k(loss, k).values, axis=-1)\n",
}
_NEITHER = {
    "the mean": _TOP + "    return tf.reduce_mean(hard)\n",
    "the mean at once": "    return tf.reduce_mean(tf.nn.top_k(loss, k)[0])\n",
    "used twice": _TOP + "    return tf.reduce_sum(hard) / tf.size(hard)\n",
    "used before in the loop": (
        "    hard = 0\n    for i in range(3):\n        print(hard)\n        hard, _ = tf.nn.top_k(loss, k)\n"
        "        total = tf.reduce_sum(hard)\n    return total\n"
    ),
    "given away": _TOP + "    total = tf.reduce_sum(hard)\n    return total, hard\n",
    "an element of it": _TOP + "    return tf.reduce_sum(hard) - hard[-1]\n",
    "the places are used": (
        "    hard, places = tf.nn.top_k(loss, k)\n    return tf.reduce_sum(hard), tf.gather(loss, places)\n"
    ),
    "along another axis": _TOP + "    return tf.reduce_sum(hard, 0)\n",
    "along an axis that is not known": _TOP + "    return tf.reduce_sum(hard, axis=positive)\n",
    "the number has the same name": "    k, _ = tf.nn.top_k(loss, k)\n    return tf.reduce_sum(k)\n",
    "in a function within": _TOP + "    return lambda: tf.reduce_sum(hard)\n",
    "in a text": _TOP + "    name = f'{hard}'\n    return tf.reduce_sum(hard)\n",
    "a condition": _TOP + "    if hard is None:\n        return 0\n    return tf.reduce_sum(hard)\n",
    "its attribute is set": _TOP + "    hard.note = 1\n    return tf.reduce_sum(hard)\n",
    "the whole result has a name": "    both = tf.nn.top_k(loss, k)\n    return tf.reduce_sum(both[0])\n",
}


@pytest.mark.parametrize("body", _NAMED.values(), ids=_NAMED.keys())
def test_values_with_a_name_that_are_only_summed(body: str) -> None:
    (found,) = facts(_HEAD + body, "top_k")
    assert (found.get("summed"), found.get("count")) == ("named", "k")
    assert found.get("into") in ("hard", "loss")
    assert not facts(_HEAD + body, "top_k_sum")


@pytest.mark.parametrize("body", _DIRECT.values(), ids=_DIRECT.keys())
def test_values_that_are_summed_where_they_are_computed(body: str) -> None:
    (found,) = facts(_HEAD + body, "top_k")
    (total,) = facts(_HEAD + body, "top_k_sum")
    assert (found.get("summed"), found.get("over"), found.get("count")) == ("direct", "loss", "k")
    assert (total.span.column, total.get("over")) == (12, "loss")


@pytest.mark.parametrize("body", _NEITHER.values(), ids=_NEITHER.keys())
def test_values_that_are_used_otherwise(body: str) -> None:
    (found,) = facts(_HEAD + body, "top_k")
    assert found.get("summed") == "no"
    assert not facts(_HEAD + body, "top_k_sum")


def test_a_constant_number_is_not_looked_into() -> None:
    text = "import tensorflow as tf\ntotal = tf.reduce_sum(tf.nn.top_k(loss, 5)[0])\n"
    assert [found.get("summed") for found in facts(text, "top_k")] == ["unknown"]
