"""What a data set went through before a stage, what sessions run in a loop, and when checkpoints are saved."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts

_HEAD = "import glob\nimport os\nimport tensorflow.compat.v1 as tf\nfrom tensorflow import contrib\n"
_FILES = "ds = tf.data.Dataset.from_tensor_slices(names)\n"
_SHARD = "ds = ds.shard(size, rank)\n"


def _found(text: str, kind: str, name: str = "") -> list[Fact]:
    return facts(_HEAD + text + "\n", kind, name)


_ORDERS = {
    "files listed by chance": ("ds = tf.data.Dataset.list_files(p)\n" + _SHARD, "list_files"),
    "files listed in order": ("ds = tf.data.Dataset.list_files(p, shuffle=False)\n" + _SHARD, "no"),
    "files listed by position in order": ("ds = tf.data.Dataset.list_files(p, False)\n" + _SHARD, "no"),
    "files listed with a seed": ("ds = tf.data.Dataset.list_files(p, seed=3)\n" + _SHARD, "no"),
    "files listed as an option says": ("ds = tf.data.Dataset.list_files(p, shuffle=flag)\n" + _SHARD, "no"),
    "shuffled before": (_FILES + "ds = ds.shuffle(9)\n" + _SHARD, "shuffle"),
    "shuffled before with a seed": (_FILES + "ds = ds.shuffle(9, seed=1)\n" + _SHARD, "no"),
    "shuffled before with a seed by position": (_FILES + "ds = ds.shuffle(9, 1)\n" + _SHARD, "no"),
    "shuffled by a fused stage": (_FILES + "ds = ds.apply(contrib.data.shuffle_and_repeat(9))\n" + _SHARD, "shuffle"),
    "shuffled afterwards": (_FILES + _SHARD + "ds = ds.shuffle(9)\n", "no"),
    "shuffled in a chain": (
        "ds = tf.data.TFRecordDataset(f).map(g).shuffle(9).repeat().shard(size, rank)\n",
        "shuffle",
    ),
    "a folder as it comes": ("names = os.listdir(d)\n" + _FILES + _SHARD, "listing"),
    "a pattern as it comes": ("ds = tf.data.TFRecordDataset(glob.glob(p)).shard(size, rank)\n", "listing"),
    "a folder in a constant": ("names = tf.constant(os.listdir(d))\n" + _FILES + _SHARD, "listing"),
    "a folder sorted": ("names = sorted(os.listdir(d))\n" + _FILES + _SHARD, "no"),
    "a folder sorted in place": ("names = os.listdir(d)\nnames.sort()\n" + _FILES + _SHARD, "no"),
}


@pytest.mark.parametrize(("text", "answer"), _ORDERS.values(), ids=_ORDERS.keys())
def test_shard_knows_what_ordered_its_elements(text: str, answer: str) -> None:
    assert [f.get("shuffled") for f in _found(text, "input_stage", "shard")] == [answer]


_INDICES = {
    "an environment variable": ("ds.shard(8, int(os.environ['DEVICE_ID']))", "$DEVICE_ID"),
    "an environment variable by a name": ("rank = int(os.getenv('RANK_ID', '0'))\nds.shard(8, rank)", "$RANK_ID"),
    "a name that is not known": ("ds.shard(8, local_rank)", "local_rank"),
    "by keyword": ("ds.shard(index=int(os.getenv('LOCAL_RANK')), num_shards=8)", "$LOCAL_RANK"),
}


@pytest.mark.parametrize(("text", "answer"), _INDICES.values(), ids=_INDICES.keys())
def test_shard_index_from_the_environment(text: str, answer: str) -> None:
    assert [f.get("shard_by") for f in _found(_FILES + text, "input_stage", "shard")] == [answer]


_MAPS = {
    "decodes": ("def f(x): return tf.image.decode_jpeg(x)\nds.map(f)", "yes"),
    "parses": ("ds.map(lambda x: tf.io.parse_single_example(x, features))", "yes"),
    "calls Python": ("ds.map(lambda x: tf.py_func(g, [x], tf.float32))", "yes"),
    "decodes in a function of its own": (
        "def g(x): return tf.io.decode_png(x)\ndef f(x): return g(x)\nds.map(f)",
        "yes",
    ),
    "decodes as a method": (
        "class R:\n    def f(self, x):\n        return tf.image.decode_jpeg(x)\n"
        "    def ds(self):\n        return tf.data.Dataset.range(3).map(self.f)",
        "yes",
    ),
    "casts only": ("ds.map(lambda x: tf.cast(x, tf.float32))", "no"),
    "is not known": ("ds.map(f)", "unknown"),
}


@pytest.mark.parametrize(("text", "answer"), _MAPS.values(), ids=_MAPS.keys())
def test_map_knows_whether_it_is_heavy(text: str, answer: str) -> None:
    assert [f.get("heavy") for f in _found(_FILES + text, "input_stage", "map")] == [answer]


_ELEMENTS = {
    "names": (_FILES + "ds.shuffle(9)", "names"),
    "records": ("tf.data.TFRecordDataset(f).shuffle(9)", "records"),
    "records of names": (_FILES + "ds.interleave(tf.data.TFRecordDataset).shuffle(9)", "records"),
    "images": (_FILES + "ds.map(lambda x: tf.image.decode_jpeg(x)).shuffle(9)", "decoded"),
    "a generator's": ("tf.data.Dataset.from_generator(g, tf.float32).shuffle(9)", "decoded"),
    "names made into something": (_FILES + "ds.map(f).shuffle(9)", "unknown"),
    "of a parameter": ("def f(dataset):\n    return dataset.shuffle(9).prefetch(1)", "unknown"),
}


@pytest.mark.parametrize(("text", "answer"), _ELEMENTS.values(), ids=_ELEMENTS.keys())
def test_shuffle_knows_its_elements(text: str, answer: str) -> None:
    assert [f.get("elements") for f in _found(text, "input_stage", "shuffle")] == [answer]


_SESSION = "sess = tf.Session()\nfor i in range(9):\n    "
_RUNS = {
    "a session's": (_SESSION + "sess.run(train, {x: i})", [("train", "yes", 1)]),
    "a tensor's": (
        _SESSION + "sess.run(train)\n    loss.eval(feed_dict={x: i})",
        [("train", "no", 2), ("loss", "yes", 2)],
    ),
    "a tensor's, with a session": (_SESSION + "loss.eval(session=sess)", [("loss", "no", 1)]),
    "an operation's": (_SESSION + "step.run(feed_dict={x: i})", [("step", "yes", 1)]),
    "a network's mode": (_SESSION + "net.eval()", []),
    "something else that runs": (_SESSION + "server.run(port=80)", []),
}


@pytest.mark.parametrize(("text", "answer"), _RUNS.values(), ids=_RUNS.keys())
def test_runs_of_sessions_tensors_and_operations(text: str, answer: list[tuple[str, str, int]]) -> None:
    assert [(f.get("fetches"), f.get("fed"), f.get("runs")) for f in _found(text, "run")] == answer


_TRACES = {
    "given at once": ("sess.run(t, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))", "yes"),
    "by a name": ("o = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)\nsess.run(t, options=o)", "yes"),
    "by its number": ("sess.run(t, None, tf.RunOptions(trace_level=3))", "yes"),
    "none": ("sess.run(t)", "no"),
    "for another end": ("sess.run(t, options=tf.RunOptions(timeout_in_ms=9))", "unknown"),
    "only the level of none": ("sess.run(t, options=tf.RunOptions(trace_level=tf.RunOptions.NO_TRACE))", "unknown"),
    "if wanted": (
        "o = None\nif flag:\n    o = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)\nsess.run(t, options=o)",
        "unknown",
    ),
}


@pytest.mark.parametrize(("text", "answer"), _TRACES.values(), ids=_TRACES.keys())
def test_run_knows_whether_it_is_traced(text: str, answer: str) -> None:
    assert [f.get("traced") for f in _found("sess = tf.Session()\n" + text, "run")] == [answer]


_SAVES = {
    "after each step": (_SESSION + "sess.run(train_op)\n    saver.save(sess, 'm')", ["yes"]),
    "after each step, kept in an object": (
        "class T:\n    def __init__(self):\n        self.saver = tf.train.Saver()\n    def go(self):\n"
        "        while True:\n            self.sess.run([self.optim, self.loss])\n"
        "            self.saver.save(self.sess, 'm')",
        ["yes"],
    ),
    "every so often": (_SESSION + "sess.run(train_op)\n    if i % 9 == 0:\n        saver.save(sess, 'm')", ["no"]),
    "after each epoch": (
        _SESSION + "for b in data:\n        sess.run(train_op)\n    sess.run(train_summary)\n    saver.save(sess, 'm')",
        ["no"],
    ),
    "after each epoch that is one step": (
        "sess = tf.Session()\nfor epoch in range(9):\n    sess.run(train_op)\n    saver.save(sess, 'm')",
        ["no"],
    ),
    "while evaluating": (_SESSION + "sess.run(accuracy)\n    saver.save(sess, 'm')", ["no"]),
    "at the end": ("saver = tf.train.Saver()\nsaver.save(tf.Session(), 'm')", ["no"]),
    "an image": (_SESSION + "sess.run(train_op)\n    image.save('a.png')", []),
}


@pytest.mark.parametrize(("text", "answer"), _SAVES.values(), ids=_SAVES.keys())
def test_checkpoint_knows_whether_it_is_saved_in_each_step(text: str, answer: list[str]) -> None:
    assert [f.get("each_step") for f in _found(text, "checkpoint")] == answer


_INTERVALS = {
    "a multiple": ("iterations_per_loop=100, save_checkpoints_steps=1000", "yes"),
    "no multiple": ("iterations_per_loop=100, save_checkpoints_steps=1250", "no"),
    "not given": ("iterations_per_loop=100", "unknown"),
    "never": ("iterations_per_loop=100, save_checkpoints_steps=0", "unknown"),
    "not known": ("iterations_per_loop=n, save_checkpoints_steps=1000", "unknown"),
}


@pytest.mark.parametrize(("text", "answer"), _INTERVALS.values(), ids=_INTERVALS.keys())
def test_checkpoint_interval_is_compared_with_the_sunk_steps(text: str, answer: str) -> None:
    code = f"from npu_bridge.npu_init import *\nc = NPURunConfig({text})\n"
    assert [f.get("divides") for f in facts(code, "setting", "iterations_per_loop")] == [answer]
