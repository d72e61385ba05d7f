"""JUnit XML for the test views of Jenkins, GitLab and other CI systems.

A suite is a file and a case a finding. A case fails exactly when its finding fails the run (``--fail-on``), because
test views turn red at the first failure; others pass, with their text in system-out. Suppressed findings are skipped,
with the reason. An unread file is an error, or skipped if its check is deselected. The first suite is the run itself: a
case that always passes, because some systems reject a report without cases, and the counts as properties. Case names do
not contain lines, because systems track tests by class and name; the text has the place. Only elements and attributes
of Jenkins' schema are used.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from npulint import __version__
from npulint.core.texts import say
from npulint.facts.model import Problem
from npulint.judge.findings import Finding, RunResult
from npulint.judge.settings import RANK
from npulint.judge.verdict import verdict_of
from npulint.report.json import summary_record
from npulint.report.open_releases import labelled
from npulint.report.summary import reason
from npulint.report.verdict import sentence
from npulint.report.view import ReportView, visible, visible_suppressed
from npulint.report.xmltext import DECLARATION, element, escaped

_KINDS = ("failures", "errors", "skipped")


class Case(msgspec.Struct, frozen=True):
    """One case: `kind` is failures, errors, skipped or passed, `body` is XML."""

    name: str
    kind: str
    body: str = ""


def render(result: RunResult, view: ReportView) -> str:
    """The suites: the run, then the files by path."""
    files: dict[str, list[Case]] = defaultdict(list)
    for path, case in _cases(result, view):
        files[path].append(case)
    suites = [_run(result, view), *(_suite(path, _class_name(path), files[path]) for path in sorted(files))]
    every = [case for cases in files.values() for case in cases]
    totals: dict[str, str | int] = {"name": "npulint", "tests": 1 + len(every), **_counts(every, _KINDS[:2])}
    return DECLARATION + element("testsuites", totals, "".join(suites))


def _cases(result: RunResult, view: ReportView) -> Iterator[tuple[str, Case]]:
    """All cases with their paths; those of one file by line, suppressed ones last."""
    unread = {problem.path: problem for problem in reversed(result.unreadable) if problem.fatal}
    reported: set[str] = set()
    for finding in visible(result, view):
        problem = unread.get(finding.path) if finding.topic == "parse" else None
        if problem is None:
            yield finding.path, _finding_case(finding, view)
        else:
            reported.add(finding.path)
            yield finding.path, Case(finding.name, "errors", _outcome("error", finding, view))
    for path in sorted(set(unread) - reported):
        yield path, _unread_case(unread[path], view)
    for suppressed_finding in visible_suppressed(result, view):
        why = say(view.lang, f"suppressed.{suppressed_finding.by}")
        if suppressed_finding.reason:
            why = say(view.lang, "problem.detail", text=why, detail=suppressed_finding.reason)
        yield (
            suppressed_finding.finding.path,
            Case(
                suppressed_finding.finding.name, "skipped", _outcome("skipped", suppressed_finding.finding, view, why)
            ),
        )


def _finding_case(finding: Finding, view: ReportView) -> Case:
    if RANK[finding.severity] >= RANK[view.fail_on]:
        return Case(finding.name, "failures", _outcome("failure", finding, view))
    details = element("system-out", {}, escaped(_details(finding, view)), "      ")
    return Case(finding.name, "passed", details)


def _unread_case(problem: Problem, view: ReportView) -> Case:
    """A path that does not exist as an error; any other unread file as skipped, because its finding is not shown."""
    kind, tag = ("errors", "error") if problem.reason == "missing" else ("skipped", "skipped")
    body = element(tag, {"type": "file-not-read", "message": reason(problem, view.lang)}, indent="      ")
    return Case("file-not-read", kind, body)


def _outcome(tag: str, finding: Finding, view: ReportView, message: str = "") -> str:
    attributes: dict[str, str | int] = {"type": finding.name, "message": message or finding.message}
    return element(tag, attributes, escaped(_details(finding, view)), "      ")


def _details(finding: Finding, view: ReportView) -> str:
    """A finding as in the text report, without source."""
    span, lang = finding.span, view.lang
    severity = say(lang, f"severity.{finding.severity}")
    lines = [
        f"{finding.path}:{span.line}:{span.column}: {severity}: {finding.message} [{finding.name}] ({finding.code})"
    ]
    lines += [
        say(lang, "problem.detail", text=say(lang, key), detail=text)
        for key, text in (("why", finding.why), ("fix", finding.fix.text))
        if text
    ]
    lines += [
        f"{related.path}:{related.span.line}:{related.span.column}: {related.message}" for related in finding.related
    ]
    return "\n".join([*lines, *filter(None, [finding.url])])


def _run(result: RunResult, view: ReportView) -> str:
    summary = summary_record(result, visible(result, view), view)
    counts = {key: value for key, value in summary.items() if isinstance(value, int)}
    values: dict[str, str | int] = {"version": __version__}
    values.update({f"target.{key}": text for key, text in result.target.items()}, **counts)
    if not view.comparing:
        verdict = verdict_of(result)
        values.update({"verdict": verdict.word, "verdict.text": sentence(verdict, view.lang)})
        for text in labelled(result.open_releases, view.lang):
            values["open_releases"] = text
    rows = [element("property", {"name": key, "value": value}, indent="      ") for key, value in values.items()]
    properties = element("properties", {}, "".join(rows), "    ")
    return _suite("npulint", "npulint", [Case("check", "passed")], properties)


def _suite(name: str, class_name: str, cases: Sequence[Case], before: str = "") -> str:
    seen: Counter[str] = Counter()
    rows = []
    for case in cases:
        seen[case.name] += 1
        title = case.name if seen[case.name] == 1 else f"{case.name} #{seen[case.name]}"
        rows.append(element("testcase", {"name": title, "classname": class_name}, case.body, "    "))
    attributes: dict[str, str | int] = {"name": name, "tests": len(cases), **_counts(cases, _KINDS)}
    return element("testsuite", attributes, before + "".join(rows), "  ")


def _counts(cases: Sequence[Case], kinds: Sequence[str]) -> dict[str, int]:
    numbers = Counter(case.kind for case in cases)
    return {kind: numbers[kind] for kind in kinds}


def _class_name(path: str) -> str:
    """The path as a Java class name: CI systems take the part before the last dot as the package."""
    return path.removeprefix("./").replace(".", "_").strip("/").replace("/", ".") or "npulint"
