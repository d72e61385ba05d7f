"""What expressions are under one start of a program, and on which way the values come to them."""

from __future__ import annotations

import math
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.commands.training_config.provenance.plain import ValuePairs, canonical, show
from npulint.commands.training_config.tracer import Tracer
from npulint.facts.code import Const, Op, Ref, SequenceDisplay, Table
from npulint.facts.recipe import Traced
from npulint.model.values.cursors import scope_at
from tests.provenance_support import Started

TRAIN = """
    import argparse
    import os
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument('-b', '--batch-size', type=int, default=32)
    parser.add_argument('--lr', '--learning-rate', type=float, default='0.1')
    parser.add_argument('--milestones', type=str, default='30,60')
    parser.add_argument('--steps', type=int, nargs='+', default=[80, 120])
    parser.add_argument('--distributed', action='store_true')
    parser.add_argument('--seed', type=int)
    parser.add_argument('--optimizer', default='sgd')

    def main():
        args = parser.parse_args()
        ask(lr=args.lr, batch=args.batch_size, total=args.batch_size * 8, seed=args.seed, steps=args.steps,
            stops=[int(text.strip()) for text in args.milestones.split(',')])
        momentum = 0.9 if args.optimizer == 'sgd' else 0.0
        if args.distributed:
            sampler = torch.utils.data.distributed.DistributedSampler(data)
        else:
            sampler = None
        ask(momentum=momentum, shuffle=(sampler is None), warm=args.seed or 5, half=torch.float16)

    if __name__ == '__main__':
        main()
"""
LAUNCHER = """
    export SEED=7
    python train.py --lr 0.4 \\
        -b 256 --distributed --steps 10 20 30 \\
        --seed=$SEED --optimizer=adam
"""


def test_without_a_launcher_options_have_their_defaults() -> None:
    assert Started({"train.py": TRAIN}).values() == {
        "lr": 0.1,
        "batch": 32,
        "total": 256,
        "seed": None,
        "steps": (80, 120),
        "stops": (30, 60),
        "momentum": 0.9,
        "shuffle": True,
        "warm": 5,
        "half": "torch.float16",
    }


def test_a_launcher_decides_options_and_with_them_conditions() -> None:
    started = Started({"train.py": TRAIN, "run.sh": LAUNCHER}, script="run.sh")
    assert started.values() == {
        "lr": 0.4,
        "batch": 256,
        "total": 2048,
        "seed": 7,
        "steps": (10, 20, 30),
        "stops": (30, 60),
        "momentum": 0.0,
        "shuffle": False,
        "warm": 7,
        "half": "torch.float16",
    }


def test_the_way_leads_from_the_launcher_over_the_option_to_the_use() -> None:
    started = Started({"train.py": TRAIN, "run.sh": LAUNCHER}, script="run.sh")
    assert started.way("lr") == ["run.sh:3 --lr 0.4", "train.py:8 --lr", "train.py:17 args.lr"]
    assert started.way("total") == ["run.sh:4 -b 256", "train.py:7 --batch-size", "train.py:17 args.batch_size"]
    assert Started({"train.py": TRAIN}).way("lr") == ["train.py:8 --lr", "train.py:17 args.lr"]


def test_one_of_two_launchers_counts_and_not_the_other() -> None:
    files = {"train.py": TRAIN, "a.sh": "python train.py --lr 1", "b.sh": "python train.py --lr 2 -b 8"}
    assert Started(files, script="a.sh").values()["lr"] == 1.0
    assert Started(files, script="b.sh").values()["lr"] == 2.0
    assert Started(files, script="a.sh").values()["batch"] == 32


def test_a_computed_option_is_not_known() -> None:
    files = {"train.py": TRAIN, "run.sh": "python train.py --lr $(cat lr.txt)"}
    assert Started(files, script="run.sh").values()["lr"] == "??"


_SOURCES: dict[str, tuple[str, dict[str, object]]] = {
    "a literal": ("ask(x=1e-3)", {"x": 0.001}),
    "a constant of the module": ("LR = 2e-4 / 32\ndef f():\n    ask(x=LR)", {"x": 6.25e-06}),
    "the last assignment": ("lr = 0.1\nlr = lr * 2\nask(x=lr)", {"x": 0.2}),
    "an assignment further down": ("def f():\n    x = 1\n    ask(x=x)\n    x = 2", {"x": 1}),
    "a branch that depends": ("if unknown():\n    x = 1\nelse:\n    x = 2\nask(x=x)", {"x": "?2 / 1"}),
    "a branch that never runs": ("BIG = False\nx = 1\nif BIG:\n    x = 2\nask(x=x)", {"x": 1}),
    "a loop that changes it": ("lr = 0.1\nfor i in range(9):\n    lr = lr * 0.5\nask(x=lr)", {"x": "?0.1 / ?"}),
    "an augmented assignment": ("lr = 0.1\nlr *= 8\nask(x=lr)", {"x": "??"}),
    "a default": ("def f(m, decay=1e-4):\n    ask(x=decay)\nf(1)", {"x": 0.0001}),
    "callers that agree": ("def f(x):\n    ask(x=x)\nf(3)\nf(x=3)", {"x": 3}),
    "callers that do not": ("def f(x):\n    ask(x=x)\nf(3)\nf(4)", {"x": "?3 / 4"}),
    "a function that nobody calls": ("def f(x=3):\n    ask(x=x)", {"x": "?3 / ?"}),
    "starred arguments": ("def f(x=3):\n    ask(x=x)\nf(*more())", {"x": "?3 / ?"}),
    "keywords from a dictionary": ("kw = dict(x=5)\ndef f(x=3):\n    ask(x=x)\nf(**kw)", {"x": 5}),
    "keywords handed on": (
        "def f(**kw):\n    return g(**kw)\ndef g(x=3):\n    ask(x=x)\nf(x=6)",
        {"x": 6},
    ),
    "an attribute": (
        "class T:\n    def __init__(self, lr):\n        self.lr = lr\n    def f(self):\n        ask(x=self.lr)\n"
        "T(0.3).f()",
        {"x": 0.3},
    ),
    "an attribute that is filled in later": (
        "class T:\n    def __init__(self):\n        self.lr = None\n    def build(self):\n        self.lr = 0.3\n"
        "    def f(self):\n        ask(x=self.lr)\n",
        {"x": 0.3},
    ),
    "the constructor of a base class": (
        "class B:\n    def __init__(self, lr=1):\n        self.lr = lr\n        ask(x=lr)\n"
        "class C(B):\n    def __init__(self):\n        super().__init__(lr=2)\nC()",
        {"x": 2},
    ),
    "a method that a base class calls": (
        "class B:\n    def __init__(self, **kw):\n        self.model(**kw)\n"
        "class C(B):\n    def model(self, lr, **kw):\n        ask(x=lr)\nC(lr=4)",
        {"x": 4},
    ),
    "a class attribute": ("class Config:\n    LR = 0.5\nask(x=Config.LR, y=Config().LR)", {"x": 0.5, "y": 0.5}),
    "a data class": (
        "@dataclass\nclass Config:\n    lr: float = 0.5\n    wd: float = 1\nc = Config(lr=0.7)\nask(x=c.wd)",
        {"x": 1},
    ),
    "items": ("cfg = {'a': {'lr': 1}, 'b': [5, 6]}\nask(x=cfg['a']['lr'], y=cfg['b'][-1])", {"x": 1, "y": 6}),
    "an item that is replaced": ("cfg = {'lr': 1}\ncfg['lr'] = 2\nask(x=cfg['lr'])", {"x": 2}),
    "an item or a default": ("cfg = {'lr': 1}\nask(x=cfg.get('lr', 3))", {"x": 1}),
    "an EasyDict": (
        "from easydict import EasyDict as edict\n_C = edict()\ncfg = _C\n_C.TRAIN = edict({'LR': 1})\n_C.TRAIN.WD = 2\n"
        "ask(x=cfg.TRAIN.LR, y=cfg['TRAIN']['WD'])",
        {"x": 1, "y": 2},
    ),
    "a partial": ("from functools import partial\ndef f(a, x):\n    ask(x=x)\ng = partial(f, x=8)", {"x": 8}),
    "a started process": ("def work(rank, lr):\n    ask(x=lr)\nmp.spawn(work, nprocs=8, args=(0.25,))", {"x": 0.25}),
    "a list put together": (
        "a = [1, 2]\nask(x=a + [3], y=[*a, 4], z=len(a))",
        {"x": (1, 2, 3), "y": (1, 2, 4), "z": 2},
    ),
    "a dictionary": ("ask(x={'b': 2, 'a': 1})", {"x": (("a", 1), ("b", 2))}),
    "a dictionary with a hole": ("ask(x={'b': f()})", {"x": "??"}),
    "a conversion": (
        "ask(x=int('12'), y=float('1e-3'), z=str(5), w=bool(0))",
        {"x": 12, "y": 0.001, "z": "5", "w": False},
    ),
    "a pure function": ("import math\nask(x=math.ceil(10 / 4), y=max(3, 5), z=round(2.6))", {"x": 3, "y": 5, "z": 3}),
    "the result of a function": (
        "def half(x, by=2):\n    return x / by\nask(x=half(9), y=half(9, 3))",
        {"x": 4.5, "y": 3.0},
    ),
    "results by conditions": (
        "def size(name):\n    if name == 'big':\n        return 512\n    return 128\n"
        "ask(x=size('big'), y=size('small'))",
        {"x": 512, "y": 128},
    ),
    "a negative name": ("a = 3\nask(x=-a, y=not a)", {"x": -3, "y": False}),
    "a circle": ("a = b\nb = a\ndef f(x):\n    return f(x)\nask(x=a, y=f(1))", {"x": "??", "y": "??"}),
    "the entry itself": ("x = 1\nif __name__ == '__main__':\n    x = 2\ndef f():\n    ask(x=x)\nf()", {"x": 2}),
    "a default of a configurable function": (
        "import gin\n@gin.configurable\ndef f(lr=0.1):\n    ask(x=lr)\nf()",
        {"x": "?0.1 / ?"},
    ),
    "an environment that nobody sets": (
        "import os\nask(x=int(os.environ.get('BATCH', 4)), y=os.getenv('RANK_SIZE', 1), z=os.environ['LR'])",
        {"x": 4, "y": "??", "z": "??"},
    ),
}


@pytest.mark.parametrize("case", _SOURCES)
def test_what_expressions_are(case: str) -> None:
    source, expected = _SOURCES[case]
    values = Started({"train.py": source}).values()
    assert values == expected
    assert {name: type(value) for name, value in values.items() if value in (True, False)} == {
        name: type(value) for name, value in expected.items() if value in (True, False)
    }


def test_modules_configurations_and_parameters_of_other_files() -> None:
    started = Started(
        {
            "train.py": """
                from lib.config import cfg, LR
                import lib.config as config
                from lib.model import Net
                cfg.TRAIN.EPOCHS = 90
                Net(cfg, LR, width=config.WIDTH)
            """,
            "lib/config.py": """
                class Node(dict): pass
                cfg = Node()
                cfg.TRAIN = Node()
                cfg.TRAIN.EPOCHS = 12
                cfg.TRAIN.DECAY = 0.0005
                LR = 0.02
                WIDTH = 64
            """,
            "lib/model.py": """
                class Net:
                    def __init__(self, cfg, lr, width=32):
                        self.cfg = cfg
                        self.lr = lr
                        ask(width=width, decay=cfg.TRAIN.DECAY)
                    def fit(self):
                        ask(lr=self.lr, inner=self.cfg.TRAIN.DECAY)
            """,
        }
    )
    assert started.values() == {"width": 64, "decay": 0.0005, "lr": 0.02, "inner": 0.0005}
    assert started.way("lr")[0] == "lib/config.py:7 LR"
    assert started.way("decay") == ["lib/config.py:6 cfg.TRAIN.DECAY", "lib/model.py:6 cfg.TRAIN.DECAY"]


_FLAGS = """
    import tensorflow as tf
    flags = tf.app.flags
    flags.DEFINE_float('lr', 0.01, '')
    flags.DEFINE_boolean('half', False, '')
    flags.DEFINE_integer('batch', 64, '')
    FLAGS = flags.FLAGS

    def model_fn(features, labels, mode, params):
        ask(rate=params['learning_rate'], size=params['batch'])

    def main(_):
        tf.estimator.Estimator(model_fn=model_fn, params={'learning_rate': FLAGS.lr, 'batch': FLAGS.batch // 2})
        ask(half=FLAGS.half, dtype=tf.float16 if FLAGS.half else tf.float32)

    if __name__ == '__main__':
        FLAGS.set_default('batch', 128)
        tf.app.run()
"""


def test_flags_and_the_parameters_of_an_estimator() -> None:
    plain = Started({"train.py": _FLAGS}).values()
    assert plain == {"rate": 0.01, "size": 64, "half": False, "dtype": "tensorflow.float32"}
    files = {"train.py": _FLAGS, "run.sh": "python train.py --lr=0.5 --half --batch=32"}
    passed = Started(files, script="run.sh").values()
    assert passed == {"rate": 0.5, "size": 16, "half": True, "dtype": "tensorflow.float16"}


def test_an_option_that_the_script_changes() -> None:
    source = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument('--batch', type=int, default=256)
        parser.add_argument('--gpus', type=int, default=0)
        parser.add_argument('--amp', type=str2bool, default=False)
        def main():
            args = parser.parse_args()
            ask(before=args.batch)
            args.batch = args.batch // 4
            if args.gpus:
                args.batch = args.batch * args.gpus
            ask(after=args.batch, amp=args.amp)
        main()
    """
    assert Started({"train.py": source}).values() == {"before": 256, "after": 64, "amp": False}
    files = {"train.py": source, "run.sh": "python train.py --gpus 2 --amp yes"}
    assert Started(files, script="run.sh").values() == {"before": 256, "after": 128, "amp": True}


def test_variables_of_the_environment_come_from_the_launcher() -> None:
    source = "import os\nask(x=float(os.environ['LR']), y=os.getenv('RANK_SIZE'), z=os.environ.get('MODE', 'plain'))"
    started = Started({"train.py": source, "run.sh": "export RANK_SIZE=8\nLR=0.5 python train.py"}, script="run.sh")
    assert started.values() == {"x": 0.5, "y": "8", "z": "plain"}
    assert started.way("x")[0] == "run.sh:2 LR=0.5"


def test_options_of_two_scripts_do_not_mix() -> None:
    options = (
        "import argparse\nfrom common import run\np = argparse.ArgumentParser()\np.add_argument('--lr', default={})\n"
    )
    files = {
        "train.py": options.format(0.1) + "run(p.parse_args())",
        "test.py": options.format(0.2) + "run(p.parse_args())",
        "common.py": "def run(args):\n    ask(x=args.lr)",
    }
    assert Started(files).values() == {"x": 0.1}
    assert Started(files, entry="test.py").values() == {"x": 0.2}


def test_blocks_run_or_not() -> None:
    source = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument('--amp', action='store_true')
        args = parser.parse_args()
        if args.amp:
            ask(a=1)
        else:
            ask(b=1)
        if unknown():
            ask(c=1)
    """
    for script, expected in (("", [False, True, None]), ("run.sh", [True, False, None])):
        started = Started({"train.py": source, "run.sh": "python train.py --amp"}, script=script)
        module = scope_at(started.context, started.context.project.modules["train.py"], 0)
        sites = sorted(module.calls_named("ask"), key=lambda site: site.line)
        assert [started.tracer.runs(site.scope) for site in sites] == expected


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, True),
        (0, False, True),
        (1e-3, 0.001, True),
        (0.1 * 3, 0.3, True),
        ((1, 2), [1, 2.0], True),
        ({"a": 1, "b": 2}, ValuePairs.of([("b", 2.0), ("a", 1)]), True),
        (math.nan, math.nan, True),
        ("0.1", 0.1, False),
        ("SGD", "sgd", False),
        (None, 0, False),
        (None, False, False),
        ("", None, False),
        ((1, 2), (2, 1), False),
        (0.1, 0.1000001, False),
        (5, (5,), False),
    ],
)
def test_equal_for_comparison(left: object, right: object, same: bool) -> None:
    assert (canonical(left) == canonical(right)) is same
    assert not same or hash(canonical(left)) == hash(canonical(right))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 * 3, "0.3"),
        (1e-5, "1e-05"),
        (True, "True"),
        (None, "None"),
        ("", "''"),
        ("sgd", "sgd"),
        ((0.9, "a"), "[0.9, 'a']"),
        (ValuePairs.of([("lr", 0.1)]), "{'lr': 0.1}"),
        ("x" * 200, "x" * 79 + "…"),
    ],
)
def test_values_as_people_read_them(value: object, text: str) -> None:
    assert show(value) == text


_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, width=32)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)


@given(_PLAIN)
def test_a_literal_is_what_it_says(value: Any) -> None:
    found = Started({"train.py": f"ask(x={value!r})"}).traced()["x"] if _is_literal(value) else None
    assert found is None or (found.known and canonical(found.value) == canonical(value))


def _is_literal(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_literal, value))
    return not isinstance(value, float) or math.isfinite(value)


_NAME = st.sampled_from(["a", "b", "args.a", "self.b", "cfg['a']", "cfg.a.b", "f(a)", "f(b=a)", "os.environ['A']"])
_EXPRESSION = st.recursive(
    _NAME | st.sampled_from(["1", "0.5", "'x'", "None", "True", "[1, *a]", "{'k': b, **cfg}", "dict(a=a)"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "//", "**", "or", "and", "==", "is", "in"]), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        inner.map(lambda one: f"f({one})"),
        inner.map(lambda one: f"int({one})"),
        inner.map(lambda one: f"[int(i) for i in {one}]"),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_NAME.filter(lambda name: "(" not in name), _EXPRESSION), max_size=6), _EXPRESSION)
def test_any_program_is_answered(assignments: list[tuple[str, str]], asked: str) -> None:
    lines = [f"    {name} = {value}" for name, value in assignments]
    body = "\n".join([*lines, f"    ask(x={asked}, y=self.b)", f"    return {asked}"])
    source = (
        f"import os\ncfg = {{}}\nclass T:\n  def f(self, a, b=1, *c, **cfg):\n{body}\nf = T().f\nf(1)\nT().f({asked})\n"
    )
    for one in Started({"train.py": source}).traced().values():
        assert isinstance(one, Traced)
        assert one.text
        assert not one.known or one.provenance


def test_deep_and_wide_expressions_are_given_up_quietly() -> None:
    deep: Any = Ref("x")
    for _ in range(3000):
        deep = Op("+", (deep, Const(1)))
    wide = SequenceDisplay(tuple(Table((Const("k"),), (Ref(f"x{at}"),)) for at in range(5000)))
    started = Started({"train.py": "x = 1"})
    module = scope_at(started.context, started.context.project.modules["train.py"], 0)
    assert not started.tracer.trace(module.expr(deep, 9)).known
    assert not started.tracer.trace(module.expr(wide, 9)).known
    assert started.tracer.trace(module.named("x", 9)).value == 1


def test_many_branches_do_not_explode() -> None:
    lines = ["x0 = 1"]
    for at in range(1, 40):
        lines.append(f"if c{at}():\n    x{at} = x{at - 1} + x{at - 1}\nelse:\n    x{at} = x{at - 1} * f(x{at - 1})")
    source = (
        "def f(x):\n    return x + g(x)\ndef g(x):\n    return f(x) + f(x + 1)\n" + "\n".join(lines) + "\nask(x=x39)"
    )
    assert not Started({"train.py": source}).traced()["x"].known


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    source = dedent(
        """
        import argparse
        p = argparse.ArgumentParser()
        p.add_argument('--lr', type=float, default=0.1)
        args = p.parse_args()
        def f(x, y=2):
            return g(x) if y else x
        def g(x):
            return x * args.lr
        a = f(3)
        b = f(a, 0)
        ask(a=a, b=b, c=[a, b], d=f(b))
        """
    )
    whole = Started({"train.py": source})
    together = whole.values()
    (site,) = scope_at(whole.context, whole.context.project.modules["train.py"], 0).calls_named("ask")
    for name, value in reversed(site.keywords.items()):
        alone = Tracer(whole.context, entry="train.py").trace(value)
        assert alone.known
        assert alone.value == together[name]
