"""The input pipeline: its stages, what runs inside it, tables, variables; shapes and control flow of the graph."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts

_HEAD = "import tensorflow.compat.v1 as tf\nfrom tensorflow import contrib\nimport functools\n"
_DS = "ds = tf.data.TFRecordDataset(files)\n"


def _found(sources: str | dict[str, str], kind: str, name: str = "") -> list[Fact]:
    named = {"train.py": sources} if isinstance(sources, str) else sources
    return facts({p: _HEAD + t + "\n" for p, t in named.items()}, kind, name)


# text -> drop_remainder, repeats
_BATCHES = {
    "nothing said": (_DS + "ds.batch(3)", "missing", "no"),
    "dropped": (_DS + "ds.batch(3, drop_remainder=True)", "yes", "no"),
    "dropped by position": (_DS + "ds.batch(3, True)", "yes", "no"),
    "kept": (_DS + "ds.batch(3, drop_remainder=False)", "no", "no"),
    "an expression": (_DS + "ds.batch(3, drop_remainder=is_training)", "variable", "no"),
    "an option": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--d', default=True)\nargs = p.parse_args()\n"
        + _DS
        + "ds.batch(3, drop_remainder=args.d)",
        "variable",
        "no",
    ),
    "keywords that are not seen": (_DS + "ds.batch(3, **kw)", "unknown", "no"),
    "repeated before": (_DS + "ds.repeat().batch(3)", "missing", "yes"),
    "repeated before, by names": (_DS + "ds = ds.repeat()\nds = ds.map(f)\nds = ds.batch(3)", "missing", "yes"),
    "repeated a number of times": (_DS + "ds.repeat(2).batch(3)", "missing", "no"),
    "repeated afterwards": (_DS + "ds.batch(3).repeat()", "missing", "no"),
    "repeated by a fused stage": (
        _DS + "ds = ds.apply(contrib.data.shuffle_and_repeat(9))\nds.batch(3)",
        "missing",
        "yes",
    ),
    "repeated a number of times by a fused stage": (
        _DS + "ds = ds.apply(contrib.data.shuffle_and_repeat(9, 2))\nds.batch(3)",
        "missing",
        "no",
    ),
    "padded": (_DS + "ds.padded_batch(3, shapes)", "missing", "no"),
    "padded and dropped": (_DS + "ds.padded_batch(3, shapes, None, True)", "yes", "no"),
}


@pytest.mark.parametrize(("text", "drops", "repeats"), _BATCHES.values(), ids=_BATCHES.keys())
def test_batch(text: str, drops: str, repeats: str) -> None:
    found = [f for f in _found(text, "input_stage") if f.name in ("batch", "padded_batch")]
    assert [(f.get("drop_remainder"), f.get("repeats")) for f in found] == [(drops, repeats)]


_MAKE = "def make(files, training=True, mode='train'):\n    ds = tf.data.TFRecordDataset(files)\n"
# text -> the condition under which the data set is repeated without end
_CONDITIONS = {
    "below an option": ("    if training:\n        ds = ds.repeat()\n    ds = ds.batch(3)", "training"),
    "below a comparison": ("    if mode == 'train':\n        ds = ds.repeat()\n    ds.batch(3)", "mode == 'train'"),
    "below a text": ("    if mode:\n        ds = ds.repeat()\n    ds.batch(3)", "bool(mode)"),
    "below several": (
        "    if training and not mode:\n        ds = ds.repeat().map(f)\n        ds = ds.shuffle(9)\n    ds.batch(3)",
        "training and (not mode)",
    ),
    "always": ("    ds.repeat().batch(3)", None),
    "never": ("    ds.batch(3)", None),
    "below what is computed": ("    if files[0]:\n        ds = ds.repeat()\n    ds.batch(3)", None),
    "below a name with another value then": (
        "    now = training\n    if now:\n        ds = ds.repeat()\n    now = mode\n    ds.batch(3)",
        None,
    ),
    "and cut": ("    if training:\n        ds = ds.repeat()\n        ds = ds.take(9)\n    ds.batch(3)", None),
    "by an unknown stage": ("    if training:\n        ds = ds.repeat().apply(limit(9))\n    ds.batch(3)", None),
}


@pytest.mark.parametrize(("text", "condition"), _CONDITIONS.values(), ids=_CONDITIONS.keys())
def test_the_condition_of_a_repetition(text: str, condition: str | None) -> None:
    (batch,) = _found(_MAKE + text + "\nmake(FILES, False)", "input_stage", "batch")
    assert batch.get("repeated_if") == condition


_ESTIMATOR = "est = tf.estimator.Estimator(model_fn)\n"
_INPUT = "def make(files):\n    return tf.data.TFRecordDataset(files).batch(3)\n"
# text -> the jobs that run the batch
_JOBS = {
    "nobody": (_INPUT, "unknown"),
    "training": (_INPUT + _ESTIMATOR + "est.train(lambda: make(A))", "train"),
    "training and prediction": (
        _INPUT + _ESTIMATOR + "est.train(lambda: make(A))\nest.predict(functools.partial(make, B))",
        "predict train",
    ),
    "specifications": (
        _INPUT
        + "train = tf.estimator.TrainSpec(lambda: make(A))\n"
        + "test = tf.estimator.EvalSpec(input_fn=lambda: make(B))",
        "evaluate train",
    ),
    "a function that another makes": (
        "def outer(files):\n    def input_fn():\n        return tf.data.TFRecordDataset(files).batch(3)\n"
        "    return input_fn\n" + _ESTIMATOR + "est.evaluate(outer(B))",
        "evaluate",
    ),
    "through another function": (
        _INPUT + _ESTIMATOR + "def wrapped():\n    return make(A).map(f)\nest.export_savedmodel('x', wrapped)",
        "export",
    ),
    "a data set": (_DS + "ds = ds.batch(3)\nmodel.fit(ds, epochs=2)\nmodel.predict(ds)", "predict train"),
    "a data set that validates": (_INPUT + "model.fit(x, y, validation_data=make(B))", "evaluate"),
}


@pytest.mark.parametrize(("text", "jobs"), _JOBS.values(), ids=_JOBS.keys())
def test_the_jobs_that_run_a_stage(text: str, jobs: str) -> None:
    (batch,) = _found(text, "input_stage", "batch")
    assert batch.get("jobs") == jobs


_STAGES = {
    "methods": (_DS + "ds.map(f).shuffle(9).batch(3).prefetch(1)", ["map", "shuffle", "batch", "prefetch"]),
    "a fused stage": (_DS + "ds.apply(contrib.data.map_and_batch(f, 3))", ["map_and_batch"]),
    "batch_and_drop_remainder": (
        _DS + "ds.apply(contrib.data.batch_and_drop_remainder(3))",
        ["batch_and_drop_remainder"],
    ),
    "from_generator": ("tf.data.Dataset.from_generator(g, tf.int32)", ["from_generator"]),
    "shard": (_DS + "ds.shard(2, 0)", ["shard"]),
    "a dataset handed in": ("def f(dataset):\n    dataset.batch(3)", ["batch"]),
    "an unknown dataset's iterator": (
        "def f(x):\n    x.batch(3).make_one_shot_iterator()",
        ["batch", "make_one_shot_iterator"],
    ),
    "an unknown dataset's last stage": (
        "def f(x):\n    x.repeat().batch(3).prefetch(1)",
        ["repeat", "batch", "prefetch"],
    ),
    "a method of an unknown object": ("def f(x):\n    x.prefetch(1)\n    x.get().prefetch(1)", []),
    "padded batches of an unknown dataset": ("def f(x):\n    x.padded_batch(3, shapes)", ["padded_batch"]),
    "padded batches of an own class": ("class C:\n    def padded_batch(self): pass\nC().padded_batch()", []),
    "a list is no dataset": ("def f(words):\n    words.batch(3)", []),
    "an array": ("import numpy as np\nnp.array(x).repeat(3)", []),
    "queues": ("tf.train.batch([a], 32)", []),
    "the builtin": ("map(f, x)\nfilter(f, x)", []),
}


@pytest.mark.parametrize(("text", "names"), _STAGES.values(), ids=_STAGES.keys())
def test_stages(text: str, names: list[str]) -> None:
    found = [f.name for f in _found(text, "input_stage")]
    assert sorted(found) == sorted(names)


@pytest.mark.parametrize(
    ("text", "certain"),
    [(_DS + "ds.batch(3)", "yes"), ("def f(dataset):\n    dataset.batch(3)", "no")],
    ids=["made here", "handed in"],
)
def test_stage_is_certain(text: str, certain: str) -> None:
    assert [f.get("certain") for f in _found(text, "input_stage", "batch")] == [certain]


def test_shard_by_rank() -> None:
    text = "import horovod.tensorflow as hvd\n" + _DS + "ds.shard(hvd.size(), hvd.local_rank())"
    assert [f.get("shard_by") for f in _found(text, "input_stage", "shard")] == ["horovod.tensorflow.local_rank()"]


# A probe, tf.abs, is called in the function in question.
_INSIDE = {
    "a lambda": (_DS + "ds.map(lambda x: tf.abs(x))", "yes"),
    "a function": (_DS + "def f(x): return tf.abs(x)\nds.map(f)", "yes"),
    "a function defined below": (
        "def make():\n    return tf.data.Dataset.range(3).map(f)\ndef f(x): return tf.abs(x)",
        "yes",
    ),
    "by keyword": (_DS + "def f(x): return tf.abs(x)\nds.map(map_func=f)", "yes"),
    "a partial": (_DS + "def f(x, y): return tf.abs(x)\nds.map(functools.partial(f, y=1))", "yes"),
    "a lambda that calls it": (_DS + "def f(x): return tf.abs(x)\nds.map(lambda x: f(x))", "yes"),
    "a function that it calls": (_DS + "def g(x): return tf.abs(x)\ndef f(x): return g(x)\nds.map(f)", "yes"),
    "a method": (
        "class C:\n    def f(self, x): return tf.abs(x)\n    def g(self):\n"
        "        tf.data.Dataset.range(3).map(self.f)",
        "yes",
    ),
    "a method of an instance": (
        "class C:\n    def f(self, x): return tf.abs(x)\ntf.data.Dataset.range(3).map(C().f)",
        "yes",
    ),
    "a callable object": (
        "class C:\n    def __call__(self, x): return tf.abs(x)\n" + _DS + "c = C()\nds.map(c)",
        "yes",
    ),
    "a nested function": (
        "def make():\n    def f(x): return tf.abs(x)\n    return tf.data.Dataset.range(3).map(f)",
        "yes",
    ),
    "a function within it": (_DS + "def f(x):\n    def g(y): return tf.abs(y)\n    return g(x)\nds.map(f)", "yes"),
    "a function that makes it": (
        _DS + "def make():\n    def f(x): return tf.abs(x)\n    return f\nds.map(make())",
        "yes",
    ),
    "a constructor that it calls": (
        "class C:\n    def __init__(self): tf.abs(1)\n" + _DS + "ds.map(lambda x: C())",
        "yes",
    ),
    "interleave": (_DS + "ds.interleave(lambda x: tf.abs(x), 3)", "yes"),
    "a fused stage": (_DS + "ds.apply(contrib.data.map_and_batch(lambda x: tf.abs(x), 3))", "yes"),
    "a filter": (_DS + "ds.filter(lambda x: tf.abs(x) > 0)", "yes"),
    "a generator": ("def g(): yield tf.abs(1)\ntf.data.Dataset.from_generator(g, tf.int32)", "yes"),
    "a host function": ("def f(x): return tf.abs(x)\ntf.py_func(f, [x], tf.float32)", "yes"),
    "a stage of a dataset handed in": ("def make(dataset):\n    dataset.map(lambda x: tf.abs(x))", "yes"),
    "recursion": (_DS + "def f(x): return f(tf.abs(x))\nds.map(f)", "yes"),
    "the builtin map": ("map(lambda x: tf.abs(x), y)", "no"),
    "the model": (_DS + "def model(x): return tf.abs(x)\nmodel(x)", "no"),
    "the map of something else": ("def f(pool):\n    pool.map(lambda x: tf.abs(x), y)", "no"),
    "a callback of the estimator": ("def model_fn(x): return tf.abs(x)\ntf.estimator.Estimator(model_fn)", "no"),
    "a method of an object that the function is given": (
        "class Labeler:\n    def label(self, x): return tf.abs(x)\n"
        + "def parse_one(x, labeler): return labeler.label(x)\n"
        + "def make(labeler):\n    "
        + _DS
        + "    return ds.map(lambda x: parse_one(x, labeler))",
        "yes",
    ),
    "the same, which the model calls as well": (
        "class Labeler:\n    def label(self, x): return tf.abs(x)\n"
        + "def model(x, labeler): return labeler.label(x)\n"
        + "def make(labeler):\n    "
        + _DS
        + "    return ds.map(lambda x: labeler.label(x))",
        "no",
    ),
    "a method that a class overrides": (
        "class Coder:\n    def encode(self, x): return self.encode_one(x)\n    def encode_one(self, x): pass\n"
        + "class Own(Coder):\n    def encode_one(self, x): return tf.abs(x)\n"
        + _DS
        + "ds.map(lambda x: Coder().encode(x))",
        "yes",
    ),
    "an object that is called": (
        "class Mask:\n    def __call__(self, x): return tf.abs(x)\n" + _DS + "ds.map(lambda x: Mask()(x))",
        "yes",
    ),
    "one of two functions": (
        _DS + "if key:\n    f = lambda k, x: tf.abs(x)\nelse:\n    f = lambda x: x\nds.map(f)",
        "yes",
    ),
    "a method that a framework calls": (
        "class Model:\n    def call(self, x): return tf.abs(x)\n"
        + "def make(other):\n    "
        + _DS
        + "    return ds.map(lambda x: other.call(x))",
        "no",
    ),
    "an input function": ("def train_input_fn(): return tf.abs(1)", "maybe"),
    "a parser": ("def parse_example(x): return tf.abs(x)", "maybe"),
}


@pytest.mark.parametrize(("text", "answer"), _INSIDE.values(), ids=_INSIDE.keys())
def test_code_runs_in_the_input_pipeline(text: str, answer: str) -> None:
    assert [f.get("in_input") for f in _found(text, "call", "tensorflow.abs")] == [answer]


_FILES = {
    "a helper module": (
        {"h.py": "def f(x): return tf.abs(x)\n", "train.py": _DS + "import h\nds.map(h.f)"},
        "yes",
    ),
    "a helper of a helper": (
        {
            "h.py": "def f(x): return tf.abs(x)\n",
            "i.py": "import h\ndef g(x): return h.f(x)\n",
            "train.py": _DS + "from i import g\nds.map(g)",
        },
        "yes",
    ),
    "an inherited method": (
        {
            "h.py": "class B:\n    def f(self, x): return tf.abs(x)\n",
            "train.py": _DS + "from h import B\nclass C(B):\n    def g(self):\n        ds.map(self.f)",
        },
        "yes",
    ),
    "a file of data": ({"data/reader.py": "def g(x): return tf.abs(x)\n"}, "maybe"),
    "a file called dataset": ({"dataset.py": "def g(x): return tf.abs(x)\n"}, "maybe"),
    "another file": ({"model.py": "def g(x): return tf.abs(x)\n"}, "no"),
}


@pytest.mark.parametrize(("sources", "answer"), _FILES.values(), ids=_FILES.keys())
def test_code_of_other_files_runs_in_the_input_pipeline(sources: dict[str, str], answer: str) -> None:
    assert [f.get("in_input") for f in _found(sources, "call", "tensorflow.abs")] == [answer]


_VARIABLES = {
    "made inside": (_DS + "def f(x): return x + tf.Variable(1.0)\nds.map(f)", "yes"),
    "read inside": ("b = tf.Variable(1.0)\n" + _DS + "ds.map(lambda x: x + b)", "yes"),
    "an attribute read inside": (
        "class C:\n    def __init__(self):\n        self.b = tf.Variable(1.0)\n    def f(self, x):\n"
        "        return x + self.b\n"
        "    def g(self):\n        tf.data.Dataset.range(3).map(self.f)",
        "yes",
    ),
    "given to a stage": ("b = tf.Variable(1)\ntf.data.Dataset.range(b)", "yes"),
    "a name of its own inside": ("b = tf.Variable(1.0)\n" + _DS + "ds.map(lambda b: b + 1)", "no"),
    "an attribute of another class": (
        "class A:\n    def __init__(self):\n        self.b = tf.Variable(1.0)\nclass C:\n"
        "    def f(self, x):\n        return x + self.b\n"
        "    def g(self):\n        tf.data.Dataset.range(3).map(self.f)",
        "no",
    ),
    "a variable of the model": ("w = tf.get_variable('w', [1])\n" + _DS + "ds.map(lambda x: x)", "no"),
    "without a pipeline": ("w = tf.Variable(1.0)", "no"),
}


@pytest.mark.parametrize(("text", "answer"), _VARIABLES.values(), ids=_VARIABLES.keys())
def test_variable_belongs_to_the_pipeline(text: str, answer: str) -> None:
    assert [f.get("in_input") for f in _found(text, "variable")] == [answer]


_T = "t = contrib.lookup.index_table_from_file('v')\n"
_TABLES = {
    "looked up inside": (_T + _DS + "ds.map(lambda x: t.lookup(x))", "yes"),
    "looked up in the model": (_T + "t.lookup(x)", "no"),
    "another is looked up inside": (
        _T + "u = contrib.lookup.HashTable(i, 0)\n" + _DS + "ds.map(lambda x: u.lookup(x))",
        "no",
    ),
    "an unknown one is looked up inside": (_T + "def f(x, v): return v.lookup(x)\n" + _DS + "ds.map(f)", "maybe"),
    "made inside": (
        _DS + "def f(x):\n    t = contrib.lookup.HashTable(i, 0)\n    return t.lookup(x)\nds.map(f)",
        "yes",
    ),
    "an attribute": (
        "class C:\n    def __init__(self):\n        self.t = contrib.lookup.HashTable(i, 0)\n"
        "    def f(self, x):\n        return self.t.lookup(x)\n"
        "    def g(self):\n        tf.data.Dataset.range(3).map(self.f)",
        "yes",
    ),
}


@pytest.mark.parametrize(("text", "answer"), _TABLES.values(), ids=_TABLES.keys())
def test_table_is_used_by_the_pipeline(text: str, answer: str) -> None:
    found = _found(text, "lookup_table")
    assert [f.get("in_input") for f in found if "HashTable" not in f.name or len(found) == 1] == [answer]


# shape argument -> inner, dims; None: no dynamic shape
_PLACEHOLDERS: dict[str, tuple[str, tuple[str, str] | None]] = {
    "fixed": ("tf.placeholder(t, [3, 4])", None),
    "an unknown batch": ("tf.placeholder(t, [None, 4])", ("no", "1")),
    "an unknown length": ("tf.placeholder(t, [3, None])", ("yes", "1")),
    "both": ("tf.placeholder(t, shape=(None, None))", ("yes", "2")),
    "no shape": ("tf.placeholder(t)", ("yes", "rank")),
    "an explicit lack of shape": ("tf.placeholder(t, None)", None),
    "a scalar": ("tf.placeholder(t, [])", None),
    "a named shape": ("s = [None, 4]\ntf.placeholder(t, s)", ("no", "1")),
    "a named size": ("B = None\ntf.placeholder(t, [B, 4])", ("no", "1")),
    "a size that may be given": ("def f(b=None):\n    tf.placeholder(t, [b, 4])", None),
    "an unknown shape": ("tf.placeholder(t, s)", None),
    "with a default": ("tf.placeholder_with_default(x, [None])", ("no", "1")),
}


@pytest.mark.parametrize(("text", "answer"), _PLACEHOLDERS.values(), ids=_PLACEHOLDERS.keys())
def test_placeholder_of_unknown_shape(text: str, answer: tuple[str, str] | None) -> None:
    found = [(f.get("inner"), f.get("dims")) for f in _found(text, "dynamic_shape")]
    assert found == ([] if answer is None else [answer])


_DYNAMIC = {
    "boolean_mask": ("tf.boolean_mask(x, m)", ["tensorflow.boolean_mask"]),
    "unique": ("tf.unique(x)", ["tensorflow.unique"]),
    "where with one argument": ("tf.where(c)", ["tensorflow.where"]),
    "where with three arguments": ("tf.where(c, a, b)", []),
    "where with branches by keyword": ("tf.where(c, x=a, y=b)", []),
    "top_k with a tensor": ("k = tf.reduce_sum(x)\ntf.nn.top_k(x, k)", ["tensorflow.nn.top_k"]),
    "top_k with a constant": ("tf.nn.top_k(x, 3)", []),
}


@pytest.mark.parametrize(("text", "names"), _DYNAMIC.values(), ids=_DYNAMIC.keys())
def test_causes_of_dynamic_shapes(text: str, names: list[str]) -> None:
    assert [f.name for f in _found(text, "dynamic_shape")] == names


_TOP_K = {
    "left out": ("tf.nn.top_k(x)", "constant"),
    "a number": ("tf.nn.top_k(x, k=3)", "constant"),
    "a name": ("K = 3\ntf.nn.top_k(x, K)", "constant"),
    "a tensor": ("tf.nn.top_k(x, tf.minimum(a, b))", "tensor"),
    "unknown": ("tf.nn.top_k(x, k)", "unknown"),
}


@pytest.mark.parametrize(("text", "answer"), _TOP_K.values(), ids=_TOP_K.keys())
def test_k_of_top_k(text: str, answer: str) -> None:
    assert [f.get("k") for f in _found(text, "top_k")] == [answer]


_CONTROL = {
    "cond": ("tf.cond(a, b, c)", ["tensorflow.cond"]),
    "while_loop": ("tf.while_loop(a, b, c)", ["tensorflow.while_loop"]),
    "a recurrent network": ("tf.nn.dynamic_rnn(cell, x)", ["tensorflow.nn.dynamic_rnn"]),
    "a private module": (
        "from tensorflow.python.ops import control_flow_ops\ncontrol_flow_ops.cond(a, b, c)",
        ["tensorflow.cond"],
    ),
    "a copy of a recurrent network": ("def dynamic_rnn(c, x): pass\ndynamic_rnn(cell, x)", ["dynamic_rnn"]),
    "something else": ("tf.abs(x)", []),
}


@pytest.mark.parametrize(("text", "names"), _CONTROL.values(), ids=_CONTROL.keys())
def test_control_flow(text: str, names: list[str]) -> None:
    assert [f.name for f in _found(text, "control_flow")] == names


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("train.py", "no"),
        ("tests/a.py", "yes"),
        ("test_a.py", "yes"),
        ("a_test.py", "yes"),
        ("latest/a.py", "no"),
        ("contest.py", "no"),
    ],
)
def test_code_of_tests(path: str, answer: str) -> None:
    assert [f.get("in_test") for f in _found({path: "tf.abs(1)"}, "call", "tensorflow.abs")] == [answer]


@pytest.mark.parametrize(
    ("text", "loop", "function", "under"),
    [
        ("tf.abs(1)", "no", "", ""),
        ("for i in x: tf.abs(1)", "yes", "", ""),
        ("def f():\n    tf.abs(1)", "no", "f", ""),
        ("for i in x:\n    def f():\n        tf.abs(1)", "no", "f", ""),
        ("class C:\n    def f(self):\n        while x: tf.abs(1)", "yes", "C.f", ""),
        (
            "with tf.Graph().as_default():\n    with tf.device('/cpu:0'):\n        tf.abs(1)",
            "no",
            "",
            "tensorflow.device() tensorflow.Graph().as_default()",
        ),
        ("y = [tf.abs(1) for i in x]", "yes", "", ""),
    ],
    ids=["plain", "a loop", "a function", "a function in a loop", "a loop in a method", "contexts", "a comprehension"],
)
def test_surroundings(text: str, loop: str, function: str, under: str) -> None:
    fact = _found(text, "call", "tensorflow.abs")[0]
    assert (fact.get("in_loop"), fact.get("function"), fact.get("under"), fact.get("nothing of the kind")) == (
        loop,
        function,
        under,
        None,
    )


_HELD = {
    "before and after": ("val = ds.batch(8)", "ds val"),
    "an attribute": ("self.train = tf.data.Dataset.range(9).batch(8)", "tf.data.Dataset self.train"),
    "lines": ("val = (\n  test.map(f)\n  .batch(8)\n  .prefetch(1)\n)", "test val"),
    "in parts": ("a = test.map(f)\nb = a.batch(8).prefetch(1)", "a b"),
    "none after": ("use(test.batch(8).prefetch(1))", "test"),
}


@pytest.mark.parametrize(("text", "held"), _HELD.values(), ids=_HELD.keys())
def test_names_of_a_data_set(text: str, held: str) -> None:
    (fact,) = _found("ds = test = tf.data.Dataset.range(9)\n" + text + "\n", "input_stage", "batch")
    assert fact.get("held") == held
