"""Training: optimizers and what wraps them, loss scale, train steps, runs of a session, distribution, devices."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts

_HEAD = "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\nimport horovod.tensorflow as hvd\n"
_OPT = "opt = tf.train.AdamOptimizer(1e-3)\n"


def _found(text: str, kind: str) -> list[Fact]:
    return facts(_HEAD + text + "\n", kind)


# text -> name, what
_OPTIMIZERS = {
    "tf.train": ("tf.train.AdamOptimizer()", "tensorflow.train.AdamOptimizer", "tf"),
    "contrib": (
        "from tensorflow import contrib\ncontrib.opt.LazyAdamOptimizer()",
        "tensorflow.contrib.opt.LazyAdamOptimizer",
        "tf",
    ),
    "keras": ("tf.keras.optimizers.SGD()", "tensorflow.keras.optimizers.SGD", "keras"),
    "the project's own": (
        "class WeightDecayOptimizer(tf.train.Optimizer): pass\nWeightDecayOptimizer()",
        "train:WeightDecayOptimizer",
        "tf",
    ),
    "through an alias": ("O = tf.train.MomentumOptimizer\nO()", "tensorflow.train.MomentumOptimizer", "tf"),
}


@pytest.mark.parametrize(("text", "name", "what"), _OPTIMIZERS.values(), ids=_OPTIMIZERS.keys())
def test_optimizer(text: str, name: str, what: str) -> None:
    assert [(f.name, f.get("what")) for f in _found(text, "optimizer")] == [(name, what)]


@pytest.mark.parametrize(
    "text",
    [
        "class MyOptimizer: pass\nMyOptimizer()",
        "def make_optimizer(): pass\nmake_optimizer()",
        "tf.train.SyncReplicasOptimizer(opt)",
        "NPUDistributedOptimizer(opt)",
        "Adam()",
        "tf.train.Saver()",
    ],
)
def test_wrappers_and_other_classes_are_no_optimizers(text: str) -> None:
    assert _found(text, "optimizer") == []


_SCALE = "m = FixedLossScaleManager(1024)\nopt = NPULossScaleOptimizer(opt, m)\n"
# text -> name, scaled
_STEPS = {
    "minimize": (_OPT + "opt.minimize(loss)", "minimize", "no"),
    "on the result": ("tf.train.AdamOptimizer().minimize(loss)", "minimize", "no"),
    "apply_gradients": (_OPT + "opt.apply_gradients(g)", "apply_gradients", "no"),
    "scaled": (_OPT + _SCALE + "opt.minimize(loss)", "minimize", "yes"),
    "scaled at once": ("NPULossScaleOptimizer(tf.train.AdamOptimizer(), m).minimize(loss)", "minimize", "yes"),
    "scaled and then distributed": (
        _OPT + _SCALE + "opt = npu_distributed_optimizer_wrapper(opt)\nopt.minimize(loss)",
        "minimize",
        "yes",
    ),
    "scaled under a condition": (_OPT + f"if x:\n    {_SCALE.splitlines()[1]}\nopt.minimize(loss)", "minimize", "yes"),
    "an attribute": (
        "class C:\n    def __init__(self):\n        self.o = tf.train.AdamOptimizer()\n    def f(self):\n"
        "        self.o.minimize(l)",
        "minimize",
        "no",
    ),
    "a scaled attribute": (
        "class C:\n    def __init__(self):\n        self.o = NPULossScaleOptimizer(tf.train.AdamOptimizer(), m)\n"
        "    def f(self):\n        self.o.minimize(l)",
        "minimize",
        "yes",
    ),
    "made by a helper": ("def make():\n    return tf.train.AdamOptimizer()\nmake().minimize(l)", "minimize", "no"),
    "scaled by a helper": (
        "def scale(o):\n    return NPULossScaleOptimizer(o, m)\n" + _OPT + "scale(opt).minimize(l)",
        "minimize",
        "yes",
    ),
    "handed in": ("def train(o):\n    o.minimize(l)\ntrain(tf.train.AdamOptimizer())", "minimize", "no"),
    "chosen": (
        "opt = tf.train.AdamOptimizer() if a else tf.train.GradientDescentOptimizer(1)\nopt.minimize(l)",
        "minimize",
        "no",
    ),
    "an unknown optimizer by its name": ("def f(optimizer):\n    optimizer.minimize(l)", "minimize", "unknown"),
    "a short name": ("def f(opt):\n    opt.apply_gradients(g)", "apply_gradients", "unknown"),
    "horovod": (_OPT + "opt = hvd.DistributedOptimizer(opt)\nopt.minimize(l)", "minimize", "no"),
    "graph rewriting": (
        "tf.train.experimental.enable_mixed_precision_graph_rewrite(tf.train.AdamOptimizer()).minimize(l)",
        "minimize",
        "no",
    ),
    "an estimator": ("tf.estimator.Estimator(fn).train(input_fn)", "train", "unknown"),
    "a ready-made estimator": ("tf.estimator.DNNClassifier([8], c).train(input_fn)", "train", "unknown"),
    "the NPU's estimator": ("e = NPUEstimator(fn)\ne.train(input_fn)", "train", "unknown"),
    "train_and_evaluate": ("tf.estimator.train_and_evaluate(e, a, b)", "train_and_evaluate", "unknown"),
    "slim": ("import tf_slim as slim\nslim.learning.train(op, d)", "train", "unknown"),
    "keras": ("m = tf.keras.Sequential([])\nm.fit(x)", "fit", "unknown"),
    "a keras model of one's own": ("class M(tf.keras.Model): pass\nM().fit(x)", "fit", "unknown"),
    "a keras model handed in": ("def f(model):\n    model.train_on_batch(x, y)", "train_on_batch", "unknown"),
    "a keras model of a function": ("def f():\n    return tf.keras.Model(a, b)\nf().fit(x)", "fit", "unknown"),
    "a loaded keras model": (
        "from keras.models import load_model\ngan = load_model(p)\ngan.fit(x)",
        "fit",
        "unknown",
    ),
    "a replicated keras model": (
        "from keras.utils import multi_gpu_model\np = multi_gpu_model(m, 2)\np.fit(x)",
        "fit",
        "unknown",
    ),
    "a name that only keras has": ("from nets import make\nmake().fit_generator(rows)", "fit_generator", "unknown"),
    "a ready keras model": ("tf.keras.applications.ResNet50().fit(x)", "fit", "unknown"),
}


@pytest.mark.parametrize(("text", "name", "scaled"), _STEPS.values(), ids=_STEPS.keys())
def test_train_step(text: str, name: str, scaled: str) -> None:
    assert [(f.name, f.get("scaled")) for f in _found(text, "train_step")] == [(name, scaled)]


_NO_STEPS = {
    "minimize of something else": "import scipy.optimize\nscipy.optimize.minimize(f)",
    "fit of something else": "from sklearn import svm\nsvm.SVC().fit(x)",
    "fit of an unknown": "def f(scaler):\n    scaler.fit(x)",
    "train of another classifier": "from models import Classifier\nClassifier().train(x)",
    "train of an unknown": "def f(model):\n    model.train()",
    "an own minimize": "def minimize(x): pass\nminimize(x)",
}


@pytest.mark.parametrize("text", _NO_STEPS.values(), ids=_NO_STEPS.keys())
def test_what_is_no_train_step(text: str) -> None:
    assert _found(text, "train_step") == []


_GRADIENTS = {
    "compute_gradients": (_OPT + "g = opt.compute_gradients(l)\nopt.apply_gradients(g)", "compute_gradients"),
    "compute_gradients at once": (_OPT + "opt.apply_gradients(opt.compute_gradients(l))", "compute_gradients"),
    "taken apart and clipped": (
        _OPT + "g, v = zip(*opt.compute_gradients(l))\ng, _ = tf.clip_by_global_norm(g, 1)\n"
        "opt.apply_gradients(zip(g, v))",
        "compute_gradients",
    ),
    "a comprehension": (
        _OPT + "gv = opt.compute_gradients(l)\nopt.apply_gradients([(tf.clip_by_value(g, -1, 1), v) for g, v in gv])",
        "compute_gradients",
    ),
    "tf.gradients": (_OPT + "g = tf.gradients(l, v)\nopt.apply_gradients(zip(g, v))", "tf.gradients"),
    "a tape": (
        _OPT + "with tf.GradientTape() as t: pass\ng = t.gradient(l, v)\nopt.apply_gradients(zip(g, v))",
        "tape",
    ),
    "a list": (_OPT + "g = tf.gradients(l, v)\nopt.apply_gradients([g, v])", "tf.gradients"),
    "a conditional": (_OPT + "opt.apply_gradients(tf.gradients(l, v) if x else y)", "tf.gradients"),
    "handed in": ("def f(opt, g):\n    opt.apply_gradients(g)", "unknown"),
    "nothing": (_OPT + "opt.apply_gradients()", "unknown"),
}


@pytest.mark.parametrize(("text", "answer"), _GRADIENTS.values(), ids=_GRADIENTS.keys())
def test_where_applied_gradients_come_from(text: str, answer: str) -> None:
    assert [f.get("gradients") for f in _found(text, "train_step")] == [answer]


# text -> what, native, flag, wraps_distributed
_LOSS_SCALES = {
    "the NPU's": ("NPULossScaleOptimizer(opt, m)", ("optimizer", "no", "missing", "no")),
    "told to be distributed": ("NPULossScaleOptimizer(opt, m, is_distributed=True)", ("optimizer", "no", "yes", "no")),
    "told by position": ("NPULossScaleOptimizer(opt, m, False)", ("optimizer", "no", "no", "no")),
    "told by an expression": (
        "NPULossScaleOptimizer(opt, m, is_distributed=n > 1)",
        ("optimizer", "no", "unknown", "no"),
    ),
    "around a distributed one": (
        _OPT + "opt = npu_distributed_optimizer_wrapper(opt)\nNPULossScaleOptimizer(opt, m)",
        ("optimizer", "no", "missing", "yes"),
    ),
    "around Horovod's": (
        _OPT + "NPULossScaleOptimizer(hvd.DistributedOptimizer(opt), m)",
        ("optimizer", "no", "missing", "yes"),
    ),
    "TensorFlow's": (
        "tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, 8)",
        ("optimizer", "yes", "missing", "no"),
    ),
    "a fixed manager": ("FixedLossScaleManager(1024)", ("manager", "no", "missing", "no")),
    "an exponential manager": ("ExponentialUpdateLossScaleManager(1024, 100)", ("manager", "no", "missing", "no")),
    "without arguments": ("NPULossScaleOptimizer()", ("optimizer", "no", "missing", "no")),
}
_ASKED = ("what", "native", "flag", "wraps_distributed")


@pytest.mark.parametrize(("text", "answers"), _LOSS_SCALES.values(), ids=_LOSS_SCALES.keys())
def test_loss_scale(text: str, answers: tuple[str, ...]) -> None:
    assert [tuple(f.get(a) for a in _ASKED) for f in _found(text, "loss_scale")] == [answers]


def test_somebody_elses_loss_scale_is_none() -> None:
    assert _found("import own\nown.LossScaleOptimizer(opt)", "loss_scale") == []


_S = "sess = tf.Session()\n"
# text -> fetches, fed, loops
_RUNS = {
    "a name": (_S + "sess.run(a)", "a", "no", "0"),
    "a list": (_S + "sess.run([a, b.c])", "a b.c", "no", "0"),
    "a dict": (_S + "sess.run({'x': a, 'y': [b]})", "a b", "no", "0"),
    "a call": (_S + "sess.run(f())", "", "no", "0"),
    "fed by keyword": (_S + "sess.run(a, feed_dict={x: 1})", "a", "yes", "0"),
    "fed by position": (_S + "sess.run(a, {x: 1})", "a", "yes", "0"),
    "in a loop": (_S + "for i in x:\n    sess.run(a)", "a", "no", "1"),
    "in two loops": (_S + "for i in x:\n    while y:\n        sess.run(a)", "a", "no", "2"),
    "a monitored session": ("with tf.train.MonitoredTrainingSession() as s:\n    s.run(a)", "a", "no", "0"),
    "a session handed in": ("def f(sess):\n    sess.run(a)", "a", "no", "0"),
    "an attribute": ("class C:\n    def f(self):\n        self.sess.run(a)", "a", "no", "0"),
}


@pytest.mark.parametrize(("text", "fetches", "fed", "loops"), _RUNS.values(), ids=_RUNS.keys())
def test_run_of_a_session(text: str, fetches: str, fed: str, loops: str) -> None:
    assert [(f.get("fetches"), f.get("fed"), f.get("loops")) for f in _found(text, "run")] == [(fetches, fed, loops)]


@pytest.mark.parametrize("text", ["import subprocess\nsubprocess.run(a)", "def f(app):\n    app.run()", "tf.app.run()"])
def test_other_runs(text: str) -> None:
    assert _found(text, "run") == []


def test_runs_in_one_round_of_a_loop_are_counted() -> None:
    text = _S + "for i in x:\n    sess.run(a)\n    sess.run(b)\n    if i % 10 == 0:\n        sess.run(c)\n"
    text += "sess.run(d)\n"
    found = [(f.get("fetches"), f.get("runs"), f.get("gated")) for f in _found(text, "run")]
    assert found == [("a", 2, "no"), ("b", 2, "no"), ("c", 2, "yes"), ("d", 0, "no")]


# text -> name's end, stack, what
_DISTRIBUTION = {
    "horovod's initialisation": ("hvd.init()", "horovod", "init"),
    "horovod's rank": ("hvd.local_rank()", "horovod", "rank"),
    "horovod's size": ("hvd.size()", "horovod", "rank"),
    "horovod's optimizer": ("hvd.DistributedOptimizer(opt)", "horovod", "optimizer"),
    "horovod's broadcast": ("hvd.BroadcastGlobalVariablesHook(0)", "horovod", "broadcast"),
    "horovod's allreduce": ("hvd.allreduce(x)", "horovod", "allreduce"),
    "a strategy": ("tf.distribute.MirroredStrategy()", "tf.distribute", "strategy"),
    "a cluster": ("tf.train.ClusterSpec({})", "tf.distribute", "other"),
    "the NPU's wrapper": ("npu_distributed_optimizer_wrapper(opt)", "npu", "optimizer"),
    "the NPU's optimizer": ("NPUDistributedOptimizer(opt)", "npu", "optimizer"),
    "the NPU's rank": ("get_rank_size()", "npu", "rank"),
    "the NPU's broadcast": ("NPUBroadcastGlobalVariablesHook(0)", "npu", "broadcast"),
    "a TPU's configuration": ("from tensorflow import contrib\ncontrib.tpu.RunConfig()", "tpu", "other"),
}


@pytest.mark.parametrize(("text", "stack", "what"), _DISTRIBUTION.values(), ids=_DISTRIBUTION.keys())
def test_distribution(text: str, stack: str, what: str) -> None:
    assert [(f.get("stack"), f.get("what")) for f in _found(text, "distribution")] == [(stack, what)]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("NPUDistributedOptimizer(NPULossScaleOptimizer(opt, m))", "yes"),
        (_OPT + _SCALE + "hvd.DistributedOptimizer(opt)", "yes"),
        (_OPT + "hvd.DistributedOptimizer(opt)", "no"),
        ("hvd.DistributedOptimizer()", "no"),
    ],
)
def test_distributed_optimizer_around_a_scaled_one(text: str, answer: str) -> None:
    assert [f.get("wraps_scaled") for f in _found(text, "distribution")] == [answer]


# text -> device, gpu, computed
_DEVICES = {
    "a GPU": ("tf.device('/gpu:0')", "/gpu:0", "yes", "no"),
    "the CPU": ("with tf.device('/cpu:0'): pass", "/cpu:0", "no", "no"),
    "a constant": ("D = '/device:GPU:0'\ntf.device(D)", "/device:GPU:0", "yes", "no"),
    "a formatted text": ("tf.device('/gpu:%d' % i)", "/gpu:%d", "yes", "yes"),
    "an f-string": ("tf.device(f'/gpu:{i}')", "/gpu:", "yes", "yes"),
    "format": ("tf.device('/gpu:{}'.format(i))", "/gpu:{}", "yes", "yes"),
    "a sum": ("tf.device('/gpu:' + str(i))", "/gpu:", "yes", "yes"),
    "either": ("tf.device('/gpu:0' if g else '/cpu:0')", "/gpu:0 / /cpu:0", "yes", "no"),
    "a graph's scope": ("tf.Graph().device('/gpu:0')", "/gpu:0", "yes", "no"),
    "a replica": (
        "tf.train.replica_device_setter(worker_device='/job:worker/gpu:0')",
        "/job:worker/gpu:0",
        "yes",
        "no",
    ),
}


@pytest.mark.parametrize(("text", "device", "gpu", "computed"), _DEVICES.values(), ids=_DEVICES.keys())
def test_device(text: str, device: str, gpu: str, computed: str) -> None:
    assert [(f.name, f.get("gpu"), f.get("computed")) for f in _found(text, "device")] == [(device, gpu, computed)]


@pytest.mark.parametrize(
    "text", ["tf.device(d)", "tf.device(lambda op: op)", "tf.device(f())", "tf.device()", "tf.device(None)"]
)
def test_device_that_is_not_known(text: str) -> None:
    assert _found(text, "device") == []


_INIT = {
    "variables and an iterator": ("sess.run([tf.global_variables_initializer(), it.initializer])", 1),
    "grouped": ("sess.run(tf.group(tf.global_variables_initializer(), it.initializer))", 1),
    "through a list": ("boot = [tf.global_variables_initializer(), it.initializer]\nsess.run(boot)", 1),
    "variables and tables": ("sess.run([tf.global_variables_initializer(), tf.tables_initializer()])", 0),
    "an iterator": ("sess.run(it.initializer)", 0),
    "one after the other": ("sess.run(tf.global_variables_initializer())\nsess.run(it.initializer)", 0),
}


@pytest.mark.parametrize(("text", "count"), _INIT.values(), ids=_INIT.keys())
def test_variables_and_iterator_initialised_in_one_run(text: str, count: int) -> None:
    head = _S + "it = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))\n"
    assert len(_found(head + text, "init_group")) == count


_GROWTH = {
    "an operation in the loop of the runs": (_S + "for i in x:\n    sess.run(a)\n    tf.reduce_mean(b)", 1),
    "before the loop": (_S + "tf.reduce_mean(b)\nfor i in x:\n    sess.run(a)", 0),
    "in some rounds only": (_S + "for i in x:\n    sess.run(a)\n    if i == 0:\n        tf.reduce_mean(b)", 0),
    "in a loop that builds": (_S + "for i in x:\n    tf.reduce_mean(b)\nsess.run(a)", 0),
    "in a loop that makes a session": (
        "for i in x:\n    sess = tf.Session()\n    tf.reduce_mean(b)\n    sess.run(a)",
        0,
    ),
}


@pytest.mark.parametrize(("text", "count"), _GROWTH.values(), ids=_GROWTH.keys())
def test_graph_that_grows_with_every_step(text: str, count: int) -> None:
    assert len(_found(text, "graph_growth")) == count


# text -> kind, count
_COST = {
    "a sum of half precision": ("tf.reduce_sum(tf.cast(x, tf.float16))", "half_reduction", 1),
    "a named sum of half precision": ("y = tf.cast(x, 'float16')\ntf.reduce_mean(y)", "half_reduction", 1),
    "a sum of single precision": ("tf.reduce_sum(tf.cast(x, tf.float32))", "half_reduction", 0),
    "a sum of something unknown": ("tf.reduce_sum(x)", "half_reduction", 0),
    "a sum of nothing": ("tf.reduce_sum()", "half_reduction", 0),
    "the root of a sum of squares": ("tf.sqrt(tf.reduce_sum(tf.square(x)))", "zero_root", 1),
    "the root of a sum of powers": ("s = tf.reduce_sum(x ** 2)\ntf.sqrt(s)", "zero_root", 1),
    "the root of a sum of cubes": ("tf.sqrt(tf.reduce_sum(x ** 3))", "zero_root", 0),
    "the root with something added": ("tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-8)", "zero_root", 0),
    "the root of a sum": ("tf.sqrt(tf.reduce_sum(x))", "zero_root", 0),
    "the root of a mean": ("tf.sqrt(tf.reduce_mean(tf.square(x)))", "zero_root", 0),
    "the root of nothing": ("tf.sqrt(tf.reduce_sum())", "zero_root", 0),
    "a Python function": ("tf.py_func(f, [x], tf.float32)", "py_func", 1),
}


@pytest.mark.parametrize(("text", "kind", "count"), _COST.values(), ids=_COST.keys())
def test_operations_that_cost(text: str, kind: str, count: int) -> None:
    assert len(_found(text, kind)) == count


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ("x, 0.5", "no"),
        ("x, 0.5, [1, 2]", "yes"),
        ("x, noise_shape=[b, 1]", "yes"),
        ("x, noise_shape=None", "no"),
        ("x, noise_shape=s", "unknown"),
        ("x, noise_shape=n", "no"),
    ],
)
def test_mask_of_a_dropout(arguments: str, answer: str) -> None:
    found = _found(f"n = None\ntf.nn.dropout({arguments})", "dropout")
    assert [f.get("noise_shape") for f in found] == [answer]


def test_python_function_whose_result_gets_its_shape_back() -> None:
    assert [f.get("shaped") for f in _found("y = tf.py_func(f, [x], t)\ny.set_shape([1])", "py_func")] == ["yes"]
    assert [f.get("shaped") for f in _found("y = tf.py_func(f, [x], t)", "py_func")] == ["no"]
