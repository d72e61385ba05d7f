"""Sessions and Estimators are for what they run, whatever the code around them is called."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.support import programs

_TF = "import tensorflow as tf\n"
_STEP = "step = tf.train.AdamOptimizer().minimize(loss)\n"


def purposes(text: str, path: str = "main.py", kind: str = "session") -> list[str]:
    """The purposes of the sessions or Estimators of a script."""
    return [str(fact.get("purpose")) for program in programs({path: text}) for fact in program.index.of_kind(kind)]


def session(*body: str, made: str = "tf.Session()") -> str:
    return _TF + _STEP + f"with {made} as sess:\n" + "".join(f"    {line}\n" for line in body)


_SESSIONS = {
    "an update": (session("sess.run(step)"), "train"),
    "an update in a list": (session("_, l = sess.run([step, loss])"), "train"),
    "an update in a group": (
        _TF + _STEP + "both = tf.group(step, x)\nwith tf.Session() as s:\n    s.run(both)\n",
        "train",
    ),
    "an update that is run itself": (session("step.run()", "step.eval()"), "train"),
    "an update by its name in a graph": (session("sess.run(graph.get_operation_by_name('train_op'))"), "train"),
    "an unknown attribute called so": (session("sess.run(model.train_op)"), "train"),
    "only reading": (session("sess.run(tf.decode_raw(x, tf.uint8))"), "data"),
    "a restored network": (session("tf.train.Saver().restore(sess, p)", "sess.run(tf.nn.softmax(y))"), "evaluate"),
    "a frozen graph": (session("tf.graph_util.convert_variables_to_constants(sess, g, ['y'])"), "export"),
    "nothing": (session("print(sess.list_devices())"), "data"),
    "what nobody knows": (session("sess.run(something)"), "unknown"),
    "an operation that waits for another": (
        session("with tf.control_dependencies([other]):", "    late = tf.identity(x)", "sess.run(late)"),
        "unknown",
    ),
    "an unknown function": (session("model.go(sess)", "work(1)"), "unknown"),
    "an own function that runs the update": (
        _TF + _STEP + "def go(sess):\n    sess.run(step)\nwith tf.Session() as sess:\n    go(sess)\n",
        "train",
    ),
    "one that becomes the default": (
        _TF + _STEP + "sess = tf.InteractiveSession()\nsess.run(tf.ones([2]))\n",
        "unknown",
    ),
    "one that is given back": (
        _TF + _STEP + "def make():\n    s = tf.Session()\n    s.run(tf.ones([2]))\n    return s\nmake()\n",
        "unknown",
    ),
}


@pytest.mark.parametrize(("text", "purpose"), _SESSIONS.values(), ids=_SESSIONS.keys())
def test_what_a_session_runs_tells_what_it_is_for(text: str, purpose: str) -> None:
    assert purposes(text) == [purpose]


def test_the_name_of_a_session_tells_what_it_is_for_among_others() -> None:
    make = "def train():\n    train_sess = tf.Session()\n{}    train_sess.run(step)\n    later(train_sess)\ntrain()\n"
    assert purposes(_TF + _STEP + make.format("    eval_sess = tf.Session()\n    later(eval_sess)\n")) == [
        "train",
        "evaluate",
    ]
    alone = make.replace("train_sess", "eval_sess").format("")
    assert purposes(_TF + _STEP + alone) == ["train"]


def test_names_count_where_what_it_runs_does_not_train() -> None:
    assert purposes(session("sess.run(tf.ones([2]))"), "evaluate.py") == ["evaluate"]
    assert purposes(session("sess.run(step)"), "evaluate.py") == ["train"]


_MANY = {
    "in with": "with tf.Session() as s:\n    s.run(x)\n",
    "kept": "s = tf.Session()\ns.run(x)\n",
    "in a function": "def f():\n    s = tf.Session()\n    s.run(x)\n    return y\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", _MANY.values(), ids=_MANY.keys())
def test_many_sessions_of_a_script_take_work_in_proportion(text: str) -> None:
    assert purposes(_TF + text * 3) == ["unknown"] * 3
    assert_linear(lambda count: _TF + text * count, purposes, 200)


_ESTIMATORS = {
    "trains": ("e = tf.estimator.Estimator(f)\ne.train(g)\ne.predict(g)\n", "train"),
    "trains by a function": ("e = tf.estimator.Estimator(f)\ntf.estimator.train_and_evaluate(e, t, v)\n", "train"),
    "trains with more metrics": (
        "e = tf.estimator.Estimator(f)\ne = tf.estimator.add_metrics(e, m)\ne.train(g)\n",
        "train",
    ),
    "is handed on": ("def go(e):\n    e.train(g)\ngo(tf.estimator.Estimator(f))\n", "train"),
    "predicts": ("e = tf.estimator.Estimator(f)\ne.predict(g)\n", "evaluate"),
    "is exported": ("tf.estimator.Estimator(f).export_saved_model(p, r)\n", "export"),
    "is only made": ("e = tf.estimator.Estimator(f)\n", "unknown"),
}


@pytest.mark.parametrize(("text", "purpose"), _ESTIMATORS.values(), ids=_ESTIMATORS.keys())
def test_what_is_called_of_an_estimator_tells_what_it_is_for(text: str, purpose: str) -> None:
    assert purposes(_TF + text, kind="estimator") == [purpose]
