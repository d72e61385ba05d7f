"""The top of the page: whether the project is ready (or consistent with its reference), and where to begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from npulint.core.texts import count, say
from npulint.judge.findings import Comparison
from npulint.judge.priorities import first_steps, to_do
from npulint.judge.verdict import verdict_of
from npulint.report.html.changes import share_done
from npulint.report.html.charts import SEVERITIES
from npulint.report.html.markup import escape_html, inline_markdown, section
from npulint.report.html.page import Page
from npulint.report.open_releases import labelled
from npulint.report.readiness import lists, seen
from npulint.report.verdict import headline, statements

_STEPS = 5
_SIGNS = {  # SVG paths in a 24 by 24 box
    "blocked": '<path d="M7 7l10 10M17 7L7 17"/>',
    "open": '<path d="M12 6v8M12 17.5v.5"/>',
    "check": '<path d="M9 9.5a3 3 0 1 1 4.6 2.6c-1 .6-1.6 1.2-1.6 2.4M12 18v.2"/>',
    "ready": '<path d="M6.5 12.5l4 4 7-8.5"/>',
    "unused": '<path d="M7 12h10"/>',
    "nothing": '<path d="M7 12h10"/>',
}

_TONES = {"differs": "open", "unsure": "check", "same": "ready", "nothing": "nothing"}


class ReadinessVerdict(msgspec.Struct, frozen=True):
    """The verdict: a word, a tone (CSS class), a heading, and reasons. `tile` and `items` are
    additional figures (of programs, of readiness items): part, whole and label; None for none."""

    word: str
    tone: str
    heading: str
    reasons: Sequence[str]
    tile: tuple[int, int, str] | None = None
    items: tuple[int, int, str] | None = None


def verdict(page: Page) -> ReadinessVerdict:
    """The verdict on the project, displayed findings or not."""
    lang, result = page.lang, page.result
    judged = verdict_of(result)
    programs = lists(result)
    items = Counter(item.status for program in programs for item in program.checklist)
    reasons = statements(judged, lang)
    if result.summary.known:
        reasons.append(count(lang, "html.known", result.summary.known))
    reasons += [*seen(result, lang), *labelled(result.open_releases, lang)]
    clear = sum(not program.failed and not program.away for program in judged.training)
    tile = (clear, len(judged.training), say(lang, "html.tile.programs")) if judged.training else None
    passed = (items["passed"], items.total(), say(lang, "html.tile.items")) if programs else None
    tone = "unused" if judged.word == "unrecognised" else judged.word
    return ReadinessVerdict(judged.word, tone, headline(judged, lang), reasons, tile, passed)


def compared_verdict(page: Page, comparison: Comparison) -> ReadinessVerdict:
    """The verdict of a comparison from all items and all findings, displayed or not."""
    from npulint.report.compared.rows import items_of, of_runs_alone  # most runs have no reference

    lang, items = page.lang, items_of(comparison.pairs)
    severities = Counter(finding.severity for finding in page.result.findings)
    flagged = severities["error"] + severities["warning"]
    if of_runs_alone(comparison) and comparison.runs is not None:
        from npulint.report.compared.runs import headline as of_runs

        word = "differs" if comparison.runs.differs else "same" if comparison.runs.curves else "nothing"
        reason = of_runs(comparison.runs, lang) + say(lang, "compare.end")
    elif comparison.change is not None and not comparison.pairs:
        word, reason = "same", say(lang, "change.alone.same") + say(lang, "compare.end")
    elif not comparison.pairs:
        word, reason = "nothing", say(lang, "compare.pairs.none") + say(lang, "compare.end")
    elif items["differs"]:
        word, reason = "differs", count(lang, "compare.summary.differs", items["differs"])
    elif items["unknown"] or flagged:
        word, reason = "unsure", say(lang, "compare.summary.findings" if flagged else "compare.summary.unsure")
    else:
        word, reason = "same", say(lang, "compare.summary.same")
    manual = [count(lang, "compare.summary.manual", items["unknown"])] if items["unknown"] else []
    tone = "blocked" if severities["error"] and word == "differs" else _TONES[word]
    tile = (items["consistent"], sum(items.values()), say(lang, "compare.tile.items"))
    heading = say(lang, f"compare.verdict.{word}")
    return ReadinessVerdict(word, tone, heading, [reason, *manual, *_not_covered(page)], tile)


def _not_covered(page: Page) -> list[str]:
    unread = len({problem.path for problem in page.result.unreadable if problem.fatal})
    return [count(page.lang, "html.not-covered", unread)] if unread else []


def banner(page: Page, answer: ReadinessVerdict) -> str:
    """The verdict, its reasons, and the figures of the run."""
    return answered(answer, _tiles(page, answer))


def answered(answer: ReadinessVerdict, tiles: str) -> str:
    """The verdict, its reasons, and figures, which are HTML."""
    reasons = "".join(f"<p>{escape_html(sentence)}</p>" for sentence in answer.reasons)
    sign = f'<circle cx="12" cy="12" r="11"/>{_SIGNS[answer.tone]}'
    return (
        f'<section class="verdict {answer.tone}" id="verdict" aria-labelledby="verdict-word">\n'
        f'<svg class="sign" viewBox="0 0 24 24" aria-hidden="true">{sign}</svg>\n'
        f'<div class="answer"><h2 id="verdict-word">{answer.heading}</h2>\n{reasons}</div>\n'
        f'<ul class="tiles">{tiles}</ul>\n</section>'
    )


def _tiles(page: Page, answer: ReadinessVerdict) -> str:
    lang, summary = page.lang, page.result.summary
    shown = Counter(finding.severity for finding in page.shown)
    done = share_done(page)
    tiles = [(word, str(shown[word]), count(lang, f"html.tile.{word}", shown[word])) for word in SEVERITIES]
    files = (summary.read, max(summary.files, summary.read), say(lang, "html.tile.files"))
    progress = (*done, say(lang, "html.tile.done")) if done is not None and done[1] else answer.items
    for name, tile in (("programs", answer.tile), ("progress", progress), ("files", files)):
        if tile is not None:
            tiles.append((name, say(lang, "html.of", part=tile[0], n=tile[1]), tile[2]))
    return "".join(f'<li class="{name}"><b>{value}</b> {escape_html(label)}</li>' for name, value, label in tiles)


def target(page: Page) -> str:
    """The target environment."""
    rows = "".join(
        f"<div><dt>{escape_html(key)}</dt> <dd>{escape_html(text)}</dd></div>"
        for key, text in page.result.target.items()
    )
    title = say(page.lang, "target")
    return f'<dl class="target" aria-label="{title}">{rows}</dl>' if rows else ""


def first(page: Page) -> str:
    """What to do first: the most important checks."""
    steps = first_steps(to_do(page.result, page.shown), _STEPS, page.result.programs)
    if not steps:
        return ""
    rows = []
    for step in steps:
        finding = step.first
        places = count(page.lang, "html.places", step.places)
        at = f"{say(page.lang, 'html.first.at')} " if step.places > 1 else ""
        severity = say(page.lang, f"severity.{finding.severity}")
        rows.append(
            f'<li><p class="what"><b class="s {finding.severity}">{severity}</b> '
            f"{inline_markdown(finding.message)}</p>\n"
            f'<p class="at">{page.check(finding.code, f"<code>{escape_html(finding.name)}</code>")} · {places} · '
            f"{at}{page.finding(finding)}</p></li>"
        )
    listed = "\n".join(rows)
    return section("first", say(page.lang, "html.section.first"), f'<ol class="steps">\n{listed}\n</ol>')
