"""Queries: how the keys of a mapping become a query, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from npulint.judge.catalogue.check import Query
from tests.catalogue_samples import parsed, problems, sample


def call(name: str, **more: Any) -> Query:
    return Query(kind="call", names=(name,), **more)


def setting(name: str, **more: Any) -> Query:
    return Query(kind="setting", names=(name,), **more)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("{call: a.b}", call("a.b"), id="a name"),
        pytest.param('{call: [a, "**.b"]}', Query(kind="call", names=("a", "**.b")), id="several names"),
        pytest.param("{call: any}", Query(kind="call"), id="any name"),
        pytest.param("{call: a, active: any}", call("a", active=False), id="also code that is off"),
        pytest.param("{call: a, where: {in_input: yes}}", call("a", where={"in_input": "yes"}), id="yes is a word"),
        pytest.param("{setting: a, where: {value: true}}", setting("a", where={"value": True}), id="true is a boolean"),
        pytest.param("{call: a, args: {1: 2}}", call("a", args={"1": 2}), id="an argument by position"),
        pytest.param('{call: a, args: {"k|1": absent}}', call("a", args={"k|1": "absent"}), id="either way"),
        pytest.param(
            "{not: {call: b}, where: {in_loop: yes}, call: a}",
            Query(all=(call("a", where={"in_loop": "yes"}), Query(negated=call("b", active=False)))),
            id="the kind is reported and 'not' is a condition, whatever the order",
        ),
        pytest.param(
            "{all: [{call: a}, {call: b, at_least: 2}]}",
            Query(all=(call("a"), call("b", active=False, at_least=2))),
            id="the later parts of 'all' are conditions",
        ),
        pytest.param("{any: [{call: a}, {call: b}]}", Query(any=(call("a"), call("b"))), id="'any' unites"),
        pytest.param(
            "{call: a, any: [{call: b}, {call: c}]}",
            Query(all=(call("a"), Query(any=(call("b", active=False), call("c", active=False))))),
            id="'any' beside a kind is a condition",
        ),
        pytest.param("{all: [{call: a}]}", call("a"), id="'all' of one is that one"),
        pytest.param(
            "{setting: a, where: {value: {not: {one_of: [1, x, {lt: 0.5}]}}}}",
            setting("a", where={"value": {"not": {"one_of": [1, "x", {"lt": 0.5}]}}}),
            id="conditions nest",
        ),
        pytest.param(
            "{call: a, args: {rate: {ge: 0, lt: 1e-3}}}",
            call("a", args={"rate": {"ge": 0, "lt": 0.001}}),
            id="bounds on both sides",
        ),
        pytest.param(
            "{call: a, args: {rate: 1.0}}", call("a", args={"rate": 1.0}), id="an unquoted decimal is a number"
        ),
        pytest.param('{call: a, args: {rate: "1.0"}}', call("a", args={"rate": "1.0"}), id="a quoted one is text"),
        pytest.param("{call: a, args: {v: 01.5}}", call("a", args={"v": "01.5"}), id="a leading zero is text"),
        pytest.param("{call: a, args: {v: null}}", call("a", args={"v": None}), id="null is None"),
        pytest.param(
            "{call: a, args: {v: {maybe: {contains: x, matches: '^x$'}}}}",
            call("a", args={"v": {"maybe": {"contains": "x", "matches": "^x$"}}}),
            id="contains and matches",
        ),
        pytest.param(
            "{program: any, where: {trains: yes, state: {one_of: [partial, migrated]}}}",
            Query(kind="program", where={"trains": "yes", "state": {"one_of": ["partial", "migrated"]}}),
            id="the program itself",
        ),
    ],
)
def test_find(text: str, query: Query) -> None:
    assert parsed(sample(find=text)).find == query


def test_conditions_include_code_that_is_off_by_default() -> None:
    check = parsed(sample(needs="{all: [{call: a, at_least: 3}, {not: {call: b}}]}", unless="{not: {call: c}}"))
    assert check.needs == Query(all=(call("a", active=False, at_least=3), Query(negated=call("b", active=False))))
    assert check.unless == Query(negated=call("c", active=False))


MISTAKES = [
    ("a misspelt kind", "{cal: a}", "cal", "unknown kind of fact 'cal' (did you mean 'call'?)"),
    ("a kind of no vocabulary", "{graph_node: a}", "graph_node", "unknown kind of fact 'graph_node'"),
    ("two kinds", "{call: a, import: b}", "import", "one kind per query, here: call, import"),
    ("a list", "[{call: a}]", "[", "find must be a non-empty mapping"),
    ("nothing", "{}", "{}", "find must be a non-empty mapping"),
    ("a filter alone", "{where: {value: 1}}", "{value", "'where' needs a kind of fact next to it"),
    ("a filter beside a group", "{any: [{call: a}], where: {value: 1}}", "{value", "'where' needs a kind"),
    ("no name", "{call: }", "}", "find.call must be a string"),
    ("a number as a name", "{call: 5}", "5", "find.call must be a string; put it in quotes"),
    ("no names", "{call: []}", "[]", "must be a non-empty list"),
    ("a name with a space", '{call: "a b"}', '"a b', "'a b' is not a name pattern"),
    ("many wildcards", '{call: "a.**.b.*.c*"}', '"a.', "has more than 2 wildcards"),
    ("three stars", '{call: "a.***"}', '"a.', "is not a name pattern"),
    ("an unknown attribute", "{call: a, where: {in_inputs: yes}}", "in_inputs", "(did you mean 'in_input'?)"),
    ("an attribute of another kind", "{session: a, where: {fetches: x}}", "fetches", "'session' has no attribute"),
    ("true where yes is meant", "{call: a, where: {in_input: true}}", "true", "never true or false; write yes or no"),
    ("a word that cannot be", "{session: a, where: {npu: maybe}}", "maybe", "it must be one of no, unknown, yes"),
    (
        "a word that cannot be, inside",
        "{session: a, where: {config: {one_of: [globl]}}}",
        "globl",
        "one of local, none",
    ),
    ("where without content", "{call: a, where: {}}", "{}}", "must be a non-empty mapping"),
    ("arguments of what has none", "{import: a, args: {k: 1}}", "{k", "'import' has no arguments"),
    ("an argument of two names", '{call: a, args: {"k|j": 1}}', '"k|j', "is not a name, a position or name|position"),
    ("an unknown operator", "{setting: a, where: {value: {equals: 1}}}", "equals", "unknown operator 'equals'"),
    ("a misspelt operator", "{setting: a, where: {value: {one_off: [1]}}}", "one_off", "(did you mean 'one_of'?)"),
    ("a list as a condition", "{setting: a, where: {value: [1, 2]}}", "[1", "a list is not a condition"),
    ("one_of without a list", "{setting: a, where: {value: {one_of: 1}}}", "1}", "must be a non-empty list"),
    ("a bound that is text", '{setting: a, where: {value: {lt: "1"}}}', '"1"', "lt needs a number"),
    ("a bound that is true", "{setting: a, where: {value: {lt: true}}}", "true", "lt needs a number"),
    ("an evil regex", "{setting: a, where: {value: {matches: '(a+)+$'}}}", "'(a+", "a repetition around repetitions"),
    ("a broken regex", "{setting: a, where: {value: {matches: '('}}}", "'('", "not a regular expression"),
    ("active code only", "{call: a, active: true}", "true", "find.call.active must be a string"),
    ("active in another word", "{call: a, active: no}", "no", "'no' is not one of any"),
    ("a count in find", "{call: a, at_least: 2}", "2", "'at_least' belongs in needs or unless"),
    ("not alone in find", "{not: {call: a}}", "{call", "'not' finds nothing to report"),
    ("not first in find", "{all: [{not: {call: a}}, {call: b}]}", "{call: a", "'not' finds nothing to report"),
    ("not as an alternative", "{any: [{call: a}, {not: {call: b}}]}", "{call: b", "'not' finds nothing to report"),
    ("an empty group", "{any: []}", "[]", "find.any must be a non-empty list"),
    ("a program by name", "{program: train.py}", "train.py", "query a program with 'program: any'"),
]


@pytest.mark.parametrize(
    ("find", "at", "message"), [pytest.param(find, at, message, id=name) for name, find, at, message in MISTAKES]
)
def test_mistakes(find: str, at: str, message: str) -> None:
    source = sample(find=find)
    found = problems(source)
    place = next((p for p in found if message in p.message), None)
    assert place is not None, found
    line = source.split("\n")[place.line - 1]
    assert line[place.column - 1 :].startswith(at), (place, line)


@pytest.mark.parametrize("count", ["0", "-1", '"2"', "true", "1.5", "[1]"])
def test_counts_that_are_none(count: str) -> None:
    assert "at_least must be a number from 1" in problems(sample(needs=f"{{call: a, at_least: {count}}}"))[0].message
