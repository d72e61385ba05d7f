"""A change as Markdown, for a comment on a pull request: short, and one line if nothing of the training changes."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.judge.findings import ComparedChange, Comparison, Finding
from npulint.report.compared.change import ChangedItem, ChangedValue, change_document, value_name
from npulint.report.compared.runs import run_parts
from npulint.report.document.markdown import Writer, fitting
from npulint.report.document.model import Cell, Prose
from npulint.report.terminal import code, link, prose
from npulint.report.view import ReportView

_COMMENT = 60_000  # bytes; GitHub rejects a comment with more than 65,536 characters


def render(comparison: Comparison, change: ComparedChange, findings: Sequence[Finding], view: ReportView) -> str:
    """The comment. What exceeds the limit is left out and counted."""
    lang = view.lang
    document = change_document(comparison, change, lang, view.request)
    writer = Writer(lang, min(view.limit or _COMMENT, _COMMENT) * 2 // 3, view.sources)
    parts = [f"## {document.heading}", *map(prose, document.lines), *_tables(document.items, writer, lang)]
    reasons = _reasons(findings, lang)
    if reasons:
        parts += [f"### {say(lang, 'change.why')}", "\n".join(reasons), prose(say(lang, "change.intended"))]
    if document.others:
        number = sum(len(item.values) for item in document.others)
        summary = say(lang, "change.notes", n=number)
        parts += [f"<details><summary>{summary}</summary>", *_tables(document.others, writer, lang), "</details>"]
    if comparison.runs is not None:
        parts += run_parts(comparison, comparison.runs, writer, lang)
    parts += [count(lang, "change.cut", writer.cut)] if writer.cut else []
    return "\n\n".join(parts) + "\n"


def _tables(items: Sequence[ChangedItem], writer: Writer, lang: str) -> list[str]:
    heads = [say(lang, f"change.head.{word}") for word in ("what", "before", "after")]
    return [
        part
        for item in items
        for part in (f"**{item.title}**", *writer.table(heads, [_row(value, lang) for value in item.values]))
    ]


def _row(value: ChangedValue, lang: str) -> Sequence[Cell]:
    absent = say(lang, "compare.absent")
    name = value_name(value, lang)
    if value.only:
        listed = say(lang, "list.and").join(f"`{entry}`" for entry in value.only)
        name += say(lang, "aside", text=say(lang, "change.only", list=listed))
    return Prose(name), value.before or absent, value.after or absent


def _reasons(findings: Sequence[Finding], lang: str) -> list[str]:
    """Why each kind of difference matters, and its places."""
    first: dict[str, list[Finding]] = {}
    for finding in findings:
        first.setdefault(finding.code, []).append(finding)
    lines = []
    for same in first.values():
        finding = same[0]
        places = say(lang, "list.and").join(dict.fromkeys(code(f"{each.path}:{each.span.line}") for each in same))
        name = link(code(finding.name), finding.url)
        lines.append(f"- {name} {places}: {prose(' '.join(finding.why.split()))}")
    return fitting(lines, _COMMENT // 3)
