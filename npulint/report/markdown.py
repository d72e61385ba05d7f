"""The Markdown report, for job summaries, merge requests and migration records."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say
from npulint.judge.findings import Finding, ProgramSummary, RunResult
from npulint.judge.priorities import first_steps
from npulint.judge.settings import RANK
from npulint.report.document.markdown import Writer, fitting, size
from npulint.report.document.model import CodeCell, Prose, Status, Table
from npulint.report.readiness import lists, place_of, seen, shown_items, tally
from npulint.report.summary import closing
from npulint.report.terminal import code, link, prose
from npulint.report.view import ReportView, visible

LIMIT = 1024 * 1024  # bytes of a job summary on GitHub
_RESERVE = 200  # bytes reserved for the line about omissions
_BLANKS = lazy_compile(r"\s+")


def render(result: RunResult, view: ReportView) -> str:
    """Summary, readiness checklists, advice per check, and findings, most severe first. What exceeds `view.limit` bytes
    (default: GitHub's limit) is omitted and counted."""
    findings = sorted(visible(result, view), key=lambda finding: -RANK[finding.severity])
    if view.comparing and result.comparison is not None and result.comparison.change is not None:
        from npulint.report.compared.change_markdown import render as render_change

        return render_change(result.comparison, result.comparison.change, findings, view)
    plain = msgspec.structs.replace(view, color=False)
    room = view.limit or LIMIT
    blocks = [
        f"# {say(view.lang, 'compare.title.report' if view.comparing else 'markdown.title')}",
        "\n\n".join(prose(line) for line in closing(result, plain) if line),
    ]
    room -= sum(map(size, blocks)) + _RESERVE
    compared = _compared(result, plain, room * 2 // 5)
    room -= size(compared)
    programs = "" if view.comparing else _programs(result, view.lang, room * 2 // 5)
    runs = "" if view.comparing else _runs(result, view.lang, room // 10)
    graphs = "\n\n".join(filter(None, (_graphs(result, view.lang, room // 10), _step(result, view, room // 4))))
    parts = [runs, programs, graphs, _advice(findings, result.programs, view.lang, room // 5)]
    room -= sum(map(size, parts))
    blocks += [compared, *parts, _findings(findings, view.lang, room)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _compared(result: RunResult, view: ReportView, room: int) -> str:
    if result.comparison is None:
        return ""
    from npulint.report.compared.document import checklists  # most runs have no reference
    from npulint.report.compared.rows import alone, of_runs_alone

    writer = Writer(view.lang, room, view.sources)
    chosen = checklists(result.comparison, view.lang, weak=view.verbose or view.all_differences)
    parts = [part for checklist in chosen for part in writer.checklist(checklist)]
    if not parts and not of_runs_alone(result.comparison):
        parts.append(f"## {say(view.lang, 'compare.title')}\n\n{prose(say(view.lang, 'compare.pairs.none'))}")
    parts += [prose(line) for line in alone(result.comparison, view.lang)]
    if result.comparison.runs is not None:
        from npulint.report.compared.runs import run_parts  # most comparisons have none

        parts += run_parts(result.comparison, result.comparison.runs, writer, view.lang)
    return "\n\n".join([*parts, *([count(view.lang, "compare.cut", writer.cut)] if writer.cut else [])])


def _programs(result: RunResult, lang: str, room: int) -> str:
    programs = lists(result)
    if result.seen:
        heads = f"## {say(lang, 'readiness.none')}"
        return "\n".join([heads, "", *(f"- {prose(line)}" for line in seen(result, lang))])
    blocks = fitting((_program(program, lang) for program in programs), room - _RESERVE)
    rest = len(programs) - len(blocks)
    return "\n\n".join([*blocks, *([count(lang, "programs.more", rest)] if rest else [])])


def _program(program: ProgramSummary, lang: str) -> str:
    heads = [say(lang, f"markdown.{word}") for word in ("item", "result", "evidence", "look")]
    rows = [
        (
            Prose(item.title),
            Status(item.status, say(lang, f"status.{item.status}")),
            (CodeCell(place_of(item)), CodeCell("" if item.evidence is None else item.evidence.check)),
            Prose(item.look),
        )
        for item in shown_items(program, lang)
    ]
    head = f"## {say(lang, 'readiness', entry=code(program.entry))}"
    return "\n\n".join([head, prose(tally(program, lang)), *Writer(lang, LIMIT).table(heads, rows)])


def _step(result: RunResult, view: ReportView, room: int) -> str:
    if result.step is None:
        return ""
    from npulint.report.step.tables import tables  # only live checks have one

    writer = Writer(view.lang, room, view.sources)
    parts = []
    for table in tables(result.step, view.lang, view.all_operators):
        parts += [
            writer.section(table) if table.rows else f"## {table.title}",
            *([prose(table.note)] if table.note else []),
        ]
    parts += [prose(say(view.lang, "live.note", text=note)) for note in result.step.notes]
    return "\n\n".join([*parts, *([prose(result.step.ended)] if result.step.ended else [])])


def _graphs(result: RunResult, lang: str, room: int) -> str:
    if not result.graphs:
        return ""
    from npulint.report.graphs import table  # most runs see none

    return Writer(lang, room).section(table(result.graphs, lang))


def _runs(result: RunResult, lang: str, room: int) -> str:
    if not result.runs:
        return ""
    from npulint.report.runs.document import figures  # most projects have none

    table = figures(result.runs, lang)
    return Writer(lang, room).section(table) if table.rows else ""


def _advice(findings: Sequence[Finding], programs: Sequence[ProgramSummary], lang: str, room: int) -> str:
    """The advice for each check, in the recommended order."""
    steps = [step.first for step in first_steps(findings, len(findings), programs) if step.first.fix.text]
    rows = fitting((f"- {link(code(step.name), step.url)}: {prose(_line(step.fix.text))}" for step in steps), room)
    return "\n".join([f"## {say(lang, 'markdown.fix')}", "", *rows]) if rows else ""


def _findings(findings: Sequence[Finding], lang: str, room: int) -> str:
    if not findings:
        return ""
    heads = [say(lang, f"markdown.{word}") for word in ("severity", "check", "place", "message")]
    rows = [
        (
            say(lang, f"severity.{finding.severity}"),
            (CodeCell(finding.name, finding.url), finding.code),
            CodeCell(f"{finding.path}:{finding.span.line}"),
            Prose(_line(finding.message)),
        )
        for finding in findings
    ]
    return Writer(lang, room).section(Table(say(lang, "markdown.findings"), heads, rows, more="markdown.more"))


def _line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()
