"""The judge accepts what is true, rejects what is not, and takes silence for what it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.oracle.judging import KNOWN, LOOSE, OPEN, UNKNOWN, UNREACHED, WRONG, judged, known_share, shares, verdict_of
from tests.oracle.notation import Place, Program, parsed
from tests.oracle.respondents import lying, silent, truthful
from tests.oracle.state import Judged, recorded_forms, recorded_programs
from tests.oracle.truth import Seen, Truth, as_line, from_record

EVERYTHING = [*(pair for group in recorded_forms().values() for pair in group), *recorded_programs("training", 0)]


def _verdicts(respondent: Any) -> list[tuple[Seen, Truth, str]]:
    made = []
    for program, truth in EVERYTHING:
        answers = respondent(truth)(program)
        verdicts = judged(program, truth, answers)
        made += [(seen, truth, verdict.name) for seen, verdict in zip(truth.seen, verdicts, strict=True)]
    return made


def test_the_truth_is_known() -> None:
    names = {name for _, _, name in _verdicts(truthful)}
    assert names == {KNOWN, OPEN, UNREACHED}


def test_each_lie_is_wrong() -> None:
    for seen, _, name in _verdicts(lying):
        assert name == (WRONG if seen.values or seen.place.kind == "runs" else UNREACHED), seen


def test_silence_is_never_wrong_and_never_known() -> None:
    for seen, truth, name in _verdicts(lambda truth: silent):
        if seen.place.kind == "runs":
            assert name == (OPEN if truth.runs(seen) == "some" else UNKNOWN)
        else:
            assert name == (UNREACHED if not seen.values else OPEN if len(seen.values) > 1 else UNKNOWN)


VALUE = Place("train.py", 1, "value")
RUNS = Place("train.py", 1, "runs")


@pytest.mark.parametrize(
    ("seen", "said", "verdict"),
    [
        ([1], [1], KNOWN),
        ([1], [1.0], WRONG),
        ([1], [True], WRONG),
        ([True], [1], WRONG),
        ([1, 2], [2, 1], KNOWN),
        ([1, 2], [1], WRONG),
        ([1], [1, 2], LOOSE),
        ([1], [], WRONG),
        ([{"a": [1]}], [{"a": [1.0]}], WRONG),
        ([1], None, UNKNOWN),
        ([1, 2], None, OPEN),
        ([], None, UNREACHED),
        ([], [1], UNREACHED),
    ],
)
def test_values(seen: list[object], said: list[object] | None, verdict: str) -> None:
    truth = Truth([0], [Seen(VALUE, [bool(seen)], seen)])
    answer = {"certain": said is not None, "values": said or []}
    assert verdict_of(truth, truth.seen[0], answer)[0] == verdict


@pytest.mark.parametrize(
    ("statuses", "reached", "said", "verdict"),
    [
        ([0, 0], [True, True], "yes", KNOWN),
        ([0, 0], [True, False], "yes", WRONG),
        ([0, 1], [True, False], "yes", KNOWN),  # only normal runs count
        ([1, 3], [True, False], "yes", WRONG),  # all count where there is no normal one
        ([0, 1], [False, True], "no", WRONG),  # `no` is about each run
        ([0, 0], [False, False], "no", KNOWN),
        ([0, 0], [True, False], "no", WRONG),
        ([0, 0], [True, False], "maybe", OPEN),
        ([0, 0], [True, True], "maybe", UNKNOWN),
        ([0, 0], [True, True], "perhaps", WRONG),
    ],
)
def test_runs(statuses: list[int], reached: list[bool], said: str, verdict: str) -> None:
    truth = Truth(statuses, [Seen(RUNS, reached)])
    assert verdict_of(truth, truth.seen[0], {"answer": said})[0] == verdict


def test_a_missing_answer_is_not_certain() -> None:
    (form,) = parsed("group", "#### form\n>>> 1\n>>>\n")
    truth = Truth([0], [Seen(form.places[0], [True], [1]), Seen(form.places[1], [True])])
    assert [verdict.name for verdict in judged(form, truth, [])] == [UNKNOWN, UNKNOWN]


def test_an_answer_for_a_place_without_a_probe_is_an_error() -> None:
    (form,) = parsed("group", "#### form\n>>> 1\n")
    truth = Truth([0], [Seen(form.places[0], [True], [1])])
    answers = [{"path": "train.py", "line": 2, "kind": "value", "certain": True, "values": [1]}]
    with pytest.raises(ValueError, match="without a probe"):
        judged(form, truth, answers)


def test_faults_are_noted_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    (form,) = parsed("group", "#### form\nx = 1\n>>> x\n")
    truth = Truth([0], [Seen(form.places[0], [True], [2])])
    result = Judged()
    result.add(form, truth)
    assert result.faults == {"group/form": "wrong"}
    assert result.details == ["group/form: wrong: train.py:2 reveal_value(x): said [1], seen [2]"]

    def broken(program: Program) -> None:
        raise KeyError("x")

    monkeypatch.setattr("tests.oracle.state.analysed", broken)
    result.add(form, truth)
    assert result.faults == {"group/form": "crash"}


def test_the_share_of_what_can_be_known() -> None:
    counts = {KNOWN: 6, LOOSE: 1, UNKNOWN: 2, WRONG: 1, OPEN: 50, UNREACHED: 50}
    assert known_share(counts) == 0.6
    assert known_share(shares([])) == 1.0


def test_a_record_states_the_truth() -> None:
    program, truth = EVERYTHING[0]
    again = from_record(json.loads(as_line(program, truth)))
    assert again == truth
