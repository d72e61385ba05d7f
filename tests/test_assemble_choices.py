"""What is looked up before it is called: in dicts, by ``getattr``, by import, in registries; partials."""

from __future__ import annotations

import pytest

from tests.support import facts, programs

_TWO = """
import tensorflow as tf

class {0}:
    def fit(self):
        op = tf.train.AdamOptimizer(0.1).minimize(loss)
        self.sess = tf.Session()
        self.sess.run(op)
"""
_MODELS = {"models/a.py": _TWO.format("A"), "models/b.py": _TWO.format("B"), "models/__init__.py": ""}
_OPTION = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--model", default="a")
args = parser.parse_args()
"""


def reached(main: str, others: dict[str, str] = _MODELS) -> dict[str, str]:
    """How the entry script reaches the session of each file."""
    return {one.path: str(one.get("reached")) for one in facts({"main.py": main, **others}, "session")}


SURELY = {"models/a.py": "surely", "models/b.py": "surely"}


@pytest.mark.parametrize(
    "made",
    [
        "from models.a import A\nfrom models.b import B\nT = {'a': A, 'b': B}\nT[args.model]().fit()\n",
        "from models.a import A\nfrom models.b import B\nT = dict(a=A, b=B)\ncls = T.get(args.model)\ncls().fit()\n",
        "from models.a import A\nfrom models.b import B\nm = [A, B][int(args.model)]()\nm.fit()\n",
        "from models.a import A\nfrom models.b import B\n"
        "def make(name):\n    return {'a': A, 'b': B}[name]\nmake(args.model)().fit()\n",
    ],
)
def test_all_classes_of_a_dict_are_reached(made: str) -> None:
    assert reached(f"{_OPTION}{made}") == SURELY


def test_members_of_a_module_are_reached() -> None:
    package = {**_MODELS, "models/__init__.py": "from models.a import A\nfrom models.b import B\n"}
    main = f"{_OPTION}import models\nnet = getattr(models, args.model)()\nnet.fit()\n"
    assert reached(main, package) == SURELY


def test_modules_that_are_imported_by_name_are_reached() -> None:
    others = {path: text.replace("class B", "class A") for path, text in _MODELS.items()}
    main = f"{_OPTION}import importlib\nm = importlib.import_module('models.' + args.model)\nm.A().fit()\n"
    assert reached(main, others) == SURELY


def test_what_decorators_register_is_reached() -> None:
    registry = "TABLE = {}\ndef register(cls):\n    TABLE[cls.__name__] = cls\n    return cls\n"
    mark = "from registry import register\n@register\nclass "
    registered = {path: text.replace("class ", mark) for path, text in _MODELS.items()}
    main = f"{_OPTION}import models.a, models.b\nfrom registry import TABLE\nTABLE[args.model]().fit()\n"
    assert reached(main, {**registered, "registry.py": registry}) == SURELY


def test_a_class_that_does_something_else_leaves_it_open() -> None:
    others = {**_MODELS, "models/b.py": "class B:\n    def fit(self):\n        print(1)\n"}
    main = f"{_OPTION}from models.a import A\nfrom models.b import B\nT = {{'a': A, 'b': B}}\nT[args.model]().fit()\n"
    assert reached(main, others)["models/a.py"] == "maybe"


_CLASSES = "C = {'a': tf.estimator.DNNClassifier, 'b': tf.estimator.LinearClassifier}\n"
_PARTIAL = "make = functools.partial(tf.estimator.Estimator, "


@pytest.mark.parametrize(
    ("made", "name", "npu"),
    [
        (f"{_CLASSES}est = C[k](feature_columns=f)", "DNNClassifier", "no"),
        ("est = getattr(tf.estimator, k)(feature_columns=f)", "Estimator", "no"),
        ("est = getattr(tf.estimator, k)(feature_columns=f, config=npu_run_config_init())", "Estimator", "yes"),
        ("est = tf.contrib.estimator.RNNClassifier([], 3)", "RNNClassifier", "no"),
        ("est = tf.keras.estimator.model_to_estimator(model)", "model_to_estimator", "no"),
        ("est = keras_to_npu.model_to_npu_estimator(model)", "model_to_npu_estimator", "yes"),
        (f"{_PARTIAL}config=npu_run_config_init())\nest = make(f)", "Estimator", "yes"),
        (f"{_PARTIAL}model_fn=f)\nest = make()", "Estimator", "no"),
    ],
)
def test_estimators(made: str, name: str, npu: str) -> None:
    head = "import functools\nimport tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
    source = f"{head}{made}\nest = tf.contrib.estimator.add_metrics(est, g)\nest.train(input_fn)\n"
    (found,) = facts(source, "estimator")
    assert (found.name.rpartition(".")[2], found.get("npu"), found.get("purpose")) == (name, npu, "train")
    assert programs({"train.py": source})[0].fact.trains


@pytest.mark.parametrize(("config", "kind"), [("tf.estimator.RunConfig()", "other"), ("NPURunConfig()", "npu")])
def test_the_runner_of_an_experiment_passes_its_run_config(config: str, kind: str) -> None:
    source = f"""
    import tensorflow as tf
    from npu_bridge.npu_init import *
    from tensorflow.contrib.learn.python.learn import learn_runner

    def make(**options):
        def experiment(run_config, hparams):
            est = tf.estimator.Estimator(model_fn, config=run_config)
            return tf.contrib.learn.Experiment(est, train_input_fn=input_fn, **options)
        return experiment

    learn_runner.run(make(train_steps=10), run_config={config})
    """
    (found,) = facts(source, "estimator")
    assert (found.get("config"), found.get("purpose"), found.get("reached")) == (kind, "train", "surely")


def test_the_config_that_a_passed_function_makes() -> None:
    source = """
    import tensorflow as tf

    def decorated(make):
        def wrap(function):
            def inner():
                with tf.Session(config=make()) as sess:
                    return function(sess)
            return inner
        return wrap

    def config():
        return tf.ConfigProto(allow_soft_placement=True)

    @decorated(config)
    def train(sess):
        sess.run(tf.train.AdamOptimizer(0.1).minimize(loss))

    train()
    """
    (found,) = facts(source, "session")
    assert (found.get("npu"), found.get("reached")) == ("no", "surely")


def test_an_option_may_choose_another_import() -> None:
    others = {path: text.replace("class B", "class A") for path, text in _MODELS.items()}
    main = f"""{_OPTION.replace('"a"', "None")}
import importlib
module = importlib.import_module("models." + args.model if args.model else "models")
module.A().fit()
"""
    (first, *_) = programs({"main.py": main, **others})
    assert first.paths == ["main.py", "models/__init__.py", "models/a.py", "models/b.py"]
