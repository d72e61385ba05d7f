"""SARIF 2.1.0 for code scanning services and editors, including the additional requirements of GitHub.

Suppressed findings come last, with `suppressions`. GitHub shows those as open alerts unless the action
``advanced-security/dismiss-alerts`` dismisses them or they are removed before the upload; other viewers hide them.
Unread files are notifications of the invocation. Counts and comparison items are in the property bag; findings of a
comparison have the other side as related location.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from npulint import __version__
from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say
from npulint.facts.model import Problem
from npulint.judge.findings import Finding, RunResult, SuppressedFinding
from npulint.judge.settings import DOCS_URL, RANK
from npulint.report.json import (
    compared_record,
    encodable,
    first_records,
    fix_records,
    graphs_record,
    open_record,
    step_records,
    summary_record,
    verdict_records,
)
from npulint.report.open_releases import labelled
from npulint.report.sarif.results import ROOT, Writer, artifact, region, rules
from npulint.report.summary import reason
from npulint.report.view import ReportView, visible, visible_suppressed

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000  # GitHub rejects runs with more

_NULL = lazy_compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # in JSON; databases of services reject it

_Entry = tuple[Finding, SuppressedFinding | None]


def render(result: RunResult, view: ReportView) -> str:
    """A log with one run. It contains no timestamp, so equal input gives equal bytes."""
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(result, view)]}
    text = msgspec.json.format(msgspec.json.encode(encodable(document)), indent=2).decode()
    return (_NULL.sub(r"\1\\\\x00", text) if "\\u0000" in text else text) + "\n"


def _run(result: RunResult, view: ReportView) -> dict[str, Any]:
    shown = _with_other_sides(visible(result, view), result)
    entries: list[_Entry] = [(finding, None) for finding in shown]
    entries += [
        (suppressed_finding.finding, suppressed_finding) for suppressed_finding in visible_suppressed(result, view)
    ]
    kept = most_important(entries, MOST_RESULTS)
    described = rules([finding for finding, _ in kept], view)
    writer = Writer({rule["id"]: index for index, rule in enumerate(described)}, view, [finding for finding, _ in kept])
    return {
        "tool": {"driver": _driver(described, view)},
        "automationDetails": {"id": "npulint/"},
        "language": "zh-CN" if view.lang == "zh" else "en-US",
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": say(view.lang, "sarif.root")}}},
        "invocations": [_invocation(result, len(entries) - len(kept), view)],
        "results": [writer.result(finding, suppressed) for finding, suppressed in kept],
        "properties": {
            "summary": summary_record(result, shown, view),
            "target": result.target,
            **verdict_records(result, view),
            **first_records(result, view),
            **open_record(result),
            **graphs_record(result),
            **step_records(result, picture=False),
            **fix_records(view),
            **compared_record(result, rows=False),
        },
    }


def _with_other_sides(findings: list[Finding], result: RunResult) -> list[Finding]:
    if result.comparison is None:
        return findings
    from npulint.report.compared.rows import with_other_sides

    return with_other_sides(findings, result.comparison)


def most_important(entries: Sequence[_Entry], limit: int) -> Sequence[_Entry]:
    """At most `limit` entries in their order: unsuppressed before suppressed, then by severity."""
    if len(entries) <= limit:
        return entries

    def order(index: int) -> tuple[bool, int, int]:
        finding, suppressed = entries[index]
        return suppressed is not None, -RANK[finding.severity], index

    return [entries[index] for index in sorted(sorted(range(len(entries)), key=order)[:limit])]


def _driver(described: list[dict[str, Any]], view: ReportView) -> dict[str, Any]:
    return {
        "name": "npulint",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": DOCS_URL,
        "language": "zh-CN" if view.lang == "zh" else "en-US",
        "rules": described,
    }


def _invocation(result: RunResult, cut: int, view: ReportView) -> dict[str, Any]:
    """The invocation with its notifications. These are warnings, because an error would mark the whole run as failed;
    only a missing path does."""
    notifications = [_unread(problem, view) for problem in result.unreadable]
    for text in labelled(result.open_releases, view.lang):
        notifications.append({"descriptor": {"id": "open-releases"}, "level": "note", "message": {"text": text}})
    if cut:
        text = count(view.lang, "sarif.cut", cut, limit=MOST_RESULTS)
        notifications.append({"descriptor": {"id": "cut"}, "level": "warning", "message": {"text": text}})
    invocation: dict[str, Any] = {
        "executionSuccessful": all(problem.reason != "missing" for problem in result.unreadable),
        "toolExecutionNotifications": notifications,
    }
    if result.notices:
        invocation["toolConfigurationNotifications"] = [
            {"level": "warning", "message": {"text": notice}} for notice in result.notices if notice
        ]
    return invocation


def _unread(problem: Problem, view: ReportView) -> dict[str, Any]:
    text = reason(problem, view.lang)
    if problem.detail:
        text = say(view.lang, "problem.detail", text=text, detail=problem.detail)
    return {
        "descriptor": {"id": problem.reason},
        "level": "warning",
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact(problem.path, view.folder),
                    "region": region(problem.span),
                }
            }
        ],
    }
