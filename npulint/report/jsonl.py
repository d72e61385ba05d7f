"""JSON lines: a report that can be streamed.

Every line is one object whose first key, `kind`, is its type. First come the findings (``finding``, otherwise with the
keys of the JSON report), then the programs (``program``), the frameworks that files import if no training program was
recognised (``framework``), the graphs (``graph``), training runs (``run``), a
recorded step (``step``), files that were not read (``unread``),
applied (``fixed``) and refused fixes (``refused``), programs (``comparison``) and items (``compared``) of a comparison,
and last, exactly once, the ``summary`` with version, tool, target, counts and verdict: without it the report is
incomplete. Lines end in one line feed; no text contains one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from npulint import __version__
from npulint.judge.findings import RunResult
from npulint.report.json import (
    VERSION,
    encodable,
    finding_record,
    first_records,
    fix_records,
    graphs_record,
    open_record,
    program_record,
    runs_record,
    seen_record,
    step_records,
    summary_record,
    unread_records,
    verdict_records,
)
from npulint.report.view import ReportView, visible


def render(result: RunResult, view: ReportView) -> str:
    """The whole result, one line per record, without timestamps."""
    return "".join(parts(result, view))


def parts(result: RunResult, view: ReportView) -> Iterator[str]:
    """The lines of the report."""
    findings = visible(result, view)
    rows = chain(
        _of_kind("finding", map(finding_record, findings)),
        _of_kind("program", map(program_record, result.programs)),
        _of_kind("framework", seen_record(result).get("frameworks_seen", ())),
        _of_kind("open_release", open_record(result).get("open_releases", ())),
        _of_kind("graph", graphs_record(result).get("graphs", ())),
        _of_kind("run", runs_record(result).get("runs", ())),
        _of_kind("step", step_records(result).values()),
        _of_kind("unread", unread_records(result)),
        (row for kind, records in fix_records(view).items() for row in _of_kind(kind, records)),
        _compared(result),
        _of_kind("summary", [_closing(result, summary_record(result, findings, view), view)]),
    )
    return (msgspec.json.encode(encodable(row)).decode() + "\n" for row in rows)


def _of_kind(kind: str, records: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    return ({"kind": kind, **record} for record in records)


def _compared(result: RunResult) -> Iterable[dict[str, Any]]:
    if result.comparison is None:
        return ()
    from npulint.report.compared.record import lines

    return ({"kind": kind, **record} for kind, record in lines(result.comparison))


def _closing(result: RunResult, counts: dict[str, Any], view: ReportView) -> dict[str, Any]:
    tool = {"name": "npulint", "version": __version__}
    return {
        "version": VERSION,
        "tool": tool,
        "target": result.target,
        **counts,
        **verdict_records(result, view),
        **first_records(result, view),
    }
