"""Runs all passes over the raw results, then counts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core import suggest
from npulint.core.texts import say
from npulint.data.releases import DEFAULT_ADAPTER
from npulint.judge.findings import Finding, GraphSummary, OpenRelease, RunResult, Summary
from npulint.judge.postprocess import passes
from npulint.judge.postprocess.passes import Pass, named_files, place_of
from npulint.judge.postprocess.record import RawResults, RunContext, RunData
from npulint.judge.settings import Settings
from npulint.judge.verdict import judged, trains

# The target in reports: versions, SoC and frameworks, declared, inferred or assumed.

_SECOND = "2.x"  # the adapter of TensorFlow 2


def target_of(raw: RawResults, settings: Settings) -> dict[str, str]:
    """The text for each part of the target, from `settings`, programs and graphs."""
    lang = settings.language()
    target = {key: _because(settings.target[key], "given", lang) for key in settings.target}
    frameworks = _frameworks(raw)
    if any(framework.startswith("tensorflow") for framework in frameworks):
        written_for = {program.framework for program in raw.programs if program.framework.startswith("tensorflow")}
        # The adapter of TensorFlow 2 has other version numbers; operators of graphs alone are those of the default one.
        of_graphs = "tensorflow 1.x" in frameworks or not (written_for or "tensorflow 2.x" in frameworks)
        anything = say(lang, "target.any")
        target.setdefault("adapter", _adapter(raw, lang) or (_assumed(lang) if of_graphs else anything))
        target.setdefault("cann", anything)
        target.setdefault("soc", anything)
    if "soc" not in settings.target and (shown := _chips(raw, lang)):
        target["soc"] = shown
    if frameworks and not {"framework", "tensorflow", "torch"} & set(target):
        target["framework"] = _because(say(lang, "list.and").join(frameworks), "inferred", lang)
    if any(graph.framework == "tensorflow" for graph in raw.graphs):
        from npulint.judge.postprocess.operators import lists_used  # rarely needed

        target["operators"] = lists_used(raw.graphs, lang)
    return dict(sorted(target.items()))


def _assumed(lang: str) -> str:
    return _because(DEFAULT_ADAPTER, "assumed", lang)


def _adapter(raw: RawResults, lang: str) -> str:
    """The line of the adapter if only graphs need one, by the TensorFlow that wrote them; empty if no graph is of
    TensorFlow, if programs decide, or if it is unknown."""
    graphs = [graph for graph in raw.graphs if graph.framework == "tensorflow"]
    lines = {graph.version.partition(".")[0] for graph in graphs}
    if any(program.framework.startswith("tensorflow") for program in raw.programs) or len(lines) != 1:
        return ""
    line = {"1": DEFAULT_ADAPTER, "2": _SECOND}.get(lines.pop(), "")
    newest = max(graphs, key=lambda graph: graph.version)
    key = "target.running" if newest.form.startswith("live_") else "target.graph"
    return line and line + say(lang, "aside", text=say(lang, key, version=newest.version))


def _frameworks(raw: RawResults) -> list[str]:
    """The frameworks of programs and graphs; TensorFlow without a major version only if none is known."""
    frameworks = {program.framework for program in raw.programs} | {_framework(graph) for graph in raw.graphs}
    if any(framework.startswith("tensorflow ") for framework in frameworks):
        frameworks.discard("tensorflow")
    return sorted(frameworks - {"", "none", "unknown", "onnx"})


def _framework(graph: GraphSummary) -> str:
    major = graph.version.partition(".")[0]
    has_major = graph.framework == "tensorflow" and major in ("1", "2")
    return f"tensorflow {major}.x" if has_major else graph.framework


def _chips(raw: RawResults, lang: str) -> str:
    """The chips that all projects of the run are for, with the place that shows it; empty where they differ."""
    shown = [chip for chip in raw.chips if chip.evidence is not None]
    if not shown or len({(inferred_chips.named, inferred_chips.unlikely) for inferred_chips in shown}) > 1:
        return ""
    first, evidence = shown[0], shown[0].evidence
    listed = say(lang, "list.and").join(first.named or first.unlikely)
    text = listed if first.named else say(lang, "target.unlikely", chips=listed)
    if evidence is None:
        return text
    key = "target.shown.at" if evidence.path else "target.shown"
    because = say(lang, key, word=evidence.word, path=evidence.path, line=evidence.line)
    return text + say(lang, "aside", text=because)


def _because(text: str, key: str, lang: str) -> str:
    return text + say(lang, "aside", text=say(lang, f"target.{key}"))


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
    passes.merge_advice_of_projects,
    passes.apply_baseline,
    passes.account_for_verdict,
    passes.limit_to_scope,
    passes.apply_thresholds,
    passes.note_unusable_lists,
    passes.note_other_files,
    passes.drop_unfixable,
)
"""All passes, in order."""

_MERGING = (
    passes.merge_runs_with_source,
    passes.merge_findings_of_programs,
    passes.merge_source,
    passes.merge_advice_of_projects,
)
_REPORTED = (
    passes.keep_selected,
    passes.remove_duplicates,
    passes.add_fingerprints,
    passes.apply_comments,
    passes.apply_per_file_ignores,
    passes.apply_baseline,
)
FOR_EDITORS = tuple(step for step in PASSES if step is not passes.merge_advice_of_projects)
"""The passes for what shows findings at their lines: advice is told at every place, in whatever file."""
FOR_EXAMPLES = tuple(step for step in PASSES if step not in _MERGING)
"""The passes for examples of checks: run findings and those of several programs or source checks are not merged."""


def finalize(raw: RawResults, context: RunContext, order: Sequence[Pass] = PASSES) -> RunResult:
    """The result of a run: raw results after all passes. Raises `ConfigError` when the settings select an unknown check
    or an unreadable baseline."""
    suggest.renew()
    findings = list(raw.findings)
    raw = msgspec.structs.replace(raw, findings=())  # or the memory would hold each twice
    data = RunData(raw=raw, findings=findings, programs=list(raw.programs))
    for step in order:
        data = step(data, context)
    result = RunResult(
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
        open_releases=_open_releases(raw, data.findings, context),
        seen=[] if context.comparing or any(map(trains, data.programs)) else list(raw.seen),
    )
    accounted = data.findings if data.accounted is None else data.accounted
    selective = bool(context.settings.select)
    return msgspec.structs.replace(result, verdict=judged(result, accounted, selective=selective))


def _open_releases(raw: RawResults, findings: Sequence[Finding], context: RunContext) -> list[OpenRelease]:
    """The selected checks that find nothing because a release or the chip is not known, in files that were named."""
    reported = {(finding.code, finding.path, finding.span.line) for finding in findings} if raw.open_releases else set()
    return [
        opened
        for opened in raw.open_releases
        if opened.code in context.codes
        and (opened.code, opened.path, opened.line) not in reported
        and opened.path not in context.scope.context_only
        and not context.per_file.ignores(context.by_code[opened.code], opened.path)
    ]


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
