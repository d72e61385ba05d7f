"""The top of the page: whether the project is ready, what blocks it, and where to begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from npulint.report.html.charts import SEVERITIES
from npulint.report.html.markup import escape_html, inline_markdown, section
from npulint.report.html.page import Page
from npulint.report.readiness import lists
from npulint.report.summary import first_steps
from npulint.texts import count, say

_STEPS = 5
_SIGNS = {  # drawn in a square of 24
    "blocked": '<path d="M7 7l10 10M17 7L7 17"/>',
    "open": '<path d="M12 6v8M12 17.5v.5"/>',
    "check": '<path d="M9 9.5a3 3 0 1 1 4.6 2.6c-1 .6-1.6 1.2-1.6 2.4M12 18v.2"/>',
    "ready": '<path d="M6.5 12.5l4 4 7-8.5"/>',
    "unused": '<path d="M7 12h10"/>',
    "nothing": '<path d="M7 12h10"/>',
}


class ReadinessVerdict(msgspec.Struct, frozen=True):
    """The answer in a word (a key of the texts ``html.verdict.``) and what it rests on: findings by severity, items of
    readiness lists by status, training programs, and those of them without a failing item."""

    word: str
    severities: Counter[str]
    items: Counter[str]
    programs: int
    clear: int


def verdict(page: Page) -> ReadinessVerdict:
    """Judge the run by all its findings, shown or not."""
    result = page.result
    severities = Counter(one.severity for one in result.findings)
    programs = lists(result)
    items = Counter(item.status for program in programs for item in program.checklist)
    clear = sum(all(item.status != "failed" for item in program.checklist) for program in programs)
    frameworks = {program.framework for program in result.programs} - {"", "none", "unknown"}
    if severities["error"]:
        word = "blocked"
    elif not result.summary.read:
        word = "nothing"
    elif severities["warning"] or items["failed"]:
        word = "open"
    elif not frameworks and not result.graphs and not result.runs and not result.findings:
        word = "unused"
    else:
        whole = programs and not items["unknown"] and not any(problem.fatal for problem in result.unreadable)
        word = "ready" if whole else "check"
    return ReadinessVerdict(word, severities, items, len(programs), clear)


def banner(page: Page, answer: ReadinessVerdict) -> str:
    """The verdict, the reasons for it, and the figures of the run."""
    word = answer.word
    return drawn(word, say(page.lang, f"html.verdict.{word}"), _sentences(page, answer), _tiles(page, answer))


def drawn(tone: str, heading: str, reasons: Sequence[str], tiles: str) -> str:
    """A banner in a tone, which is the word of a verdict."""
    sentences = "".join(f"<p>{escape_html(sentence)}</p>" for sentence in reasons)
    sign = (
        f'<svg class="sign" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/>{_SIGNS[tone]}</svg>'
    )
    return (
        f'<section class="verdict {tone}" id="verdict" aria-labelledby="verdict-word">\n{sign}\n'
        f'<div class="answer"><h2 id="verdict-word">{heading}</h2>\n{sentences}</div>\n'
        f'<ul class="tiles">{tiles}</ul>\n</section>'
    )


def _sentences(page: Page, answer: ReadinessVerdict) -> list[str]:
    lang, word = page.lang, answer.word
    number = answer.severities[{"blocked": "error", "open": "warning"}.get(word, "")]
    told = [count(lang, f"html.{word}" if number or word != "open" else "html.open.items", number)]
    if page.result.summary.known:
        told.append(count(lang, "html.known", page.result.summary.known))
    if answer.items["unknown"]:
        told.append(count(lang, "html.persons", answer.items["unknown"]))
    unread = len({problem.path for problem in page.result.unreadable if problem.fatal})
    if unread:
        told.append(count(lang, "html.unjudged", unread))
    return told


def _tiles(page: Page, answer: ReadinessVerdict) -> str:
    lang, summary = page.lang, page.result.summary
    shown = Counter(one.severity for one in page.shown)
    tiles = [(word, str(shown[word]), count(lang, f"html.tile.{word}", shown[word])) for word in SEVERITIES]
    if answer.programs:
        part = say(lang, "html.of", part=answer.clear, n=answer.programs)
        tiles.append(("programs", part, say(lang, "html.tile.programs")))
    files = max(summary.files, summary.read)
    tiles.append(("files", say(lang, "html.of", part=summary.read, n=files), say(lang, "html.tile.files")))
    return "".join(f'<li class="{name}"><b>{value}</b> {escape_html(label)}</li>' for name, value, label in tiles)


def target(page: Page) -> str:
    """What the project is to run with."""
    rows = "".join(
        f"<div><dt>{escape_html(key)}</dt> <dd>{escape_html(text)}</dd></div>"
        for key, text in page.result.target.items()
    )
    title = say(page.lang, "target")
    return f'<dl class="target" aria-label="{title}">{rows}</dl>' if rows else ""


def first(page: Page) -> str:
    """What to do first: the checks whose findings matter most."""
    steps = first_steps(page.shown, _STEPS)
    if not steps:
        return ""
    rows = []
    for step in steps:
        one = step.first
        places = count(page.lang, "html.places", step.places)
        at = f"{say(page.lang, 'html.first.at')} " if step.places > 1 else ""
        severity = say(page.lang, f"severity.{one.severity}")
        rows.append(
            f'<li><p class="what"><b class="s {one.severity}">{severity}</b> {inline_markdown(one.message)}</p>\n'
            f'<p class="at">{page.check(one.code, f"<code>{escape_html(one.name)}</code>")} · {places} · '
            f"{at}{page.finding(one)}</p></li>"
        )
    listed = "\n".join(rows)
    return section("first", say(page.lang, "html.section.first"), f'<ol class="steps">\n{listed}\n</ol>')
