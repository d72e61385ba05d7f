"""The Markdown report: for a step summary, a merge request or the record of a migration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.findings import ChecklistItem, Finding, ProgramSummary, RunResult
from npulint.lazy_regex import lazy_compile
from npulint.report.markup import code, link, prose
from npulint.report.readiness import lists, place_of, tally
from npulint.report.summary import closing, first_steps
from npulint.report.view import ReportView, visible
from npulint.settings import RANK
from npulint.texts import count, say

LIMIT = 1024 * 1024  # bytes that GitHub takes as the summary of a step
_RESERVE = 200  # bytes for the line that says how much is left out
_BLANKS = lazy_compile(r"\s+")


def render(result: RunResult, view: ReportView) -> str:
    """Summary, readiness list of each program that trains, how to mend what was found, findings, the gravest first.
    What would be more than `view.limit` bytes (or what GitHub takes) is left out and counted."""
    findings = sorted(visible(result, view), key=lambda finding: -RANK[finding.severity])
    plain = msgspec.structs.replace(view, color=False)
    room = view.limit or LIMIT
    blocks = [
        f"# {say(view.lang, 'compare.title.report' if view.comparing else 'markdown.title')}",
        "\n\n".join(prose(line) for line in closing(result, plain) if line),
    ]
    room -= sum(map(_size, blocks)) + _RESERVE
    compared = _compared(result, plain, room * 2 // 5)
    room -= _size(compared)
    programs = "" if view.comparing else _programs(result, view.lang, room * 2 // 5)
    runs = "" if view.comparing else _runs(result, view.lang, room // 10)
    parts = [runs, programs, _graphs(result, view.lang, room // 10), _mending(findings, view.lang, room // 5)]
    room -= sum(map(_size, parts))
    blocks += [compared, *parts, _findings(findings, view.lang, room)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace")) + 2


def _fitting(rows: Iterable[str], room: int) -> list[str]:
    """The first rows that take at most `room` bytes together."""
    fitting = []
    for row in rows:
        room -= _size(row)
        if room < 0:
            break
        fitting.append(row)
    return fitting


def _compared(result: RunResult, view: ReportView, room: int) -> str:
    if result.comparison is None:
        return ""
    from npulint.report.compared.markdown import section

    return section(result.comparison, view, room)


def _programs(result: RunResult, lang: str, room: int) -> str:
    programs = lists(result)
    blocks = _fitting((_program(program, lang) for program in programs), room - _RESERVE)
    rest = len(programs) - len(blocks)
    return "\n\n".join([*blocks, *([count(lang, "programs.more", rest)] if rest else [])])


def _program(program: ProgramSummary, lang: str) -> str:
    head = f"## {say(lang, 'readiness', entry=code(program.entry))}"
    titles = [say(lang, f"markdown.{word}") for word in ("item", "result", "evidence", "look")]
    rows = [_row(_item(item, lang)) for item in program.checklist]
    return "\n".join([head, "", prose(tally(program, lang)), "", *_head(titles), *rows])


def _item(item: ChecklistItem, lang: str) -> Sequence[str]:
    status = say(lang, f"status.{item.status}")
    marked = f"**{status}**" if item.status == "failed" else status
    check = "" if item.evidence is None else code(item.evidence.check, cell=True)
    evidence = " ".join(filter(None, (code(place_of(item), cell=True), check)))
    return prose(item.title, cell=True), marked, evidence, prose(item.look, cell=True)


def _graphs(result: RunResult, lang: str, room: int) -> str:
    if not result.graphs:
        return ""
    from npulint.report.graphs import alike, kind, placed, size  # most runs see none

    titles = [say(lang, f"graphs.html.{word}") for word in ("place", "what", "size", "runs")]
    head = [f"## {say(lang, 'graphs.title')}", "", *_head(titles)]
    found = alike(result.graphs)
    told = ((one, (kind(one.graph, lang), size(one.graph, lang), placed(one.graph, lang))) for one in found)
    rows = (
        _row(
            (
                " ".join(filter(None, (code(one.graph.path, cell=True), prose(one.note(lang), cell=True)))),
                *map(_cell, parts),
            )
        )
        for one, parts in told
    )
    shown = _fitting(rows, room - _size("\n".join(head)))
    rest = len(found) - len(shown)
    return "\n".join([*head, *shown, *(["", count(lang, "graphs.more", rest)] if rest else [])])


def _runs(result: RunResult, lang: str, room: int) -> str:
    if not result.runs:
        return ""
    from npulint.report.runs.markdown import rows  # most projects have none

    titles = [say(lang, f"runs.head.{word}") for word in ("figure", "value")]
    head = [f"## {say(lang, 'runs.title')}", "", *_head(titles)]
    shown = _fitting(map(_row, rows(result.runs, lang)), room - _size("\n".join(head)))
    return "\n".join([*head, *shown]) if shown else ""


def _cell(text: str) -> str:
    return prose(text, cell=True)


def _mending(findings: Sequence[Finding], lang: str, room: int) -> str:
    """What is to be done about each check, in the order in which it is best done."""
    steps = [step.first for step in first_steps(findings, len(findings)) if step.first.fix.text]
    rows = _fitting((f"- {_check(one, False)}: {prose(_line(one.fix.text))}" for one in steps), room)
    return "\n".join([f"## {say(lang, 'markdown.mend')}", "", *rows]) if rows else ""


def _findings(findings: Sequence[Finding], lang: str, room: int) -> str:
    if not findings:
        return ""
    titles = [say(lang, f"markdown.{word}") for word in ("severity", "check", "place", "message")]
    head = [f"## {say(lang, 'markdown.findings')}", "", *_head(titles)]
    rows = (
        _row(
            (
                say(lang, f"severity.{one.severity}"),
                f"{_check(one, True)} {one.code}",
                code(f"{one.path}:{one.span.line}", cell=True),
                prose(_line(one.message), cell=True),
            )
        )
        for one in findings
    )
    shown = _fitting(rows, room - _size("\n".join(head)))
    rest = len(findings) - len(shown)
    more = ["", count(lang, "markdown.more", rest)] if rest else []
    return "\n".join([*head, *shown, *more])


def _check(finding: Finding, cell: bool) -> str:
    return link(code(finding.name, cell=cell), finding.url)


def _line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _head(titles: Sequence[str]) -> list[str]:
    return [_row(titles), _row(["---"] * len(titles))]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
