"""The estimate of a port's effort."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from npulint.data.effort import weight
from npulint.facts.model import Span
from npulint.judge.effort import Effort, estimate
from npulint.judge.effort.estimate import counted
from npulint.judge.findings import Finding, Fix, FixEdit, FixStep, Related, RunResult

EDIT = {True: "safe", False: "unsafe"}


def found(
    path: str = "train.py", line: int = 1, safe: bool | None = None, code: str = "NPU2101", severity: str = "error"
) -> Finding:
    """A finding with an edit, safe or not, or (None) without one."""
    fix = Fix("decide")
    if safe is not None:
        step = FixStep("delete", path, Span.at(line))
        fix = Fix("edit", EDIT[safe], changes=(FixEdit(EDIT[safe], (step,)),))
    return Finding(
        code, "a-check", "device_cuda", "performance", severity, "high", path, Span.at(line), "message", "why", fix
    )


def of(*findings: Finding) -> Effort:
    return estimate(RunResult(findings=list(findings)))


def test_places_are_what_the_port_edits_by_itself_edits_for_review_and_leaves_to_a_person() -> None:
    one = of(found(line=1, safe=True), found(line=2, safe=False), found(line=3))
    assert (one.automatic, one.review, one.decide, one.items) == (1, 1, 1, 3)
    assert [(file.path, file.automatic, file.review, file.decide) for file in one.files] == [("train.py", 1, 1, 1)]


def test_a_place_counts_once_and_needs_review_if_one_of_its_edits_does() -> None:
    assert of(found(safe=True), found(safe=False, code="NPU2102"), found(safe=True, code="NPU2103")).review == 1


def test_a_check_is_decided_about_once_in_each_file() -> None:
    assert of(*(found(line=line) for line in range(1, 9)), found(path="other.py")).decide == 2


def test_notes_about_speed_are_no_decisions_but_their_edits_count() -> None:
    assert of(found(severity="note")) == Effort()
    assert of(found(severity="note", safe=True)).automatic == 1


def test_places_of_a_group_without_an_edit_are_left_to_a_person() -> None:
    group = replace(
        found(path="a.py", safe=True), related=(Related("b.py", Span.at(4), ""),), places=2, wording="{count} places"
    )
    one = of(group)
    assert [(file.path, file.automatic, file.decide) for file in one.files] == [("b.py", 0, 1), ("a.py", 1, 0)]


@pytest.mark.parametrize("topic", ["run_artifact", "recipe_difference", "graph_op"])
def test_findings_about_runs_comparisons_and_graphs_are_no_work_in_code(topic: str) -> None:
    assert of(replace(found(safe=True), topic=topic)) == Effort()


def test_hours_follow_from_lines_and_their_range_from_the_range_of_the_speed() -> None:
    one = counted([(("a.py", 1), True), (("a.py", 2), False)], [("a.py", "NPU2101")])
    lines = 2 * weight("place").value + weight("file").value
    decision, speed = weight("decision").value, weight("lines_per_hour")
    assert one.lines == lines
    assert one.by_hand.likely == pytest.approx((lines + decision) / speed.value)
    assert one.hours.likely == pytest.approx((lines / 2 / weight("reading").value + decision) / speed.value)
    assert one.hours.low == pytest.approx(one.hours.likely * speed.value / speed.high)
    assert one.hours.high == pytest.approx(one.hours.likely * speed.value / speed.low)


def test_the_project_is_the_sum_of_its_files_those_with_most_work_left_first() -> None:
    one = counted(
        [((path, line), False) for path in ("b.py", "a.py") for line in range(len(path))] + [(("a.py", 9), True)], []
    )
    assert [file.path for file in one.files] == ["b.py", "a.py"]  # in a.py an edit needs no review
    assert one.by_hand.likely == pytest.approx(sum(file.by_hand.likely for file in one.files))
    assert one.lines == sum(file.lines for file in one.files)


@pytest.mark.parametrize("parts", [(0, 0, 0), (1, 1, 1), (1, 0, 0), (0, 5, 2), (3, 3, 1), (199, 1, 1)])
def test_shares_add_up(parts: tuple[int, int, int]) -> None:
    shares = Effort(*parts).shares()
    assert sum(shares) == (100 if sum(parts) else 0) and min(shares) >= 0
