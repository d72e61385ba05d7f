"""Canonical names beyond the plain idioms: classes, modules, packages, results, things that cannot be known."""

from __future__ import annotations

import pytest

from npulint.commands.build import assembled
from npulint.facts.model import Fact
from npulint.model.values.cursors import scope_at
from tests.growth import ended_if_stuck
from tests.support import facts, read_sources

_HEAD = "import tensorflow as tf\n"


def _callees(sources: str | dict[str, str]) -> list[str]:
    named = {"train.py": sources} if isinstance(sources, str) else sources
    found: list[Fact] = facts({p: _HEAD + t for p, t in named.items()}, "call")
    return [f.name for f in found]


_METHODS = {
    "a method of a result": ("tf.Session().close()", "tensorflow.Session().close"),
    "a method of a named result": ("s = tf.Session()\ns.close()", "tensorflow.Session().close"),
    "a context": ("with tf.Session() as s:\n    s.close()", "tensorflow.Session().close"),
    "an attribute of self": (
        "class C:\n    def __init__(self):\n        self.s = tf.Session()\n    def f(self):\n        self.s.close()",
        "tensorflow.Session().close",
    ),
    "an inherited attribute": (
        "class B:\n    def __init__(self):\n        self.s = tf.Session()\nclass C(B):\n    def f(self):\n"
        "        self.s.close()",
        "tensorflow.Session().close",
    ),
    "an attribute of an instance": (
        "class C:\n    def __init__(self):\n        self.s = tf.Session()\nC().s.close()",
        "tensorflow.Session().close",
    ),
    "a class attribute": ("class C:\n    s = tf.Session()\nC().s.close()", "tensorflow.Session().close"),
    "a result of an own function": ("def f():\n    return tf.Session()\nf().close()", "tensorflow.Session().close"),
    "a result of an own method": (
        "class C:\n    def f(self):\n        return tf.Session()\n    def g(self):\n        self.f().close()",
        "tensorflow.Session().close",
    ),
    "a result through two functions": (
        "def f():\n    return tf.Session()\ndef g():\n    s = f()\n    return s\ng().close()",
        "tensorflow.Session().close",
    ),
    "a result that is made of an argument": (
        "def f(x, s):\n    return s.data\nf(1, s=tf.Session()).close()",
        "tensorflow.Session().data.close",
    ),
    "a result of a method of a class in a function, made of an argument": (
        "def f():\n    class C:\n        def g(self, s):\n            t = s.open()\n            return t\n"
        "    C().g(tf.Session()).close()",
        "tensorflow.Session().open().close",
    ),
    "a result of an argument through two functions": (
        "def f(s):\n    return s.open()\ndef g(x):\n    x = x.data\n    return f(x)\ng(tf.Session()).close()",
        "tensorflow.Session().data.open().close",
    ),
    "a result of a static method": (
        "class C:\n    @staticmethod\n    def g(s):\n        return s\nC().g(tf.Session()).close()",
        "tensorflow.Session().close",
    ),
    "a result of a method that is called of its class": (
        "class C:\n    def g(self, s):\n        return s\nC.g(1, tf.Session()).close()",
        "tensorflow.Session().close",
    ),
    "a generator's context": (
        "def f():\n    yield tf.Session()\nwith f() as s:\n    s.close()",
        "tensorflow.Session().close",
    ),
    "or": ("s = x or tf.Session()\ns.close()", "x.close"),
    "either branch": ("s = tf.Session() if x else None\ns.close()", "tensorflow.Session().close"),
    "a branch that sets it": ("s = None\nif x:\n    s = tf.Session()\ns.close()", "tensorflow.Session().close"),
    "a parameter that is set anew": ("def f(s):\n    s = tf.Session()\n    s.close()", "tensorflow.Session().close"),
    "a parameter with a fallback": (
        "def f(s=None):\n    s = s or tf.Session()\n    s.close()",
        "tensorflow.Session().close",
    ),
    "a base class of the framework": (
        "class C(tf.keras.Model):\n    def f(self):\n        self.fit(x)\n",
        "tensorflow.keras.Model().fit",
    ),
    "a base of a base": (
        "class B(tf.keras.Model): pass\nclass C(B): pass\nC().fit(x)\n",
        "tensorflow.keras.Model().fit",
    ),
    "an alias of a class": ("S = tf.Session\nS().close()", "tensorflow.Session().close"),
    "a dataset stays one": ("tf.data.TFRecordDataset(f).map(g).repeat().batch(3)", "tensorflow.data.Dataset().batch"),
    "a named dataset stays one": (
        "d = tf.data.Dataset.range(3)\nd = d.map(g)\nd = d.batch(3)",
        "tensorflow.data.Dataset().batch",
    ),
    "an iterator": (
        "tf.data.Dataset.range(3).make_one_shot_iterator().get_next()",
        "tensorflow.data.Iterator().get_next",
    ),
    "an iterator from a structure": (
        "tf.data.Iterator.from_structure(t).get_next()",
        "tensorflow.data.Iterator.from_structure().get_next",
    ),
    "a transformation is no dataset": (
        "tf.data.experimental.map_and_batch(g, 3).foo()",
        "tensorflow.data.experimental.map_and_batch().foo",
    ),
    "an element of an own result": (
        "def f():\n    return 1, tf.Session()\nf()[1].close()",
        "tensorflow.Session().close",
    ),
    "a part of an own result": (
        "def f():\n    return tf.Session(), 1\ns, _ = f()\ns.close()",
        "tensorflow.Session().close",
    ),
    "an element of a result": ("tf.split(x)[0].foo()", "tensorflow.split()[].foo"),
    "a method of a partial": (
        "import functools\nf = functools.partial(tf.Session, x)\nf().close()",
        "tensorflow.Session().close",
    ),
}


@pytest.mark.parametrize(("text", "name"), _METHODS.values(), ids=_METHODS.keys())
def test_method_is_named_after_what_made_its_object(text: str, name: str) -> None:
    assert _callees(text + "\n")[-1] == name or name in _callees(text + "\n")


_MODULES: dict[str, dict[str, str]] = {
    "a helper that holds the framework": {"h.py": "", "train.py": "import h\nh.tf.Session()\n"},
    "a star import of it": {"h.py": "", "train.py": "from h import *\ntf.Session()\n"},
    "an alias in a helper": {"h.py": "S = tf.Session\n", "train.py": "from h import S\nS()\n"},
    "handed on twice": {"h.py": "S = tf.Session\n", "i.py": "from h import S\n", "train.py": "import i\ni.S()\n"},
    "a package that hands on": {
        "p/__init__.py": "from .h import S\n",
        "p/h.py": "S = tf.Session\n",
        "train.py": "import p\np.S()\n",
    },
    "a submodule of a package": {
        "p/__init__.py": "",
        "p/h.py": "S = tf.Session\n",
        "train.py": "import p.h\np.h.S()\n",
    },
    "a submodule of a plain folder": {"p/h.py": "S = tf.Session\n", "train.py": "import p.h\np.h.S()\n"},
    "a submodule as a member": {"p/h.py": "S = tf.Session\n", "train.py": "from p import h\nh.S()\n"},
    "a relative submodule": {"p/h.py": "S = tf.Session\n", "p/train.py": "from . import h\nh.S()\n"},
    "a relative member": {"p/h.py": "S = tf.Session\n", "p/train.py": "from .h import S\nS()\n"},
    "a module above": {"h.py": "S = tf.Session\n", "p/q/train.py": "from ...h import S\nS()\n"},
    "a folder on the path": {"src/lib/h.py": "S = tf.Session\n", "src/train.py": "from lib.h import S\nS()\n"},
    "a folder with dots in its name": {"v1.0.2/h.py": "S = tf.Session\n", "v1.0.2/train.py": "from h import S\nS()\n"},
    "the nearest of two": {
        "a/h.py": "S = tf.Session\n",
        "b/h.py": "S = tf.train.Saver\n",
        "a/train.py": "from h import S\nS()\n",
    },
    "an import in a function": {"h.py": "S = tf.Session\n", "train.py": "def f():\n    from h import S\n    S()\n"},
    "modules that import each other": {
        "h.py": "import train\nS = tf.Session\n",
        "train.py": "import h\nh.S()\n",
    },
}


@pytest.mark.parametrize("sources", _MODULES.values(), ids=_MODULES.keys())
def test_name_is_followed_through_modules(sources: dict[str, str]) -> None:
    assert _callees(sources) == ["tensorflow.Session"]


_UNKNOWN = {
    "a parameter": "def f(s):\n    s.run(1)\n",
    "an attribute of a parameter": "def f(s):\n    s.t.run(1)\n",
    "a loop's variable": "for s in x:\n    s.foo(1)\n",
    "a comprehension's variable": "tf = 1\ny = [tf.Session() for tf in z]\n",
    "an own function": "def f(): pass\nf()\n",
    "an own class": "class C: pass\nC()\n",
    "a method of an own class": "class C:\n    def f(self): pass\nC().f()\n",
    "a relative import of nothing": "from .nowhere import f\nf()\n",
    "a lambda": "(lambda: 1)()\n",
    "a name that hides the framework": "def f(tf):\n    tf.Session()\n",
    "a local import that hides it": "def f():\n    from own import tf\n    def own(): pass\n    own()\n",
}


@pytest.mark.parametrize("text", _UNKNOWN.values(), ids=_UNKNOWN.keys())
def test_own_and_unknown_callees_are_no_calls_of_a_framework(text: str) -> None:
    assert [n for n in _callees(text) if n.startswith("tensorflow.")] == []


_ORDER = {
    "an import again later": "tf.Session()\nimport os as tf\n",
    "the last of two imports in a function": "import os as tf\nimport tensorflow as tf\ndef f():\n    tf.Session()\n",
    "a name before it is hidden": "tf.Session()\ntf = 1\n",
    "a name hidden elsewhere": "def f(tf): pass\ntf.Session()\n",
    "a loop that hides it in a comprehension": "y = [tf for tf in z]\ntf.Session()\n",
    "a class attribute of that name": "class C:\n    tf = 1\n    def f(self):\n        tf.Session()\n",
}


@pytest.mark.parametrize("text", _ORDER.values(), ids=_ORDER.keys())
def test_name_means_what_it_means_at_its_place(text: str) -> None:
    assert "tensorflow.Session" in _callees(text)


def test_foreign_package_wins_over_a_folder_of_its_name() -> None:
    sources = {"tensorflow/__init__.py": "Session = 1\n", "train.py": "tf.Session()\n"}
    assert _callees(sources) == ["tensorflow.Session"]


@pytest.mark.parametrize(
    ("module", "others", "own"),
    [
        ("profile.py", (), True),  # beside the script: it comes before the standard library
        ("io.py", (), False),  # loaded before any script
        ("vendor/mm/io.py", ("vendor/__init__.py", "vendor/mm/__init__.py"), False),
        ("vendor/mm/queue.py", ("vendor/__init__.py", "vendor/mm/__init__.py"), False),
        ("tools/queue.py", (), False),  # no folder that a script in the root has in its import path
        ("queue.py", ("__init__.py",), False),  # a part of a package
        ("vendor/mm/blocks.py", (), True),
    ],
)
def test_a_name_of_the_standard_library_means_an_own_module_only_beside_the_script(
    module: str, others: tuple[str, ...], own: bool
) -> None:
    name = module.rpartition("/")[2].removesuffix(".py")
    project = assembled("", read_sources({"train.py": f"import {name}\n", module: "", **dict.fromkeys(others, "")}))
    uses = project.context.project.uses("train.py")
    assert (module in uses) is own


def test_files_of_a_folder_that_is_called_as_a_package_mean_each_other() -> None:
    sources = {
        "precision_tool/seeds.py": "def f():\n    tf.abs(1)\n",
        "precision_tool/run.py": "from precision_tool.seeds import f\n",
    }
    assert facts(sources, "import", "precision_tool.seeds.f") == []
    outside = {"train.py": "from precision_tool.seeds import f\n", "precision_tool/seeds.py": "def f():\n    pass\n"}
    assert [fact.path for fact in facts(outside, "import", "precision_tool.seeds.f")] == ["train.py"]


def test_mention_that_is_passed_counts_as_a_call_of_it() -> None:
    found = facts(_HEAD + "f(tf.nn.relu)\ng = tf.nn.elu\n", "mention")
    assert [(f.name, f.get("passed")) for f in found] == [("tensorflow.nn.relu", "yes"), ("tensorflow.nn.elu", "no")]
    assert [f.name for f in facts(_HEAD + "f(tf.nn.relu)\ng = tf.nn.elu\n", "call")] == ["tensorflow.nn.relu"]


_IMPORTS = {
    "a module": ("import horovod.tensorflow as hvd\n", ["horovod.tensorflow"]),
    "a member": ("from npu_bridge.npu_init import NPUEstimator\n", ["npu_bridge.npu_init.NPUEstimator"]),
    "a star": ("from npu_bridge.npu_init import *\n", ["npu_bridge.npu_init"]),
    "a relative one is the project's": ("from .a import b\n", []),
}


@pytest.mark.parametrize(("text", "names"), _IMPORTS.values(), ids=_IMPORTS.keys())
def test_imports_of_packages_are_facts(text: str, names: list[str]) -> None:
    assert [f.name for f in facts(text, "import")] == names


def test_import_of_an_own_module_is_no_fact() -> None:
    found = facts({"h.py": "import torch\n", "train.py": "import h\nfrom h import torch\nimport torch\n"}, "import")
    assert [(f.name, f.path) for f in found] == [("torch", "h.py"), ("torch", "train.py")]


@pytest.mark.parametrize(
    ("text", "guarded", "star"),
    [
        ("import torch\n", "no", "no"),
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", "yes", "no"),
        ("try:\n    pass\nexcept ImportError:\n    import torch\n", "yes", "no"),
        ("try:\n    import torch\nfinally:\n    pass\n", "no", "no"),
        ("try:\n    import torch\nfinally:\n    pass\ntry:\n    f()\nexcept ValueError:\n    pass\n", "no", "no"),
        (
            "try:\n    try:\n        import torch\n    finally:\n        f()\nexcept ImportError:\n    pass\n",
            "yes",
            "no",
        ),
        ("from torch import *\n", "no", "yes"),
    ],
    ids=["plain", "in try", "in except", "in try without except", "before another try", "in two of them", "star"],
)
def test_how_a_package_is_imported(text: str, guarded: str, star: str) -> None:
    found = facts(text, "import")[0]
    assert (found.get("guarded"), found.get("star")) == (guarded, star)


def test_definitions_are_facts() -> None:
    found = facts(_HEAD + "class C:\n    def f(self, a, *b): pass\n", "define")
    assert [(f.name, f.get("what"), f.get("params").single) for f in found] == [
        ("C", "class", ""),
        ("f", "function", "self, a, *b"),
    ]


_ENVIRONMENT = {
    "a subscript": ("os.environ['K'] = 'v'", ("K", "v")),
    "setdefault": ("os.environ.setdefault('K', 'v')", ("K", "v")),
    "putenv": ("os.putenv('K', 'v')", ("K", "v")),
    "a number as text": ("os.environ['K'] = str(3)", ("K", "3")),
    "the mapping by another name": ("from os import environ\nenviron['K'] = 'v'", ("K", "v")),
}


@pytest.mark.parametrize(("text", "fact"), _ENVIRONMENT.values(), ids=_ENVIRONMENT.keys())
def test_environment_that_a_script_sets(text: str, fact: tuple[str, str]) -> None:
    found = facts(f"import os\n{text}\n", "environment")
    assert [(f.name, f.get("value").single, f.get("via")) for f in found] == [(*fact, "python")]


@pytest.mark.parametrize("text", ["os.getenv('K')", "os.environ.get('K', 'v')"])
def test_environment_that_a_script_reads(text: str) -> None:
    assert [f.name for f in facts(f"import os\n{text}\n", "environment_read")] == ["K"]


@pytest.mark.parametrize("text", ["os.getenv(x)", "os.environ.setdefault()", "environ['K'] = 1", "os.environ[k] = 1"])
def test_environment_of_unknown_name_is_no_fact_of_a_variable(text: str) -> None:
    found = facts(f"import os\n{text}\n", "environment") + facts(f"import os\n{text}\n", "environment_read")
    assert [f.name for f in found if f.name != "*"] == []


def test_a_class_that_is_shadowed_by_its_own_instance() -> None:
    text = """
        import pdb
        import tensorflow as tf
        class Own(pdb.Pdb):
            def go(self):
                self.cmdloop()
        pdb = Own()
        tf.zeros(1)
    """
    assert [f.name for f in facts(text, "call", "tensorflow.zeros")] == ["tensorflow.zeros"]


@pytest.mark.parametrize("text", ["x = f()\n" + "x = x.g()\n" * 16_000, "def f(x):\n" + "    x = x.g()\n" * 16_000])
def test_a_name_assigned_thousands_of_times_costs_no_search_each_time(text: str) -> None:
    with ended_if_stuck():
        assert max(map(len, _callees(text)), default=0) <= 1000


_BRANCHES = "if x:\n    from {one} import T as A{inside}\nelse:\n    from {other} import T as A{outside}\n"


@pytest.mark.parametrize(
    ("one", "other", "inside", "outside", "after", "called"),
    [
        ("a", "b", "", "", "A()", ["?A"]),
        ("a", "away", "", "", "A()", ["?A"]),
        ("a", "a", "", "", "A()", ["a:T"]),
        ("a", "b", "\n    A()", "\n    A()", "", ["a:T", "b:T"]),
        ("a", "b", "\n    def f():\n        A()", "", "", ["a:T"]),
    ],
    ids=["either", "one of the project", "the same", "in each branch", "in a function in a branch"],
)
def test_a_name_that_the_branches_of_a_condition_import_is_either(
    one: str, other: str, inside: str, outside: str, after: str, called: list[str]
) -> None:
    text = _BRANCHES.format(one=one, other=other, inside=inside, outside=outside) + after
    classes = dict.fromkeys(("a.py", "b.py"), "import torch\nclass T:\n    pass\n")
    whole = assembled("", read_sources({**classes, "main.py": f"import torch\n{text}\n"}))
    assert sorted(whole.context.names.of_calls(whole.context.project.modules["main.py"])) == called


def test_a_branch_that_imports_what_the_project_lacks_does_not_count() -> None:
    text = _BRANCHES.format(one="pkg.a", other="pkg.away", inside="", outside="") + "A()\n"
    sources = {
        "pkg/__init__.py": "",
        "pkg/a.py": "import torch\nclass T:\n    pass\n",
        "pkg/main.py": "import torch\n" + text,
    }
    whole = assembled("", read_sources(sources))
    assert whole.context.names.of_calls(whole.context.project.modules["pkg/main.py"]) == ["pkg.a:T"]


def test_a_call_of_either_is_one_of_both() -> None:
    text = _BRANCHES.format(one="a", other="b", inside="", outside="") + "A(3)\n"
    function = "import torch\ndef T(x):\n    torch.ones(x)\n"
    whole = assembled("", read_sources({"a.py": function, "b.py": function, "main.py": f"import torch\n{text}"}))
    for path in ("a.py", "b.py"):
        scope = scope_at(whole.context, whole.context.project.modules[path], 0).definition("T")
        assert scope is not None
        assert [(call.path, call.args[0].known.single) for call in scope.callers] == [("main.py", 3)]
