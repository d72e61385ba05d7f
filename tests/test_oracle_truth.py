"""The recorded truth is what CPython does, and the programs are worth asking about."""

from __future__ import annotations

import json

import pytest

from tests.daily import parameters
from tests.oracle import grammars
from tests.oracle.execution import executed
from tests.oracle.notation import Execution, Place, Program, all_forms, parsed
from tests.oracle.state import recorded_forms
from tests.oracle.truth import STOPPED, Truth, from_record, records, same

FORMS = all_forms()


def _group(form: Program) -> str:
    return form.group


@pytest.mark.parametrize("form", parameters(FORMS, lambda form: form.title, _group, per_group=1)[:])
def test_a_form_is_recorded_as_it_is_executed(form: Program) -> None:
    _assert_same(executed(form), from_record(records("forms")[form.title]))


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param(grammar.name, seed, marks=[] if seed == 1 else pytest.mark.nightly)
        for grammar, seed in grammars.fixed()
    ],
)
def test_a_program_is_recorded_as_it_is_executed(name: str, seed: int) -> None:
    grammar = next(each for each in grammars.GRAMMARS if each.name == name)
    record = records("programs")[f"{name}/{seed}"]
    program = grammar.attempt(seed, record["attempt"])
    assert program is not None
    _assert_same(executed(program), from_record(record))


def _assert_same(truth: Truth, recorded: Truth) -> None:
    assert truth.statuses == recorded.statuses, truth.errors
    for seen, before in zip(truth.seen, recorded.seen, strict=True):
        assert (seen.place, seen.reached) == (before.place, before.reached)
        key = json.dumps
        assert sorted(map(key, seen.values)) == sorted(map(key, before.values)), seen.place


def test_there_are_many_forms_and_probes() -> None:
    assert len(FORMS) >= 560
    assert sum(len(form.places) for form in FORMS) >= 1_700
    assert len({form.title for form in FORMS}) == len(FORMS)
    assert all(1 <= len(form.files) <= 5 for form in FORMS)


def test_each_probe_has_a_line_and_a_truth() -> None:
    for form, truth in (pair for group in recorded_forms().values() for pair in group):
        assert len({place[:2] for place in form.places}) == len(form.places), form.title
        assert [seen.place for seen in truth.seen] == form.places, form.title
        assert "$object" not in json.dumps([seen.values for seen in truth.seen]), form.title
        assert all(seen.values for seen in truth.seen if seen.place.kind == "value"), form.title


def test_forms_without_a_certain_answer_differ_between_their_executions() -> None:
    doubtful = [pair for group, pairs in recorded_forms().items() if group.startswith("doubt_") for pair in pairs]
    assert len(doubtful) >= 120
    assert [form.title for form, truth in doubtful if not truth.is_open] == []


def test_generated_programs_end_as_they_should() -> None:
    for title, record in records("programs").items():
        assert record["statuses"][0] == 0 and set(record["statuses"]) <= {0, 3}, title
    assert [record["program"] for record in records("programs").values()] == [
        f"{grammar.name}/{seed}" for grammar, seed in grammars.fixed()
    ]


# -- the notation


def test_a_form_is_read() -> None:
    text = """
#### first
:start LR=2 python -m app.train --lr 1
:run A=1 B='x y' seed=7
:run launcher=run.sh:a,b module=apex,fused input=yes
import os
if os.environ:
    >>> os.getenv("A")
    >>>
==> app/run.sh
python train.py "$1"
#### second
:any
:endless
:run script=eval.py
>>>
"""
    first, second = parsed("group", text)
    assert first.title == "group/first"
    assert first.start == "LR=2 python -m app.train --lr 1"
    assert first.executions == (
        Execution((("A", "1"), ("B", "x y")), seed=7),
        Execution(modules=("apex", "fused"), launcher="run.sh", arguments=("a", "b"), text="yes", seed=2),
    )
    assert first.files["train.py"].splitlines()[2:] == ['    reveal_value(os.getenv("A"))', "    reveal_runs()"]
    assert first.files["app/run.sh"] == 'python train.py "$1"\n'
    assert first.places == [Place("train.py", 3, "value"), Place("train.py", 4, "runs")]
    assert (second.start, second.endless, second.executions[0].script) == (None, True, "eval.py")


def test_a_directive_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="not understood"):
        parsed("group", "#### form\n:rnu A=1\npass\n")


# -- execution


def _executed(text: str) -> Truth:
    (form,) = parsed("group", f"#### form\n{text}")
    return executed(form)


def test_executions_differ_in_environment_input_modules_and_seed() -> None:
    truth = _executed(
        """:run A=1 seed=1
:run input=word module=extra seed=2
import os, random, sys
>>> os.environ.get("A")
>>> sys.stdin.read()
>>> random.random() < 2
try:
    import extra
    >>> extra.available()
except ImportError:
    >>>
>>> sorted(name for name in os.environ if name.startswith("OBSERVER"))
"""
    )
    assert [seen.values for seen in truth.seen] == [["1", None], ["", "word"], [True], [True], [], [[]]]
    assert [seen.reached for seen in truth.seen][3:5] == [[False, True], [True, False]]
    assert truth.runs(truth.seen[4]) == "some"


def test_random_and_hashing_depend_on_the_seed_alone() -> None:
    text = """:run seed={0}
:run seed={0}
import random
>>> random.random()
>>> list({{"a", "b", "c", "d", "e"}})
"""
    first, second = _executed(text.format(3)), _executed(text.format(4))
    assert all(len(seen.values) == 1 for seen in [*first.seen, *second.seen])
    assert [seen.values for seen in first.seen] != [seen.values for seen in second.seen]


def test_statuses_and_what_was_seen_before_the_end() -> None:
    truth = _executed(":run\n:run A=1\nimport os\n>>>\nif os.environ.get('A'):\n    os._exit(4)\nraise SystemExit(0)\n")
    assert truth.statuses == [0, 4]
    assert truth.seen[0].reached == [True, True]


def test_an_endless_program_is_stopped() -> None:
    truth = _executed(":endless\n:run\nn = 1\n>>> n\nwhile True:\n    pass\n")
    assert truth.statuses == [STOPPED]
    assert truth.normal == [True]
    assert truth.seen[0].values == [1]


def test_launchers_scripts_and_modules_are_started() -> None:
    truth = _executed(
        """:start python -m pkg.mod a
:run
:run launcher=go.sh:b,c
:run script=train.py
import sys
>>> sys.argv[1:]
==> pkg/mod.py
import sys
>>> sys.argv[1:]
>>> __name__
==> go.sh
python -u train.py "$2" "$1"
"""
    )
    by_path = {(seen.place.path, seen.place.line): seen for seen in truth.seen}
    assert by_path["train.py", 2].values == [["c", "b"], []]
    assert by_path["pkg/mod.py", 2].values == [["a"]]
    assert by_path["pkg/mod.py", 3].values == ["__main__"]


def test_modules_of_a_program_are_not_hidden_by_those_of_the_observer() -> None:
    truth = _executed(
        ":run\nimport json, random\n>>> json.N\n>>> random.N\n==> json.py\nN = 1\n==> random/__init__.py\nN = 2\n"
    )
    assert [seen.values for seen in truth.seen] == [[1], [2]]


def test_values_are_the_same_only_with_their_types() -> None:
    assert same({"a": [1, None, "x"]}, {"a": [1, None, "x"]})
    for left, right in [(1, 1.0), (1, True), (0, False), ([1], [1, 2]), ({"a": 1}, {"b": 1}), ([1], [1.0]), ("1", 1)]:
        assert not same(left, right)
        assert not same(right, left)
