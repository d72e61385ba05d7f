"""The JSON report, version 1: a public contract, so keys never change their meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from npulint import __version__
from npulint.judge.findings import ChecklistItem, Finding, Fix, ProgramSummary, RunResult
from npulint.judge.priorities import first_steps, to_do
from npulint.judge.verdict import verdict_of
from npulint.report.summary import fixable
from npulint.report.verdict import verdict_record
from npulint.report.view import ReportView, fields_of, visible

if TYPE_CHECKING:
    from npulint.judge.fix_results import Fixed, Refusal

VERSION = 1


def render(result: RunResult, view: ReportView) -> str:
    """The whole result. It contains no timestamp, so equal input gives equal bytes."""
    return "".join(parts(result, view))


def parts(result: RunResult, view: ReportView) -> Iterator[str]:
    """The report in parts, since that of thousands of projects is several hundred megabytes."""
    findings = visible(result, view)
    members: dict[str, Any] = {
        "version": VERSION,
        "tool": {"name": "npulint", "version": __version__},
        "target": result.target,
        "summary": summary_record(result, findings, view),
        "programs": map(program_record, result.programs),
        "findings": map(finding_record, findings),
        "unread": unread_records(result),
        **verdict_records(result, view),
        **first_records(result, view),
        **seen_record(result),
        **open_record(result),
        **graphs_record(result),
        **runs_record(result),
        **step_records(result),
        **fix_records(view),
        **compared_record(result),
    }
    sign = "{"
    for name, value in members.items():
        yield f'{sign}\n  "{name}": '
        yield from _items(value) if isinstance(value, map) else [_text(value, 2)]
        sign = ","
    yield "\n}\n"


def _items(records: Iterable[Any]) -> Iterator[str]:
    """An array of many records."""
    sign = "["
    for record in records:
        yield f"{sign}\n    {_text(record, 4)}"
        sign = ","
    yield "[]" if sign == "[" else "\n  ]"


def _text(value: Any, depth: int) -> str:
    """A value of the document, its further lines indented by `depth` columns."""
    text = msgspec.json.format(msgspec.json.encode(encodable(value)), indent=2).decode()
    return text.replace("\n", "\n" + " " * depth)  # no text of JSON contains a line feed


def encodable(value: Any) -> Any:
    """`value` with lone surrogates, which UTF-8 cannot encode, as escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {encodable(key): encodable(part) for key, part in value.items()}
    return [encodable(part) for part in value] if isinstance(value, list | tuple) else value


def unread_records(result: RunResult) -> list[dict[str, Any]]:
    """The files that were not read, with reasons."""
    return [{"path": p.path, "reason": p.reason} for p in result.unreadable if p.fatal]


def summary_record(result: RunResult, findings: list[Finding], view: ReportView) -> dict[str, Any]:
    """The counts of the run; `findings` are those in the report."""
    summary = msgspec.structs.asdict(result.summary)
    del summary["seconds"]
    severities = Counter(finding.severity for finding in findings)
    summary.update(findings=len(findings), programs=len(result.programs))
    summary.update(errors=severities["error"], warnings=severities["warning"], notes=severities["note"])
    summary["fixable"] = fixable(findings)
    if view.statistics:
        summary["checks"] = dict(sorted(Counter(finding.name for finding in findings).items()))
        summary["categories"] = dict(sorted(Counter(finding.category for finding in findings).items()))
    return summary


def verdict_records(result: RunResult, view: ReportView) -> dict[str, dict[str, Any]]:
    """What the run says of the project; empty in comparisons."""
    return {} if view.comparing else {"verdict": verdict_record(verdict_of(result), view.lang)}


def first_records(result: RunResult, view: ReportView) -> dict[str, list[dict[str, Any]]]:
    """What to do first, as text reports say it; empty in comparisons."""
    if view.comparing:
        return {}
    steps = first_steps(to_do(result, visible(result, view)), programs=result.programs)
    return {
        "first_steps": [
            {
                **fields_of(step.first, "code name severity"),
                "message": step.message,
                "path": step.first.path,
                "line": step.first.span.line,
                "places": step.places,
            }
            for step in steps
        ]
    }


def fix_records(view: ReportView) -> dict[str, list[dict[str, Any]]]:
    """The applied and refused fixes of --fix; empty for other runs."""
    if view.applied is None:
        return {}
    from npulint.report.fix_summary import why

    fixed = [{**_named(fix), "applicability": fix.applicability} for fix in view.applied.fixed]
    return {
        "fixed": fixed,
        "refused": [{**_named(refusal), "reason": why(refusal, view.lang)} for refusal in view.applied.refused],
    }


def seen_record(result: RunResult) -> dict[str, list[dict[str, Any]]]:
    """The frameworks that files import, if no training program was recognised; empty otherwise."""
    return (
        {"frameworks_seen": [msgspec.to_builtins(framework_use) for framework_use in result.seen]}
        if result.seen
        else {}
    )


def open_record(result: RunResult) -> dict[str, list[dict[str, Any]]]:
    """The checks that depend on a release or chip that is not known; empty if there are none."""
    return (
        {"open_releases": [msgspec.to_builtins(opened) for opened in result.open_releases]}
        if result.open_releases
        else {}
    )


def graphs_record(result: RunResult) -> dict[str, list[dict[str, Any]]]:
    """The graphs that were read; empty if none."""
    if not result.graphs:
        return {}
    from npulint.report.graphs import graph_record

    return {"graphs": [graph_record(graph) for graph in result.graphs]}


def runs_record(result: RunResult) -> dict[str, list[dict[str, Any]]]:
    """The training runs; empty if no artifact was read."""
    return {"runs": [msgspec.to_builtins(run) for run in result.runs]} if result.runs else {}


def step_records(result: RunResult, picture: bool = True) -> dict[str, Any]:
    """The recorded step; empty without one."""
    if result.step is None:
        return {}
    from npulint.report.step.record import step_record

    return {"step": step_record(result.step, picture)}


def compared_record(result: RunResult, *, rows: bool = True) -> dict[str, Any]:
    """The comparison with a reference; empty without one."""
    if result.comparison is None:
        return {}
    from npulint.report.compared.record import comparison_record

    return {"comparison": comparison_record(result.comparison, rows=rows)}


def _named(outcome: Fixed | Refusal) -> dict[str, Any]:
    return fields_of(outcome, "code name path line")


def program_record(program: ProgramSummary) -> dict[str, Any]:
    """An entry script and its readiness checklist."""
    return {
        **fields_of(program, "entry files framework state file_role started_by"),
        **({"configured_by": program.configured_by} if program.configured_by else {}),
        "checklist": [_item(item) for item in program.checklist],
    }


def _item(item: ChecklistItem) -> dict[str, Any]:
    place = item.evidence
    return {
        **fields_of(item, "item title status"),
        "path": "" if place is None else place.path,
        "line": 0 if place is None else place.span.line,
        "check": "" if place is None else place.check,
        "look": item.look,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    record = fields_of(fix, "text applicability")
    if fix.edits:
        record["edits"] = [
            {"path": edit.path, **msgspec.structs.asdict(edit.span), "text": edit.text} for edit in fix.edits
        ]
    return record


def finding_record(finding: Finding) -> dict[str, Any]:
    """A finding with the keys of version 1."""
    return {
        **fields_of(finding, "code name topic category severity confidence path"),
        **msgspec.structs.asdict(finding.span),
        **fields_of(finding, "message why"),
        "fix": _fix(finding.fix),
        "related": [{"path": r.path, "line": r.span.line, "message": r.message} for r in finding.related],
        **fields_of(finding, "program fingerprint url"),
        **({"programs": list(finding.programs)} if finding.programs else {}),
    }
