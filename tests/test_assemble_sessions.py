"""Sessions and estimators: does the graph reach the NPU, and what are they for?"""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts

_HEAD = "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"
_OP = "{0}.graph_options.rewrite_options.custom_optimizers.add().name = 'NpuOptimizer'\n"
_CFG = "cfg = tf.ConfigProto()\n"
_NPU = _CFG + "op = cfg.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n"


def _found(sources: str | dict[str, str], kind: str = "session") -> list[Fact]:
    named = {"train.py": sources} if isinstance(sources, str) else sources
    return facts({p: _HEAD + t + "\n" for p, t in named.items()}, kind)


# text -> npu, config
_SESSIONS = {
    "no configuration": ("tf.Session()", "no", "none"),
    "None as configuration": ("tf.Session(config=None)", "no", "none"),
    "a graph only": ("tf.Session(graph=g)", "no", "none"),
    "a plain configuration": (_CFG + "tf.Session(config=cfg)", "no", "local"),
    "a plain configuration inline": ("tf.Session(config=tf.ConfigProto())", "no", "local"),
    "with the NPU's optimizer": (_NPU + "tf.Session(config=cfg)", "yes", "local"),
    "with it added at once": (_CFG + _OP.format("cfg") + "tf.Session(config=cfg)", "yes", "local"),
    "by position": (_NPU + "tf.Session('', None, cfg)", "yes", "local"),
    "through a short name of the options": (
        _CFG + "r = cfg.graph_options.rewrite_options\nr.custom_optimizers.add().name = 'NpuOptimizer'\n"
        "tf.Session(config=cfg)",
        "yes",
        "local",
    ),
    "through two short names": (
        _CFG + "g = cfg.graph_options\nr = g.rewrite_options\nr.custom_optimizers.add()\ntf.Session(config=cfg)",
        "yes",
        "local",
    ),
    "wrapped inline": ("tf.Session(config=npu_config_proto())", "yes", "local"),
    "a plain configuration wrapped": (_CFG + "tf.Session(config=npu_config_proto(config_proto=cfg))", "yes", "local"),
    "wrapped and named": (_CFG + "cfg = npu_config_proto(config_proto=cfg)\ntf.Session(config=cfg)", "yes", "local"),
    "wrapped elsewhere": (_CFG + "npu_config_proto(config_proto=cfg)\ntf.Session(config=cfg)", "yes", "local"),
    "a helper that makes it": ("def make():\n    return npu_config_proto()\ntf.Session(config=make())", "yes", "local"),
    "a helper that makes a plain one": (
        "def make():\n    return tf.ConfigProto()\ntf.Session(config=make())",
        "no",
        "local",
    ),
    "a helper with a local name": (
        "def make():\n    c = tf.ConfigProto()\n    " + _OP.format("c") + "    return c\ntf.Session(config=make())",
        "yes",
        "local",
    ),
    "a helper that is given it": (
        "def add(c):\n    " + _OP.format("c") + _CFG + "add(cfg)\ntf.Session(config=cfg)",
        "yes",
        "local",
    ),
    "a helper that is given it and returns it": (
        "def add(c):\n    " + _OP.format("c") + "    return c\ntf.Session(config=add(tf.ConfigProto()))",
        "yes",
        "local",
    ),
    "a helper of somebody else": ("import own\ntf.Session(config=own.make())", "unknown", "unknown"),
    "a helper that is named after the NPU": ("import own\ntf.Session(config=own.npu_config())", "yes", "local"),
    "a parameter that nobody passes": ("def f(cfg):\n    tf.Session(config=cfg)", "unknown", "unknown"),
    "a parameter": ("def f(c):\n    tf.Session(config=c)\nf(npu_config_proto())", "yes", "local"),
    "a parameter with a plain one": ("def f(c):\n    tf.Session(config=c)\nf(tf.ConfigProto())", "no", "local"),
    "an attribute": (
        "class C:\n    def __init__(self):\n        self.c = npu_config_proto()\n    def f(self):\n"
        "        tf.Session(config=self.c)",
        "yes",
        "local",
    ),
    "a plain attribute": (
        "class C:\n    def __init__(self):\n        self.c = tf.ConfigProto()\n    def f(self):\n"
        "        tf.Session(config=self.c)",
        "no",
        "local",
    ),
    "an attribute with the optimizer": (
        "class C:\n    def __init__(self):\n        self.c = tf.ConfigProto()\n        "
        + _OP.format("self.c")
        + "    def f(self):\n        tf.Session(config=self.c)",
        "yes",
        "local",
    ),
    "an inherited attribute": (
        "class B:\n    def __init__(self):\n        self.c = tf.ConfigProto()\nclass C(B):\n"
        "    def f(self):\n        tf.Session(config=self.c)",
        "no",
        "local",
    ),
    "either of two": ("c = npu_config_proto() if x else tf.ConfigProto()\ntf.Session(config=c)", "yes", "local"),
    "a fallback": ("def f(c=None):\n    c = c or tf.ConfigProto()\n    tf.Session(config=c)", "no", "local"),
    "keywords that are not seen": ("tf.Session(**kw)", "unknown", "unknown"),
    "an unknown name": ("tf.Session(config=cfg)", "unknown", "unknown"),
    "a part of a result": (
        "def make():\n    return npu_config_proto(), 1\nc, _ = make()\ntf.Session(config=c)",
        "yes",
        "local",
    ),
    "a parameter of the function around": (
        "def f(c):\n    def g():\n        tf.Session(config=c)\n    g()\nf(npu_config_proto())",
        "yes",
        "local",
    ),
    "an optimizer added to something unknown": (
        _CFG + "x.graph_options.rewrite_options.custom_optimizers.add()\ntf.Session(config=cfg)",
        "unknown",
        "unknown",
    ),
    "another configuration has the optimizer": (_NPU + "d = tf.ConfigProto()\ntf.Session(config=d)", "no", "local"),
    "initialised for precision tools": (
        "tf.Session(config=session_dump_config(tf.ConfigProto(), action='dump'))",
        "yes",
        "local",
    ),
}


@pytest.mark.parametrize(("text", "npu", "config"), _SESSIONS.values(), ids=_SESSIONS.keys())
def test_session_reaches_the_npu(text: str, npu: str, config: str) -> None:
    assert [(f.get("npu"), f.get("config")) for f in _found(text)] == [(npu, config)]


_KINDS = {
    "Session": ("tf.Session(config={0})", "tensorflow.Session"),
    "InteractiveSession": ("tf.InteractiveSession('', None, {0})", "tensorflow.InteractiveSession"),
    "a context": ("with tf.Session(config={0}) as s: pass", "tensorflow.Session"),
    "on self": ("class C:\n    def f(self):\n        self.s = tf.Session(config={0})", "tensorflow.Session"),
    "MonitoredTrainingSession": (
        "tf.train.MonitoredTrainingSession(config={0})",
        "tensorflow.train.MonitoredTrainingSession",
    ),
    "SingularMonitoredSession": (
        "tf.train.SingularMonitoredSession(config={0})",
        "tensorflow.train.SingularMonitoredSession",
    ),
    "MonitoredSession": (
        "tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator(config={0}))",
        "tensorflow.train.ChiefSessionCreator",
    ),
    "Supervisor": (
        "sv = tf.train.Supervisor()\nsv.managed_session(config={0})",
        "tensorflow.train.Supervisor().managed_session",
    ),
    "Supervisor by position": (
        "tf.train.Supervisor().prepare_or_wait_for_session('', {0})",
        "tensorflow.train.Supervisor().prepare_or_wait_for_session",
    ),
    "SessionManager": (
        "tf.train.SessionManager().prepare_session('', config={0})",
        "tensorflow.train.SessionManager().prepare_session",
    ),
    "slim training": (
        "import tf_slim as slim\nslim.learning.train(op, d, session_config={0})",
        "tensorflow.contrib.slim.learning.train",
    ),
    "contrib training": (
        "from tensorflow import contrib\ncontrib.training.train(op, d, config={0})",
        "tensorflow.contrib.training.train",
    ),
    "slim evaluation": (
        "import tf_slim as slim\nslim.evaluation.evaluate_once('', d, session_config={0})",
        "tensorflow.contrib.slim.evaluation.evaluate_once",
    ),
    "a private module": (
        "from tensorflow.python.client import session\nsession.Session(config={0})",
        "tensorflow.Session",
    ),
}


@pytest.mark.parametrize(("text", "name"), _KINDS.values(), ids=_KINDS.keys())
@pytest.mark.parametrize(
    ("config", "npu"), [("npu_config_proto()", "yes"), ("tf.ConfigProto()", "no"), ("unseen", "unknown")]
)
def test_every_kind_of_session(text: str, name: str, config: str, npu: str) -> None:
    assert [(f.name, f.get("npu")) for f in _found(text.format(config))] == [(name, npu)]


@pytest.mark.parametrize(
    "text", ["class Session: pass\nSession()", "import other\nother.Session()", "def f(tf): tf.Session()"]
)
def test_other_things_called_session(text: str) -> None:
    assert _found(text) == []


def test_configuration_of_another_module() -> None:
    sources = {"c.py": _NPU, "train.py": "from c import cfg\ntf.Session(config=cfg)"}
    assert [f.get("npu") for f in _found(sources)] == ["yes"]


def test_configuration_made_by_another_module() -> None:
    sources = {
        "c.py": f"def make():\n{_NPU}".replace("\ncfg", "\n    cfg").replace("\nop", "\n    op") + "    return cfg",
        "train.py": "import c\ntf.Session(config=c.make())",
    }
    assert [f.get("npu") for f in _found(sources)] == ["yes"]


def test_configuration_that_another_module_completes() -> None:
    sources = {
        "c.py": "def add(c):\n    " + _OP.format("c"),
        "train.py": "from c import add\n" + _CFG + "add(cfg)\ntf.Session(config=cfg)",
    }
    assert [f.get("npu") for f in _found(sources)] == ["yes"]


# text -> npu, what
_ESTIMATORS = {
    "plain": ("tf.estimator.Estimator(fn, 'out')", "no", "estimator"),
    "plain with a plain configuration": (
        "tf.estimator.Estimator(fn, config=tf.estimator.RunConfig())",
        "no",
        "estimator",
    ),
    "wrapped by position": ("tf.estimator.Estimator(fn, 'out', npu_run_config_init(run_config=r))", "yes", "estimator"),
    "wrapped and named": ("r = npu_run_config_init()\ntf.estimator.Estimator(fn, config=r)", "yes", "estimator"),
    "the NPU's own configuration": ("tf.estimator.Estimator(fn, config=NPURunConfig())", "yes", "estimator"),
    "an unknown configuration": ("tf.estimator.Estimator(fn, config=r)", "unknown", "estimator"),
    "the NPU's own": ("NPUEstimator(model_fn=fn, config=NPURunConfig())", "yes", "npu"),
    "for TPUs": ("from tensorflow import contrib\ncontrib.tpu.TPUEstimator(fn)", "no", "tpu"),
    "canned": ("tf.estimator.DNNClassifier([1], cols)", "no", "canned"),
    "canned and wrapped": ("tf.estimator.LinearRegressor(cols, config=npu_run_config_init())", "yes", "canned"),
    "canned by position": ("tf.estimator.DNNClassifier([1], cols, 'out')", "no", "canned"),
}


@pytest.mark.parametrize(("text", "npu", "what"), _ESTIMATORS.values(), ids=_ESTIMATORS.keys())
def test_estimator_reaches_the_npu(text: str, npu: str, what: str) -> None:
    assert [(f.get("npu"), f.get("what")) for f in _found(text, "estimator")] == [(npu, what)]


_PURPOSES = {
    "a script": ("train.py", "tf.Session()", "train"),
    "a function": ("main.py", "def train():\n    tf.Session()", "train"),
    "a method": ("main.py", "class Trainer:\n    def evaluate(self):\n        tf.Session()", "evaluate"),
    "a class": ("main.py", "class Trainer:\n    def run(self):\n        tf.Session()", "train"),
    "the innermost name that says something": ("train.py", "def freeze_graph():\n    tf.Session()", "export"),
    "a test script": ("test_psnr.py", "tf.Session()", "evaluate"),
    "an inference script": ("infer.py", "tf.Session()", "evaluate"),
    "a converter": ("ckpt2pb.py", "tf.Session()", "export"),
    "a data preparation": ("make_tfrecords.py", "tf.Session()", "data"),
    "training data": ("main.py", "def load_train_data():\n    tf.Session()", "data"),
    "a detector is no evaluation": ("detector.py", "tf.Session()", "unknown"),
    "nothing says it": ("main.py", "tf.Session()", "unknown"),
    "the folder says nothing": ("train/main.py", "tf.Session()", "unknown"),
}


@pytest.mark.parametrize(("path", "text", "purpose"), _PURPOSES.values(), ids=_PURPOSES.keys())
def test_purpose_is_told_by_names(path: str, text: str, purpose: str) -> None:
    assert [f.get("purpose") for f in _found({path: text})] == [purpose]


# text -> named, placed, remapping, memory_optimization, helper, run_config
_ENTRIES = {
    "complete": (
        _NPU
        + "cfg.graph_options.rewrite_options.remapping = RewriterConfig.OFF\n"
        + "cfg.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF\n",
        ("yes", "yes", "off", "off", "no", "no"),
    ),
    "switches left alone": (_NPU, ("yes", "yes", "unset", "unset", "no", "no")),
    "switched on": (
        _NPU + "cfg.graph_options.rewrite_options.remapping = RewriterConfig.ON\n",
        ("yes", "yes", "on", "unset", "no", "no"),
    ),
    "an unknown switch": (
        _NPU + "cfg.graph_options.rewrite_options.remapping = x\n",
        ("yes", "yes", "unknown", "unset", "no", "no"),
    ),
    "a number as switch": (
        _NPU + "cfg.graph_options.rewrite_options.remapping = 2\n",
        ("yes", "yes", "off", "unset", "no", "no"),
    ),
    "through a short name": (
        _NPU + "r = cfg.graph_options.rewrite_options\nr.remapping = RewriterConfig.OFF\n",
        ("yes", "yes", "off", "unset", "no", "no"),
    ),
    "without a name": (
        _CFG + "op = cfg.graph_options.rewrite_options.custom_optimizers.add()\n",
        ("no", "yes", "unset", "unset", "no", "no"),
    ),
    "named when added": (
        _CFG + "cfg.graph_options.rewrite_options.custom_optimizers.add(name='NpuOptimizer')\n",
        ("yes", "yes", "unset", "unset", "no", "no"),
    ),
    "wrapped as well": (
        _NPU + "tf.Session(config=npu_config_proto(config_proto=cfg))\n",
        ("yes", "yes", "unset", "unset", "yes", "no"),
    ),
    "on a result's options": (
        "def make():\n    return tf.ConfigProto()\nr = make().graph_options.rewrite_options\n"
        "op = r.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n",
        ("yes", "yes", "unset", "unset", "no", "no"),
    ),
    "switched by an unknown value of a short name": (
        _NPU + "rewrite_options = cfg.graph_options.rewrite_options\nrewrite_options.memory_optimization = x\n",
        ("yes", "yes", "unset", "unknown", "no", "no"),
    ),
    "for an NPURunConfig": (_NPU + "NPURunConfig(session_config=cfg)\n", ("yes", "yes", "unset", "unset", "no", "yes")),
    "on something unknown": (
        "op = x.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n",
        ("yes", "no", "unknown", "unknown", "no", "no"),
    ),
}
_ATTRIBUTES = ("named", "placed", "remapping", "memory_optimization", "helper", "run_config")


@pytest.mark.parametrize(("text", "answers"), _ENTRIES.values(), ids=_ENTRIES.keys())
def test_custom_optimizer(text: str, answers: tuple[str, ...]) -> None:
    assert [tuple(f.get(a) for a in _ATTRIBUTES) for f in _found(text, "npu_optimizer")] == [answers]


@pytest.mark.parametrize(
    ("name", "spelling"),
    [("NpuOptimizer", "right"), ("npuOptimizer", "wrong"), ("Other", "other")],
)
def test_name_of_a_custom_optimizer(name: str, spelling: str) -> None:
    found = _found(_NPU.replace("NpuOptimizer", name), "npu_optimizer")
    assert [(f.name, f.get("spelling")) for f in found] == [(name, spelling)]


@pytest.mark.parametrize(
    "text",
    [
        "a = b\nb = a\na.graph_options.rewrite_options.custom_optimizers.add()\n",
        "a = a.b\na.rewrite_options.custom_optimizers.add()\n",
        "a.rewrite_options.remapping = 2\na = b.c\nb = a.c\n",
        "def f(c):\n    f(c)\n    c.graph_options.rewrite_options.custom_optimizers.add()\n",
    ],
    ids=["names of each other", "a name of itself", "members of each other", "a parameter handed round"],
)
def test_circular_holders_end(text: str) -> None:
    assert all(f.get("placed") == "no" for f in _found(text, "npu_optimizer"))


_PLACES = {
    "a session": ("tf.Session()", "config", "2"),
    "a monitored session": ("tf.train.MonitoredTrainingSession()", "config", "9"),
    "a managed session": ("tf.train.Supervisor().managed_session()", "config", "1"),
    "a prepared session": ("tf.train.SessionManager().prepare_session('')", "config", "7"),
    "a loop of slim": ("tf.contrib.slim.learning.train(op, 'log')", "session_config", "22"),
}


@pytest.mark.parametrize(("text", "keyword", "position"), _PLACES.values(), ids=_PLACES.keys())
def test_where_a_session_takes_its_configuration(text: str, keyword: str, position: str) -> None:
    fact = _found(text)[-1]
    assert (fact.get("keyword"), fact.get("position")) == (keyword, position)


def test_a_configuration_by_a_late_position_counts() -> None:
    (fact,) = _found(_NPU + "tf.contrib.training.train(op, 'log', '', True, None, None, None, 600, 100, cfg)")
    assert fact.get("npu") == "yes"
