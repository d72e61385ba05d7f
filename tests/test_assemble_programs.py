"""Programs: which files are entries, what they can reach, and what is so of a program as a whole."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.facts.model import Fact, FileFacts, Span
from npulint.facts.values import PossibleValues
from npulint.model.code.index import FactTable, Index, table
from npulint.model.programs.state import ProgramReach, describe
from npulint.read.launcher_facts import BaseImage, LaunchFact, StartedScript, VariableRecord
from npulint.read.packages import Dependency
from tests.fact_support import TableFact
from tests.support import programs, read_sources

_MAIN = "if __name__ == '__main__':\n    main()\n"
_TF = "import tensorflow.compat.v1 as tf\n"
_NPU = _TF + "from npu_bridge.npu_init import *\n"


def _entries(sources: dict[str, str]) -> list[str]:
    return [p.entry for p in programs(sources) if p.entry]


_ENTRIES = {
    "a main guard": (_MAIN, True),
    "a runner": (_TF + "tf.app.run()\n", True),
    "a runner of absl": ("from absl import app\nimport torch\napp.run(main)\n", True),
    "a call of its own main": ("import torch\ndef main(): pass\nmain()\n", True),
    "a session at module level": (_TF + "tf.Session()\n", True),
    "a train step at module level": (_TF + "tf.train.AdamOptimizer().minimize(l)\n", True),
    "a session in a function": (_TF + "def f():\n    tf.Session()\n", False),
    "a runner in a function": (_TF + "def f():\n    tf.app.run()\n", False),
    "a call of its own function with a session": (_TF + "def f():\n    tf.Session()\nf()\n", True),
    "a call of its own function that comes to one": (
        _TF + "def f():\n    tf.Session()\ndef g():\n    f()\ndef h():\n    g()\nh()\n",
        True,
    ),
    "a call of a method by its name": (
        _TF + "class T:\n    def train(self):\n        tf.Session()\ngetattr(T(), 'train')()\n",
        True,
    ),
    "a call of another function": (
        _TF + "def f():\n    tf.Session()\ndef g():\n    f()\ndef h():\n    pass\nh()\n",
        False,
    ),
    "a call of its own function without one": (_TF + "def f():\n    tf.abs(1)\nf()\n", False),
    "nothing of the kind": (_TF + "x = tf.abs(1)\n", False),
    "an experiment that runs its function by itself": (
        "import torch\nfrom sacred import Experiment\nex = Experiment('x')\n@ex.automain\ndef run():\n    pass\n",
        True,
    ),
    "an experiment that something else runs": (
        "import torch\nfrom sacred import Experiment\nex = Experiment('x')\n@ex.main\ndef run():\n    pass\n",
        False,
    ),
    "an other name": ("if name == '__main__':\n    pass\n", False),
}


_JOBS = (
    _TF + "class Job:\n    def __init__(self):\n        self.session = tf.Session()\n\n"
    "    def go(self):\n        self.session.run(tf.train.AdamOptimizer().minimize(l))\n"
)


@pytest.mark.parametrize(
    ("source", "entries"),
    [
        pytest.param("from jobs import Job\nJob().go()\n", ["start.py"], id="its object is made and works"),
        pytest.param("from jobs import Job\ndef start():\n    Job().go()\n", [], id="in a function"),
        pytest.param("from jobs import Job\nJOBS = {'job': Job}\n", [], id="in a table"),
        pytest.param("from jobs import Job\nif DEBUG:\n    Job().go()\n", [], id="under a condition"),
        pytest.param("from jobs import Job\nclass Long(Job):\n    pass\n", [], id="a derived class"),
    ],
)
def test_script_whose_work_is_that_of_another_module_is_an_entry(source: str, entries: list[str]) -> None:
    assert _entries({"start.py": source, "jobs.py": _JOBS}) == entries


def test_module_that_others_import_is_no_entry_by_what_it_does() -> None:
    sources = {"start.py": "from jobs import Job\nJob().go()\n", "jobs.py": _JOBS, "all.py": "import start\n" + _MAIN}
    assert _entries(sources) == ["all.py"]


@pytest.mark.parametrize(("text", "entry"), _ENTRIES.values(), ids=_ENTRIES.keys())
def test_entry_is_told_by_what_it_does(text: str, entry: bool) -> None:
    assert _entries({"a.py": text}) == (["a.py"] if entry else [])


@pytest.mark.parametrize("path", ["setup.py", "conftest.py", "p/__init__.py", "docs/conf.py"])
def test_files_of_the_packaging_are_no_entries(path: str) -> None:
    assert _entries({path: _MAIN}) == []


def test_script_that_a_launcher_starts_is_an_entry() -> None:
    launch = LaunchFact("./src/a.py", "run.sh", Span(), StartedScript("src/a.py", "./src/a.py"))
    sources = [
        FileFacts("src/a.py", "python"),
        FileFacts(
            "run.sh",
            "shell",
            facts=[launch],
        ),
    ]
    from npulint.read.python import read_python

    code, _ = read_python(_TF, "src/a.py")
    sources[0] = FileFacts("src/a.py", "python", code)
    assert [p.entry for p in assemble("", sources)] == ["src/a.py"]


_A = "train.py"
_REACH: dict[str, tuple[dict[str, str], set[str]]] = {
    "import": ({"m.py": "", _A: "import m\n"}, {"m.py"}),
    "a member": ({"m.py": "", _A: "from m import f\n"}, {"m.py"}),
    "a submodule": ({"p/__init__.py": "", "p/m.py": "", _A: "import p.m\n"}, {"p/__init__.py", "p/m.py"}),
    "a member of a submodule, and what its package imports": (
        {"p/__init__.py": "from .n import g\n", "p/m.py": "", "p/n.py": "", _A: "from p.m import f\n"},
        {"p/__init__.py", "p/m.py", "p/n.py"},
    ),
    "a submodule as a member": (
        {"p/__init__.py": "", "p/m.py": "", _A: "from p import m\n"},
        {"p/__init__.py", "p/m.py"},
    ),
    "of an import": ({"m.py": "import n\n", "n.py": "", _A: "import m\n"}, {"m.py", "n.py"}),
    "round about": ({"m.py": "import train\n", _A: "import m\n"}, {"m.py"}),
    "a star": ({"m.py": "", _A: "from m import *\n"}, {"m.py"}),
    "an import in a function": ({"m.py": "", _A: "def f():\n    import m\n"}, {"m.py"}),
    "an import in try": ({"m.py": "", _A: "try:\n    import m\nexcept ImportError:\n    pass\n"}, {"m.py"}),
    "nobody imports": ({"m.py": "", _A: ""}, set()),
    "a computed import": (
        {
            "models/a.py": "",
            "models/b.py": "",
            "o.py": "",
            _A: "import importlib\nimportlib.import_module('models.' + x)\n",
        },
        {"models/a.py", "models/b.py"},
    ),
    "a computed import by f-string": (
        {"models/a.py": "", _A: "import importlib\nimportlib.import_module(f'models.{x}')\n"},
        {"models/a.py"},
    ),
    "a computed import by format": (
        {"models/a.py": "", _A: "import importlib\nimportlib.import_module('models.{}'.format(x))\n"},
        {"models/a.py"},
    ),
    "a computed import by percent": (
        {"models/a.py": "", _A: "import importlib\nimportlib.import_module('models.%s' % x)\n"},
        {"models/a.py"},
    ),
    "a computed import by a name": (
        {"models/a.py": "", _A: "import importlib\nname = 'models.' + x\nimportlib.import_module(name)\n"},
        {"models/a.py"},
    ),
    "a computed import by a conditional": (
        {"a/x.py": "", "b/y.py": "", _A: "import importlib\nimportlib.import_module('a.' + x if c else 'b.y')\n"},
        {"a/x.py", "b/y.py"},
    ),
    "a computed import of a name of itself": (
        {"models/a.py": "", _A: "import importlib\nn = n if x else 'models.a'\nimportlib.import_module(n)\n"},
        {"models/a.py"},
    ),
    "a computed import in a loop over packages": (
        {
            "built_in/a.py": "",
            "others/b.py": "",
            "o.py": "",
            _A: "import importlib\nfor p in ['built_in', 'others']:\n    importlib.import_module(f'{p}.{x}')\n",
        },
        {"built_in/a.py", "others/b.py"},
    ),
    "__import__": ({"m.py": "", _A: "__import__('m')\n"}, {"m.py"}),
    "an import of anything": ({"m.py": "", _A: "import importlib\nimportlib.import_module(x)\n"}, set()),
    "an import of nothing": ({"m.py": "", _A: "import importlib\nimportlib.import_module()\n"}, set()),
    "a computed import of another package": (
        {"m.py": "", _A: "import importlib\nimportlib.import_module('torch.' + x)\n"},
        set(),
    ),
    "a computed import of the nearest package": (
        {"q/models/a.py": "", "models/b.py": "", _A: "import importlib\nimportlib.import_module('models.' + x)\n"},
        {"models/b.py"},
    ),
}


@pytest.mark.parametrize(("sources", "reached"), _REACH.values(), ids=_REACH.keys())
def test_program_holds_what_its_entry_can_import(sources: dict[str, str], reached: set[str]) -> None:
    program = next(p for p in programs({**sources, _A: sources[_A] + _MAIN}) if p.entry == _A)
    assert set(program.paths) == reached | {_A}


def test_computed_import_of_a_nested_project_finds_its_own_package() -> None:
    load = "import importlib\nimportlib.import_module('models.' + x)\n" + _MAIN
    found = programs({"a/models/x.py": "", "b/models/x.py": "", "a/train.py": load, "b/train.py": load})
    assert [(p.entry, p.paths) for p in found] == [
        ("a/train.py", ["a/models/x.py", "a/train.py"]),
        ("b/train.py", ["b/models/x.py", "b/train.py"]),
    ]


def test_what_no_entry_reaches_is_a_library() -> None:
    found = programs({"a.py": _MAIN, "b.py": "", "c.py": ""})
    assert [(p.entry, p.paths) for p in found] == [("a.py", ["a.py"]), ("", ["b.py", "c.py"])]


def test_project_without_python_is_a_program_all_the_same() -> None:
    found = assemble("", [FileFacts("run.sh", "shell", facts=[VariableRecord("K", "run.sh", Span(), "1", "shell")])])
    assert [(p.entry, p.paths, [f.name for f in p.index.of_kind("environment")]) for p in found] == [("", [], ["K"])]


def test_facts_of_other_files_belong_to_every_program() -> None:
    shell = FileFacts("run.sh", "shell", facts=[VariableRecord("K", "run.sh", Span(), "1", "shell")])
    from npulint.read.python import read_python

    files = [FileFacts(p, "python", read_python(_MAIN, p)[0]) for p in ("a.py", "b.py")]
    assert [len(p.index.of_kind("environment")) for p in assemble("", [*files, shell])] == [1, 1]


def test_paths_below_a_root_are_named_from_it() -> None:
    from npulint.read.python import read_python

    texts = {"zoo/net/h.py": "K = 1\n", "zoo/net/train.py": "import h\n" + _MAIN}
    files = [FileFacts(p, "python", read_python(t, p)[0]) for p, t in texts.items()]
    assert [p.paths for p in assemble("zoo/net", files)] == [["zoo/net/h.py", "zoo/net/train.py"]]


# text -> attribute, answer
_WHOLE = {
    "TensorFlow": (_TF, "framework", "tensorflow"),
    "the adapter alone": ("import npu_device\n", "framework", "tensorflow"),
    "PyTorch": ("import torch\n", "framework", "torch"),
    "neither": ("import numpy\n", "framework", "none"),
    "no adapter": (_TF, "npu", "no"),
    "TensorFlow's adapter": (_NPU, "npu", "yes"),
    "PyTorch's adapter": ("import torch\nimport torch_npu\n", "npu", "yes"),
    "sessions": (_TF + "tf.Session()\n", "mode", "session"),
    "runs of a session handed in": (_TF + "def f(sess): sess.run(a)\n", "mode", "session"),
    "estimators": (_TF + "tf.estimator.Estimator(f)\n", "mode", "estimator"),
    "keras": (_TF + "tf.keras.Sequential().fit(x)\n", "mode", "keras"),
    "TensorFlow 2": ("import tensorflow as tf\n@tf.function\ndef f(): pass\n", "mode", "function"),
    "all at once": (
        _TF + "tf.Session()\ntf.estimator.Estimator(f)\ntf.keras.Sequential().fit(x)\n",
        "mode",
        "session estimator keras",
    ),
    "compat.v1": (_TF, "tensorflow", "1"),
    "contrib": ("import tensorflow as tf\ntf.contrib.layers.flatten(x)\n", "tensorflow", "1"),
    "a session": ("import tensorflow as tf\ntf.Session()\n", "tensorflow", "1"),
    "placeholders": ("import tensorflow as tf\ntf.placeholder(t)\n", "tensorflow", "1"),
    "get_variable": ("import tensorflow as tf\ntf.get_variable('w')\n", "tensorflow", "1"),
    "a tape": ("import tensorflow as tf\ntf.GradientTape()\n", "tensorflow", "2"),
    "the second adapter": ("import tensorflow as tf\nimport npu_device\n", "tensorflow", "2"),
    "compat.v2": ("import tensorflow.compat.v2 as tf\ntf.abs(1)\n", "tensorflow", "2"),
    "behaviour of version 2": (_TF + "tf.enable_v2_behavior()\ntf.get_variable('w')\n", "tensorflow", "2"),
    "behaviour of version 1": (
        "import tensorflow.compat.v1 as tf\nimport tensorflow\ntf.disable_v2_behavior()\ntf.GradientTape()\n",
        "tensorflow",
        "1",
    ),
    "a member that 2.x left behind": ("import tensorflow as tf\ntf.log(x)\n", "tensorflow", "1"),
    "the same of another module": ("import tensorflow as tf\ntf.math.log(x)\n", "tensorflow", ""),
    "the same under compat.v1": ("import tensorflow as tf\ntf.compat.v1.log(x)\n", "tensorflow", ""),
    "such a member beside a tape": (
        "import tensorflow as tf\ntf.log(x)\nwith tf.GradientTape() as tape:\n    pass\n",
        "tensorflow",
        "2",
    ),
    "nothing that tells": ("import tensorflow as tf\ntf.abs(1)\n", "tensorflow", ""),
    "it trains": (_TF + "tf.train.AdamOptimizer().minimize(l)\n", "trains", "yes"),
    "it does not": (_TF + "tf.Session()\n", "trains", "no"),
    "it trains behind an option that is off": (
        _TF + "T = False\nif T:\n    tf.train.AdamOptimizer().minimize(l)\n",
        "trains",
        "no",
    ),
    "nothing said of precision": (_NPU, "precision", "default"),
    "mixed": (_NPU + "NPURunConfig(precision_mode='allow_mix_precision')\n", "precision", "mixed"),
    "mixed by the newer key": (_NPU + "NPURunConfig(precision_mode_v2='mixed_float16')\n", "precision", "mixed"),
    "mixed by graph rewriting": (
        _TF + "tf.train.experimental.enable_mixed_precision_graph_rewrite(o)\n",
        "precision",
        "mixed",
    ),
    "half": (_NPU + "NPURunConfig(precision_mode='force_fp16')\n", "precision", "fp16"),
    "kept": (_NPU + "NPURunConfig(precision_mode='must_keep_origin_dtype')\n", "precision", "origin"),
    "an unknown precision": (_NPU + "NPURunConfig(precision_mode=x)\n", "precision", "unknown"),
    "no value for precision": (_NPU + "NPURunConfig(precision_mode=None)\n", "precision", "default"),
    "one device or several": (_NPU, "multi_device", "unknown"),
    "a wrapped optimizer": (_NPU + "npu_distributed_optimizer_wrapper(o)\n", "multi_device", "yes"),
    "horovod's optimizer": (
        _TF + "import horovod.tensorflow as hvd\nhvd.DistributedOptimizer(o)\n",
        "multi_device",
        "yes",
    ),
    "a rank size in the script": (_NPU + "import os\nos.environ['RANK_SIZE'] = '8'\n", "multi_device", "yes"),
    "a rank size of one": (_NPU + "import os\nos.environ['RANK_SIZE'] = '1'\n", "multi_device", "no"),
    "an unknown rank size": (_NPU + "import os\nos.environ['RANK_SIZE'] = x\n", "multi_device", "unknown"),
}


@pytest.mark.parametrize(("text", "attribute", "answer"), _WHOLE.values(), ids=_WHOLE.keys())
def test_what_is_so_of_a_program(text: str, attribute: str, answer: str) -> None:
    program = programs({"main.py": text + _MAIN})[0]
    assert program.fact.get(attribute) == answer


_FIT = "import tensorflow as tf\nimport helper\ndef main():\n    helper.decode(x)\n    tf.keras.Sequential().fit(x)\n"
_HELPER = _TF + "def decode(x):\n    return tf.Session().run(x)\ndef switch():\n    tf.disable_eager_execution()\n"
# name -> the entry script, the helper module, the generation
_GENERATIONS = {
    "a helper of 1.x, nothing of the entry": (_FIT, _HELPER, ""),
    "a helper of 1.x, a member of 2.x in the entry": (_FIT + "    tf.random.set_seed(1)\n", _HELPER, "2"),
    "the same from tensorflow.keras": (
        "from tensorflow import keras\nimport tensorflow.random as r\nimport helper\n"
        "def main():\n    r.set_seed(1)\n    keras.Sequential().fit(x)\n",
        _HELPER,
        "2",
    ),
    "a helper of 2.x, sessions in the entry": (
        _TF + "import helper\ndef main():\n    tf.Session().run(tf.train.AdamOptimizer().minimize(l))\n",
        "import tensorflow as tf\n@tf.function\ndef decode(x):\n    return x\n",
        "1",
    ),
    "a session under compat.v1 that trains": (
        "import tensorflow as tf\ndef main():\n    step = tf.compat.v1.train.AdamOptimizer().minimize(l)\n"
        "    with tf.compat.v1.Session() as sess:\n        sess.run(step)\n",
        "",
        "1",
    ),
    "a switch in a function that nothing calls": (_FIT + "    tf.random.set_seed(1)\n", _HELPER, "2"),
    "a switch that surely runs": (_FIT + "    helper.switch()\n", _HELPER, "1"),
}


@pytest.mark.parametrize(("entry", "helper", "answer"), _GENERATIONS.values(), ids=_GENERATIONS.keys())
def test_generation_of_tensorflow_is_that_of_what_surely_runs(entry: str, helper: str, answer: str) -> None:
    by_entry = {program.entry: program for program in programs({"main.py": entry + _MAIN, "helper.py": helper})}
    assert by_entry["main.py"].fact.get("tensorflow") == answer


_MODEL = (
    _TF
    + "def model_fn(features, mode):\n    if mode == 'predict': return features\n"
    + "    return tf.train.AdamOptimizer().minimize(l)\n"
    + "def make():\n    return tf.estimator.Estimator(model_fn)\n"
    + "def train():\n    make().train(input_fn)\n"
)
# what the script does with an Estimator whose model function also builds a training step, and whether it trains
_USES = {
    "it predicts": ("for x in model.make().predict(f): print(x)\n", "no"),
    "it trains": ("model.train()\n", "yes"),
    "it runs something unknown": ("model.model_fn(f, m)\ntf.Session().run(x)\n", "yes"),
}


@pytest.mark.parametrize(("text", "trains"), _USES.values(), ids=_USES.keys())
def test_model_function_that_builds_a_step_does_not_run_it(text: str, trains: str) -> None:
    found = programs({"decode.py": _TF + "import model\n" + text + _MAIN, "model.py": _MODEL})
    assert [p.fact.get("trains") for p in found if p.entry] == [trains]


@pytest.mark.parametrize(("use", "trains"), [("run({})", "yes"), ("{}.predict(f)", "no")])
def test_an_estimator_that_is_handed_on_may_be_trained(use: str, trains: str) -> None:
    model = _MODEL.partition("def make")[0]
    made = use.format("tf.estimator.Estimator(model_fn=model.model_fn)")
    found = programs({"decode.py": f"{_TF}import model\n{made}\n{_MAIN}", "model.py": model})
    assert [p.fact.get("trains") for p in found if p.entry] == [trains]


def test_requirements_decide_before_modules_that_the_program_may_not_need() -> None:
    packages = [Dependency("tensorflow", "requirements.txt", Span(), ">=2.10", "requirements")]
    read = read_sources({"main.py": _FIT + _MAIN, "helper.py": _HELPER})
    read.append(FileFacts("requirements.txt", "requirements", facts=list(packages)))
    assert [p.fact.tensorflow for p in assemble("", read) if p.entry] == ["2"]


@pytest.mark.parametrize(
    ("image", "answer"),
    [
        ("nvcr.io/nvidia/tensorflow:21.02-tf2-py3", "2"),
        ("nvcr.io/nvidia/tensorflow:20.10-tf1-py3", "1"),
        ("tensorflow/tensorflow:1.12.0-gpu-py3", "1"),
        ("tensorflow/tensorflow:latest-gpu", ""),
        ("nvcr.io/nvidia/pytorch:22.01-py3", ""),
    ],
)
def test_images_tell_the_generation_of_tensorflow(image: str, answer: str) -> None:
    assert installed(BaseImage(image, "Dockerfile", Span(), cuda=True)) == answer


@pytest.mark.parametrize(
    ("versions", "answer"), [(["==1.15"], "1"), ([">=2.4"], "2"), (["~=2.6", "==1.15"], ""), (["<3"], "")]
)
def test_requirements_tell_the_generation_of_tensorflow(versions: list[str], answer: str) -> None:
    packages = [Dependency("tensorflow", f"{n}.txt", Span(), one, "requirements") for n, one in enumerate(versions)]
    assert installed(*packages) == answer


def installed(*facts: Fact) -> str:
    """The generation of TensorFlow of a program that says nothing beside these facts."""
    index = Index([table([TableFact("import", "tensorflow", "x"), *facts])])
    return describe(
        index, "unknown", "1.15", "", ProgramReach(lambda steps, by_name: False, lambda fact: False)
    ).tensorflow


_ROLES = {
    "train.py": ("no", "no", "unknown"),
    "main.py": ("no", "no", "unknown"),
    "eval.py": ("yes", "no", "evaluate"),
    "freeze_graph.py": ("no", "yes", "export"),
    "make_tfrecord.py": ("no", "no", "data"),
}


@pytest.mark.parametrize(("path", "answers"), _ROLES.items(), ids=_ROLES.keys())
def test_name_of_an_entry_tells_its_role_only_where_it_does_not_train(path: str, answers: tuple[str, str, str]) -> None:
    fact = programs({path: _TF + "tf.Session().run(x)\n" + _MAIN})[0].fact
    assert tuple(map(fact.get, ("trains", "evaluates", "exports", "purpose"))) == ("no", *answers)
    fact = programs({path: _TF + "tf.train.AdamOptimizer().minimize(l)\n" + _MAIN})[0].fact
    assert tuple(map(fact.get, ("trains", "purpose"))) == ("yes", "train")


_TORCH_STEP = (
    "import torch\ndef fit(model, x):\n    model(x).sum().backward()\n\ndef show(model, x):\n    print(model(x))\n"
)


@pytest.mark.parametrize("path", ["train_tokenizer.py", "run_x.py", "vis_loss.py", "test_time.py"])
@pytest.mark.parametrize(("function", "trains"), [("fit", "yes"), ("show", "no")])
def test_a_script_trains_if_it_reaches_a_step_whatever_its_name(path: str, function: str, trains: str) -> None:
    entry = f"import torch, steps\ndef main():\n    steps.{function}(model, x)\n" + _MAIN
    found = {p.entry: p.fact for p in programs({path: entry, "steps.py": _TORCH_STEP})}
    assert found[path].get("trains") == trains


_BY_NAME = "import torch, jobs\ndef main():\n    job = getattr(jobs, x)()\n    getattr(job, y)()\n"
_JOB = "import torch\nclass Job:\n    def go(self):\n        self.loss().backward()\n"


@pytest.mark.parametrize(
    ("made", "trains"),
    [("    o = torch.optim.SGD(net.parameters(), 0.1)\n", "yes"), ("    net.eval()\n", "no")],
    ids=["an optimizer", "none"],
)
def test_of_a_script_that_looks_up_what_it_calls_the_optimizer_tells_that_it_trains(made: str, trains: str) -> None:
    found = {p.entry: p.fact for p in programs({"train.py": _BY_NAME + made + _MAIN, "jobs.py": _JOB})}
    assert found["train.py"].get("trains") == trains


@pytest.mark.parametrize("path", ["train.py", "saliency.py", "eval.py"])
@pytest.mark.parametrize(
    ("line", "trains"),
    [
        ("w.assign(w - v)", "yes"),
        ("print(v)", "no"),
    ],
)
def test_gradients_that_no_optimizer_takes_train_where_variables_are_assigned(
    path: str, line: str, trains: str
) -> None:
    found = programs({path: _TF + f"for v in tf.gradients(l, w):\n    {line}\n" + _MAIN})
    assert [p.fact.get("trains") for p in found] == [trains]


def test_gradients_that_a_session_may_apply_train() -> None:
    text = "for v in tf.gradients(l, w):\n    tf.Session().run([x.assign(y) for x, y in v])\n"
    assert [p.fact.get("trains") for p in programs({"saliency.py": _TF + text + _MAIN})] == ["yes"]


_READER = "import tensorflow as tf\ndef rows(path):\n    tf.io.gfile.glob(path)\n    tf.data.TFRecordDataset(path)\n"
_TF_STEP = "import torch\nimport tensorflow as tf\ndef fit(x):\n    tf.keras.Sequential().fit(x)\n"


@pytest.mark.parametrize(
    ("steps", "framework"),
    [(_READER + _TORCH_STEP, "torch"), (_READER + "def fit(m, x): pass\n", "tensorflow"), (_TF_STEP, "tensorflow")],
    ids=["PyTorch trains", "nothing trains", "Keras trains"],
)
def test_a_program_belongs_to_the_framework_that_it_trains_with(steps: str, framework: str) -> None:
    entry = "import steps\ndef main():\n    steps.fit(model, x)\n" + _MAIN
    found = {p.entry: p.fact for p in programs({"main.py": entry, "steps.py": steps})}
    assert found["main.py"].framework == framework


@pytest.mark.parametrize(
    ("others", "answer"), [(["tf.GradientTape()"], "2"), (["tf.GradientTape()", "tf.Session()"], "")]
)
def test_program_that_does_not_tell_its_tensorflow_follows_tensorflow_2_only(others: list[str], answer: str) -> None:
    head = "import tensorflow as tf\n"
    files = {f"other{n}.py": f"{head}{line}\n{_MAIN}" for n, line in enumerate(others)}
    by_entry = {p.entry: p for p in programs({"summary.py": head + "tf.abs(1)\n" + _MAIN, **files})}
    assert by_entry["summary.py"].fact.get("tensorflow") == answer


def test_an_entry_that_names_no_framework_may_run_all_of_what_it_imports() -> None:
    trainer = (
        "import torch\n\nclass Trainer:\n    def go(self, x):\n        self.one(x)\n\n"
        "    def one(self, x):\n        x.backward()\n"
    )
    entry = "from jobs import Trainer\n\ndef begin():\n    Trainer().go(1)\n\nif __name__ == '__main__':\n    begin()\n"
    found = {p.entry: p.fact.get("trains") for p in programs({"start.py": entry, "jobs.py": trainer})}
    assert found == {"start.py": "yes"}


def test_train_step_of_a_test_does_not_make_a_library_train() -> None:
    found = programs({"tests/test_a.py": _TF + "def f():\n    tf.train.AdamOptimizer().minimize(l)\n"})
    assert [p.fact.get("trains") for p in found] == ["no"]


_STATES = {
    "no adapter": (_TF + "tf.Session()\n", "1.15", "not_started"),
    "the import patches sessions": (_NPU + "tf.Session()\n", "1.15", "migrated"),
    "an old adapter does not patch": (_NPU + "tf.Session()\n", "1.8", "partial"),
    "an old adapter with its own prefix": (_NPU + "tf.Session()\n", "r1.8.0", "partial"),
    "an adapter of another numbering patches": (_NPU + "tf.Session()\n", "master", "migrated"),
    "an old adapter and a wrapped session": (_NPU + "tf.Session(config=npu_config_proto())\n", "1.8", "migrated"),
    "an old adapter and an unknown configuration": (_NPU + "tf.Session(config=x)\n", "1.8", "migrated"),
    "an old adapter and a session that evaluates": (_NPU + "def evaluate():\n    tf.Session()\n", "1.8", "migrated"),
    "an old adapter and a session behind an option": (_NPU + "D = False\nif D:\n    tf.Session()\n", "1.8", "migrated"),
    "an import that does not patch": (
        _TF + "from npu_bridge.estimator import npu_ops\ntf.Session()\n",
        "1.15",
        "partial",
    ),
    "the default release patches": (_NPU + "tf.Session()\n", "", "migrated"),
}


@pytest.mark.parametrize(("text", "adapter", "state"), _STATES.values(), ids=_STATES.keys())
def test_state_of_the_migration(text: str, adapter: str, state: str) -> None:
    assert programs({"main.py": text + _MAIN}, adapter)[0].fact.get("state") == state


def test_programs_know_whether_the_project_uses_the_adapter() -> None:
    found = programs({"a.py": _NPU + _MAIN, "b.py": _TF + _MAIN})
    assert [(p.fact.get("npu"), p.fact.get("project_npu")) for p in found] == [("yes", "yes"), ("no", "yes")]
    assert [p.fact.get("project_npu") for p in programs({"b.py": _TF + _MAIN})] == ["no"]


_TRAIN = _TF + "import a\ntf.train.AdamOptimizer().minimize(l)\n"
_REACHED = {
    "called": (_TRAIN + _MAIN + "    a.f()\n", "surely"),
    "called where an option is on": (_TRAIN + _MAIN + "    if unknown():\n        a.f()\n", "maybe"),
    "only imported": (_TRAIN + _MAIN, "no"),
    "started by tf.app.run": (_TRAIN + "def main(_):\n    a.f()\n" + _MAIN + "    tf.app.run()\n", "surely"),
    "made by a function that was made": (
        _TRAIN + "def make():\n    def model_fn():\n        a.f()\n    return model_fn\n"
        "tf.estimator.Estimator(model_fn=make())\n" + _MAIN,
        "surely",
    ),
    "registered for a look-up by name": (_TRAIN + _MAIN + "    import c\n", "maybe"),
}


@pytest.mark.parametrize(("train", "reached"), _REACHED.values(), ids=_REACHED.keys())
def test_sessions_know_whether_a_training_program_reaches_them(train: str, reached: str) -> None:
    session = _TF + "def f():\n    tf.Session()\n"
    registered = "import gin\nimport a\n@gin.configurable('g')\ndef g():\n    a.f()\n"
    found = programs({"a.py": session, "b.py": session, "c.py": registered, "train.py": train})
    facts = {f.path: f.get("reached") for p in found for f in p.index.of_kind("session")}
    assert facts == {"a.py": reached, "b.py": "no"}


def test_one_of_two_alternatives_surely_runs() -> None:
    both = "if unknown():\n    s = tf.Session()\nelse:\n    s = tf.InteractiveSession()\ns.run(step)\n"
    train = _TF + "step = tf.train.AdamOptimizer().minimize(l)\n" + both
    sessions = [f for p in programs({"train.py": train}) for f in p.index.of_kind("session")]
    assert [f.get("reached") for f in sessions] == ["surely", "surely"]
    sessions = [
        f
        for p in programs({"train.py": train.replace("InteractiveSession", "Graph")})
        for f in p.index.of_kind("session")
    ]
    assert [f.get("reached") for f in sessions] == ["maybe"]


@pytest.mark.parametrize(
    ("sizes", "answer"),
    [
        (["8"], "yes"),
        (["1"], "no"),
        (["1", "8"], "yes"),
        (["$N"], "unknown"),
        ([], "unknown"),
        ([PossibleValues(("4",), True)], "yes"),
    ],
)
def test_several_devices_by_the_rank_size(sizes: list[object], answer: str) -> None:
    facts: list[Fact] = [TableFact("environment", "RANK_SIZE", "run.sh", attrs={"value": size}) for size in sizes]
    index = Index([FactTable({"environment": facts})])
    assert (
        describe(
            index, "unknown", "1.15", "", ProgramReach(lambda steps, by_name: False, lambda fact: False)
        ).multi_device
        == answer
    )


def test_index_answers_by_kind_and_last_name() -> None:
    facts: list[Fact] = [TableFact("call", name, "x") for name in ("a.b", "b", "a.c")]
    index = Index([FactTable({"call": facts[:2]}), FactTable({"call": facts[2:]})])
    assert [f.name for f in index.named("call", "b")] == ["a.b", "b"]
    assert (index.named("call", "d"), index.named("mention", "b"), index.kinds()) == ([], [], ["call"])


@pytest.mark.parametrize(
    ("sources", "entries"),
    [
        pytest.param({"sample.py": "import torch\nnet = Net()\nnet.cuda()\n"}, ["sample.py"], id="a script"),
        pytest.param({"sample.py": "import torch\nnet.to('npu')\n"}, ["sample.py"], id="a ported script"),
        pytest.param(
            {
                "net.py": "import torch\nx = y.cuda()\n",
                "main.py": "import torch, net\nif __name__ == '__main__':\n    go()\n",
            },
            ["main.py"],
            id="a module that is imported",
        ),
        pytest.param(
            {"sample.py": "import torch\ndef f(x):\n    return x.npu()\ny = f(x)\n"}, ["sample.py"], id="by a function"
        ),
        pytest.param(
            {"sample.py": "import torch\nclass C:\n    def f(self):\n        return x.npu()\ny = C().f()\n"},
            ["sample.py"],
            id="by a method",
        ),
        pytest.param(
            {"sample.py": "import torch\nwhere = 'npu'\ny = torch.ones(3, device=where)\n"},
            ["sample.py"],
            id="by a device that has a name",
        ),
        pytest.param({"net.py": "import torch\ndef f(x):\n    return x.cuda()\n"}, [], id="a library"),
        pytest.param(
            {"net.py": "import torch\ndef f(x):\n    return x.cuda()\nif DEBUG:\n    f(x)\n"}, [], id="perhaps"
        ),
    ],
)
def test_a_script_that_works_on_a_device_is_an_entry(sources: dict[str, str], entries: list[str]) -> None:
    assert [p.entry for p in programs(sources) if p.entry] == entries


_TRAINING = "import torch\nfor x in loader:\n    model(x.cuda()).mean().backward()\n"


_MODELS = """\
import torch
class Net(torch.nn.Module):
    pass
class Other(torch.nn.Module):
    pass
def rows(name):
    pass
def other_rows(name):
    pass
"""
_CUDA_SCRIPT = "import torch, models\nfor x in models.rows('a'):\n    models.Net().cuda()(x).mean().backward()\n"
_NPU_SCRIPT = "import torch_npu\n" + _CUDA_SCRIPT.replace("cuda", "npu")


@pytest.mark.parametrize(
    ("other", "counterpart"),
    [
        pytest.param("import torch_npu\nprint(load().npu())\n" + _MAIN, "", id="inference"),
        pytest.param(_TRAINING.replace("cuda", "npu"), "", id="a model that nobody knows"),
        pytest.param(_NPU_SCRIPT, "other.py", id="the same model and data"),
        pytest.param(_NPU_SCRIPT.replace("Net", "Other"), "", id="another model"),
        pytest.param(_NPU_SCRIPT.replace("rows", "other_rows"), "", id="other data"),
        pytest.param(_NPU_SCRIPT.replace("models.rows('a')", "range(3)"), "", id="a smoke test"),
        pytest.param(_CUDA_SCRIPT.replace("cuda()", "to('cpu')"), "", id="not on the NPU"),
        pytest.param(
            "from torch_npu.contrib import transfer_to_npu\nimport train\n" + _MAIN,
            "other.py",
            id="it starts the script",
        ),
    ],
)
def test_only_its_counterpart_on_the_npu_speaks_for_a_training_script(other: str, counterpart: str) -> None:
    sources = {"models.py": _MODELS, "train.py": _CUDA_SCRIPT, "other.py": other}
    fact = {p.entry: p.fact for p in programs(sources)}["train.py"]
    expected = ("left", "yes") if counterpart else ("none", "no")
    assert (fact.counterpart, fact.migration, fact.get("project_npu")) == (counterpart, *expected)


def test_a_script_that_shares_no_model_with_others_says_nothing_of_them() -> None:
    found = {p.entry: p.fact for p in programs({"train.py": _TRAINING, "other.py": _TRAINING.replace("cuda", "npu")})}
    assert found["train.py"].migration == "none"


@pytest.mark.parametrize(
    ("maker", "reached"),
    [
        ("import importlib\ndef make(name):\n    return importlib.import_module(name)\n", True),
        ("def make(name):\n    return name\n", False),
    ],
)
def test_a_class_that_is_named_in_a_text(maker: str, reached: bool) -> None:
    sources = {
        "nets/unet.py": "import torch\nclass UNet(torch.nn.Module):\n    pass\n",
        "nets/__init__.py": "",
        "maker.py": maker,
        "train.py": "import torch, maker\nnet = maker.make(name='nets.unet.UNet')\n" + _TRAINING,
    }
    paths = {p.entry: p.paths for p in programs(sources)}["train.py"]
    assert ("nets/unet.py" in paths) is reached


@pytest.mark.parametrize(("root", "found"), [("tune", True), ("other", False)])
def test_modules_import_each_other_below_the_name_of_the_folder(root: str, found: bool) -> None:
    sources = {
        f"{root}/train.py": "from tune.trainer import fit\nif __name__ == '__main__':\n    fit()\n",
        f"{root}/trainer.py": "import torch\ndef fit():\n    loss.backward()\n",
    }
    programs = assemble(root, read_sources(sources))
    assert any(len(one.paths) == 2 for one in programs) is found


@pytest.mark.parametrize("test", ["", "from layers import pool\nif __name__ == '__main__':\n    pool(1)\n"])
def test_what_a_training_loads_is_of_training_also_where_a_test_loads_it(test: str) -> None:
    """Checks about code that no training runs ask it, in the programs of tests as well."""
    sources = {
        "train.py": "import torch\nfrom layers import pool\npool(x).backward()\n",
        "layers.py": "def pool(x):\n    return x.cuda()\nif __name__ == '__main__':\n    pool(1).cuda()\n",
        "tests/test_layers.py": f"import torch\n{test}",
        "tool.py": "import torch\nprint(torch.ones(1).cuda())\n",
    }
    uses = {
        (use.path, use.span.line): use.get("in_training") for p in programs(sources) for use in p.index.of_kind("cuda")
    }
    assert uses == {("layers.py", 2): "yes", ("layers.py", 4): "no", ("tool.py", 2): "no"}
