"""Settings: one key, whatever dialect it is written in, and what stands beside it."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.facts.model import Fact, FileFacts, Span
from npulint.facts.values import PossibleValues
from npulint.read.mixlist import MixlistEntry
from npulint.read.python import read_python
from tests.support import facts

_HEAD = "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"
_OP = (
    "cfg = tf.ConfigProto()\nop = cfg.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n"
)
_DEVICE = "import npu_device as npu\n"
_OFF = "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig.OFF"


def _settings(text: str, name: str = "") -> list[Fact]:
    return facts(_HEAD + text + "\n", "setting", name)


def _value(fact: Fact) -> object:
    value = fact.get("value")
    assert isinstance(value, PossibleValues)
    return value.single


# text -> name, value, via
_DIALECTS = {
    "a session key": (_OP + "op.parameter_map['k'].b = True", "k", True, "session_key"),
    "bytes": (_OP + "op.parameter_map['k'].s = tf.compat.as_bytes('v')", "k", "v", "session_key"),
    "double quotes": (_OP + 'op.parameter_map["k"].i = 3', "k", 3, "session_key"),
    "an attribute": (
        "class C:\n    def f(self):\n        self.op.parameter_map['k'].b = True",
        "k",
        True,
        "session_key",
    ),
    "without a short name": (
        "cfg = tf.ConfigProto()\ncfg.graph_options.rewrite_options.custom_optimizers[0].parameter_map['k'].b = True",
        "k",
        True,
        "session_key",
    ),
    "what a call gives": (
        "cfg = tf.ConfigProto()\ncfg.graph_options.rewrite_options.custom_optimizers.add().parameter_map['k'].b = True",
        "k",
        True,
        "session_key",
    ),
    "a parameter of a helper": ("def f(op):\n    op.parameter_map['k'].b = True", "k", True, "session_key"),
    "an NPURunConfig": ("NPURunConfig(k='v', model_dir=d)", "k", "v", "run_config"),
    "the global options": (_DEVICE + "npu.global_options().k = 'v'", "k", "v", "npu_options"),
    "nested global options": (_DEVICE + "npu.global_options().c.k = True", "c.k", True, "npu_options"),
    "named global options": (_DEVICE + "o = npu.global_options()\no.k = 'v'", "k", "v", "npu_options"),
    "named nested global options": (_DEVICE + "o = npu.global_options()\no.c.k = 'v'", "c.k", "v", "npu_options"),
    "global options by their full name": (
        "import npu_device\nnpu_device.global_options().k = 'v'",
        "k",
        "v",
        "npu_options",
    ),
    "a rewrite option": (
        _OP + "cfg.graph_options.rewrite_options.remapping = RewriterConfig.OFF",
        "rewrite_options.remapping",
        _OFF,
        "proto",
    ),
    "a GPU option": (_OP + "cfg.gpu_options.allow_growth = True", "gpu_options.allow_growth", True, "proto"),
    "GPU options built at once": ("tf.GPUOptions(allow_growth=True)", "gpu_options.allow_growth", True, "proto"),
    "an optimizer option": (
        _OP + "cfg.graph_options.optimizer_options.global_jit_level = 1",
        "optimizer_options.global_jit_level",
        1,
        "proto",
    ),
    "a field of the proto": (
        _OP + "cfg.allow_soft_placement = True",
        "config_proto.allow_soft_placement",
        True,
        "proto",
    ),
    "a pass in the experimental options": (
        "tf.config.optimizer.set_experimental_options({'constant_folding': False})",
        "rewrite_options.constant_folding",
        False,
        "proto",
    ),
    "a pass in options that have a name": (
        "o = {'disable_model_pruning': True}\ntf.config.optimizer.set_experimental_options(o)",
        "rewrite_options.disable_model_pruning",
        True,
        "proto",
    ),
    "a field given to the proto": (
        "tf.ConfigProto(log_device_placement=True)",
        "config_proto.log_device_placement",
        True,
        "proto",
    ),
}


@pytest.mark.parametrize(("text", "name", "value", "via"), _DIALECTS.values(), ids=_DIALECTS.keys())
def test_setting_in_every_dialect(text: str, name: str, value: object, via: str) -> None:
    found = _settings(text, name)
    assert [(_value(f), f.get("via")) for f in found] == [(value, via)]


_NONE = {
    "a computed key": _OP + "op.parameter_map[k].b = True",
    "another map": _OP + "op.other_map['k'].b = True",
    "a field of something else": "x.allow_soft_placement = True",
    "somebody else's NPURunConfig": "def f(NPURunConfig):\n    NPURunConfig(k=1)",
    "keywords that are not seen": "NPURunConfig(**kw)",
    "a call without keywords": "tf.ConfigProto()",
    "global options of something else": "x.get_options().k = 1",
}


@pytest.mark.parametrize("text", _NONE.values(), ids=_NONE.keys())
def test_what_is_no_setting(text: str) -> None:
    assert _settings(text) == []


@pytest.mark.parametrize(
    ("assignment", "field", "text"),
    [
        (".s = b'v'", "s", "no"),
        (".s = 'v'", "s", "yes"),
        (".s = tf.compat.as_bytes('v')", "s", "no"),
        (".b = True", "b", "no"),
        (".i = 1", "i", "no"),
    ],
)
def test_field_of_a_session_key(assignment: str, field: str, text: str) -> None:
    found = _settings(f"{_OP}op.parameter_map['k']{assignment}", "k")
    assert [(f.get("field"), f.get("text")) for f in found] == [(field, text)]


def test_settings_know_the_optimizer_that_they_stand_on() -> None:
    text = (
        _OP
        + "op.parameter_map['a'].b = True\n"
        + "d = tf.ConfigProto()\np = d.graph_options.rewrite_options.custom_optimizers.add()\n"
        + "p.parameter_map['b'].b = True\nunseen.parameter_map['c'].b = True\n"
    )
    entries = {f.name: f.get("entry") for f in _settings(text)}
    assert entries["a"] and entries["b"] and entries["a"] != entries["b"]
    assert entries["c"] == ""
    optimizers = facts(_HEAD + text, "npu_optimizer")
    assert [f.get("entry") for f in optimizers] == [entries["a"], entries["b"]]


def test_targets_with_calls_belong_to_what_their_own_call_gives() -> None:
    add = "cfg.graph_options.rewrite_options.custom_optimizers.add()"
    text = (
        "def make():\n    return tf.ConfigProto()\n\ncfg = make()\n"
        f"{add}.parameter_map['a'].b = True\n{add}.parameter_map['b'].b = True\n"
        f"setattr({add}, 'name', 'NpuOptimizer')\n"
    )
    optimizers = facts(_HEAD + text, "npu_optimizer")
    assert [(f.name, f.get("placed")) for f in optimizers] == [("", "yes"), ("", "yes"), ("NpuOptimizer", "yes")]
    assert [f.get("entry") for f in _settings(text)] == [f.get("entry") for f in optimizers[:2]]


def test_an_optimizer_without_off_line_leaves_the_graph_on_the_host() -> None:
    line = "op.parameter_map['use_off_line'].b = "
    for text, host in (
        ("False\n", "yes"),
        ("True\n", "no"),
        ("flag()\n", "no"),
        (f"False\nif chosen():\n    {line}True\n", "no"),
    ):
        assert facts(_HEAD + _OP + line + text, "npu_optimizer")[0].get("host") == host
    assert facts(_HEAD + _OP, "npu_optimizer")[0].get("host") == "no"


def test_settings_of_a_helper_stand_on_its_callers_optimizer() -> None:
    text = "def f(o):\n    o.parameter_map['a'].b = True\n" + _OP + "f(op)\n"
    assert _settings(text, "a")[0].get("entry") == facts(_HEAD + text, "npu_optimizer")[0].get("entry")


_VALUES = {
    "an option": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--m', default='v')\nargs = p.parse_args()\n",
        "args.m",
        ("v",),
        "m",
    ),
    "a conditional": ("", "'v' if x else 'w'", ("v", "w"), ""),
    "an environment variable": ("import os\n", "os.getenv('M', 'v')", ("v",), "$M"),
    "unknown": ("", "x", (), ""),
}


@pytest.mark.parametrize(("before", "value", "values", "symbol"), _VALUES.values(), ids=_VALUES.keys())
def test_value_of_a_setting(before: str, value: str, values: tuple[str, ...], symbol: str) -> None:
    known = _settings(f"{before}{_OP}op.parameter_map['k'].s = tf.compat.as_bytes({value})", "k")[0].get("value")
    assert (known.values, known.symbol) == (values, symbol)


def test_options_that_stand_beside_each_other() -> None:
    found = _settings(_OP + "op.parameter_map['enable_dump'].b = True\nop.parameter_map['dump_path'].s = b'd'\n")
    assert {f.get("options") for f in found} == {"dump_path enable_dump"}


_MIXED = {
    "on the same optimizer": (_OP + "op.parameter_map['precision_mode'].s = b'allow_mix_precision'\n", "yes"),
    "by the newer key": (_OP + "op.parameter_map['precision_mode_v2'].s = b'mixed_float16'\n", "yes"),
    "another mode": (_OP + "op.parameter_map['precision_mode'].s = b'force_fp16'\n", "no"),
    "no mode": (_OP, "unset"),
    "an unknown mode": (_OP + "op.parameter_map['precision_mode'].s = x\n", "unknown"),
    "on another optimizer": (
        _OP + "d = tf.ConfigProto()\np = d.graph_options.rewrite_options.custom_optimizers.add()\n"
        "p.parameter_map['precision_mode'].s = b'allow_mix_precision'\n",
        "unset",
    ),
    "on an unknown optimizer": (_OP + "x.parameter_map['precision_mode'].s = b'allow_mix_precision'\n", "unknown"),
}


@pytest.mark.parametrize(("before", "answer"), _MIXED.values(), ids=_MIXED.keys())
def test_list_is_given_together_with_a_mixed_mode(before: str, answer: str) -> None:
    found = _settings(before + "op.parameter_map['modify_mixlist'].s = b'ops.json'\n", "modify_mixlist")
    assert [f.get("mixed") for f in found] == [answer]


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("b'ops.json'", "yes"),
        ("b'lists/ops.json'", "yes"),
        ("b'other.json'", "no"),
        ("b'/home/other.json'", "unknown"),
        ("b'other'", "unknown"),
        ("path", "unknown"),
        ("tf.compat.as_bytes(os.getenv('P', 'other.json'))", "unknown"),
    ],
)
def test_file_that_a_setting_names(value: str, answer: str) -> None:
    text = f"import os\n{_HEAD}{_OP}op.parameter_map['modify_mixlist'].s = {value}\n"
    code, _ = read_python(text, "train.py")
    files = [FileFacts("train.py", "python", code), FileFacts("ops.json", "mixlist")]
    found = [f for p in assemble("", files) for f in p.index.named("setting", "modify_mixlist")]
    assert [f.get("file") for f in found] == [answer]


def test_operators_of_a_list_are_looked_up() -> None:
    entries: list[Fact] = [
        MixlistEntry(n, "ops.json", Span(), "black-list", "to-add") for n in ("ReduceSumD", "MatMu1V2", "9 ! 9")
    ]
    programs = assemble("", [FileFacts("ops.json", "mixlist", facts=entries)])
    found = [fact for program in programs for fact in program.index.of_kind("mixlist_entry")]
    assert [(f.get("known"), f.get("nearest")) for f in found] == [("yes", ""), ("no", "MatMulV2"), ("no", "")]


# text -> name -> attribute -> answer
_ADAPTER = {
    "a known option": (
        _OP + "op.parameter_map['mix_compile_mode'].b = True",
        "mix_compile_mode",
        {"legal": "yes", "field_ok": "yes"},
    ),
    "a misspelt option": (
        _OP + "op.parameter_map['precison_mode'].s = b'allow_mix_precision'",
        "precison_mode",
        {"legal": "no", "nearest": "precision_mode"},
    ),
    "a wrong field": (
        _OP + "op.parameter_map['precision_mode'].b = True",
        "precision_mode",
        {"field_ok": "no", "expected_field": "s"},
    ),
    "a wrong value": (
        _OP + "op.parameter_map['precision_mode'].s = b'mixed'",
        "precision_mode",
        {"legal": "yes", "value_ok": "no"},
    ),
    "a right value": (
        _OP + "op.parameter_map['precision_mode'].s = b'allow_mix_precision'",
        "precision_mode",
        {"value_ok": "yes"},
    ),
    "an unknown value": (_OP + "op.parameter_map['precision_mode'].s = x", "precision_mode", {"value_ok": "unknown"}),
    "one right and one wrong value": (
        _OP + "op.parameter_map['precision_mode'].s = b'allow_mix_precision' if x else b'mixed'",
        "precision_mode",
        {"value_ok": "unknown"},
    ),
    "a configuration's key": ("NPURunConfig(precision_mode='allow_mix_precision')", "precision_mode", {"legal": "yes"}),
    "the key of another optimizer": (
        _OP.replace("NpuOptimizer", "Other") + "op.parameter_map['whatever'].b = True",
        "whatever",
        {"legal": None},
    ),
    "a key that an NPURunConfig follows": (
        _OP + "op.parameter_map['mix_compile_mode'].b = True\nNPURunConfig(session_config=cfg, mix_compile_mode=False)",
        "mix_compile_mode",
        {"feeds_run_config": "yes", "in_run_config": "yes"},
    ),
}


@pytest.mark.parametrize(("text", "name", "answers"), _ADAPTER.values(), ids=_ADAPTER.keys())
def test_what_the_adapter_makes_of_a_setting(text: str, name: str, answers: dict[str, str]) -> None:
    fact = _settings(text, name)[0]
    assert {key: fact.get(key) for key in answers} == answers


_SUNK = {
    "the call is missing": ("", "missing"),
    "the call gives the same number": ("op2 = util.set_iteration_per_loop(sess, op2, 10)\n", "yes"),
    "the call gives another number": ("op2 = util.set_iteration_per_loop(sess, op2, 20)\n", "no"),
    "the call gives an unknown number": ("op2 = util.set_iteration_per_loop(sess, op2, n)\n", "unknown"),
    "a variable is made only": ("v = util.IterationPerLoop()\nv.create_iteration_per_loop_var(op2)\n", "unknown"),
}


@pytest.mark.parametrize(("call", "answer"), _SUNK.values(), ids=_SUNK.keys())
def test_iterations_are_sunk_by_a_key_and_a_call(call: str, answer: str) -> None:
    head = "from npu_bridge.estimator.npu import util\n" + _OP
    found = _settings(f"{head}op.parameter_map['iterations_per_loop'].i = 10\n{call}", "iterations_per_loop")
    assert [f.get("agrees") for f in found] == [answer]
