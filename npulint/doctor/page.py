"""The report about a machine as a page that needs nothing else."""

from __future__ import annotations

from collections import Counter

from npulint.core.texts import count, say
from npulint.doctor.report import Report, summary, verdict
from npulint.judge.findings import SEVERITIES, Finding, RunResult
from npulint.report.document.model import Block, Cell, CodeCell, Facts, Paragraph, Section, Table
from npulint.report.html.document import markup
from npulint.report.html.frame import Frame, framed
from npulint.report.html.markup import escape_html, identifier, inline_markdown, outside, paragraph, section
from npulint.report.html.page import Page
from npulint.report.html.verdict import ReadinessVerdict, answered
from npulint.report.view import ReportView
from npulint.runs.read.machine.snapshot import Snapshot
from npulint.runs.read.machine.toolkits import active, for_npu

_TONES = {"error": "blocked", "warning": "open", "note": "ready", "": "ready"}


def html(report: Report, lang: str) -> str:
    """The verdict, the machine, the findings, and how it differs from another one."""
    page = Page(RunResult(findings=report.findings), ReportView(lang=lang))
    sections = {"machine": _machine(page, report.snapshot), "findings": _findings(report.findings, lang)}
    if report.differences is not None:
        sections["differences"] = _differences(page, report)
    answer = _answer(report, lang)
    banner = answered(answer, _tiles(report.findings, lang))
    return framed(
        lang, Frame(say(lang, "doctor.title"), answer.heading, answer.tone, banner, styles=("runs.css",)), sections
    )


def _answer(report: Report, lang: str) -> ReadinessVerdict:
    """The verdict: that of the most severe finding."""
    worst = max((finding.severity for finding in report.findings), key=SEVERITIES.index, default="")
    word = _TONES[worst] if worst or for_npu(report.snapshot) else "unused"
    return ReadinessVerdict(word, word, say(lang, f"doctor.verdict.{word}"), [verdict(report, lang)])


def _tiles(findings: list[Finding], lang: str) -> str:
    numbers = Counter(finding.severity for finding in findings)
    return "".join(
        f'<li class="{word}"><b>{numbers[word]}</b> {escape_html(count(lang, f"html.tile.{word}", numbers[word]))}</li>'
        for word in reversed(SEVERITIES)
    )


def _machine(page: Page, snapshot: Snapshot) -> str:
    """What was found, and the releases of CANN when there are several."""
    lang = page.lang
    facts = markup(page, Facts(list(summary(snapshot, lang))))
    toolkits = snapshot.toolkits or []
    table = ""
    if len(toolkits) > 1:
        used = active(snapshot)
        rows: list[list[Cell]] = [
            [
                toolkit.version,
                CodeCell(toolkit.path),
                toolkit.arch,
                say(lang, "doctor.toolkit.used") if toolkit is used else "",
            ]
            for toolkit in toolkits
        ]
        heads = [say(lang, f"doctor.toolkit.{word}") for word in ("version", "folder", "arch", "use")]
        table = f'<div class="panel">{markup(page, Table("CANN", heads, rows, titled=True))}</div>'
    return section("machine", say(lang, "html.section.machine"), f"{facts}\n{table}".rstrip())


def _findings(findings: list[Finding], lang: str) -> str:
    """The findings as cards, in their order."""
    cards = "\n".join(_card(number, finding, lang) for number, finding in enumerate(findings, 1))
    body = f'<div class="group"><div class="cards">\n{cards}\n</div></div>'
    title = say(lang, "html.section.findings")
    return section("findings", title, body if findings else f"<p>{say(lang, 'doctor.sound')}</p>")


def _card(number: int, finding: Finding, lang: str) -> str:
    """A finding without a place: that in the snapshot helps nobody."""
    documentation = outside(finding.url, say(lang, "html.documentation"))
    severity = say(lang, f"severity.{finding.severity}")
    return (
        f'<article class="f {finding.severity}" id="{identifier("f", str(number))}">'
        f'<h4><b class="s {finding.severity}">{severity}</b> {inline_markdown(finding.message)}</h4>'
        f'<p class="at"><code>{escape_html(finding.name)}</code> <code>{escape_html(finding.code)}</code> '
        f"{documentation}</p>"
        f'<p class="why"><b>{say(lang, "why")}</b> <span>{paragraph(finding.why)}</span></p>'
        f'<p class="fix"><b>{say(lang, "fix")}</b> <span>{paragraph(finding.fix.text)}</span></p></article>'
    )


def _differences(page: Page, report: Report) -> str:
    """What differs from the other machine."""
    lang = page.lang
    rows: list[list[Cell]] = [
        [CodeCell(difference.part), difference.here, difference.there] for difference in report.differences or ()
    ]
    title = say(lang, "html.section.differences")
    heads = [say(lang, f"doctor.{word}") for word in ("part", "this", "other")]
    block: Block = Table(title, heads, rows, wide=True) if rows else Paragraph(say(lang, "doctor.same"))
    return markup(page, Section("differences", title, [block]))
