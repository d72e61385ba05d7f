"""Each pass from raw results to what is reported, by itself."""

from __future__ import annotations

from typing import Any

from npulint.facts.model import FileFacts, Problem, Span
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.findings import Finding, Fix, FixEdit, FixStep, Related
from npulint.judge.postprocess import passes
from npulint.judge.postprocess.finalize import FOR_EXAMPLES, PASSES
from npulint.judge.postprocess.record import (
    EVERYTHING,
    RawResults,
    ReportScope,
    RunContext,
    RunData,
    finding_key,
    merged,
)
from npulint.judge.settings import Settings
from tests.surface_support import finding, source

FIX = Fix("Use npu_ops.", "safe", changes=(FixEdit("safe", (FixStep("delete", "a.py", Span(1, 1, 1, 2)),)),))


def data(*findings: Finding, raw: RawResults | None = None) -> RunData:
    return RunData(raw=raw or RawResults(), findings=list(findings), programs=[])


def context(scope: ReportScope = EVERYTHING, **settings: Any) -> RunContext:
    return RunContext(Settings(**settings), Catalogue(), source, scope)


def test_every_pass_comes_once_and_says_what_it_does() -> None:
    assert len(set(PASSES)) == len(PASSES)
    assert set(PASSES) - set(FOR_EXAMPLES) == {
        passes.merge_runs_with_source,
        passes.merge_source,
        passes.merge_findings_of_programs,
        passes.merge_advice_of_projects,
    }
    assert all(one.__doc__ for one in PASSES)


def test_the_results_of_projects_are_one_with_the_problems_of_discovery() -> None:
    parts = [RawResults([finding(path=path)], files=[FileFacts(path, "python")]) for path in ("b.py", "a.py")]
    whole = merged(parts, [Problem("c.py", "too-large")])
    assert [one.path for one in whole.findings] == [one.path for one in whole.files] == ["b.py", "a.py"]
    assert [one.path for one in whole.problems] == ["c.py"]


def test_only_selected_checks_are_kept() -> None:
    both = data(finding(), finding(code="NPU1102", name="other"))
    assert [one.code for one in passes.keep_selected(both, context(ignore=("NPU13",))).findings] == ["NPU1102"]


def test_what_lies_outside_of_the_scope_is_counted_where_it_would_be_shown() -> None:
    inside, outside, note = finding(path="a.py"), finding(path="b.py"), finding(path="b.py", severity="note")
    related = finding(path="b.py", related=(Related("a.py", Span(), ""),))
    caused = finding(path="b.py", code="NPU1302")
    scope = ReportScope(frozenset(["b.py"]), frozenset([finding_key(caused)]))
    left = passes.limit_to_scope(data(inside, outside, note, related, caused), context(scope))
    assert (left.findings, left.elsewhere) == ([inside, related, caused], 1)
    (notice,) = passes.note_other_files(left, context(scope)).notices
    assert "b.py" in notice
    assert passes.note_other_files(data(inside), context(scope)).notices == []


def test_what_is_below_the_thresholds_is_counted() -> None:
    left = passes.apply_thresholds(data(finding(), finding(severity="note")), context(min_severity="warning"))
    assert ([one.severity for one in left.findings], left.hidden) == (["warning"], 1)


def test_what_the_settings_call_unfixable_has_no_fix() -> None:
    both = data(finding(fix=FIX), finding(code="NPU1102", name="other", fix=FIX))
    left = passes.drop_unfixable(both, context(unfixable=("native-dropout",)))
    assert [one.fix.changes for one in left.findings] == [(), FIX.changes]
    assert [one.fix.text for one in left.findings] == [FIX.text, FIX.text]


def test_only_problems_of_named_files_are_findings() -> None:
    files = [FileFacts(path, "python", problems=[Problem(path, "python2")]) for path in ("a.py", "b.py")]
    raw = RawResults(files=files, problems=[Problem("gone.py", "missing")])
    left = passes.add_unreadable_files(data(raw=raw), context(ReportScope(frozenset(["b.py"]))))
    assert [one.path for one in left.findings] == ["a.py"]
    assert [one.path for one in left.unread] == ["a.py", "gone.py"]


def test_operator_lists_that_cannot_be_used_are_noted_once() -> None:
    raw = RawResults(unlisted=[Problem("ops.json", "unreadable")] * 2)
    (notice,) = passes.note_unusable_lists(data(raw=raw), context()).notices
    assert "ops.json" in notice
