"""Options that are set in loops, by helpers and by ``**options``: as many as the dict or list has."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from tests.support import facts

_HEAD = """\
import collections
import tensorflow.compat.v1 as tf
from collections import namedtuple
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import NamedTuple
from npu_bridge.npu_init import *
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
"""
_OP = (
    "cfg = tf.ConfigProto()\nop = cfg.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n"
)
_DICT = "{'precision_mode': 'force_fp32', 'dump_path': '/x'}"
_SET = "    op.parameter_map[k].s = tf.compat.as_bytes(v)\n"
_LOOP = "for k, v in O.items():\n" + _SET
_CONF = f"import tensorflow\nO = {_DICT}\n"


def _program(sources: str | dict[str, str]) -> dict[str, str]:
    return {"train.py": _HEAD + sources} if isinstance(sources, str) else sources


def _text(fact: Fact) -> str:
    value = fact.get("value")
    assert isinstance(value, PossibleValues)
    return value.text()


def _settings(sources: str | dict[str, str]) -> set[tuple[str, str]]:
    return {(fact.name, _text(fact)) for fact in facts(_program(sources), "setting")}


_LOOPS: dict[str, str | dict[str, str]] = {
    "a dict display": f"{_OP}for k, v in {_DICT}.items():\n{_SET}",
    "a named dict": f"O = {_DICT}\n{_OP}{_LOOP}",
    "sorted items": f"O = {_DICT}\n{_OP}for k, v in sorted(O.items()):\n{_SET}",
    "six": f"import six\nO = {_DICT}\n{_OP}for k, v in six.iteritems(O):\n{_SET}",
    "a call of dict": f"O = dict(precision_mode='force_fp32', dump_path='/x')\n{_OP}{_LOOP}",
    "an ordered dict": "O = collections.OrderedDict([('precision_mode', 'force_fp32'), ('dump_path', '/x')])\n"
    f"{_OP}{_LOOP}",
    "pairs": f"{_OP}for k, v in [('precision_mode', 'force_fp32'), ('dump_path', '/x')]:\n{_SET}",
    "two tuples": f"{_OP}for k, v in zip(('precision_mode', 'dump_path'), ('force_fp32', '/x')):\n{_SET}",
    "the keys alone": f"O = {_DICT}\n{_OP}for k in O:\n    op.parameter_map[k].s = O[k].encode()\n",
    "a dict in a dict": "A = {'precision_mode': '?', 'dump_path': '/x'}\nO = {**A, 'precision_mode': 'force_fp32'}\n"
    f"{_OP}{_LOOP}",
    "two joined dicts": f"O = dict(dump_path='/x') | {{'precision_mode': 'force_fp32'}}\n{_OP}{_LOOP}",
    "an updated dict": f"O = {{'dump_path': '/x'}}\nO.update(precision_mode='force_fp32')\n{_OP}{_LOOP}",
    "a dict that is filled": f"O = {{}}\nO['dump_path'] = '/x'\nO['precision_mode'] = 'force_fp32'\n{_OP}{_LOOP}",
    "a function that returns it": f"def o():\n    return {_DICT}\n{_OP}for k, v in o().items():\n{_SET}",
    "a helper for one option": "def put(o, k, v):\n    o.parameter_map[k].s = tf.compat.as_bytes(v)\n"
    f"{_OP}put(op, 'precision_mode', 'force_fp32')\nput(op, 'dump_path', '/x')\n",
    "a helper in a loop": "def put(o, k, v):\n    o.parameter_map[k].s = tf.compat.as_bytes(v)\n"
    f"{_OP}for a, b in {_DICT}.items():\n    put(op, a, b)\n",
    "a helper that takes the dict": f"def put(op, O):\n    for k, v in O.items():\n    {_SET}{_OP}put(op, {_DICT})\n",
    "a helper that takes keywords": f"def put(op, **O):\n    for k, v in O.items():\n    {_SET}"
    f"{_OP}put(op, precision_mode='force_fp32', dump_path='/x')\n",
    "an attribute of the class": f"class C:\n    O = {_DICT}\n    def f(self, op):\n"
    "        for k, v in self.O.items():\n            op.parameter_map[k].s = tf.compat.as_bytes(v)\n",
    "another module": {"train.py": f"{_HEAD}from conf import O\n{_OP}{_LOOP}", "conf.py": _CONF},
    "another module by its name": {
        "train.py": f"{_HEAD}import conf\n{_OP}for k, v in conf.O.items():\n{_SET}",
        "conf.py": _CONF,
    },
    "a star import": {"train.py": f"{_HEAD}from conf import *\n{_OP}{_LOOP}", "conf.py": _CONF},
    "global options": f"import npu_device as npu\nfor k, v in {_DICT}.items():\n"
    "    setattr(npu.global_options(), k, v)\n",
    "named global options": f"import npu_device as npu\no = npu.global_options()\nfor k, v in {_DICT}.items():\n"
    "    setattr(o, k, v)\n",
    "keywords of NPURunConfig": f"O = {_DICT}\nNPURunConfig(**O)\n",
}


@pytest.mark.parametrize("sources", _LOOPS.values(), ids=_LOOPS.keys())
def test_loop_sets_each_option_to_its_value(sources: str | dict[str, str]) -> None:
    assert _settings(sources) == {("precision_mode", "force_fp32"), ("dump_path", "/x")}


_UNKNOWN = {
    "a dict that is read from a file": f"{_OP}for k, v in load().items():\n{_SET}",
    "a parameter that nobody passes": f"def f(op, k):\n{_SET}",
    "a branch that is not decided": f"{_OP}for k, v in {_DICT}.items():\n    if wanted(k):\n    {_SET}",
    "keywords that are read from a file": "NPURunConfig(**load())\n",
    "a dict that a file may change": "O = {'dump_path': '/x'}\nO.update(load())\nNPURunConfig(**O)\n",
}


@pytest.mark.parametrize("text", _UNKNOWN.values(), ids=_UNKNOWN.keys())
def test_options_that_are_not_known_are_no_settings(text: str) -> None:
    assert _settings(text) == set()


def test_options_of_a_launcher_stay_symbols_in_a_loop() -> None:
    flags = "tf.flags.DEFINE_string('mode', 'force_fp32', '')\nFLAGS = tf.flags.FLAGS\n"
    text = f"{_HEAD}{flags}{_OP}for k, v in {{'precision_mode': FLAGS.mode}}.items():\n{_SET}"
    values = [fact.get("value") for fact in facts(text, "setting")]
    assert [(value.values, value.symbol) for value in values] == [(("force_fp32",), "mode")]


def test_branch_for_each_type_is_taken_by_the_values_of_that_type() -> None:
    text = f"""{_HEAD}{_OP}
for k, v in {{"dump_path": "/x", "enable_dump": True, "iterations_per_loop": 10}}.items():
    if isinstance(v, bool):
        op.parameter_map[k].b = v
    elif isinstance(v, int):
        op.parameter_map[k].i = v
    else:
        op.parameter_map[k].s = v
"""
    found = {(fact.name, fact.get("field"), fact.get("text")) for fact in facts(text, "setting")}
    assert found == {("dump_path", "s", "yes"), ("enable_dump", "b", "no"), ("iterations_per_loop", "i", "no")}


_REWRITE = "r = cfg.graph_options.rewrite_options\n"
_SWITCHES = {
    "a tuple": ("for s in ('remapping', 'memory_optimization'):\n    setattr(r, s, RewriterConfig.OFF)\n", "off"),
    "a list with a name": ("L = ['remapping']\nfor s in L:\n    setattr(r, s, RewriterConfig.OFF)\n", "off"),
    "a set": ("for s in {'remapping', 'x'}:\n    setattr(r, s, RewriterConfig.OFF)\n", "off"),
    "numbered": ("for i, s in enumerate(['remapping']):\n    setattr(r, s, RewriterConfig.OFF)\n", "off"),
    "a dict": ("for s, o in {'remapping': RewriterConfig.OFF}.items():\n    setattr(r, s, o)\n", "off"),
    "one setattr": ("setattr(r, 'remapping', RewriterConfig.OFF)\n", "off"),
    "the whole path": ("setattr(cfg.graph_options.rewrite_options, 'remapping', RewriterConfig.OFF)\n", "off"),
    "a helper": (
        "def off(r, names):\n    for s in names:\n        setattr(r, s, RewriterConfig.OFF)\noff(r, ['remapping'])\n",
        "off",
    ),
    "on": ("for s in ('remapping',):\n    setattr(r, s, RewriterConfig.ON)\n", "on"),
    "another pass": ("for s in ('constant_folding',):\n    setattr(r, s, RewriterConfig.OFF)\n", "unset"),
    "unknown names": ("for s in names():\n    setattr(r, s, RewriterConfig.OFF)\n", "unknown"),
}


@pytest.mark.parametrize(("text", "switch"), _SWITCHES.values(), ids=_SWITCHES.keys())
def test_rewrite_option_is_set_by_name(text: str, switch: str) -> None:
    (optimizer,) = facts(_HEAD + _OP + _REWRITE + text, "npu_optimizer")
    assert optimizer.get("remapping") == switch


_M = "ExponentialUpdateLossScaleManager"
_SPREAD = {
    "a display": f"{_M}(**{{'init_loss_scale': 2.0}})",
    "a call of dict": f"O = dict(init_loss_scale=2.0)\n{_M}(**O)",
    "a dict in a dict": f"A = dict(init_loss_scale=1.0)\n{_M}(**{{**A, 'init_loss_scale': 2.0}})",
    "two joined dicts": f"A = dict(init_loss_scale=1.0)\n{_M}(**(A | {{'init_loss_scale': 2.0}}))",
    "an updated dict": f"A = dict(init_loss_scale=1.0)\nA.update({{'init_loss_scale': 2.0}})\n{_M}(**A)",
    "a changed copy": f"A = dict(init_loss_scale=1.0)\nB = A.copy()\nB['init_loss_scale'] = 2.0\n{_M}(**B)",
    "what a function returns": f"def o():\n    return dict(init_loss_scale=2.0)\n{_M}(**o())",
    "a parameter": f"def mk(o):\n    return {_M}(**o)\nmk(dict(init_loss_scale=2.0))",
    "keywords handed on": f"def mk(**o):\n    return {_M}(**o)\nmk(init_loss_scale=2.0)",
    "an attribute": f"class C:\n    O = dict(init_loss_scale=2.0)\n    def f(self):\n        return {_M}(**self.O)",
    "a data class": f"@dataclass\nclass O:\n    init_loss_scale: float = 2.0\n{_M}(**asdict(O()))",
    "the variables of a data class": "@dataclass\nclass O:\n    init_loss_scale: float = 1.0\n"
    f"o = O(init_loss_scale=2.0)\n{_M}(**vars(o))",
    "a field of a data class": "@dataclass\nclass O:\n    init_loss_scale: float = 1.0\n"
    f"o = O(init_loss_scale=2.0)\n{_M}(init_loss_scale=o.init_loss_scale)",
    "a field of a named tuple": f"O = namedtuple('O', 'init_loss_scale, x')\no = O(2.0, 1)\n{_M}(o.init_loss_scale)",
    "a named tuple": f"O = collections.namedtuple('O', ['init_loss_scale'])\no = O(2.0)\n{_M}(**o._asdict())",
    "a typed named tuple": f"class O(NamedTuple):\n    init_loss_scale: float = 2.0\n{_M}(**O()._asdict())",
    "a namespace": f"o = SimpleNamespace(init_loss_scale=2.0)\n{_M}(o.init_loss_scale)",
    "an element": f"O = dict(init_loss_scale=2.0)\n{_M}(O['init_loss_scale'])",
}


@pytest.mark.parametrize("text", _SPREAD.values(), ids=_SPREAD.keys())
def test_argument_comes_from_options(text: str) -> None:
    (manager,) = facts(_HEAD + text, "loss_scale")
    assert manager.args.argument_value("init_loss_scale", 0).single == 2.0


_OPEN = {
    "a dict that is read": f"{_M}(**load())",
    "a dict that may be changed": f"A = dict(init_loss_scale=2.0)\nA.update(load())\n{_M}(**A)",
    "a dict of which a part is read": f"{_M}(**{{'init_loss_scale': 2.0, **load()}})",
}


@pytest.mark.parametrize("text", _OPEN.values(), ids=_OPEN.keys())
def test_options_that_may_be_others_leave_arguments_open(text: str) -> None:
    (manager,) = facts(_HEAD + text, "loss_scale")
    assert manager.args.argument_value("init_loss_scale", 0) is None
    assert manager.args.starred


def test_known_options_leave_nothing_open() -> None:
    (manager,) = facts(f"{_HEAD}O = dict(init_loss_scale=2.0)\n{_M}(**O)", "loss_scale")
    assert manager.args.argument_value("decr_ratio", 4) is None
    assert not manager.args.starred


def test_branches_give_alternatives() -> None:
    text = f"if x:\n    A = dict(init_loss_scale=2.0)\nelse:\n    A = dict(init_loss_scale=3.0)\n{_M}(**A)"
    (manager,) = facts(_HEAD + text, "loss_scale")
    assert set(manager.args.argument_value("init_loss_scale", 0).values) == {2.0, 3.0}
