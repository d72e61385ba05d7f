"""What the checks of comparisons and the pre-tuning checklist say of what was found."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from npulint.commands.compare.compare_command import items_of
from npulint.commands.compare.evidence import evidence
from npulint.commands.compare.facts import difference_facts, part_facts
from npulint.commands.examples import check_sources
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.model import Fact, Span
from npulint.facts.recipe import ITEM_OF, ITEMS, Side
from npulint.facts.recipe import Item as RecipeItem
from npulint.judge.catalogue.check import COMPARE, LEFT, Catalogue, ItemDefinition
from npulint.judge.catalogue.examples import run_pretuning_examples
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.readiness import PRETUNING, parse_item
from npulint.judge.evaluate.captures import fill
from npulint.judge.evaluate.checks import evaluate
from npulint.judge.evaluate.pretuning import sided
from npulint.judge.findings import ChecklistItem, Comparison, Evidence, Finding
from npulint.model.code.index import Index, table
from npulint.model.programs.program_fact import ProgramFact
from npulint.recognizers.programs import Program
from tests.surface_support import finding

CATALOGUE = load_catalogue(use_cache=False)
REFERENCE_ITEMS = ["reference_repeatable", "reference_mixed_precision"]
each_item = pytest.mark.parametrize("item", [pytest.param(item, id=item.name) for item in CATALOGUE.pretuning])


def program(*facts: Fact, **attrs: Any) -> Program:
    """A training program with these facts and attributes."""
    usual = {"framework": "torch", "state": "migrated", "migration": "manual", "trains": True}
    return Program("train.py", ".", ["train.py"], Index([table(facts)]), ProgramFact(**{**usual, **attrs}))


def difference(part: str, line: int = 1, /, **attrs: Any) -> Fact:
    """A difference as a comparison reports it."""
    migrated = SideValue("2", "train.py", Span(line, 1, line, 2))
    usual = {"change": "changed", "what": "x", "reference": SideValue("1", "a.py", Span()), "migrated": migrated}
    (fact,) = difference_facts([Difference(part, **{**usual, **attrs})])
    return fact


def compared(part: str, change: str, **attrs: Any) -> Difference:
    """A thing that both programs have."""
    place = SideValue("1", "train.py", Span())
    return Difference(part, change, "x", reference=place, migrated=place, **attrs)


def compared_parts(*rows: Difference) -> list[Fact]:
    """The evidence of all parts after these rows were compared."""
    used = {row.part: SideValue("1", "train.py", Span()) for row in rows}
    return part_facts(evidence(rows, used, used))


def told(*facts: Fact, side: Side = "migrated", **attrs: Any) -> list[Finding]:
    """What the checks say of one side that these facts were found by."""
    return evaluate(CATALOGUE, sided(program(**attrs), side, facts), {}, "en").findings


_SURELY = [
    pytest.param(part, change, argument, id=f"{part}-{change}-{argument}")
    for part, change, argument in product(ITEM_OF, ("changed", "removed", "added", "reordered"), ("", "size"))
]


@pytest.mark.parametrize(("part", "change", "argument"), _SURELY)
def test_every_difference_is_told_by_one_check(part: str, change: str, argument: str) -> None:
    for certain, adapter, evaluates in product((True, False), repeat=3):
        fact = difference(part, change=change, argument=argument, certain=certain, adapter=adapter, evaluates=evaluates)
        names = [finding.name for finding in told(fact)]
        assert len(names) == 1, (certain, adapter, evaluates, names)


@pytest.mark.parametrize("part", ITEM_OF)
def test_what_is_not_sure_or_what_the_npu_asks_for_is_a_note(part: str) -> None:
    for attrs in ({"certain": False}, {"adapter": True}):
        (finding,) = told(difference(part, **attrs))
        assert finding.severity == "note"


def test_only_another_training_is_an_error() -> None:
    errors = {check.name for check in CATALOGUE.checks if check.family == COMPARE and check.severity == "error"}
    assert errors == {
        "dataset-differs",
        "gradient-reduction-differs",
        "layer-missing",
        "layer-added",
        "loss-function-differs",
        "optimizer-replaced",
    }


def test_the_reference_is_not_told_what_differs() -> None:
    facts = [difference(part, line) for line, part in enumerate(ITEM_OF, 1)]
    assert len(told(*facts)) == len(facts)
    assert told(*facts, side="reference") == []
    assert evaluate(CATALOGUE, program(*facts), {}, "en").findings == []


def test_a_script_left_unported_is_compared_all_the_same() -> None:
    assert [finding.name for finding in told(difference("seed"), migration=LEFT)] == ["seed-differs"]


def test_a_script_that_is_not_known_to_train_has_its_checklist() -> None:
    verdict = evaluate(CATALOGUE, sided(program(trains=False), "migrated", [difference("seed")]), {}, "en")
    assert {item.item for item in verdict.checklist if item.failures} == {"hyperparameters"}


def test_one_side_leaves_the_program_as_it_was() -> None:
    one = program()
    sided(one, "migrated", [difference("seed")])
    assert one.fact.side is None
    assert one.index.of_kind("difference") == []


_BESIDE = SideValue("3", "b.py", Span.at(3))


@pytest.mark.parametrize(
    ("attrs", "text"),
    [
        pytest.param({"what": "--lr"}, "--lr: `1` (a.py:1), `2` (train.py:1)", id="setting"),
        pytest.param(
            {"what": "conv2d", "argument": "filters"}, "conv2d(filters): `1` (a.py:1), `2` (train.py:1)", id="call"
        ),
        pytest.param({"migrated": None, "near": _BESIDE}, "x: `1` (a.py:1), – (b.py:3)", id="it would stand there"),
        pytest.param({"reference": None}, "x: –, `2` (train.py:1)", id="nowhere"),
        pytest.param(
            {"reference": SideValue("`rm`", "a.py", Span())},
            "x: `'rm'` (a.py:1), `2` (train.py:1)",
            id="no quotes within quotes",
        ),
    ],
)
def test_both_sides_are_shown(attrs: dict[str, Any], text: str) -> None:
    assert fill("{subject}: {before}, {after}", difference("seed", **attrs)) == text


def status(item: ChecklistItem) -> str:
    """How an item stands when everything that fails it is reported."""
    reported = [finding(code=one.code, path=one.path, span=one.span) for one in item.failures]
    (shown,) = items_of([item], [], reported)
    return shown.status


def _answers(*facts: Fact, side: Side = "migrated", **attrs: Any) -> dict[str, str]:
    verdict = evaluate(CATALOGUE, sided(program(**attrs), side, facts), {}, "en")
    return {item.item: status(item) for item in verdict.checklist}


def test_the_checklist_has_two_items_about_the_reference_and_seven_about_the_migrated_program() -> None:
    assert list(_answers(side="reference")) == REFERENCE_ITEMS
    assert list(_answers()) == list(ITEMS)
    alone = [item.item for item in evaluate(CATALOGUE, program(), {}, "en").checklist]
    assert "device" in alone
    assert "preprocessing" in alone
    assert not set(alone) & {"data", "training", *REFERENCE_ITEMS}


@pytest.mark.parametrize("item", ITEMS)
def test_nothing_that_was_compared_cannot_be_told(item: str) -> None:
    assert _answers(multi_device="yes", framework="tensorflow")[item] == "unknown"


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_is_consistent_where_all_that_was_compared_is_the_same(item: RecipeItem) -> None:
    part = ITEMS[item][0]
    assert _answers(*compared_parts(compared(part, "none")))[item] == "consistent"
    for attrs, answer in (({"certain": False}, "unknown"), ({"adapter": True}, "consistent")):
        rows = compared(part, "none"), compared(part, "changed", **attrs)
        assert _answers(*compared_parts(*rows))[item] == answer


def test_what_neither_program_uses_is_an_answer_of_its_own() -> None:
    unused = [item for item, answer in _answers(*compared_parts()).items() if answer == "unused"]
    assert unused == ["mixed_precision", "loss_scale", "sharding"]
    item = "reference_mixed_precision"
    assert _answers(*compared_parts(), side="reference")[item] == "unused"
    assert _answers(*compared_parts(compared("autocast", "none")), side="reference")[item] == "unknown"


@pytest.mark.parametrize(
    "part", sorted(set(ITEM_OF) - {"drop_remainder", "determinism", "iterations_per_loop", "ranks"})
)
def test_a_difference_makes_its_item_differ(part: str) -> None:
    answers = _answers(*compared_parts(compared(part, "none")), difference(part))
    assert [item for item, answer in answers.items() if answer == "differs"] == [ITEM_OF[part]]


@pytest.mark.parametrize("part", ["drop_remainder", "determinism", "iterations_per_loop", "ranks"])
def test_what_may_be_wanted_makes_no_item_differ(part: str) -> None:
    assert "differs" not in _answers(difference(part)).values()


def test_the_gravest_failure_comes_first() -> None:
    names = {
        "reference": SideValue("SGD", "a.py", Span()),
        "migrated": SideValue("Adam", "train.py", Span(3, 1, 3, 2)),
    }
    facts = [difference("layer", 2), difference("dropout", 1), difference("optimizer", **names)]
    verdict = evaluate(CATALOGUE, sided(program(), "migrated", facts), {}, "en")
    failures = next(item for item in verdict.checklist if item.item == "training").failures
    assert next((one.check, one.span.line) for one in failures) == ("optimizer-replaced", 3)


def test_what_was_chosen_to_be_compared_counts_as_training() -> None:
    assert list(_answers(trains=False)) == list(ITEMS)
    assert evaluate(CATALOGUE, program(trains=False), {}, "en").checklist == ()


@pytest.mark.parametrize(
    ("answer", "failures", "word"),
    [("passed", 0, "consistent"), ("passed", 1, "differs"), ("failed", 0, "differs"), ("unknown", 0, "unknown")],
)
def test_how_an_item_stands(answer: str, failures: int, word: str) -> None:
    assert status(ChecklistItem("i", "", answer, failures=(Evidence("a.py", Span()),) * failures)) == word


@pytest.mark.daily
@each_item
def test_the_examples_hold(item: ItemDefinition) -> None:
    def compare(files: dict[str, str], target: dict[str, str]) -> Comparison | None:
        return check_sources(files, target, CATALOGUE).comparison

    assert [str(one) for one in run_pretuning_examples([item], compare) if not one.ok] == []


@each_item
def test_an_item_is_finished_in_both_languages(item: ItemDefinition) -> None:
    assert set(item.text) == {"en", "zh"}
    assert all(text.title and text.look for text in item.text.values())
    assert item.text["en"].look.endswith(".")
    assert item.text["zh"].look.endswith("。")
    assert {example.answer for example in item.examples} >= {"passed", "failed"}


def test_each_check_that_is_no_note_fails_one_item() -> None:
    failing = [name for item in CATALOGUE.pretuning for name in item.fails.checks]
    grave = {check.name for check in CATALOGUE.checks if check.family == COMPARE and check.severity != "note"}
    assert len(failing) == len(set(failing))
    assert grave <= set(failing)


def test_the_checks_that_fail_an_item_are_about_it() -> None:
    for item in CATALOGUE.pretuning:
        if item.key in ITEMS:
            asked = {check.name: check for check in CATALOGUE.checks if check.name in item.fails.checks}
            parts = {name for check in asked.values() for name in check.find.names}
            assert parts <= set(ITEMS[item.key]), item.name


def test_an_item_with_one_program_is_refused() -> None:
    text = b"""
order: 1
otherwise: unknown
text: {en: {title: t, look: l}, zh: {title: t, look: l}}
examples:
  - passed: |
      import torch
"""
    assert "needs a 'reference'" in parse_item(text, f"{PRETUNING}/own.yaml", "own", compared=True).problems[0].message
    assert parse_item(text, "readiness/own.yaml", "own").problems == ()


def test_an_empty_catalogue_says_nothing() -> None:
    verdict = evaluate(Catalogue(), sided(program(), "migrated", [difference("seed")]), {}, "en")
    assert (verdict.findings, verdict.checklist) == ([], ())
