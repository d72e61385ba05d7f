"""The readiness checklists of training programs, and a table of other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.judge.findings import ChecklistItem, Evidence, ProgramSummary
from npulint.report.html.charts import STATUSES, bar
from npulint.report.html.document import inline
from npulint.report.html.markup import escape_html, inline_markdown, paragraph, section, table
from npulint.report.html.page import Page
from npulint.report.readiness import lists, seen, tally, traits

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


def _program(page: Page, program: ProgramSummary, opened: bool, whole: bool) -> str:
    """A checklist, or the failed items of one if it is not to be `whole`."""
    lang = page.lang
    entry = page.paths(program.entry)
    found = Counter(item.status for item in program.checklist)
    summary = tally(program, lang)
    drawn = inline(page, bar(found, STATUSES, sum(found.values()), summary))
    heads = [say(lang, f"html.{word}") for word in ("item", "status", "evidence", "look")]
    rows = [_item(page, item) for item in program.checklist if whole or item.status == "failed"]
    caption = f'<span class="unseen">{say(lang, "readiness", entry=escape_html(entry))}</span>'
    return (
        f'<details class="program"{" open" if opened else ""}><summary><span class="path">{escape_html(entry)}</span>'
        f'<span class="traits">{_traits(program, lang)}</span>{drawn}<span class="tally">{summary}</span></summary>\n'
        f"{table(caption, heads, rows, 'list') if rows else ''}{'' if whole else _failed_only(lang)}</details>"
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
            listed = "".join(f"<li>{one}</li>" for one in rest)
            more = f"<details><summary>{count(page.lang, 'html.more', len(rest))}</summary><ul>{listed}</ul></details>"
        return f"<ul>{''.join(f'<li>{place}</li>' for place in places)}</ul>{more}"
    return "" if item.evidence is None else _failure(page, item.evidence)


def _failure(page: Page, evidence: Evidence) -> str:
    check = f" <code>{escape_html(evidence.check)}</code>" if evidence.check else ""
    return page.link(evidence) + (check or f" {page.line(evidence.path, evidence.span.line)}".rstrip())


def _traits(program: ProgramSummary, lang: str) -> str:
    """Framework, modes, migration state, roles, and number of files."""
    known = traits(program, ("framework", "mode", "state", "devices", "role"), lang)
    return escape_html(say(lang, "list.and").join([*known, count(lang, "html.files", program.files)]))


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
