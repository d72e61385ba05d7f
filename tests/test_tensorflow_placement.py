"""Operators that stay on the host, where they stand in the graph, towers, ranks, hidden control flow."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from npulint.data.host_ops import host_ops
from npulint.data.names import canonical
from tests.support import facts, lines

_HEAD = "import tensorflow as tf\nimage = tf.placeholder(tf.float32, [8, 32, 32, 3])\n"
_TRAIN = "train = tf.train.AdamOptimizer(1e-3).minimize(loss)\n"
_SOURCES = Path(__file__).parent.parent / "data-src"
_KEPT = (
    "class Model:\n    def build(self):\n        h = tf.layers.dense(image, 8)\n"
    "        self.p = tf.py_func(f, [h], tf.float32)\n"
)
_USED = "m = Model()\nm.build()\n"

_PLACES = {
    "between layers and loss": (
        "h = tf.layers.dense(image, 8)\np = tf.py_func(f, [h], tf.float32)\nloss = tf.reduce_mean(p)\n" + _TRAIN,
        "path",
    ),
    "between layers": (
        "h = tf.nn.conv2d(image, w, 1, 'SAME')\nloss = tf.layers.dense(tf.py_func(f, [h], tf.float32), 1)\n" + _TRAIN,
        "path",
    ),
    "with a variable before it": (
        "w = tf.get_variable('w', [3])\nloss = tf.nn.l2_loss(tf.py_func(f, [w * 2.0], tf.float32))\n" + _TRAIN,
        "path",
    ),
    "only fed before it": (
        "x = tf.cast(image, tf.float32) / 255.0\np = tf.py_func(f, [x], tf.float32)\n"
        "loss = tf.nn.l2_loss(tf.layers.dense(p, 1))\n" + _TRAIN,
        "edge",
    ),
    "only shown behind it": (
        "h = tf.layers.dense(image, 8)\np = tf.py_func(f, [h], tf.float32)\ntf.summary.image('p', p)\n"
        "loss = tf.nn.l2_loss(h)\n" + _TRAIN,
        "edge",
    ),
    "only fetched behind it": (
        "h = tf.layers.dense(image, 8)\np = tf.py_func(f, [h], tf.float32)\nwith tf.Session() as sess:\n"
        "    print(sess.run(p))\n",
        "edge",
    ),
    "asked for its shape alone": (
        "h = tf.layers.dense(image, 8)\np = tf.py_func(f, [h], tf.float32)\np.set_shape([8])\n"
        "loss = tf.layers.dense(h, p.shape[0])\n" + _TRAIN,
        "edge",
    ),
    "from something unknown": (
        "p = tf.py_func(f, [backbone(image)], tf.float32)\nloss = tf.nn.l2_loss(p)\n" + _TRAIN,
        "unknown",
    ),
    "to something unknown": ("h = tf.layers.dense(image, 8)\nloss = head(tf.py_func(f, [h], tf.float32))\n", "unknown"),
    "through a function": (
        "def net(x):\n    h = tf.layers.dense(x, 8)\n    return head(h), h\n"
        "def head(x):\n    return tf.py_func(f, [x], tf.float32)\n"
        "out, _ = net(image)\nloss = tf.reduce_mean(out)\n" + _TRAIN,
        "path",
    ),
    "the other result of a function": (
        "def net(x):\n    h = tf.layers.dense(x, 8)\n    return h, tf.py_func(f, [h], tf.float32)\n"
        "out, shown = net(image)\ntf.summary.image('p', shown)\nloss = tf.reduce_mean(out)\n" + _TRAIN,
        "edge",
    ),
    "through attributes": (
        "class Model:\n    def build(self):\n        self.h = tf.layers.dense(image, 8)\n"
        "        self.p = tf.py_func(f, [self.h], tf.float32)\n        self.loss = tf.reduce_mean(self.p)\n"
        "model = Model()\nmodel.build()\ntf.train.AdamOptimizer(1e-3).minimize(model.loss)\n",
        "path",
    ),
    "through a list": (
        "losses = []\nh = tf.layers.dense(image, 8)\nlosses.append(tf.py_func(f, [h], tf.float32))\n"
        "loss = tf.add_n(losses)\n" + _TRAIN,
        "path",
    ),
    "through a mapped function": (
        "h = tf.layers.dense(image, 8)\ndef one(x):\n    return tf.py_func(f, [x], tf.float32)\n"
        "loss = tf.reduce_mean(tf.map_fn(one, h))\n" + _TRAIN,
        "path",
    ),
    "to an estimator": (
        "def model(features, labels, mode):\n    h = tf.layers.dense(features, 8)\n"
        "    p = tf.py_func(f, [h], tf.float32)\n    return tf.estimator.EstimatorSpec(mode, loss=p)\n",
        "path",
    ),
    "to an estimator's predictions": (
        "def model(features, labels, mode):\n    h = tf.layers.dense(features, 8)\n"
        "    p = tf.py_func(f, [h], tf.float32)\n    return tf.estimator.EstimatorSpec(mode, predictions=p, loss=h)\n",
        "edge",
    ),
    "in a layer of its own": (
        "class Pick(tf.keras.layers.Layer):\n    def call(self, x):\n        return tf.py_func(f, [x], tf.float32)\n"
        "pick = Pick()\nh = pick(tf.keras.layers.Dense(8)(image))\nloss = tf.nn.l2_loss(h)\n" + _TRAIN,
        "path",
    ),
    "kept as an attribute that nobody reads": (_KEPT, "unknown"),
    "shown by the object that keeps it": (_KEPT + "        tf.summary.image('p', self.p)\n", "edge"),
    "shown by who uses the object that keeps it": (_KEPT + _USED + "tf.summary.image('p', m.p)\n", "edge"),
    "shown, and handed to something unknown": (_KEPT + _USED + "head(m.p)\ntf.summary.image('p', m.p)\n", "unknown"),
    "handed to something unknown, and kept as an attribute that is only shown": (
        "class Model:\n    def build(self):\n        h = tf.layers.dense(image, 8)\n"
        "        p = tf.py_func(f, [h], tf.float32)\n        self.p = tf.identity(p)\n        head(p)\n"
        "        tf.summary.image('p', self.p)\n",
        "unknown",
    ),
    "in a dataset": ("ds = tf.data.Dataset.range(9).map(lambda x: tf.py_func(f, [x], tf.float32))\n", "input"),
}


@pytest.mark.parametrize(("text", "wanted"), _PLACES.values(), ids=_PLACES.keys())
def test_place_in_the_graph(text: str, wanted: str) -> None:
    assert [f.get("place") for f in facts(_HEAD + text, "host_op")] == [wanted]
    assert [f.get("place") for f in facts(_HEAD + text, "py_func")] == [wanted]


_HOST_OPS = {
    "always": ("tf.contrib.resampler.resampler(x, y)", [("host", "Resampler", "geometry")]),
    "by its second spelling": ("tf.signal.fft2d(x)", [("older", "Complex FFT2D IFFT2D", "spectral")]),
    "in mixed computing": ("tf.pad(x, p, mode='REFLECT')", [("mixed", "MirrorPad MirrorPadGrad", "padding")]),
    "by the same name otherwise": ("tf.pad(x, p)", []),
    "a condition alone": ("tf.where(x > 0)", [("mixed", "Where", "dynamic")]),
    "a choice": ("tf.where(x > 0, x, y)", []),
    "by an argument": (
        "tf.nn.embedding_lookup_sparse(w, ids, None, combiner='sqrtn')",
        [("host", "SparseSegmentSqrtN SparseSegmentSqrtNGrad", "sparse")],
    ),
    "by another argument": (
        "tf.nn.embedding_lookup_sparse(w, ids, None, combiner='mean')",
        [("mixed", "SparseSegmentMean Unique", "sparse")],
    ),
    "an ordinary operation": ("tf.matmul(x, y)", []),
}


@pytest.mark.parametrize(("call", "wanted"), _HOST_OPS.values(), ids=_HOST_OPS.keys())
def test_which_operators_stay_on_the_host(call: str, wanted: list[tuple[str, str, str]]) -> None:
    found = facts(f"import tensorflow as tf\ny = {call}\n", "host_op")
    assert [(f.get("where"), f.get("ops"), f.get("family")) for f in found] == wanted


def test_a_cell_behind_an_option_is_not_surely_in_the_middle() -> None:
    text = "import tensorflow as tf\ndef cell(block):\n    if block:\n        return tf.contrib.rnn.LSTMBlockCell(8)\n"
    assert [f.get("place") for f in facts(text, "host_op")] == ["unknown"]


def test_names_of_the_table_are_canonical_and_its_operators_known() -> None:
    assert [name for name in host_ops() if canonical(name) != name] == []
    with (_SOURCES / "tf_op_places.csv").open(encoding="utf-8", newline="") as rows:
        places = {row["tf_op"] for row in csv.DictReader(rows)}
    with (_SOURCES / "tf_host_ops.csv").open(encoding="utf-8", newline="") as rows:
        table = list(csv.DictReader(rows))
    assert len(table) > 100
    assert all(row["ops"] and set(row["ops"].split()) <= places for row in table)


_FLAGS = "import tensorflow as tf\nFLAGS = tf.app.flags.FLAGS\n"
_LOOP = "    with tf.device('/gpu:%d' % i):\n        tower(i)\n"
_TOWERS = {
    "an option": (
        _FLAGS + "tf.app.flags.DEFINE_integer('gpus', 4, '')\nfor i in range(FLAGS.gpus):\n" + _LOOP,
        [("yes", "4")],
    ),
    "one by default": (
        _FLAGS + "tf.app.flags.DEFINE_integer('gpus', 1, '')\nfor i in range(FLAGS.gpus):\n" + _LOOP,
        [("no", "1")],
    ),
    "a list in a text": (
        _FLAGS
        + "tf.app.flags.DEFINE_string('gpus', '0,1', '')\ngpus = list(range(len(FLAGS.gpus.split(','))))\n"
        + "for n, i in enumerate(gpus):\n"
        + _LOOP,
        [("yes", "2")],
    ),
    "devices by name": (
        "import tensorflow as tf\nfor d in ['/gpu:0', '/gpu:1', '/gpu:2']:\n    with tf.device(d):\n        tower()\n",
        [("yes", "3")],
    ),
    "a range from one": ("import tensorflow as tf\nfor i in range(0, 2):\n" + _LOOP, [("yes", "2")]),
    "unknown": ("import tensorflow as tf\nfor i in range(count()):\n" + _LOOP, [("unknown", "0")]),
    "the same device each time": (
        "import tensorflow as tf\nfor i in range(4):\n    with tf.device('/gpu:0'):\n        layer(i)\n",
        [],
    ),
    "other names": (
        "import tensorflow as tf\nfor job in ['ps', 'worker']:\n    with tf.device('/job:' + job):\n        part()\n",
        [],
    ),
    "clones": ("import deploy\nc = deploy.DeploymentConfig(num_clones=8)\nimport tensorflow as tf\n", [("yes", "8")]),
}


@pytest.mark.parametrize(("text", "wanted"), _TOWERS.values(), ids=_TOWERS.keys())
def test_towers(text: str, wanted: list[tuple[str, str]]) -> None:
    found = facts(text, "towers")
    assert [(f.get("many"), f.get("towers") if f.get("many") != "unknown" else "0") for f in found] == wanted


_RANKS = {
    "an environment variable": ("import os\nr = int(os.getenv('RANK_ID', '0'))\nif r == 0:\n", True),
    "horovod": ("import horovod.tensorflow as hvd\nif hvd.rank() == 0:\n", True),
    "not": ("import horovod.tensorflow as hvd\nif not hvd.local_rank():\n", True),
    "a remainder": ("from npu_bridge.npu_init import *\nif get_rank_id() % 8 == 0:\n", True),
    "by name": ("if args.rank_id == 0 and args.log:\n", True),
    "the rank of a tensor": ("rank = len(x.shape)\nif rank == 0:\n", False),
    "the number of ranks": ("import os\nn = int(os.getenv('RANK_SIZE', '1'))\nif n == 1:\n", False),
    "something else": ("if step == 0:\n", False),
}


@pytest.mark.parametrize(("text", "ranked"), _RANKS.values(), ids=_RANKS.keys())
def test_conditions_on_the_rank(text: str, ranked: bool) -> None:
    source = f"import tensorflow as tf\n{text}    tf.summary.scalar('loss', loss)\ntf.summary.scalar('rate', rate)\n"
    found = facts(source, "call", "tensorflow.summary.scalar")
    assert [f.get("ranked") for f in found] == ["yes" if ranked else "no", "no"]


_CONTROL = {
    "a recurrent layer": ("tf.keras.layers.LSTM(8)", ["no"]),
    "an unrolled one": ("tf.keras.layers.LSTM(8, unroll=True)", []),
    "a random field": ("tf.contrib.crf.crf_log_likelihood(x, y, n)", ["no"]),
    "a stepwise rate": ("tf.train.piecewise_constant(step, [1], [0.1, 0.2])", ["yes"]),
    "a layer told by a placeholder": ("tf.layers.batch_normalization(x, training=phase)", ["yes"]),
    "a layer object told by a placeholder": ("tf.keras.layers.Dropout(0.5)(x, training=phase)", ["yes"]),
    "a layer told by a constant": ("tf.layers.batch_normalization(x, training=True)", []),
    "a layer told by something unknown": ("tf.layers.batch_normalization(x, training=flag)", []),
}


@pytest.mark.parametrize(("call", "wanted"), _CONTROL.values(), ids=_CONTROL.keys())
def test_control_flow_under_other_names(call: str, wanted: list[str]) -> None:
    text = f"import tensorflow as tf\nphase = tf.placeholder(tf.bool, [])\ny = {call}\n"
    assert [f.get("implicit") for f in facts(text, "control_flow")] == wanted
    assert lines(text, "control_flow") == [3] * len(wanted)
