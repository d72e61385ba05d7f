"""Checks about two programs: their examples, the words of their questions, their texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.examples import check_sources, judge
from npulint.facts.recipe import ITEM_OF, ITEMS
from npulint.judge.catalogue.check import COMPARE, Catalogue, two_sided
from npulint.judge.catalogue.load import load_files
from npulint.judge.catalogue.vocabulary import fact_kinds
from tests.catalogue_samples import TWO_SIDED, parsed, problems, sample, write

_FIND = '{difference: learning_rate, where: {certain: "yes"}}'


def compared(**changes: str) -> str:
    """A valid check of the family."""
    return sample(**{"code": "NPU6101", "find": _FIND, "topic": "recipe_difference", "examples": TWO_SIDED, **changes})


def test_a_text_alone_is_the_usual_file_of_its_side() -> None:
    bad, good = parsed(compared(), COMPARE).examples
    assert bad.files == {
        "reference/train.py": "import torch\nrate = 0.1\n",
        "migrated/train.py": "import torch_npu\nrate = 0.2\n",
    }
    assert bad.expect == (("migrated/train.py", 2),)
    assert set(good.files) == {f"{side}/train.{end}" for side in ("reference", "migrated") for end in ("py", "sh")}


def test_the_long_form_is_the_same() -> None:
    body = """
  - bad: {files: {reference/train.py: "a = 1", migrated/train.sh: "python train.py"}, expect: ["migrated/train.sh:1"]}
  - good: {files: {reference/train.py: "a = 1", migrated/train.py: "a = 1"}}"""
    bad, _ = parsed(compared(examples=body), COMPARE).examples
    assert bad.files == {"reference/train.py": "a = 1", "migrated/train.sh": "python train.py"}
    assert bad.expect == (("migrated/train.sh", 1),)


_WRONG = {
    "one program": ("  - bad: |\n      a = 1  # expect\n  - good: |\n      a = 1", COMPARE, "needs a 'reference'"),
    "one side": ("  - bad: {reference: 'a = 1 # expect'}", COMPARE, "the key 'migrated' is missing"),
    "a third folder": (
        "  - bad: {files: {reference/a.py: 'a = 1 # expect', migrated/a.py: b, c.py: c}}",
        COMPARE,
        "needs a 'reference' and a 'migrated' program",
    ),
    "two programs of one": (TWO_SIDED, "tensorflow", "is about one program, not two"),
    "a way out": ("  - bad: {reference: {../a.py: 'a # expect'}, migrated: b}", COMPARE, "not a plain relative"),
    "a line that is not there": (
        "  - bad: {reference: a, migrated: b, expect: ['migrated/train.py:9']}",
        COMPARE,
        "'migrated/train.py' has no line 9",
    ),
}


@pytest.mark.parametrize(("examples", "family", "told"), _WRONG.values(), ids=_WRONG.keys())
def test_what_is_wrong_with_the_programs_of_an_example_is_told(examples: str, family: str, told: str) -> None:
    code = "NPU6101" if family == COMPARE else "NPU1101"
    text = sample(code=code, find=_FIND, examples="\n" + examples.lstrip("\n"))
    assert [one for one in problems(text, family) if told in one.message]


@pytest.mark.parametrize(
    ("files", "answer"),
    [
        pytest.param(("reference/a.py", "migrated/a.py"), True, id="both"),
        pytest.param(("reference/a.py", "migrated/b/c.sh"), True, id="deeper"),
        pytest.param(("reference/a.py",), False, id="one alone"),
        pytest.param(("reference/a.py", "migrated/a.py", "a.py"), False, id="a file beside them"),
        pytest.param(("reference", "migrated"), False, id="files of these names"),
        pytest.param((), False, id="nothing"),
    ],
)
def test_two_programs_are_told_from_one(files: tuple[str, ...], answer: bool) -> None:
    assert two_sided(files) is answer


def test_a_part_that_no_recipe_has_is_told_with_the_nearest_one() -> None:
    (problem,) = problems(compared(find="{difference: learning_rates}"), COMPARE)
    told = "there is no difference named 'learning_rates' (did you mean 'learning_rate'?)"
    assert problem.message == f"find.difference: {told}"
    parsed(compared(find="{difference: [learning_rate, 'l*']}"), COMPARE)


@pytest.mark.parametrize(
    ("where", "told"),
    [
        pytest.param("{change: replaced}", "it must be one of added, changed, removed, reordered", id="change"),
        pytest.param("{item: hyperparameter}", "did you mean 'hyperparameters'?", id="item"),
        pytest.param("{certain: unknown_yet}", "it must be one of no, yes", id="certain"),
        pytest.param("{place: here}", "'difference' has no attribute 'place'", id="attribute"),
    ],
)
def test_words_that_no_difference_has_are_told(where: str, told: str) -> None:
    (problem,) = problems(compared(find=f"{{difference: any, where: {where}}}"), COMPARE)
    assert told in problem.message


def test_the_words_are_those_of_the_recipe() -> None:
    for kind in ("difference", "ingredient"):
        assert fact_kinds()[kind].names == set(ITEM_OF)
        assert fact_kinds()[kind].attributes["item"] == set(ITEMS)


_MESSAGES = {
    "difference": (_FIND, "{subject}: {before}, {after}", True),
    "a fact without sides": ("{dependency: numpy}", "{before}", False),
    "an ingredient has no change": ("{ingredient: seed}", "{after}", False),
    "nor an argument": ("{ingredient: seed}", "{subject}", False),
}


@pytest.mark.parametrize(("find", "message", "fits"), _MESSAGES.values(), ids=_MESSAGES.keys())
def test_composed_placeholders_need_what_they_are_made_of(find: str, message: str, fits: bool) -> None:
    text = (
        compared(find=find)
        .replace("`{name}` runs in a map function", message)
        .replace("映射函数中调用了 `{name}`", message)
    )
    assert (problems(text, COMPARE) == ()) is fits


def _alone(folder: Path, find: str, needs: str = "{program: any, where: {side: migrated}}") -> Catalogue:
    write(folder, "compare/own.yaml", compared(find=find, needs=needs))
    return load_files([str(folder / "compare" / "own.yaml")])


def test_two_programs_are_compared_and_one_is_checked(tmp_path: Path) -> None:
    catalogue = _alone(tmp_path, "{call: torch.nn.Linear}")
    text = "import torch\n\nmodel = torch.nn.Linear(4, 2)\nmodel(torch.ones(4)).sum().backward()\n"
    both = check_sources({"reference/train.py": text, "migrated/train.py": text}, {}, catalogue)
    assert both.comparison is not None
    assert [(one.code, one.path, one.span.line) for one in both.findings] == [("NPU6101", "migrated/train.py", 3)]
    assert check_sources({"train.py": text}, {}, catalogue).comparison is None


def test_an_ordinary_check_asks_nothing_of_the_family(tmp_path: Path) -> None:
    catalogue = _alone(tmp_path, "{call: torch.nn.Linear}", "{program: any, where: {framework: torch}}")
    text = "import torch\n\nmodel = torch.nn.Linear(4, 2)\nmodel(torch.ones(4)).sum().backward()\n"
    assert judge({"train.py": text}, {}, catalogue) == []
    assert len(judge({"reference/train.py": text, "migrated/train.py": text}, {}, catalogue)) == 2
