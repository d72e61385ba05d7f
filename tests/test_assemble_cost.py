"""Operations by how they are used: in loops, in Python functions, on half precision, on zero sums."""

from __future__ import annotations

import pytest

from tests.support import facts, lines

_LOOP = "import tensorflow as tf\nwith tf.Session() as sess:\n    for i in range(9):\n"

_GROWTH = {
    "an assignment beside the run": (_LOOP + "        sess.run(tf.assign(v, i))\n", [4]),
    "an operator above the run": (_LOOP + "        y = tf.argmax(x, 1)\n        sess.run(y)\n", [4]),
    "from one round on": (_LOOP + "        if i > 3:\n            y = tf.argmax(x, 1)\n        sess.run(t)\n", [5]),
    "every few rounds": (_LOOP + "        sess.run(t)\n        if i % 3 == 0:\n            tf.train.Saver()\n", [6]),
    "in one round": (_LOOP + "        if i == 3:\n            y = tf.argmax(x, 1)\n        sess.run(t)\n", []),
    "kept": (_LOOP + "        if y is None:\n            y = [tf.argmax(v, 1) for v in x]\n        sess.run(y)\n", []),
    "a method of a variable": (
        "import tensorflow as tf\nv = tf.Variable(0.0)\nsess = tf.Session()\n"
        "for i in range(9):\n    sess.run(t)\n    sess.run(v.assign(i))\n",
        [6],
    ),
    "by an unknown object": (_LOOP + "        sess.run([t, self.v.assign_add(1.0)])\n        v.assign(2)\n", [4]),
    "in a function": (
        "import tensorflow as tf\ndef best(x):\n    return tf.argmax(x, 1)\ndef show(sess, x):\n    sess.run(best(x))\n"
        "with tf.Session() as sess:\n    for x in batches:\n        show(sess, x)\n",
        [3],
    ),
    "in a function that is called once": (
        "import tensorflow as tf\ndef best(x):\n    return tf.argmax(x, 1)\ny = best(x)\n"
        + _LOOP
        + "        sess.run(y)\n",
        [],
    ),
    "in a function with a cache": (
        "import functools\nimport tensorflow as tf\n@functools.lru_cache()\ndef best(k):\n    return tf.argmax(x, k)\n"
        "with tf.Session() as sess:\n    for i in range(9):\n        sess.run(best(1))\n",
        [],
    ),
    "in a function with a graph of its own": (
        "import tensorflow as tf\ndef best(x):\n    with tf.Graph().as_default():\n        with tf.Session() as s:\n"
        "            return s.run(tf.argmax(x, 1))\n" + _LOOP + "        best(sess.run(y))\n",
        [],
    ),
    "a loop that runs nothing": ("import tensorflow as tf\nfor i in range(9):\n    y = tf.argmax(x, 1)\n", []),
    "a new graph each round": (
        "import tensorflow as tf\nfor i in range(9):\n    with tf.Graph().as_default(), tf.Session() as sess:\n"
        "        y = tf.argmax(x, 1)\n        sess.run(y)\n",
        [],
    ),
    "built before the loop": ("import tensorflow as tf\ny = tf.argmax(x, 1)\n" + _LOOP + "        sess.run(y)\n", []),
}


@pytest.mark.parametrize(("text", "wanted"), _GROWTH.values(), ids=_GROWTH.keys())
def test_graph_growth_is_found_in_loops_that_run_the_session(text: str, wanted: list[int]) -> None:
    assert lines(text, "graph_growth") == wanted


_LOADS = {
    "an assignment": ("        sess.run(tf.assign(v, w[i]))\n", "yes"),
    "by its name": ("        a = v.assign(w[i])\n        sess.run(tf.assign(v, w[i]))\n", "yes"),
    "beside a step": ("        sess.run(tf.assign(v, w[i]))\n        sess.run(step)\n", "no"),
    "a result": ("        sess.run(tf.nn.softmax(v))\n", "no"),
}


@pytest.mark.parametrize(("text", "wanted"), _LOADS.values(), ids=_LOADS.keys())
def test_graph_growth_knows_loops_that_only_set_variables(text: str, wanted: str) -> None:
    assert [f.get("loads") for f in facts(_LOOP + text, "graph_growth")] == [wanted]


def test_graph_growth_names_its_loop() -> None:
    assert [f.get("loop") for f in facts(_LOOP + "        sess.run(tf.argmax(x))\n", "graph_growth")] == ["train.py:3"]


_NOISE = {
    "no shape": ("tf.nn.dropout(x, 0.5)", "no"),
    "a list": ("tf.nn.dropout(x, 0.5, noise_shape=[1, 2])", "yes"),
    "a call": ("tf.nn.dropout(x, 0.5, tf.shape(x))", "yes"),
    "None": ("tf.nn.dropout(x, 0.5, None)", "no"),
    "an unknown name": ("tf.nn.dropout(x, 0.5, shape)", "unknown"),
}


@pytest.mark.parametrize(("call", "wanted"), _NOISE.values(), ids=_NOISE.keys())
def test_dropout_knows_whether_its_mask_has_an_own_shape(call: str, wanted: str) -> None:
    assert [f.get("noise_shape") for f in facts(f"import tensorflow as tf\ny = {call}\n", "dropout")] == [wanted]


def test_dropout_in_a_wrapper_with_a_default_has_no_own_shape() -> None:
    text = "import tensorflow as tf\ndef f(x, noise=None):\n    return tf.nn.dropout(x, 0.5, noise)\n"
    assert [f.get("noise_shape") for f in facts(text, "dropout")] == ["no"]


_BRANCHES = {
    "in the other branch": (
        "    if own:\n        return npu_ops.dropout(x, 0.5)\n    return tf.nn.dropout(x, 0.5)\n",
        "yes",
    ),
    "beside it": ("    x = npu_ops.dropout(x, 0.5)\n    return tf.nn.dropout(x, 0.5)\n", "no"),
    "of somebody else": (
        "    if own:\n        return layers.dropout(x, 0.5)\n    return tf.nn.dropout(x, 0.5)\n",
        "no",
    ),
    "in another function": (
        "    return tf.nn.dropout(x, 0.5)\ndef g(x):\n    if own:\n        x = npu_ops.dropout(x, 0.5)\n    return x\n",
        "no",
    ),
}


@pytest.mark.parametrize(("body", "wanted"), _BRANCHES.values(), ids=_BRANCHES.keys())
def test_dropout_knows_the_npu_kernel_in_another_branch(body: str, wanted: str) -> None:
    text = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\ndef f(x, own):\n" + body
    assert [f.get("alternative") for f in facts(text, "dropout")] == [wanted]


_ROOTS = {
    "of squares": ("tf.sqrt(tf.reduce_sum(tf.square(x)))", True),
    "of a power": ("tf.sqrt(tf.reduce_sum((a - b) ** 2, axis=1))", True),
    "with a floor": ("tf.sqrt(tf.maximum(tf.reduce_sum(tf.square(x)), 1e-9))", False),
    "with something added": ("tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-9)", False),
    "of something else": ("tf.sqrt(tf.reduce_sum(x))", False),
}


@pytest.mark.parametrize(("expression", "wanted"), _ROOTS.values(), ids=_ROOTS.keys())
def test_root_of_a_sum_of_squares(expression: str, wanted: bool) -> None:
    assert bool(facts(f"import tensorflow as tf\ny = {expression}\n", "zero_root")) is wanted


_HALF = {
    "cast at once": ("y = tf.reduce_sum(tf.cast(x, tf.float16))", True),
    "cast before": ("h = tf.cast(x, dtype=tf.half)\ny = tf.reduce_sum(h)", True),
    "cast back": ("y = tf.reduce_sum(tf.cast(tf.cast(x, tf.float16), tf.float32))", False),
    "unknown type": ("y = tf.reduce_sum(tf.cast(x, kind))", False),
}


@pytest.mark.parametrize(("code", "wanted"), _HALF.values(), ids=_HALF.keys())
def test_sum_over_half_precision(code: str, wanted: bool) -> None:
    assert bool(facts(f"import tensorflow as tf\n{code}\n", "half_reduction")) is wanted


_PIPELINES = {
    "made in the function": (
        "def f(x):\n    w = tf.Variable(1.0)\n    return x * w\nds = tf.data.Dataset.range(3).map(f)\n",
        "yes",
    ),
    "read from around it": ("w = tf.Variable(1.0)\nds = tf.data.Dataset.range(3).map(lambda x: x * w)\n", "yes"),
    "given to a stage": ("w = tf.Variable(8)\nds = tf.data.Dataset.range(3).batch(w)\n", "yes"),
    "of the object": (
        "class R:\n    def __init__(self):\n        self.w = tf.Variable(1.0)\n"
        "    def f(self, x):\n        return x * self.w\n"
        "    def ds(self):\n        return tf.data.Dataset.range(3).map(self.f)\n",
        "yes",
    ),
    "a parameter of the same name": (
        "w = tf.Variable(1.0)\nds = tf.data.Dataset.range(3).map(lambda w: w + 1)\n",
        "no",
    ),
    "another function's variable": (
        "def net():\n    w = tf.Variable(1.0)\n    return w\nw = 3\n"
        "ds = tf.data.Dataset.range(3).map(lambda x: x * w)\n",
        "no",
    ),
    "in the model": ("w = tf.Variable(1.0)\nds = tf.data.Dataset.range(3).map(lambda x: x)\ny = w * 2\n", "no"),
}


@pytest.mark.parametrize(("text", "wanted"), _PIPELINES.values(), ids=_PIPELINES.keys())
def test_variable_knows_whether_the_pipeline_uses_it(text: str, wanted: str) -> None:
    assert [f.get("in_input") for f in facts("import tensorflow as tf\n" + text, "variable")] == [wanted]


_KEY = (
    "import tensorflow as tf\nfrom npu_bridge.npu_init import *\nc = tf.ConfigProto()\n"
    'op = c.graph_options.rewrite_options.custom_optimizers.add()\nop.name = "NpuOptimizer"\n'
    'op.parameter_map["iterations_per_loop"].i = 10\n'
)
_SINKING = {
    "no call": ("", "missing"),
    "the same number": ("t = util.set_iteration_per_loop(s, t, 10)\n", "yes"),
    "another number": ("t = util.set_iteration_per_loop(s, t, 50)\n", "no"),
    "a number that is not known": ("t = util.set_iteration_per_loop(s, t, n)\n", "unknown"),
}


@pytest.mark.parametrize(("code", "wanted"), _SINKING.values(), ids=_SINKING.keys())
def test_iterations_per_loop_is_compared_with_the_call(code: str, wanted: str) -> None:
    found = facts(_KEY + code, "setting", "iterations_per_loop")
    assert [f.get("agrees") for f in found] == [wanted]


def test_option_is_a_fact_with_its_default() -> None:
    text = 'import argparse\np = argparse.ArgumentParser()\np.add_argument("--device", default="/gpu:0")\n'
    assert [(f.name, f.span.line, f.get("value").single) for f in facts(text, "option")] == [("device", 3, "/gpu:0")]
