"""Runs all passes over the raw results, then counts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core import similar
from npulint.judge.findings import Finding, RunResult, Summary
from npulint.judge.postprocess import passes
from npulint.judge.postprocess.passes import Pass, named_files, place_of
from npulint.judge.postprocess.record import RawResults, RunContext, RunData
from npulint.judge.postprocess.target import target_of

PASSES: tuple[Pass, ...] = (
    passes.note_unknown_words,
    passes.add_unreadable_files,
    passes.keep_selected,
    passes.apply_severities,
    passes.place_run_findings,
    passes.merge_graphs,
    passes.remove_duplicates,
    passes.add_fingerprints,
    passes.apply_comments,
    passes.apply_per_file_ignores,
    passes.merge_graphs_with_source,
    passes.merge_runs_with_source,
    passes.decide_checklists,
    passes.rank_programs,
    passes.add_complaints,
    passes.merge_findings_of_programs,
    passes.merge_source,
    passes.apply_baseline,
    passes.limit_to_scope,
    passes.apply_thresholds,
    passes.note_unusable_lists,
    passes.note_other_files,
    passes.drop_unfixable,
)
"""All passes, in order."""

_MERGING = (passes.merge_runs_with_source, passes.merge_findings_of_programs, passes.merge_source)
_REPORTED = (
    passes.keep_selected,
    passes.remove_duplicates,
    passes.add_fingerprints,
    passes.apply_comments,
    passes.apply_per_file_ignores,
    passes.apply_baseline,
)
FOR_EXAMPLES = tuple(one for one in PASSES if one not in _MERGING)
"""The passes for examples of checks: run findings and those of several programs or source checks are not merged."""


def finalize(raw: RawResults, context: RunContext, order: Sequence[Pass] = PASSES) -> RunResult:
    """The result of a run: raw results after all passes. Raises `ConfigError` when the settings select an unknown check
    or an unreadable baseline."""
    similar.renew()
    findings = list(raw.findings)
    raw = msgspec.structs.replace(raw, findings=())  # or the memory would hold each twice
    data = RunData(raw=raw, findings=findings, programs=list(raw.programs))
    for step in order:
        data = step(data, context)
    return RunResult(
        findings=data.findings,
        programs=data.programs,
        unreadable=data.unread,
        target=target_of(raw, context.settings),
        summary=_summary(data, context),
        notices=data.notices,
        suppressed=sorted(
            [*data.suppressed, *data.known], key=lambda suppressed_finding: place_of(suppressed_finding.finding)
        ),
        baseline=data.baseline,
        graphs=sorted(raw.graphs, key=lambda graph_summary: graph_summary.path),
        runs=sorted(raw.runs, key=lambda run_summary: [file.path for file in run_summary.files]),
        seen=[] if context.comparing or any(program.checklist for program in data.programs) else list(raw.seen),
    )


def reported(raw: RawResults, context: RunContext) -> list[Finding]:
    """The findings that no selection, comment or baseline excludes, before merging and thresholds."""
    return finalize(raw, context, _REPORTED).findings


def _summary(data: RunData, context: RunContext) -> Summary:
    skipped = {problem.path for problem in data.unread if problem.fatal}
    everything = {file.path for file in named_files(data, context)} | skipped
    severities = [finding.severity for finding in data.findings]
    return Summary(
        files=len(everything),
        read=len(everything) - len(skipped),
        skipped=len(skipped),
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        notes=severities.count("note"),
        suppressed=len(data.suppressed),
        known=len(data.known),
        hidden=data.hidden,
        elsewhere=data.elsewhere,
        seconds=context.seconds(),
    )
