"""Every rule about two options, in every way of setting them; and what must not be taken for a broken rule."""

from __future__ import annotations

import pytest

from npulint.data.option_rules import OptionRule, holds, rules
from npulint.data.options import MECHANISMS, OptionUse, option
from tests.option_support import TEMPLATE, Code, Setting, right_value, script
from tests.support import facts


def _use(key: str, mechanism: str) -> OptionUse | None:
    known = option(key)
    return None if known is None else known.uses.get(mechanism)


CASES = [
    (rule, mechanism)
    for rule in rules()
    for mechanism in rule.mechanisms or MECHANISMS
    if _use(rule.option, mechanism) and _use(rule.other, mechanism)
]
IDS = [f"{rule.rule}-{rule.option}-{rule.other}-{mechanism}" for rule, mechanism in CASES]


def _meeting(condition: str, key: str, mechanism: str) -> object:
    """A value of an option that meets a condition of a rule."""
    known, use = option(key), _use(key, mechanism)
    assert known is not None and use is not None
    field = known.field if mechanism == "session_key" else ""
    if condition in ("*", "any"):
        return next((v for v in use.values if str(v) != use.default), None) or right_value(use, field)
    if condition == "ParameterServerStrategy":
        return Code(f"tf.distribute.experimental.{condition}()")
    if condition == "True":
        return True
    if condition.startswith(">"):
        return max(int(condition[1:]) + 1, 1)
    values = [v for v in use.values if v is not None] or condition.split("|")
    return next(int(v) if use.type == "int" else v for v in values if holds(condition, v))


def _setting(key: str, value: object, mechanism: str) -> Setting:
    known, use = option(key), _use(key, mechanism)
    assert known is not None and use is not None
    return use.name, known.field, value


def _conflicts(mechanism: str, *settings: Setting) -> list[tuple[str, str, str]]:
    found = facts(script(mechanism, *settings), "option_conflict")
    return [(f.name, f.get("option"), f.get("other")) for f in found]


def _first(rule: OptionRule, mechanism: str) -> list[Setting]:
    settings = [_setting(rule.option, _meeting(rule.when, rule.option, mechanism), mechanism)]
    if rule.meanwhile:
        key, _, value = rule.meanwhile.partition("=")
        settings.append(_setting(key, _meeting(value, key, mechanism), mechanism))
    return settings


@pytest.mark.parametrize(("rule", "mechanism"), CASES, ids=IDS)
def test_a_rule_is_broken_by_its_pair_and_kept_without(rule: OptionRule, mechanism: str) -> None:
    alone = _first(rule, mechanism)
    pair = [*alone, _setting(rule.other, _meeting(rule.other_when, rule.other, mechanism), mechanism)]
    expected = (rule.rule, alone[0][0], pair[-1][0])
    breaks_alone = rule.kind in ("lacks", "idle", "below") or rule.other_when == "any"
    assert (expected in _conflicts(mechanism, *alone)) is breaks_alone
    assert (expected in _conflicts(mechanism, *pair)) is (rule.kind in ("clash", "below"))


def test_a_time_that_is_long_enough_breaks_no_rule() -> None:
    enough = [("hccl_timeout", "i", 600), ("stream_sync_timeout", "i", 600_001)]
    assert _conflicts("session_key", *enough) == []
    assert _conflicts("session_key", ("stream_sync_timeout", "i", -1)) == []


_PAIR = 'op.parameter_map["mix_compile_mode"].b = True\nop.parameter_map["iterations_per_loop"].i = {}\n'
_KEPT = {
    "one of them has an unknown value": _PAIR.format("LOOPS"),
    "one of them does not run by default": _PAIR.format(1)
    + 'if False:\n    op.parameter_map["iterations_per_loop"].i = 10\n',
    "one of two branches": 'if MIXED:\n    op.parameter_map["mix_compile_mode"].b = True\nelse:\n    '
    'op.parameter_map["iterations_per_loop"].i = 10\n',
    "another value is written as well": _PAIR.format(10) + 'op.parameter_map["mix_compile_mode"].b = False\n',
    "they stand on two optimizers": _PAIR.format(1)
    + "two = tf.ConfigProto()\nother = two.graph_options.rewrite_options.custom_optimizers.add()\n"
    'other.name = "NpuOptimizer"\nother.parameter_map["iterations_per_loop"].i = 10\n',
    "the optimizer is somebody else's": _PAIR.format(10) + 'op.name = "MyPass"\n',
    "they stand on two configurations": "a = NPURunConfig(mix_compile_mode=True)\n"
    "b = NPURunConfig(iterations_per_loop=9)\n",
    "what is missing may be handed on": 'NPURunConfig(variable_placement="Host", **given)\n',
    "what is missing stands on the session configuration": 'op.parameter_map["mix_compile_mode"].b = True\n'
    'NPURunConfig(variable_placement="Host", session_config=config)\n',
    "what is missing may come from the run configuration": 'op.parameter_map["in_out_pair"].s = b"[[1], [2]]"\n'
    "NPURunConfig(mix_compile_mode=True, session_config=config)\n",
    "what is missing stands on an optimizer that is not seen": 'op.parameter_map["in_out_pair"].s = b"[[1], [2]]"\n'
    'unseen.parameter_map["mix_compile_mode"].b = True\n',
    "None is not set": 'NPURunConfig(precision_mode=None, precision_mode_v2="origin")\n',
}


@pytest.mark.parametrize("text", _KEPT.values(), ids=_KEPT.keys())
def test_doubt_breaks_no_rule(text: str) -> None:
    head = TEMPLATE.replace('op.name = "NpuOptimizer"\n', "") if "MyPass" in text else TEMPLATE
    assert [f.name for f in facts(head + text, "option_conflict")] == []


def test_two_functions_that_configure_optimizers_unseen_are_two_places() -> None:
    one = "def mixed(npu):\n    npu.parameter_map['mix_compile_mode'].b = True\n"
    two = "def sunk(npu):\n    npu.parameter_map['iterations_per_loop'].i = 10\n"
    assert facts(TEMPLATE + one + two, "option_conflict") == []
    together = one + "    npu.parameter_map['iterations_per_loop'].i = 10\n"
    assert [f.get("other_value") for f in facts(TEMPLATE + together, "option_conflict")] == ["True"]


_OBJECTS = {
    "written in place": "run = NPURunConfig(dump_config=DumpConfig({}))\n",
    "by name": "dump = DumpConfig({})\nrun = NPURunConfig(dump_config=dump)\n",
    "from a function": "def made():\n    return DumpConfig({})\n\nrun = NPURunConfig(dump_config=made())\n",
}


@pytest.mark.parametrize("text", _OBJECTS.values(), ids=_OBJECTS.keys())
@pytest.mark.parametrize("values", ["True, '/out'", "enable_dump=True, dump_path='/out'", "True, dump_path='/out'"])
def test_what_an_object_sets_stands_on_the_configuration_that_takes_it(text: str, values: str) -> None:
    found = facts(TEMPLATE + text.format(values), "setting")
    run = next(f for f in found if f.name == "dump_config")
    inner = {f.name: f.get("value").single for f in found if f.name.startswith("DumpConfig.")}
    assert inner == {"DumpConfig.enable_dump": True, "DumpConfig.dump_path": "/out"}
    assert {f.get("entry") for f in found} == {run.get("entry")}
    assert run.get("value").single == "DumpConfig"


def test_each_keyword_of_a_configuration_is_told_at_its_place() -> None:
    text = "run = NPURunConfig(\n    model_dir='out',\n    dump_config=DumpConfig(dump_step='é', dump_mode='all'),\n)\n"
    lines = TEMPLATE.count("\n")
    found = {f.name: (f.span.line - lines, f.span.column) for f in facts(TEMPLATE + text, "setting")}
    assert found["model_dir"] == (2, 5)
    assert found["DumpConfig.dump_step"] == (3, 28)
    assert found["DumpConfig.dump_mode"] == (3, 43)
