"""From questions to findings: which facts answer, when a check speaks, what a finding says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from npulint.facts.attributes import attribute
from npulint.facts.model import Fact, FileFact, Span
from npulint.facts.values import PossibleValues
from npulint.judge.catalogue.check import Applies, Catalogue, Check, CheckText, Query
from npulint.judge.evaluate.captures import fill
from npulint.judge.evaluate.checks import applies, evaluate
from npulint.judge.evaluate.fact_index import FactIndex
from npulint.judge.evaluate.match import CompiledQuery
from npulint.judge.evaluate.summary import summarise
from npulint.judge.findings import Finding
from npulint.recognizers.programs import Program
from tests.fact_support import TableFact
from tests.support import facts, programs

_HEAD = "import tensorflow.compat.v1 as tf\n"
_MAIN = "if __name__ == '__main__':\n    main()\n"


def _program(text: str, path: str = "train.py") -> Program:
    return programs({path: _HEAD + text + "\n" + _MAIN})[0]


def _call(name: str, **fields: Any) -> Query:
    return Query(kind="call", names=(name,), **fields)


def find(query: Query, program: Program) -> list[Fact]:
    question = CompiledQuery(query)
    return question.find(FactIndex([question]).candidates(program))


def true_of(query: Query, program: Program) -> bool | None:
    question = CompiledQuery(query)
    return question.true_of(FactIndex([question]).candidates(program))


def _lines(query: Query, text: str) -> list[int]:
    return sorted(f.span.line for f in find(query, _program(text)))


_TOP_K = (
    "tf.nn.top_k(x)\ntf.nn.top_k(x, 3)\ntf.nn.top_k(x, k=n)\ntf.nn.top_k(x, k=4)\ntf.nn.top_k(*a)\ntf.nn.top_k(**o)"
)
# condition on k -> lines (from 2)
_ARGUMENTS: dict[str, tuple[str, Any, list[int]]] = {
    "given by either": ("k|1", "present", [3, 4, 5]),
    "not given by either": ("k|1", "absent", [2]),
    "given by keyword": ("k", "present", [4, 5]),
    "given by position": ("1", "present", [3]),
    "a value": ("k|1", 3, [3]),
    "another than a value, or none": ("k|1", {"not": 3}, [2, 5]),
    "a value or unknown": ("k|1", {"maybe": 3}, [3, 4]),
    "known": ("k|1", "known", [3, 5]),
    "unknown": ("k|1", "unknown", [4]),
    "in a range": ("k|1", {"gt": 3}, [5]),
}


@pytest.mark.parametrize(("spec", "condition", "lines"), _ARGUMENTS.values(), ids=_ARGUMENTS.keys())
def test_arguments_of_calls(spec: str, condition: Any, lines: list[int]) -> None:
    assert _lines(_call("tensorflow.nn.top_k", args={spec: condition}), _TOP_K) == lines


def test_facts_without_arguments_answer_no_question_about_them() -> None:
    assert find(Query(kind="import", args={"k": "absent"}), _program("")) == []


# names -> lines
_NAMED = {
    "one name": (("tensorflow.abs",), [2]),
    "several names": (("tensorflow.abs", "tensorflow.nn.relu"), [2, 3]),
    "a segment": (("tensorflow.*",), [2]),
    "any number of segments": (("tensorflow.**",), [2, 3]),
    "a last segment anywhere": (("**.relu",), [3]),
    "any name": ((), [2, 3]),
    "another name": (("tensorflow.exp",), []),
}


@pytest.mark.parametrize(("names", "lines"), _NAMED.values(), ids=_NAMED.keys())
def test_names_of_facts(names: tuple[str, ...], lines: list[int]) -> None:
    assert _lines(Query(kind="call", names=names), "tf.abs(1)\ntf.nn.relu(1)") == lines


def test_kind_that_no_fact_has() -> None:
    assert find(Query(kind="nothing", names=("a",)), _program("tf.abs(1)")) == []


_OFF = "D = False\nif D:\n    tf.abs(1)"


def test_find_leaves_out_code_that_is_off_by_default() -> None:
    assert _lines(_call("tensorflow.abs"), _OFF) == []
    assert _lines(_call("tensorflow.abs", active=False), _OFF) == [4]


def test_conditions_count_code_that_is_off_by_default() -> None:
    assert true_of(_call("tensorflow.abs"), _program(_OFF)) is True


def test_find_unites_any() -> None:
    query = Query(any=(_call("tensorflow.abs"), _call("tensorflow.nn.relu")))
    assert _lines(query, "tf.abs(1)\ntf.nn.relu(1)") == [2, 3]


@pytest.mark.parametrize(
    ("text", "lines"),
    [("tf.abs(1)\ntf.nn.relu(1)", [2]), ("tf.abs(1)", []), ("tf.nn.relu(1)", [])],
    ids=["both", "the first only", "the second only"],
)
def test_find_reports_the_first_of_all(text: str, lines: list[int]) -> None:
    assert _lines(Query(all=(_call("tensorflow.abs"), _call("tensorflow.nn.relu"))), text) == lines


_THREE = _call("tensorflow.nn.top_k", args={"k|1": 3})
_YES, _NO, _DOUBT = "tf.nn.top_k(x, 3)", "tf.nn.top_k(x, 4)", "tf.nn.top_k(x, n)"
_ABS = _call("tensorflow.abs")
# query, text -> answer
_TRUTH: dict[str, tuple[Query, str, bool | None]] = {
    "a fact that fits": (_THREE, _YES, True),
    "a fact that does not": (_THREE, _NO, False),
    "a fact that may": (_THREE, _DOUBT, None),
    "one that may and one that does": (_THREE, f"{_DOUBT}\n{_YES}", True),
    "no fact": (_THREE, "", False),
    "not": (Query(negated=_THREE), _YES, False),
    "not, and none": (Query(negated=_THREE), _NO, True),
    "not, and doubtful": (Query(negated=_THREE), _DOUBT, None),
    "all": (Query(all=(_THREE, _ABS)), f"{_YES}\ntf.abs(1)", True),
    "all but one": (Query(all=(_THREE, _ABS)), _YES, False),
    "all but a doubtful one": (Query(all=(_THREE, _ABS)), f"{_DOUBT}\ntf.abs(1)", None),
    "none and a doubtful one": (Query(all=(_THREE, _ABS)), _DOUBT, False),
    "any": (Query(any=(_THREE, _ABS)), "tf.abs(1)", True),
    "any, and none": (Query(any=(_THREE, _ABS)), _NO, False),
    "any, and a doubtful one": (Query(any=(_THREE, _ABS)), _DOUBT, None),
    "two of two": (msgspec.structs.replace(_THREE, at_least=2), f"{_YES}\n{_YES}", True),
    "one of two": (msgspec.structs.replace(_THREE, at_least=2), _YES, False),
    "one of two and a doubtful one": (msgspec.structs.replace(_THREE, at_least=2), f"{_YES}\n{_DOUBT}", None),
    "a doubtful attribute": (Query(kind="call", names=("tensorflow.nn.top_k",), where={"k": "absent"}), _YES, True),
    "the program": (Query(kind="program", where={"framework": "tensorflow"}), "", True),
    "another program": (Query(kind="program", where={"framework": "torch"}), "", False),
}


@pytest.mark.parametrize(("query", "text", "answer"), _TRUTH.values(), ids=_TRUTH.keys())
def test_condition_on_the_program(query: Query, text: str, answer: bool | None) -> None:
    assert true_of(query, _program(text)) is answer


# rule, target -> applies (to a TensorFlow 1 program that has sessions and does not train)
_APPLIES: dict[str, tuple[Applies, dict[str, str], bool]] = {
    "to anything": (Applies(), {}, True),
    "to its framework": (Applies(frameworks=("torch", "tensorflow")), {}, True),
    "to another framework": (Applies(frameworks=("torch",)), {}, False),
    "to its state": (Applies(states=("not_started",)), {}, True),
    "to another state": (Applies(states=("migrated",)), {}, False),
    "to its mode": (Applies(modes=("session", "keras")), {}, True),
    "to another mode": (Applies(modes=("keras",)), {}, False),
    "to training": (Applies(trains=True), {}, False),
    "to anything but training": (Applies(trains=False), {}, True),
    "to its chip": (Applies(soc=("910A",)), {"soc": "910A"}, True),
    "to another chip": (Applies(soc=("910A",)), {"soc": "A2"}, False),
    "to a chip that is not declared": (Applies(soc=("910A",)), {}, True),
    "to a declared version": (Applies(versions={"cann": ">=8"}), {"cann": "8.0"}, True),
    "to another version": (Applies(versions={"cann": ">=8"}), {"cann": "7.0"}, False),
    "to a version that is not declared": (Applies(versions={"cann": ">=8"}), {}, True),
    "to the version that the code is written for": (Applies(versions={"tensorflow": "<2"}), {}, True),
    "to a newer version than the code's": (Applies(versions={"tensorflow": ">=2"}), {}, False),
    "the declared version counts first": (Applies(versions={"tensorflow": ">=2"}), {"tensorflow": "2.6"}, True),
}


@pytest.mark.parametrize(("rule", "target", "answer"), _APPLIES.values(), ids=_APPLIES.keys())
def test_check_applies(rule: Applies, target: dict[str, str], answer: bool) -> None:
    assert applies(rule, _program("tf.Session()", "main.py"), target) is answer


_TEXT = CheckText("Title", "`{short}` with {k} at {path}", "why {missing}", "use {in_loop}")
_CHECK = Check(
    code="NPU1101",
    name="a-check",
    family="tensorflow",
    since="0.1",
    status="stable",
    topic="other",
    category="functional",
    severity="warning",
    confidence="high",
    find=_ABS,
    text={"en": _TEXT, "zh": CheckText("标题", "`{short}`", "原因", "修复")},
)


def _findings(text: str | dict[str, str], lang: str = "en", **fields: Any) -> list[Finding]:
    named = {"train.py": text} if isinstance(text, str) else text
    check = msgspec.structs.replace(_CHECK, **fields)
    catalogue = Catalogue((check,))
    found = programs({p: _HEAD + t + "\n" + (_MAIN if p == "train.py" else "") for p, t in named.items()})
    return [f for program in found for f in evaluate(catalogue, program, {}, lang).findings]


def test_finding_carries_its_check_and_place() -> None:
    finding = _findings("x = tf.abs(1)")[0]
    assert (finding.code, finding.name, finding.severity, finding.category) == (
        "NPU1101",
        "a-check",
        "warning",
        "functional",
    )
    assert (finding.path, finding.span, finding.program) == ("train.py", Span(2, 5, 2, 14), "train.py")


def test_finding_fills_in_what_the_fact_says() -> None:
    finding = _findings("tf.abs(1, k=3)")[0]
    assert (finding.message, finding.why, finding.fix.text) == ("`abs` with 3 at train.py", "why ?", "use no")


def test_finding_speaks_the_language_of_the_run() -> None:
    assert [f.message for f in _findings("tf.abs(1)", "zh")] == ["`abs`"]
    assert _findings("tf.abs(1)", "fr")[0].message.startswith("`abs` with")


_RELU = _call("tensorflow.nn.relu", args={"k": 3})
_ASKED: dict[str, tuple[dict[str, Any], str, int]] = {
    "needed and there": ({"needs": _RELU}, "tf.nn.relu(k=3)", 1),
    "needed and missing": ({"needs": _RELU}, "", 0),
    "needed and doubtful": ({"needs": _RELU}, "tf.nn.relu(k=n)", 0),
    "excused": ({"unless": _RELU}, "tf.nn.relu(k=3)", 0),
    "not excused": ({"unless": _RELU}, "tf.nn.relu(k=4)", 1),
    "perhaps excused": ({"unless": _RELU}, "tf.nn.relu(k=n)", 0),
    "does not apply": ({"applies": Applies(frameworks=("torch",))}, "", 0),
}


@pytest.mark.parametrize(("fields", "text", "count"), _ASKED.values(), ids=_ASKED.keys())
def test_when_a_check_speaks(fields: dict[str, Any], text: str, count: int) -> None:
    assert len(_findings(f"tf.abs(1)\n{text}", **fields)) == count


_TWO_FILES = {"a.py": "tf.abs(1)\ntf.abs(2)", "train.py": "import a\ntf.abs(3)\ntf.abs(4)"}


def _places(findings: list[Finding]) -> list[tuple[str, int, list[tuple[str, int]]]]:
    return [(f.path, f.span.line, [(r.path, r.span.line) for r in f.related]) for f in findings]


def test_every_place_is_reported() -> None:
    assert _places(_findings(_TWO_FILES)) == [
        ("a.py", 2, []),
        ("a.py", 3, []),
        ("train.py", 3, []),
        ("train.py", 4, []),
    ]


def test_one_finding_for_a_file() -> None:
    assert _places(_findings(_TWO_FILES, once="file")) == [
        ("a.py", 2, [("a.py", 3)]),
        ("train.py", 3, [("train.py", 4)]),
    ]


def test_one_finding_for_a_program_stands_in_its_entry() -> None:
    assert _places(_findings(_TWO_FILES, once="program")) == [
        ("train.py", 3, [("train.py", 4), ("a.py", 2), ("a.py", 3)])
    ]


def test_related_places_follow_those_that_the_finding_speaks_for() -> None:
    found = _findings("tf.abs(1)\ntf.abs(2)\ntf.nn.relu(3)", once="file", related=_call("tensorflow.nn.relu"))
    assert _places(found) == [("train.py", 2, [("train.py", 3), ("train.py", 4)])]


def test_related_places_are_not_endless() -> None:
    found = _findings("tf.abs(1)\n" + "tf.nn.relu(3)\n" * 100, related=_call("tensorflow.nn.relu"))
    assert 10 <= len(found[0].related) < 50


def test_place_that_answers_twice_is_reported_once() -> None:
    assert len(_findings("tf.abs(1)", find=Query(any=(_ABS, _call("**.abs"))))) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (PossibleValues((1, 2), True), "1 / 2"),
        (PossibleValues((), False, "x"), "x"),
        (PossibleValues(), "?"),
        ("word", "word"),
        (None, "?"),
        (3, "3"),
    ],
)
def test_capture_of_an_attribute(value: object, text: str) -> None:
    assert fill("<{v}> {x y} {}", TableFact("setting", "a.b", "p", Span(), {"v": value})) == f"<{text}> {{x y}} {{}}"


def test_capture_of_the_name() -> None:
    assert fill("{name} {short}", TableFact("setting", "a.b", "p", Span())) == "a.b b"
    assert fill("{short}", TableFact("optimizer", "model.optimization:Lamb", "p", Span())) == "Lamb"
    assert fill("{short}", TableFact("device", "/gpu:0", "p", Span())) == "/gpu:0"


_OPT = "opt = tf.train.AdamOptimizer()\n"
_NPU = "from npu_bridge.npu_init import *\n"


def test_summary_of_a_program() -> None:
    summary = summarise(_program(_OPT + "opt.minimize(l)\ntf.Session()"))
    assert (summary.entry, summary.files, summary.framework, summary.state) == (
        "train.py",
        1,
        "tensorflow 1.x",
        "not_started",
    )
    assert (summary.modes, summary.roles, summary.devices) == (("session",), ("train",), "unknown")


@pytest.mark.parametrize(
    ("path", "text", "roles"),
    [
        ("eval.py", "tf.Session()", ("evaluate",)),
        ("freeze.py", "tf.Session()", ("export",)),
        ("main.py", "", ("unknown",)),
    ],
)
def test_program_that_does_not_train_has_no_checklist(path: str, text: str, roles: tuple[str, ...]) -> None:
    summary = summarise(_program(text, path))
    assert (summary.roles, summary.checklist) == (roles, ())


def test_summary_names_other_frameworks() -> None:
    program = programs({"train.py": "import torch\n" + _MAIN})[0]
    assert summarise(program).framework == "torch"


def test_facts_answer_attributes_once() -> None:
    answers = iter(["first", "second"])

    class Asked(FileFact, eq=False):
        @attribute
        def v(self) -> str:
            return next(answers)

    fact = Asked("a", "p", Span())
    assert [fact.get("v"), fact.get("v")] == ["first", "first"]
    assert facts(_HEAD + "tf.abs(1)", "call")[0].get("nothing of the kind") is None


_MODEL = "if __name__ == '__main__':\n    torch.nn.Linear(3, 3).DEVICE()(x).sum().backward()\n"
_PORTED = "import torch\nimport torch_npu\n" + _MODEL.replace("DEVICE", "npu")
_LEFT = "import torch\n" + _MODEL.replace("DEVICE", "cuda")


@pytest.mark.parametrize(
    ("migrations", "sources", "expected"),
    [
        pytest.param((), {"a.py": _PORTED, "b.py": _LEFT}, ["a.py"], id="any way"),
        pytest.param(("none", "manual"), {"a.py": _PORTED, "b.py": _LEFT}, ["a.py"], id="not started or by hand"),
        pytest.param(("left",), {"a.py": _PORTED, "b.py": _LEFT}, ["b.py"], id="left behind"),
        pytest.param(("none",), {"b.py": _LEFT}, ["b.py"], id="nothing is ported"),
        pytest.param(("left",), {"b.py": _LEFT}, [], id="nothing to be left behind"),
    ],
)
def test_of_a_script_left_behind_only_what_names_it_speaks(
    migrations: tuple[str, ...], sources: dict[str, str], expected: list[str]
) -> None:
    query = Query("train_step", ("backward",))
    rule = msgspec.structs.replace(_CHECK, find=query, applies=Applies(migrations=migrations))
    catalogue = Catalogue((rule,))
    found = [one for program in programs(sources) for one in evaluate(catalogue, program, {}, "en").findings]
    assert sorted({one.path for one in found}) == expected
