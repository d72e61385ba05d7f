"""The sections of the HTML report in their order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from npulint import __version__
from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.catalogue.check import CATEGORIES
from npulint.judge.effort import estimate
from npulint.judge.findings import ChecklistItem, Evidence, Finding, ProgramSummary, RunResult
from npulint.report.document.model import (
    Block,
    Cell,
    CodeCell,
    Folded,
    Note,
    Paragraph,
    PlaceCell,
    Prose,
    Section,
    Table,
)
from npulint.report.html.changes import changes
from npulint.report.html.charts import SEVERITIES, STATUSES, bar, chart, patterns
from npulint.report.html.document import inline, markup
from npulint.report.html.effort import effort
from npulint.report.html.findings import findings
from npulint.report.html.frame import Frame, framed
from npulint.report.html.markup import escape_html, identifier, inline_markdown, paragraph, section, table
from npulint.report.html.page import Page
from npulint.report.html.verdict import banner, compared_verdict, first, target, verdict
from npulint.report.readiness import lists, seen, shown_items, tally, traits
from npulint.report.summary import fixable, reason
from npulint.report.view import ReportView

# The charts: findings by category, most frequent checks, failing readiness items.

_TOP = 10
_Row = tuple[str | CodeCell, Counter[str]]


def overview(page: Page) -> str:
    """The charts of the run."""
    lang = page.lang
    left: list[Block] = [Paragraph(say(lang, "html.chart.none"))]
    right: list[Block] = []
    if page.shown:
        left = [
            chart(say(lang, "html.chart.categories"), say(lang, "html.category"), _categories(page), SEVERITIES, lang)
        ]
        right = [chart(say(lang, "html.chart.checks"), say(lang, "html.rule"), _checks(page), SEVERITIES, lang)]
    items = _items(page)
    if items:
        left += right
        right = [chart(say(lang, "html.chart.items"), say(lang, "html.item"), items, STATUSES, lang)]

    def panel(block: Block) -> str:
        return f'<div class="panel">{markup(page, block)}</div>'

    columns = [f'<div class="column">{"".join(map(panel, column))}</div>' for column in (left, right) if column]
    body = f'<div class="panels">{"".join(columns)}</div>'
    return section("overview", say(lang, "html.section.overview"), body)


def severities_by(page: Page, key: Callable[[Finding], str]) -> dict[str, Counter[str]]:
    """Counts of findings by severity for each value of `key`."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for finding in page.shown:
        counts[key(finding)][finding.severity] += 1
    return counts


def _categories(page: Page) -> list[_Row]:
    counts = severities_by(page, lambda finding: finding.category)
    names = [(category, say(page.lang, f"category.{category}")) for category in CATEGORIES]
    return [(name, counts[category]) for category, name in names]


def _checks(page: Page) -> list[_Row]:
    counts = severities_by(page, lambda finding: finding.code)
    names = {finding.code: finding.name for finding in page.shown}
    most = sorted(counts, key=lambda code: (-sum(counts[code].values()), code))[:_TOP]
    return [(CodeCell(names[code], f"#{identifier('check', code)}"), counts[code]) for code in most]


def _items(page: Page) -> list[_Row]:
    """Rows of the readiness items of all programs, most failures first; none for a single program."""
    programs = lists(page.result)
    if len(programs) < 2:
        return []
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for program in programs:
        for item in shown_items(program, page.lang):
            counts[item.title][item.status] += 1
    order = sorted(counts, key=lambda title: (-counts[title]["failed"], -counts[title]["unknown"], title))
    return [(title, counts[title]) for title in order]


# The last sections of the page: fixes, suppressed findings, unread files, figures of the run.


def fixed(page: Page) -> str:
    """The applied and refused fixes of --fix; empty if none."""
    lang, done = page.lang, page.view.applied
    if done is None:
        return ""
    from npulint.report.fix_summary import headline, why

    safety = {"unsafe": say(lang, "applicability.unsafe")}
    rows: list[list[Cell]] = [
        [
            PlaceCell(fix.path, Span(fix.line)),
            CodeCell(fix.name),
            say(lang, "html.fixed.done"),
            safety.get(fix.applicability, ""),
        ]
        for fix in done.fixed
    ]
    rows += [
        [
            PlaceCell(refusal.path, Span(refusal.line)),
            CodeCell(refusal.name),
            say(lang, "html.fixed.refused"),
            why(refusal, lang),
        ]
        for refusal in done.refused
    ]
    return _folded(page, "fixed", headline(done, 0, page.view), "place rule status reason", rows)


def silenced(page: Page) -> str:
    """The findings that comments and the baseline suppress; empty if none."""
    lang, suppressed = page.lang, page.result.suppressed
    if not suppressed:
        return ""
    unnamed = {"comment": Note(say(lang, "html.no-reason"))}
    rows: list[list[Cell]] = [
        [
            PlaceCell(suppressed_finding.finding.path, suppressed_finding.finding.span),
            CodeCell(suppressed_finding.finding.name),
            Prose(suppressed_finding.finding.message),
            say(lang, f"html.by.{suppressed_finding.by}"),
            Prose(suppressed_finding.reason) if suppressed_finding.reason else unnamed.get(suppressed_finding.by, ""),
        ]
        for suppressed_finding in suppressed
    ]
    return _folded(
        page, "silenced", count(lang, "html.silenced", len(suppressed)), "place rule message by reason", rows
    )


def _folded(page: Page, name: str, summary: str, heads: str, rows: list[list[Cell]]) -> str:
    """A section with a table that is collapsed below its `summary`."""
    table = Table(summary, [say(page.lang, f"html.{word}") for word in heads.split()], rows)
    return markup(
        page, Section(name, say(page.lang, f"html.section.{name}"), [Folded(summary, [table] if rows else [])])
    )


def unread(page: Page) -> str:
    """The files that were not or only partly read, with reasons; empty if none."""
    lang, problems = page.lang, page.result.unreadable
    if not problems:
        return ""
    rows: list[list[Cell]] = []
    for problem in problems:
        kind = "fatal" if problem.fatal else "encoding" if problem.reason == "encoding" else "partly"
        rows.append(
            [
                PlaceCell(problem.path, problem.span),
                say(lang, f"html.unread.{kind}"),
                reason(problem, lang),
                problem.detail,
            ]
        )
    title = say(lang, "html.section.unread")
    heads = [say(lang, f"html.{word}") for word in ("file", "status", "reason", "message")]
    return markup(page, Section("unread", title, [Table(title, heads, rows)]))


def run(page: Page) -> str:
    """The figures of the run and the number of findings per check."""
    lang, summary = page.lang, page.result.summary
    figures = [
        ("version", __version__),
        ("found", summary.files),
        ("read", summary.read),
        ("skipped", summary.skipped),
        ("findings", len(page.shown)),
        *(() if page.view.applied is not None else fixable(page.result.findings).items()),
        ("hidden", summary.hidden),
        ("comments", summary.suppressed),
        ("known", summary.known),
        ("root", page.paths.root),
    ]
    facts = "".join(
        f"<div><dt>{say(lang, f'html.run.{name}')}</dt><dd>{escape_html(str(value))}</dd></div>"
        for name, value in figures
        if value != ""
    )
    below = len(page.result.findings) - len(page.shown)
    severity = say(lang, f"severity.{page.view.shown_from}")
    note = f"<p>{count(lang, 'html.below', below, severity=severity)}</p>" if below else ""
    return section("run", say(lang, "html.section.run"), f'<dl class="figures">{facts}</dl>\n{note}{_counts(page)}')


def _counts(page: Page) -> str:
    lang = page.lang
    counts = severities_by(page, lambda finding: finding.code)
    names = {finding.code: finding.name for finding in page.shown}
    rows: list[list[Cell]] = [
        [
            CodeCell(names[code], f"#{identifier('check', code)}"),
            code,
            *(str(counts[code][severity]) for severity in SEVERITIES),
            str(sum(counts[code].values())),
        ]
        for code in sorted(counts, key=lambda code: (-sum(counts[code].values()), code))
    ]
    keys = ("html.rule", "html.code", *(f"severity.{severity}" for severity in SEVERITIES), "html.total")
    heading = say(lang, "html.counts")
    table = Table(heading, [say(lang, key) for key in keys], rows, "counts")
    return markup(page, Folded(heading, [table])) if rows else ""


# The readiness checklists of training programs, and a table of other programs.

_PROGRAMS = 500
_PRINTED = 4  # checklists that are expanded in print
_FEW = 3  # checklists that are expanded initially
_WHOLE = 20  # checklists with all of their items; those of further programs have the failed ones
_PLACES = 5  # failing places that are not collapsed


def programs(page: Page) -> str:
    """The section about programs."""
    lang = page.lang
    listed = lists(page.result)
    clear = sum(all(item.status != "failed" for item in program.checklist) for program in listed)
    headline = (
        count(lang, "html.programs.clear", len(listed), clear=clear) if listed else say(lang, "html.programs.none")
    )
    shown = listed[:_PROGRAMS]
    many = len(listed) > _PRINTED
    parts = [f"<p>{headline}</p>", *(f"<p>{escape_html(line)}</p>" for line in seen(page.result, lang))]
    if many:
        parts.append(f'<p class="folded">{say(lang, "html.programs.folded")}</p>')
    parts += [
        _program(page, program, len(listed) <= _FEW or not place, place < _WHOLE) for place, program in enumerate(shown)
    ]
    if len(listed) > len(shown):
        parts.append(f'<p class="cut">{count(lang, "html.programs.cut", len(listed) - len(shown))}</p>')
    parts.append(_others(page, [program for program in page.result.programs if not program.checklist]))
    body = "\n".join(part for part in parts if part)
    return section("programs", say(lang, "html.section.programs"), body, "many" if many else "")


def _program(page: Page, program: ProgramSummary, opened: bool, complete: bool) -> str:
    """A checklist, or the failed items of one if it is not to be `complete`."""
    lang = page.lang
    entry = page.paths(program.entry)
    items = shown_items(program, lang)
    statuses = Counter(item.status for item in items)
    summary = tally(program, lang)
    drawn = inline(page, bar(statuses, STATUSES, sum(statuses.values()), summary))
    heads = [say(lang, f"html.{word}") for word in ("item", "status", "evidence", "look")]
    rows = [_item(page, item) for item in items if complete or item.status == "failed"]
    caption = f'<span class="unseen">{say(lang, "readiness", entry=escape_html(entry))}</span>'
    return (
        f'<details class="program"{" open" if opened else ""}><summary><span class="path">{escape_html(entry)}</span>'
        f'<span class="traits">{_traits(program, lang)}</span>{drawn}<span class="tally">{summary}</span></summary>\n'
        f"{table(caption, heads, rows, 'list') if rows else ''}{'' if complete else _failed_only(lang)}</details>"
    )


def _failed_only(lang: str) -> str:
    return f'<p class="muted">{say(lang, "html.programs.failed", n=_WHOLE)}</p>'


def _item(page: Page, item: ChecklistItem) -> Sequence[str]:
    status = f'<b class="status {item.status}">{say(page.lang, f"status.{item.status}")}</b>'
    return inline_markdown(item.title), status, _evidence(page, item), paragraph(item.look)


def _evidence(page: Page, item: ChecklistItem) -> str:
    if item.status == "failed" and item.failures:
        places = [_failure(page, failure) for failure in item.failures[:_PLACES]]
        rest = [_failure(page, failure) for failure in item.failures[_PLACES:]]
        more = ""
        if rest:
            listed = "".join(f"<li>{place}</li>" for place in rest)
            more = f"<details><summary>{count(page.lang, 'html.more', len(rest))}</summary><ul>{listed}</ul></details>"
        return f"<ul>{''.join(f'<li>{place}</li>' for place in places)}</ul>{more}"
    return "" if item.evidence is None else _failure(page, item.evidence)


def _failure(page: Page, evidence: Evidence) -> str:
    check = f" <code>{escape_html(evidence.check)}</code>" if evidence.check else ""
    return page.link(evidence) + (check or f" {page.line(evidence.path, evidence.span.line)}".rstrip())


def _traits(program: ProgramSummary, lang: str) -> str:
    """Framework, modes, migration state, roles, and number of files."""
    described = traits(program, ("framework", "mode", "state", "devices", "role"), lang)
    return escape_html(say(lang, "list.and").join([*described, count(lang, "html.files", program.files)]))


def _others(page: Page, others: Sequence[ProgramSummary]) -> str:
    if not others:
        return ""
    lang = page.lang
    shown = others[:_PROGRAMS]
    rows = [
        [f'<span class="path">{escape_html(page.paths(program.entry))}</span>', _traits(program, lang)]
        for program in shown
    ]
    cut = count(lang, "html.rows.cut", len(others) - len(shown)) if len(others) > len(shown) else ""
    caption = f'<span class="unseen">{count(lang, "html.programs.others", len(others))}</span>'
    heads = [say(lang, "html.program"), f'<span class="unseen">{say(lang, "html.traits")}</span>']
    return (
        f'<details class="program others"><summary>{count(lang, "html.programs.others", len(others))}</summary>\n'
        f"{table(caption, heads, rows, 'list')}{cut}</details>"
    )


def whole(result: RunResult, view: ReportView) -> str:
    """The whole page. It is readable without scripts and loads nothing."""
    page = Page(result, view)
    comparing = result.comparison if view.comparing else None
    answer = verdict(page) if comparing is None else compared_verdict(page, comparing)
    optional = dict(_optional(page))
    order = ("compared first overview" if comparing else "first changes overview effort step runs programs").split()
    order += "graphs compared findings fixed silenced unread run".split()
    parts = optional | {
        "first": first(page),
        "overview": overview(page) if page.shown or not comparing else "",
        "changes": "" if comparing else changes(page),
        "effort": "" if comparing else effort(page, estimate(result)),
        "programs": "" if comparing else programs(page),
        "findings": findings(page),
        "fixed": fixed(page),
        "silenced": silenced(page),
        "unread": unread(page),
        "run": run(page),
    }
    shown = {name: parts[name] for name in order if parts.get(name)}
    title = say(page.lang, "compare.title.report" if comparing else "html.title")
    of_runs = result.runs or result.step or (result.comparison is not None and result.comparison.runs is not None)
    styles = [*(["runs.css"] if of_runs else []), *(["step.css"] if result.step else [])]
    around = Frame(
        title, answer.heading, answer.tone, banner(page, answer), target(page), patterns(), styles, view.project
    )
    return framed(page.lang, around, shown)


def _optional(page: Page) -> Iterator[tuple[str, str]]:
    """The optional sections with their names."""
    if page.result.step is not None:
        from npulint.report.html.step import step

        yield "step", step(page, page.result.step)
    if page.result.runs:
        from npulint.report.html.plots import runs

        yield "runs", runs(page)
    if page.result.graphs:
        from npulint.report.graphs import table

        title = say(page.lang, "graphs.title")
        yield "graphs", markup(page, Section("graphs", title, [table(page.result.graphs, page.lang)]))
    if page.result.comparison is not None:
        from npulint.report.html.compared import compared

        yield "compared", compared(page)
