"""Operators come into the mixed precision list that a program uses, or into a new one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Fact, Span
from npulint.fix.mixlist import FILE, plan
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.source import edited_text
from npulint.judge.findings import FixStep
from npulint.read.json_tree import Lines
from npulint.read.mixlist import read_mixlist

_NEW = 'os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops_info.json")'


def none_there(path: str) -> Text:
    """A project with nothing else in it."""
    return Text(path, "mixlist", "", new=True)


def added(text: str, operator: str = "Mul", **words: str) -> str:
    """A list after a step."""
    step = FixStep("mixlist", "ops_info.json", Span(), {"operator": operator, **words})
    return edited_text(text, plan(step, Text("ops_info.json", "mixlist", text), none_there).edits)


def scripted(source: str, mark: str, path: str = "a/train.py") -> Plan:
    """What a step at the mark in a script comes to."""
    start = source.index(mark)
    span = Lines(source).span(start, start + len(mark))
    step = FixStep("mixlist", path, span, {"operator": "ReduceSumD", "list": "black-list"})
    return plan(step, Text(path, "python", source), none_there)


def named(source: str, mark: str) -> str:
    """The script after that step."""
    edits = [edit for edit in scripted(source, mark).edits if edit.path == "a/train.py"]
    return edited_text(source, edits)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"black-list": {"to-add": ["Add"]}}\n', '{"black-list": {"to-add": ["Add", "Mul"]}}\n'),
        ('{"black-list": {"to-add": []}}', '{"black-list": {"to-add": ["Mul"]}}'),
        ('{"black-list": {"to-add": [ ]}}', '{"black-list": {"to-add": ["Mul"]}}'),
        ('{"black-list": {}}', '{"black-list": {"to-add": ["Mul"]}}'),
        ("{}\n", '{"black-list": {"to-add": ["Mul"]}}\n'),
        (
            '{"white-list": {"to-add": ["Add"]}}',
            '{"black-list": {"to-add": ["Mul"]}, "white-list": {"to-add": ["Add"]}}',
        ),
        (
            '{\n  "black-list": {\n    "to-add": [\n      "Add"\n    ]\n  }\n}\n',
            '{\n  "black-list": {\n    "to-add": [\n      "Add",\n      "Mul"\n    ]\n  }\n}\n',
        ),
        (
            '{\n\t"black-list": {\n\t\t"to-remove": ["Add"]\n\t}\n}\n',
            '{\n\t"black-list": {\n\t\t"to-add": ["Mul"],\n\t\t"to-remove": ["Add"]\n\t}\n}\n',
        ),
        (
            '{\n  "white-list": {"to-remove": ["Mul"]}\n}\n',
            '{\n  "black-list": {"to-add": ["Mul"]},\n  "white-list": {"to-remove": ["Mul"]}\n}\n',
        ),
        ('{"black-list": {"to-add": ["Mul"]}}', '{"black-list": {"to-add": ["Mul"]}}'),
    ],
)
def test_an_operator_is_added_as_the_list_is_written(before: str, after: str) -> None:
    assert added(before) == after


def test_the_white_list_is_chosen_by_name() -> None:
    assert added("{}", list="white-list") == '{"white-list": {"to-add": ["Mul"]}}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"white-list": {"to-add": ["Mul"]}}', "contradicts"),
        ('{"black-list": {"to-remove": ["Mul"]}}', "contradicts"),
        ('{"black-list": {"to-add": ["Add",]}}', "list"),
        ('{"black-list": {"to-add": "Add"}}', "list"),
        ('{"black-list": []}', "list"),
        ('{"white-list": []}', "list"),
        ('{"black-list": {}} // why', "list"),
        ("[]", "list"),
        ("", "list"),
    ],
)
def test_a_list_that_says_otherwise_is_left_alone(text: str, reason: str) -> None:
    with pytest.raises(FixRefused, match=reason):
        added(text)


_OPERATORS = st.lists(st.sampled_from(["Add", "Cast", "SoftmaxV2"]), unique=True, max_size=3)


@given(
    st.dictionaries(
        st.sampled_from(["black-list", "white-list"]),
        st.dictionaries(st.sampled_from(["to-add", "to-remove"]), _OPERATORS),
    ),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_the_rest_of_a_list_stays(lists: dict[str, dict[str, list[str]]], indent: int | str | None) -> None:
    before = json.dumps(lists, indent=indent)
    after = added(before)
    entries = {(fact.get("list"), fact.get("action"), fact.name) for fact in _entries(before)}
    told = {(fact.get("list"), fact.get("action"), fact.name) for fact in _entries(after)}
    assert told == entries | {("black-list", "to-add", "Mul")}
    assert all(line.rstrip(",") in after for line in before.split("\n") if line.rstrip(",").endswith('"'))
    assert added(after) == after
    assert json.loads(after)["black-list"]["to-add"][-1] == "Mul"


def _entries(text: str) -> list[Fact]:
    return [fact for fact in read_mixlist(text, "ops_info.json") if fact.kind == "mixlist_entry"]


def test_a_new_list_lies_beside_the_script() -> None:
    source = 'op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")\n'
    found = scripted(source, source.strip())
    assert found.imports == (ImportRequest("a/train.py", "import os"),)
    made = next(edit for edit in found.edits if edit.path == "a/" + FILE)
    assert made.text == '{\n    "black-list": {\n        "to-add": ["ReduceSumD"]\n    }\n}\n'
    assert [fact.name for fact in _entries(made.text)] == ["ReduceSumD"]


@pytest.mark.parametrize(
    ("source", "mark", "line"),
    [
        (
            'op.parameter_map["precision_mode"].s = tf.compat.as_bytes("x")\n',
            "op.parameter_map",
            f'op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes({_NEW})',
        ),
        (
            "if a:\n    c.op.parameter_map['precision_mode'].s = b'x'  # why\n    b()\n",
            "c.op",
            f"    c.op.parameter_map['modify_mixlist'].s = {_NEW}.encode()",
        ),
        (
            "op.parameter_map['precision_mode_v2'].s = as_bytes(\n    'x')\n",
            "op.parameter_map",
            f"op.parameter_map['modify_mixlist'].s = {_NEW}.encode()",
        ),
        (
            "npu.global_options().precision_mode = 'x'\n",
            "npu.global",
            f"npu.global_options().modify_mixlist = {_NEW}",
        ),
    ],
)
def test_a_script_names_the_list_behind_the_mode(source: str, mark: str, line: str) -> None:
    after = named(source, mark)
    assert line in after.split("\n")
    assert after.replace(line + "\n", "") == source


def test_a_configuration_names_the_list_beside_the_mode() -> None:
    source = 'c = NPURunConfig(precision_mode="x", a=1)\n'
    assert named(source, 'precision_mode="x"') == source.replace('"x",', f'"x", modify_mixlist={_NEW},')
    source = 'c = NPURunConfig(\n    a=1,\n    precision_mode=("x"),  # why\n)\n'
    wanted = source.replace('("x"),', f'("x"),\n    modify_mixlist={_NEW},')
    assert named(source, 'precision_mode=("x")') == wanted


@pytest.mark.parametrize(
    "source",
    [
        "a = b.precision_mode = 'x'\n",
        "op['precision_mode'] = 'x'\n",
        "op.parameter_map[precision_mode].s = 'x'\n",
        "set(op, precision_mode)\n",
        "f(mode='precision_mode')\n",
        "b.precision_mode = 'x'; c()\n",
        "if a: b.precision_mode = 'x'\n",
    ],
)
def test_other_places_are_refused(source: str) -> None:
    with pytest.raises(FixRefused, match="place"):
        scripted(source, "precision_mode")


def test_a_file_in_the_way_is_not_replaced() -> None:
    step = FixStep("mixlist", "train.py", Span(1, 1, 1, 2), {"operator": "Mul"})
    script = Text("train.py", "python", "o.precision_mode = 'x'\n")
    with pytest.raises(FixRefused, match="exists"):
        plan(step, script, lambda path: Text(path, "other", "[]"))


def corrected(text: str, verb: str, mark: str, **words: str) -> str:
    start = text.index(mark)
    step = FixStep(verb, "ops_info.json", Lines(text).span(start, start + len(mark)), words)
    return edited_text(text, plan(step, Text("ops_info.json", "mixlist", text), none_there).edits)


def test_names_and_comments_in_a_list_are_corrected() -> None:
    text = '// all\n{"black-list": {"to-add": ["mul"]}}  /* one */\n'
    assert corrected(text, "retext", '"mul"', part="mul", to="Mul") == text.replace("mul", "Mul")
    assert corrected(text, "delete", "// all", what="line") == text.replace("// all\n", "")
    assert corrected(text, "delete", "/* one */", what="line") == text.replace("  /* one */", "")
    with pytest.raises(FixRefused, match="place"):
        corrected(text, "delete", '"mul"', what="line")
    with pytest.raises(FixRefused, match="place"):
        corrected(text, "retext", '"mul"', part="Add", to="Mul")
