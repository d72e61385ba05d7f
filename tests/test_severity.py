"""Severities: that they follow from the consequence by one table, and that checks declare the consequence they tell."""

from __future__ import annotations

import re

import pytest

from npulint.judge.catalogue.check import Check
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.page import render_page
from npulint.judge.catalogue.severity import (
    ALWAYS,
    CONSEQUENCES,
    IF_CHOSEN,
    IF_REACHED,
    OCCURRENCES,
    ON_SOME_CHIPS,
    STOPS,
    WRONG_RESULT,
    severity_of,
    where_unsure,
)
from npulint.judge.findings import CONFIDENCES, SEVERITIES
from tests.catalogue_samples import parsed, problems, sample
from tests.project_support import Project

CHECKS = load_catalogue(use_cache=False).checks
IDS = [f"{check.code} {check.name}" for check in CHECKS]

ENDS_THE_RUN = [
    # the run, or what starts it, is the subject
    r"\bthe (?:run|session|program|script|training|step|start|build|conversion|import) (?:then )?"
    r"(?:stops|ends (?:with|at|here)|aborts|fails|hangs)\b",
    # an exception by its name, with a verb that nothing follows
    r"\b(?:raises?|ends with|stops? with|stops there with)(?: an?)? `?[A-Z]\w*(?:Error|Exception)\b",
    r"\b(?:ends|stops|terminates) the (?:run|process|program)\b",
    r"\brefuses to start\b",
]
"""How a text says that a run ends. Words such as "may", and what happens with other settings, are not in it: a check
may tell of a run that ends otherwise, but not declare that nothing worse than a slow step happens."""
TELLS_OF_OTHER_CASES = {
    "unknown-adapter-option": "a session ignores the key; only the other two ways raise",
    "npu-optimizer-without-loss-scale-switch": "of two cases one raises, the other one trains wrongly",
    "grad-scaler-incomplete": "only a second step raises, and many programs catch nothing up to there",
    "chief-without-port": "TensorFlow 1 trains alone, only TensorFlow 2 stops",
    "shard-by-device-id": "stops on some machines, reads wrong shards on the others",
    "lightning-configured-without-npu": "stops with some values, trains on the CPU with the others",
    "numeric-checks-left": "every step is slower, whether it overflows or not",
}
"""Checks whose text tells of a run that ends, and whose consequence is another one: why."""


@pytest.mark.parametrize(
    ("consequence", "occurs", "severities"),
    [
        (STOPS, ALWAYS, "error error warning"),
        (STOPS, "some-runs", "warning warning note"),
        (STOPS, ON_SOME_CHIPS, "warning warning note"),
        (STOPS, IF_REACHED, "warning warning note"),
        (STOPS, IF_CHOSEN, "note note note"),
        (WRONG_RESULT, ALWAYS, "error warning warning"),
        (WRONG_RESULT, "some-runs", "warning warning warning"),
        (WRONG_RESULT, ON_SOME_CHIPS, "warning warning warning"),
        (WRONG_RESULT, IF_CHOSEN, "note note note"),
        ("wasted-device", ALWAYS, "error error warning"),
        ("wasted-device", "some-runs", "warning warning note"),
        ("idle-devices", ALWAYS, "warning warning note"),
        ("much-slower", ALWAYS, "warning warning note"),
        ("much-slower", "some-runs", "warning note note"),
        ("much-slower", ON_SOME_CHIPS, "warning note note"),
        ("slower", ALWAYS, "note note note"),
        ("other-numbers", ALWAYS, "note note note"),
        ("hygiene", ALWAYS, "note note note"),
    ],
)
def test_severity_follows_from_the_consequence(consequence: str, occurs: str, severities: str) -> None:
    found = [severity_of(consequence, occurs, confidence) for confidence in reversed(CONFIDENCES)]
    assert " ".join(found) == severities


def test_a_check_that_names_its_chips_is_as_severe_there_as_one_that_always_occurs() -> None:
    for consequence in CONSEQUENCES:
        for confidence in CONFIDENCES:
            named = severity_of(consequence, ON_SOME_CHIPS, confidence, on_named_chips=True)
            assert named == severity_of(consequence, ALWAYS, confidence)
            assert severity_of(consequence, IF_CHOSEN, confidence, on_named_chips=True) == "note"


def test_nothing_is_more_severe_with_less_confidence_or_if_it_happens_less_often() -> None:
    rank = SEVERITIES.index
    for consequence in CONSEQUENCES:
        for occurs in OCCURRENCES:
            levels = [rank(severity_of(consequence, occurs, confidence)) for confidence in CONFIDENCES]
            assert levels == sorted(levels)
            for confidence in CONFIDENCES:
                often = rank(severity_of(consequence, ALWAYS, confidence))
                assert rank(severity_of(consequence, occurs, confidence)) <= often


@pytest.mark.parametrize("words", [("crash", ALWAYS, "high"), (STOPS, "never", "high"), (STOPS, ALWAYS, "sure")])
def test_unknown_words_have_no_severity(words: tuple[str, str, str]) -> None:
    with pytest.raises((KeyError, ValueError)):
        severity_of(*words)


def test_no_error_where_it_is_not_sure_that_the_place_runs() -> None:
    assert [where_unsure(severity, ALWAYS) for severity in SEVERITIES] == ["note", "warning", "warning"]
    assert {where_unsure(severity, IF_REACHED) for severity in SEVERITIES} == {"note"}


@pytest.mark.parametrize("check", CHECKS, ids=IDS)
def test_what_ends_the_run_is_declared(check: Check) -> None:
    why = " ".join(check.text["en"].why.split())
    tells = any(re.search(pattern, why) for pattern in ENDS_THE_RUN)
    if check.name in TELLS_OF_OTHER_CASES:
        assert tells and check.consequence != STOPS, "the reason is not needed"
    elif tells:
        assert check.consequence == STOPS, why


def test_wrong_results_are_never_hidden() -> None:
    wrong = [check for check in CHECKS if check.consequence == WRONG_RESULT and check.occurs != IF_CHOSEN]
    assert [check.name for check in wrong if check.severity == "note"] == []


def test_few_checks_deviate_and_each_says_why() -> None:
    deviating = [check for check in CHECKS if check.because]
    assert len(deviating) <= len(CHECKS) * 0.05
    assert all(set(check.because) == {"en", "zh"} for check in deviating)


def test_the_severity_of_a_check_file_is_derived() -> None:
    check = parsed(sample(consequence="much-slower", occurs="some-runs", confidence="medium"))
    assert (check.consequence, check.occurs, check.severity, check.because) == ("much-slower", "some-runs", "note", {})
    on_chips = {"consequence": "much-slower", "occurs": ON_SOME_CHIPS, "confidence": "medium"}
    assert parsed(sample(**on_chips)).severity == "note"
    assert parsed(sample(**on_chips, severe_on="[910A]")).severity == "warning"
    assert parsed(sample(**on_chips, applies="{soc: [910A]}")).severity == "warning"


def test_a_check_may_deviate_with_a_reason() -> None:
    check = parsed(sample(severity="{is: warning, because: {en: It is new., zh: 刚刚出现。}}"))
    assert (check.severity, check.because) == ("warning", {"en": "It is new.", "zh": "刚刚出现。"})
    for lang, word in (("en", "It is new."), ("zh", "刚刚出现。")):
        assert word in render_page(check, lang)


@pytest.mark.parametrize(
    ("severity", "complaint"),
    [
        ("warning", "severity follows from the keys consequence and occurs"),
        ("{is: error, because: {en: So., zh: 是。}}", "'error' follows from the consequence; leave the key out"),
        ("{is: warning}", "severity: the key 'because' is missing"),
        ("{is: warning, because: {en: So.}}", "severity.because: the key 'zh' is missing"),
        ("{is: fatal, because: {en: So., zh: 是。}}", "severity.is: 'fatal' is not one of"),
    ],
)
def test_a_severity_without_a_reason_is_refused(severity: str, complaint: str) -> None:
    assert complaint in str(problems(sample(severity=severity))[0])


def test_pages_say_the_consequence_in_words() -> None:
    page = render_page(parsed(sample()), "en")
    assert "| Consequence | The run stops or does not start, in every run that comes to the place |" in page
    for check in CHECKS:
        for lang in ("en", "zh"):
            row = next(line for line in render_page(check, lang).split("\n") if line.startswith(("| Conse", "| 后果")))
            assert f"| {check.consequence}" not in row and check.occurs not in row and "{" not in row


_TRAINED = """\
import argparse
import torch
import torch_npu
from apex.optimizers import FusedAdam, FusedLAMB
from transformers import BitsAndBytesConfig

parser = argparse.ArgumentParser()
parser.add_argument("--norm", required=True)
args = parser.parse_args()
model = torch.nn.Linear(4, 2).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{surely}
if args.norm == "other":
    {maybe}
for batch in torch.utils.data.DataLoader(torch.zeros(8, 4)):
    loss = model(batch.npu()).sum()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("surely", "maybe", "code", "severity"),
    [
        pytest.param("FusedAdam(())", "FusedLAMB(())", "NPU2131", "error", id="one of two places runs"),
        pytest.param("", "FusedLAMB(())", "NPU2131", "warning", id="an option decides"),
        pytest.param("BitsAndBytesConfig(load_in_8bit=True)", "pass", "NPU2150", "warning", id="it is reached"),
        pytest.param("", "BitsAndBytesConfig(load_in_8bit=True)", "NPU2150", "note", id="it may be reached"),
    ],
)
def test_a_finding_is_as_severe_as_its_surest_place(
    project: Project, surely: str, maybe: str, code: str, severity: str
) -> None:
    project.write({"train.py": _TRAINED.format(surely=surely, maybe=maybe)})
    found = project.check("--select", code).findings
    assert [one["severity"] for one in found] == [severity]
