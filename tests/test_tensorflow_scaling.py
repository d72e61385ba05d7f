"""TensorFlow 1: what loss scale optimizers wrap, whose gradients are applied, which steps run together, what ends a
session, and constants that float16 cannot hold."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts, programs

_HEAD = "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"
_BASE = "base = tf.train.AdamOptimizer(1e-3)\nm = FixedLossScaleManager(1024)\n"
_PAIR = _BASE + "opt = NPULossScaleOptimizer(base, m)\n"


def _found(text: str, kind: str) -> list[Fact]:
    return facts(_HEAD + text + "\n", kind)


def _scaling(text: str) -> Fact:
    """The last loss scale optimizer of a text."""
    return [f for f in _found(text, "loss_scale") if f.get("what") == "optimizer"][-1]


# text -> manager
_MANAGERS = {
    "the NPU's": (_PAIR, "npu"),
    "one that a helper makes": (
        "def make():\n    return ExponentialUpdateLossScaleManager(2, 1000)\nNPULossScaleOptimizer(o, make())",
        "npu",
    ),
    "TensorFlow's": ("NPULossScaleOptimizer(o, tf.contrib.mixed_precision.FixedLossScaleManager(2))", "native"),
    "a loss scale object": ("NPULossScaleOptimizer(o, tf.train.experimental.DynamicLossScale())", "object"),
    "a number": ("NPULossScaleOptimizer(o, 1024)", "constant"),
    "none": ("NPULossScaleOptimizer(o)", "missing"),
    "starred": ("NPULossScaleOptimizer(o, *rest)", "unknown"),
    "handed in": ("def f(m):\n    NPULossScaleOptimizer(o, m)", "unknown"),
}


@pytest.mark.parametrize(("text", "manager"), _MANAGERS.values(), ids=_MANAGERS.keys())
def test_manager_of_a_loss_scale_optimizer(text: str, manager: str) -> None:
    assert _scaling(text).get("manager") == manager


_CLIP = "class Clip(tf.train.AdamOptimizer):\n    def {0}(self, *a):\n        return tf.clip_by_value(a, -1, 1)\n"
# text -> attribute, answer
_WRAPPED = {
    "a scaled optimizer": (_PAIR + "NPULossScaleOptimizer(opt, m)", "wraps_scaled", "yes"),
    "by keyword": (_PAIR + "NPULossScaleOptimizer(opt=opt, loss_scale_manager=m)", "wraps_scaled", "yes"),
    "a rewritten graph": (
        _BASE + "NPULossScaleOptimizer(tf.train.experimental.enable_mixed_precision_graph_rewrite(base), m)",
        "wraps_scaled",
        "yes",
    ),
    "the other branch": (
        _BASE
        + "if x:\n    base = NPULossScaleOptimizer(base, m)\nelse:\n    base = NPULossScaleOptimizer(base, m, True)",
        "wraps_scaled",
        "no",
    ),
    "what the attribute was before": (
        "class C:\n    def a(self):\n        self.o = tf.train.AdamOptimizer(1)\n    def b(self):\n"
        "        self.o = NPULossScaleOptimizer(self.o, m)",
        "wraps_scaled",
        "no",
    ),
    "an NPUOptimizer that does not scale": (
        _BASE + "inner = NPUOptimizer(base, is_distributed=True)\nNPULossScaleOptimizer(inner, m)",
        "wraps_scaled",
        "no",
    ),
    "an NPUOptimizer that scales": (
        _BASE + "inner = NPUOptimizer(base, m, is_loss_scale=True)\nNPULossScaleOptimizer(inner, m)",
        "wraps_scaled",
        "yes",
    ),
    "a Keras optimizer": ("NPULossScaleOptimizer(tf.keras.optimizers.Adam(), m)", "wraps_keras", "yes"),
    "a Keras optimizer or another": (
        "NPULossScaleOptimizer(tf.keras.optimizers.Adam() if k else tf.train.AdamOptimizer(), m)",
        "wraps_keras",
        "no",
    ),
    "clipping of scaled gradients": (
        _CLIP.format("compute_gradients") + "NPULossScaleOptimizer(Clip(), m)",
        "wraps_clipping",
        "yes",
    ),
    "clipping of gradients that are applied": (
        _CLIP.format("apply_gradients") + "NPULossScaleOptimizer(Clip(), m)",
        "wraps_clipping",
        "no",
    ),
}


@pytest.mark.parametrize(("text", "attribute", "answer"), _WRAPPED.values(), ids=_WRAPPED.keys())
def test_what_a_loss_scale_optimizer_wraps(text: str, attribute: str, answer: str) -> None:
    assert _scaling(text).get(attribute) == answer


_MAKE = "def make():\n    return ExponentialUpdateLossScaleManager(2, 1000)\n"
_UNDER = "with tf.control_dependencies(ops):\n    "
# text -> dependent
_DEPENDENT = {
    "at once": (_UNDER + "ExponentialUpdateLossScaleManager(2, 1000)", "yes"),
    "by its only caller": (_MAKE + _UNDER + "make()", "yes"),
    "by one of two callers": (_MAKE + _UNDER + "make()\nmake()", "no"),
    "before": ("m = ExponentialUpdateLossScaleManager(2, 1000)\n" + _UNDER + "use(m)", "no"),
}


@pytest.mark.parametrize(("text", "dependent"), _DEPENDENT.values(), ids=_DEPENDENT.keys())
def test_manager_made_below_control_dependencies(text: str, dependent: str) -> None:
    assert [f.get("dependent") for f in _found(text, "loss_scale")] == [dependent]


# text -> scaled, source_scaled
_SOURCES = {
    "one optimizer": (_PAIR + "opt.apply_gradients(opt.compute_gradients(l))", "yes", "yes"),
    "computed without the scale": (_PAIR + "opt.apply_gradients(base.compute_gradients(l))", "yes", "no"),
    "applied without the scale": (
        _PAIR + "gv = opt.compute_gradients(l)\nbase.apply_gradients([(tf.clip_by_norm(g, 1), v) for g, v in gv])",
        "no",
        "yes",
    ),
    "through an own function and a list": (
        "def clip(gv):\n    out = []\n    for g, v in gv:\n        out.append((g, v))\n    return out\n"
        + _PAIR
        + "opt.apply_gradients(clip(base.compute_gradients(l)))",
        "yes",
        "no",
    ),
    "scaled below a condition": (
        _BASE + "if s:\n    base = NPULossScaleOptimizer(base, m)\nbase.apply_gradients(base.compute_gradients(l))",
        "yes",
        "unknown",
    ),
}


@pytest.mark.parametrize(("text", "scaled", "source"), _SOURCES.values(), ids=_SOURCES.keys())
def test_whose_gradients_are_applied(text: str, scaled: str, source: str) -> None:
    step = [f for f in _found(text, "train_step") if f.name == "apply_gradients"][-1]
    assert (step.get("scaled"), step.get("source_scaled")) == (scaled, source)


# text -> name, scaled
_MADE = {
    "slim": (_PAIR + "import tf_slim as slim\nslim.learning.create_train_op(l, opt)", "create_train_op", "yes"),
    "contrib.training": (_BASE + "tf.contrib.training.create_train_op(l, optimizer=base)", "create_train_op", "no"),
    "contrib.layers": (_PAIR + "tf.contrib.layers.optimize_loss(l, s, 0.1, opt)", "optimize_loss", "yes"),
    "contrib.layers by name": ("tf.contrib.layers.optimize_loss(l, s, 0.1, 'Adam')", "optimize_loss", "unknown"),
}


@pytest.mark.parametrize(("text", "name", "scaled"), _MADE.values(), ids=_MADE.keys())
def test_train_step_that_a_helper_of_tensorflow_makes(text: str, name: str, scaled: str) -> None:
    assert [(f.name, f.get("scaled")) for f in _found(text, "train_step")] == [(name, scaled)]


def test_optimizer_that_is_named_by_a_text() -> None:
    found = _found("tf.contrib.layers.optimize_loss(l, s, 0.1, optimizer='RMSProp')", "optimizer")
    assert [f.name for f in found] == ["tensorflow.train.RMSPropOptimizer"]


_TWO = (
    "def scaled(**k):\n    return NPULossScaleOptimizer(tf.train.AdamOptimizer(1), FixedLossScaleManager(2, **k))\n"
    "a = scaled().minimize(x)\nb = scaled().minimize(y)\ns = tf.Session()\n"
)
_OFF = (
    "a = NPULossScaleOptimizer(o, FixedLossScaleManager(2)).minimize(x)\n"
    "b = NPULossScaleOptimizer(o, FixedLossScaleManager(2, enable_overflow_check=False)).minimize(y)\n"
    "s = tf.Session()\n"
)
# text -> how many joint steps
_JOINT = {
    "fetched together": (_TWO + "s.run([a, b, loss])", 1),
    "in a table": (_TWO + "s.run({'a': a, 'b': b})", 1),
    "grouped": (_TWO + "tf.group(a, b)", 1),
    "collected": (_TWO + "ops = []\nops.append(a)\nops.append(b)\ntf.group(*ops)", 1),
    "below control_dependencies": (_TWO + "with tf.control_dependencies([a, b]):\n    t = tf.no_op()", 1),
    "one after the other": (_TWO + "s.run(a)\ns.run([b, loss])", 0),
    "the same twice": (_TWO + "s.run([a, a])", 0),
    "one without a scale": (_TWO + "b = tf.train.AdamOptimizer().minimize(y)\ns.run([a, b])", 0),
    "either of two": (_TWO + "if c:\n    t = a\nelse:\n    t = b\ns.run([t, loss])", 0),
    "one that does not look for overflow": (_OFF + "s.run([a, b])", 0),
}


@pytest.mark.parametrize(("text", "count"), _JOINT.values(), ids=_JOINT.keys())
def test_steps_of_loss_scale_optimizers_that_run_together(text: str, count: int) -> None:
    found = [int(one.get("scaled")) for one in _found(text, "joint_step")]
    assert sum(scaled > 1 for scaled in found) == count


# text -> the lines of the steps that may meet another one
_LOOSE = {
    "seen in runs of their own": (_TWO + "s.run(a)\ns.run([b, loss])", 0),
    "seen in one run": (_TWO + "s.run([a, b])", 0),
    "one is not seen": (_TWO + "s.run(a)", 1),
    "an estimator gets it": (_TWO + "s.run(a)\ntf.estimator.EstimatorSpec(mode, train_op=b)", 0),
    "the only one": (_BASE + "step = base.minimize(l)", 0),
    "of two classes": (
        "class A:\n  def f(self):\n    self.s = tf.train.AdamOptimizer().minimize(l)\n"
        "class B:\n  def f(self):\n    self.s = tf.train.AdamOptimizer().minimize(l)\n",
        0,
    ),
}


@pytest.mark.parametrize(("text", "count"), _LOOSE.values(), ids=_LOOSE.keys())
def test_steps_that_no_run_is_known_to_apply(text: str, count: int) -> None:
    assert len(_found(text, "loose_step")) == count


_APPLY = "opt.apply_gradients(zip(grads, v))"
_CLIP = "grads, _ = tf.clip_by_global_norm(tf.gradients(loss, v), 5.0)\n"
# text -> order
_ORDER = {
    "before": ("opt = tf.train.AdamOptimizer(rate)\n" + _CLIP + _APPLY, "ready"),
    "in branches before": (
        "if a:\n  opt = tf.train.AdamOptimizer()\nelse:\n  opt = tf.train.FtrlOptimizer(1)\n" + _CLIP + _APPLY,
        "ready",
    ),
    "after": ("rate = 0.1\n" + _CLIP + "opt = tf.train.AdamOptimizer(rate, name='a')\n" + _APPLY, "late"),
    "after, of what is computed there": (_CLIP + "opt = tf.train.AdamOptimizer(decayed())\n" + _APPLY, "unclear"),
    "after, of a later value": (_CLIP + "rate = 0.1\nopt = tf.train.AdamOptimizer(rate)\n" + _APPLY, "unclear"),
    "of several losses": ("opt = tf.train.AdamOptimizer()\ngrads = tf.gradients([l, m], v)\n" + _APPLY, "unclear"),
    "with further arguments": (
        "opt = tf.train.AdamOptimizer()\ngrads = tf.gradients(l, v, stop_gradients=x)\n" + _APPLY,
        "unclear",
    ),
    "applied twice": ("opt = tf.train.AdamOptimizer()\n" + _CLIP + _APPLY + "\n" + _APPLY, "unclear"),
}


@pytest.mark.parametrize(("text", "order"), _ORDER.values(), ids=_ORDER.keys())
def test_when_the_optimizer_of_gradients_is_made(text: str, order: str) -> None:
    assert {f.get("order") for f in _found(text, "step_gradients")} == {order}


# text -> beside_scaled
_COUNTED = {
    "beside a scaled step": (_PAIR + "opt.minimize(l)\ntf.assign_add(global_step, 1)", ["yes"]),
    "by a method": (_PAIR + "opt.minimize(l)\ntf.train.get_global_step().assign_add(1)", ["yes"]),
    "beside a plain step": (_BASE + "base.minimize(l)\nself.global_step.assign(n)", ["no"]),
    "another variable": (_PAIR + "opt.minimize(l)\ntf.assign_add(counter, 1)", []),
    "chosen by the graph": (
        _PAIR + "opt.minimize(l)\nn = tf.cond(p, lambda: global_step + 1, lambda: global_step)\nglobal_step.assign(n)",
        [],
    ),
    "in a branch of the graph": (_PAIR + "tf.cond(p, lambda: tf.assign_add(global_step, 1), tf.no_op)", []),
}


@pytest.mark.parametrize(("text", "answers"), _COUNTED.values(), ids=_COUNTED.keys())
def test_global_step_that_is_counted_by_hand(text: str, answers: list[str]) -> None:
    assert [f.get("beside_scaled") for f in _found(text, "step_count")] == answers


# text -> closed
_ENDS = {
    "with": ("with tf.Session() as s:\n    pass", "yes"),
    "closed": ("s = tf.Session()\ns.close()", "yes"),
    "closed by the adapter": ("s = tf.Session()\nclose_session(s)", "yes"),
    "with what a helper made": ("def f():\n    return tf.Session()\nwith f() as s:\n    pass", "yes"),
    "made default only": ("s = tf.Session()\nwith s.as_default():\n    pass", "no"),
    "an attribute": ("class C:\n    def __init__(self):\n        self.s = tf.Session()", "no"),
    "an attribute that another method closes": (
        "class C:\n    def __init__(self):\n        self.s = tf.Session()\n    def end(self):\n        self.s.close()",
        "yes",
    ),
    "another session is closed": ("s = tf.Session()\ndef end(sess):\n    sess.close()", "unknown"),
    "of a function": ("def f():\n    s = tf.Session()\n    s.run(op)", "unknown"),
    "interactive, of a function": ("def f():\n    s = tf.InteractiveSession()", "no"),
    "global": ("def f():\n    global s\n    s = tf.Session()", "no"),
    "handed on": ("train(tf.Session())", "unknown"),
}


@pytest.mark.parametrize(("text", "closed"), _ENDS.values(), ids=_ENDS.keys())
def test_session_that_is_closed(text: str, closed: str) -> None:
    assert [f.get("closed") for f in _found(text, "session")] == [closed]


# text -> constants
_CONSTANTS = {
    "logarithm": ("tf.log(x + 1e-8)", ["1e-08"]),
    "bounded from below": ("tf.log(tf.clip_by_value(x, 1e-10, 1.0))", ["1e-10"]),
    "named": ("EPS = 1e-12\ntf.sqrt(tf.maximum(x, EPS))", ["1e-12"]),
    "division of tensors": ("n = tf.reduce_sum(x)\ny = x / (n + 1e-9)", ["1e-09"]),
    "division that is returned": ("def f(x):\n    return x / (tf.reduce_sum(x) + 1e-9)", ["1e-09"]),
    "large enough": ("tf.log(x + 1e-7)", []),
    "numbers": ("import numpy as np\ny = np.sum(x) / (np.sum(z) + 1e-9)", []),
    "what a run gave": ("s = tf.Session()\nn = s.run(op)\ny = n / (n + 1e-9)", []),
}


@pytest.mark.parametrize(("text", "constants"), _CONSTANTS.values(), ids=_CONSTANTS.keys())
def test_constant_that_float16_makes_zero(text: str, constants: list[str]) -> None:
    assert [f.get("constant") for f in _found(text, "small_constant") if f.get("constant") != "none"] == constants


# model_dir of the estimator, of the configuration -> answer
_FOLDERS = {
    "the same": ("'a'", "'a'", "same"),
    "different": ("'a'", "'b'", "differs"),
    "not known": ("folder", "'b'", "unknown"),
}


@pytest.mark.parametrize(("own", "other", "answer"), _FOLDERS.values(), ids=_FOLDERS.keys())
def test_folders_of_an_estimator_and_its_configuration(own: str, other: str, answer: str) -> None:
    text = f"c = NPURunConfig(model_dir={other})\nNPUEstimator(f, model_dir={own}, config=c)"
    assert [f.get("model_dir") for f in _found(text, "estimator")] == [answer]


# text -> the sessions that are made without the NPU
_MONITORED = {
    "a session of its own": ("tf.train.MonitoredSession()", ["tensorflow.train.MonitoredSession"]),
    "one of a creator": (
        "tf.train.MonitoredSession(session_creator=tf.train.WorkerSessionCreator(config=tf.ConfigProto()))",
        ["tensorflow.train.WorkerSessionCreator"],
    ),
    "the supervisor's older name": (
        "sv = tf.train.Supervisor()\nsv.PrepareSession()",
        ["tensorflow.train.Supervisor().PrepareSession"],
    ),
}


@pytest.mark.parametrize(("text", "names"), _MONITORED.values(), ids=_MONITORED.keys())
def test_session_that_tensorflow_makes_itself(text: str, names: list[str]) -> None:
    assert [f.name for f in _found(text, "session") if f.get("npu") == "no"] == names


def test_package_of_the_own_folder_wins_over_one_deeper_down() -> None:
    sources = {
        "train.py": "import tools\nif __name__ == '__main__':\n    tools.session()",
        "tools/__init__.py": "from tools.utils import *",
        "tools/utils.py": "import tensorflow as tf\ndef session():\n    return tf.Session()",
        "extra/tools/__init__.py": "from tools.utils import *",
        "extra/tools/utils.py": "import tensorflow as tf\ndef session():\n    return tf.InteractiveSession()",
    }
    program = next(p for p in programs(sources) if p.entry == "train.py")
    assert sorted(program.paths) == ["tools/__init__.py", "tools/utils.py", "train.py"]


# text -> whether the optimizer that minimises is scaled
_BRANCHES = {
    "assigned in the other branch": (_BASE + "o = base\nif a:\n    o = opt_of(m)\nelse:\n    o.minimize(l)", "no"),
    "assigned in a branch before": (_BASE + "o = base\nif a:\n    o = opt_of(m)\no.minimize(l)", "yes"),
    "assigned in the other branch a round before": (
        _BASE + "o = base\nfor i in x:\n    if a:\n        o = opt_of(m)\n    else:\n        o.minimize(l)",
        "yes",
    ),
}


@pytest.mark.parametrize(("text", "scaled"), _BRANCHES.values(), ids=_BRANCHES.keys())
def test_value_of_the_other_branch_of_a_condition(text: str, scaled: str) -> None:
    helper = "def opt_of(m):\n    return NPULossScaleOptimizer(tf.train.AdamOptimizer(1), m)\n"
    assert [f.get("scaled") for f in _found(helper + text, "train_step")] == [scaled]


# text -> scaled by the optimizer as well
_BY_HAND = {
    "beside the optimizer": (_PAIR + "opt.compute_gradients(loss * loss_scale)", ["yes"]),
    "by a name": (_PAIR + "total = tf.multiply(loss, FLAGS.loss_scale)\nopt.minimize(total)", ["yes"]),
    "by the manager's scale": (_PAIR + "opt.minimize(loss * m.get_loss_scale())", ["yes"]),
    "alone": (_BASE + "base.compute_gradients(loss * self.loss_scale)", ["no"]),
    "a weight": (_PAIR + "opt.minimize(loss * weight)", []),
    "a plain loss": (_PAIR + "opt.minimize(loss)", []),
}


@pytest.mark.parametrize(("text", "scaled"), _BY_HAND.values(), ids=_BY_HAND.keys())
def test_loss_that_is_scaled_by_hand(text: str, scaled: list[str]) -> None:
    assert [f.get("scaled") for f in _found(text, "hand_scaled")] == scaled


_APPEND = "hooks = [h]\ne.train(f, hooks=npu_hooks_append(hooks_list=hooks))\n"
# text -> read_from_end
_LAST = {
    "its attribute": (_APPEND + "t = hooks[-1].total_time", "yes"),
    "in a call": (_APPEND + "print('time', 2 * hooks[-1].total_time)", "yes"),
    "another list": (_APPEND + "t = others[-1].total_time", "no"),
    "from the start": (_APPEND + "t = hooks[0].total_time", "no"),
    "before": ("t = hooks[-1]\n" + _APPEND, "no"),
    "a list without a name": ("e.train(f, hooks=npu_hooks_append(hooks_list=[]))\nt = hooks[-1]", "no"),
}


@pytest.mark.parametrize(("text", "read"), _LAST.values(), ids=_LAST.keys())
def test_last_hook_that_is_read_after_the_npu_appended_its_own(text: str, read: str) -> None:
    assert [f.get("read_from_end") for f in _found(text, "hooks")] == [read]


def test_the_arms_of_one_condition_wrap_nothing_of_one_another() -> None:
    text = """
import tensorflow as tf
import npu_device as npu

def configure(optimizer, loss_scale="dynamic"):
    if isinstance(loss_scale, (int, float)):
        optimizer = npu.train.optimizer.NpuLossScaleOptimizer(optimizer, dynamic=False, initial_scale=loss_scale)
    elif loss_scale == "dynamic":
        optimizer = npu.train.optimizer.NpuLossScaleOptimizer(optimizer)
    return npu.train.optimizer.NpuLossScaleOptimizer(optimizer)

configure(tf.keras.optimizers.Adam())
"""
    assert [f.get("wraps_scaled") for f in facts(text, "loss_scale")] == ["no", "no", "yes"]


_HANDED = {
    "nobody": ("opt = tf.train.AdamOptimizer()", ("no", "no", "none")),
    "a loss scale optimizer": ("opt = NPULossScaleOptimizer(tf.train.AdamOptimizer(), m)", ("yes", "no", "none")),
    "both, by name": (
        "opt = tf.train.AdamOptimizer()\nopt = npu_distributed_optimizer_wrapper(opt)\nNPULossScaleOptimizer(opt, m)",
        ("yes", "yes", "none"),
    ),
    "another is": (
        "opt = tf.train.AdamOptimizer()\nhvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))",
        ("no", "no", "function"),
    ),
    "perhaps": ("opt = tf.train.AdamOptimizer()\nNPULossScaleOptimizer(unknown(), m)", ("no", "no", "none")),
    "somebody, of a function": (
        "def f():\n  return tf.train.AdamOptimizer()\ndef g(opt):\n  return hvd.DistributedOptimizer(opt)\ng(f())",
        ("no", "yes", "none"),
    ),
    "beside one in the same statement": (
        "opts = {'adam': tf.train.AdamOptimizer(), 'ftrl': tf.train.FtrlOptimizer(0.1)}",
        ("no", "no", "statement"),
    ),
    "beside one in another branch": (
        "if a:\n  opt = tf.train.AdamOptimizer()\nelse:\n  opt = tf.train.MomentumOptimizer(0.1, 0.9)",
        ("no", "no", "function"),
    ),
}


@pytest.mark.parametrize(("text", "answers"), _HANDED.values(), ids=_HANDED.keys())
def test_what_an_optimizer_is_handed_to(text: str, answers: tuple[str, str, str]) -> None:
    fact = _found("import horovod.tensorflow as hvd\n" + text + "\n", "optimizer")[0]
    assert tuple(fact.get(name) for name in ("scaled", "distributed", "beside")) == answers
