"""The page: totals and blockers as HTML, the projects as data that the script of the page lists."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from typing import Any

from npulint import __version__
from npulint.core.texts import count, known, say
from npulint.report.html.frame import asset, icon, policy
from npulint.report.html.markup import attribute, escape_html, section, table
from npulint.report.json import encodable
from npulint.report.terminal import escape_control_chars
from npulint.survey.model import FAILED, VERDICTS, Blocker, ProjectRow, Summed, Totals

# The projects as data in the page.

_TEXTS = "shown page more range effort items report details source commit blockers files none".split()


def data(summed: Summed, lang: str) -> str:
    """The data as JSON that may stand in a script element."""
    checks = list(summed.checks)
    numbers = {code: index for index, code in enumerate(checks)}
    frameworks = sorted({name for project in summed.projects for name in project.frameworks})
    verdicts = [*VERDICTS, FAILED]
    document = {
        "checks": [[escape_control_chars(word) for word in (code, summed.checks[code])] for code in checks],
        "frameworks": [[escape_control_chars(name), framework(name, lang)] for name in frameworks],
        "verdicts": [[word, verdict(word, lang)] for word in verdicts],
        "projects": [
            {
                **_fields(project, lang),
                "v": verdicts.index(FAILED if project.status == FAILED else project.verdict),
                "b": [numbers[code] for code in project.blockers],
                "f": [frameworks.index(name) for name in project.frameworks],
            }
            for project in summed.projects
        ],
        "texts": {name: say(lang, f"survey.js.{name}") for name in _TEXTS},
    }
    text = json.dumps(encodable(document), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _fields(row: ProjectRow, lang: str) -> dict[str, Any]:
    """The plain values of a project under short names; what is empty is left out."""
    failure = say(lang, f"survey.failure.{row.failure}") if row.failure else ""
    fields = {
        "n": escape_control_chars(row.project),
        "src": escape_control_chars(row.source),
        "c": row.commit,
        "why": failure + (say(lang, "aside", text=escape_control_chars(row.detail)) if row.detail else ""),
        "p": row.passed,
        "x": row.failed,
        "u": row.undetermined,
        "e": row.errors,
        "w": row.warnings,
        "lo": row.effort_low,
        "mid": row.effort_mid,
        "hi": row.effort_high,
        "files": row.files,
        "l": row.lines,
        "r": row.report,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}


def verdict(word: str, lang: str) -> str:
    """A verdict in words."""
    return say(lang, "survey.failed" if word == FAILED else f"survey.verdict.{word}")


def framework(name: str, lang: str) -> str:
    """A framework in words."""
    return say(lang, f"framework.{name}") if known(f"framework.{name}") else escape_control_chars(name)


TONES = {"ready": "passed", "check": "note", "open": "warning", "blocked": "error"}
"""Classes of the colours of verdicts; the others are grey."""
_LANGUAGES = {"en": "en", "zh": "zh-CN"}
_TOP = 10  # blockers that are shown at once
_ORDERS = ("readiness", "effort", "blockers", "errors", "warnings", "lines", "name")


def page(summed: Summed, lang: str) -> str:
    """The whole page. It loads nothing and contains no timestamp."""
    totals = summed.totals()
    title = say(lang, "survey.title")
    style = asset("page.css") + _own("survey.css")
    script = _own("survey.js")
    tone = next((word for word in ("blocked", "open", "check", "ready") if totals.verdicts[word]), "nothing")
    sections = (_totals(totals, lang), _blockers(summed.blockers(), lang), _projects(summed, totals, lang))
    return f"""<!DOCTYPE html>
<html lang="{_LANGUAGES[lang]}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="npulint {__version__}">
<title>{title}</title>
<link rel="icon" href="{icon(tone)}">
<style>{style}</style>
</head>
<body class="survey">
<a class="skip" href="#projects">{say(lang, "survey.skip")}</a>
<header class="top"><div><h1>{title}</h1></div></header>
<main>
{chr(10).join(filter(None, sections))}
</main>
<footer>npulint {__version__}</footer>
<script type="application/json" id="data">{data(summed, lang)}</script>
<script>{script}</script>
</body>
</html>
"""


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _totals(totals: Totals, lang: str) -> str:
    words: list[tuple[str, int]] = [(word, totals.verdicts[word]) for word in VERDICTS if totals.verdicts[word]]
    words += [(FAILED, totals.failed)] if totals.failed else []
    figures = [
        (f"{totals.projects:,}", count(lang, "survey.tile.projects", totals.projects)),
        (f"{totals.errors:,}", count(lang, "html.tile.error", totals.errors)),
        (f"{totals.warnings:,}", count(lang, "html.tile.warning", totals.warnings)),
        (f"{totals.lines:,}", say(lang, "survey.tile.lines")),
    ]
    if totals.effort is not None:
        low, likely, high = (f"{hours:,.0f}" for hours in totals.effort)
        figures.insert(1, (likely, say(lang, "survey.tile.effort", low=low, high=high)))
    tiles = "".join(f"<li><b>{value}</b> {escape_html(label)}</li>" for value, label in figures)
    body = f'<ul class="tiles">{tiles}</ul>\n{_share(words, lang)}'
    return section("totals", say(lang, "survey.totals"), body, "panel")


def _share(words: list[tuple[str, int]], lang: str) -> str:
    """All projects as one bar by verdict, with a legend."""
    total = sum(number for _, number in words) or 1
    rects, at = [], 0.0
    for word, number in words:
        width = 100 * number / total
        rects.append(f'<rect class="{TONES.get(word, "unknown")}" x="{at:.3f}%" width="{width:.3f}%"/>')
        at += width
    legend = "".join(
        f'<li><span class="key {TONES.get(word, "unknown")}">{verdict(word, lang)}</span> <b>{number:,}</b></li>'
        for word, number in words
    )
    return f'<svg class="bar" aria-hidden="true">{"".join(rects)}</svg>\n<ul class="legend">{legend}</ul>'


def _blockers(blockers: list[Blocker], lang: str) -> str:
    if not blockers:
        return ""
    heads = [say(lang, f"survey.blockers.{name}") for name in ("check", "projects", "alone", "findings")]
    rows = [
        (
            f'<button type="button" class="link" data-check="{attribute(blocker.code)}">'
            f"<code>{escape_html(blocker.name)}</code></button> <small>{escape_html(blocker.code)}</small>",
            *(f"{number:,}" for number in (blocker.projects, blocker.alone, blocker.findings)),
        )
        for blocker in blockers
    ]
    caption = f'<span class="unseen">{say(lang, "survey.blockers")}</span>'
    note = f'<p class="muted">{say(lang, "survey.blockers.note")}</p>'
    body = note + table(caption, heads, rows[:_TOP], "chart numbers")
    if rows[_TOP:]:
        more = count(lang, "survey.blockers.more", len(rows) - _TOP)
        body += f"<details><summary>{more}</summary>{table(caption, heads, rows[_TOP:], 'chart numbers')}</details>"
    return section("blockers", say(lang, "survey.blockers"), body, "panel")


def _projects(summed: Summed, totals: Totals, lang: str) -> str:
    body = f"""{_filters(summed, totals, lang)}
<noscript><p class="cut">{say(lang, "survey.noscript")}</p></noscript>
<div class="wide"><table id="rows" class="rows" hidden><caption class="unseen">{say(lang, "survey.projects")}</caption>
<thead><tr>{"".join(_head(name, lang) for name in _columns(totals))}</tr></thead><tbody></tbody></table></div>
<p class="no-match" hidden>{say(lang, "survey.no-match")}</p>
<nav class="pager" aria-label="{say(lang, "survey.pages")}" hidden>
<button type="button" name="previous">{say(lang, "survey.previous")}</button>
<output></output>
<button type="button" name="next">{say(lang, "survey.next")}</button></nav>"""
    return section("projects", say(lang, "survey.projects"), body)


def _columns(totals: Totals) -> tuple[str, ...]:
    effort = ("effort",) if totals.effort is not None else ()
    return ("name", "readiness", *effort, "blockers", "errors", "warnings", "lines")


def _head(name: str, lang: str) -> str:
    label = say(lang, f"survey.column.{name}")
    button = f'<button type="button" class="link" data-sort="{name}">{label}</button>'
    return f'<th scope="col" data-column="{name}">{button}</th>'


def _filters(summed: Summed, totals: Totals, lang: str) -> str:
    words = [word for word in VERDICTS if totals.verdicts[word]] + ([FAILED] if totals.failed else [])
    numbers = totals.verdicts + Counter({FAILED: totals.failed})
    chips = "".join(
        f'<label class="chip {TONES.get(word, "unknown")}">'
        f'<input type="checkbox" name="verdict" value="{word}" checked>'
        f"<span>{verdict(word, lang)} <b>{numbers[word]:,}</b></span></label>"
        for word in words
    )
    used = Counter(name for project in summed.projects for name in project.frameworks)
    frameworks = [(name, f"{framework(name, lang)} ({used[name]:,})") for name in sorted(used)]
    checks = [(blocker.code, f"{blocker.name} ({blocker.projects:,})") for blocker in summed.blockers()]
    orders = [(name, say(lang, f"survey.order.{name}")) for name in _ORDERS if name != "effort" or totals.effort]
    return f"""<form role="search" aria-label="{say(lang, "html.filter")}" autocomplete="off" hidden>
<label class="search"><span class="unseen">{say(lang, "survey.search")}</span>
<input type="search" name="q" placeholder="{say(lang, "survey.search")}" spellcheck="false"></label>
{_select("framework", say(lang, "survey.framework"), [("", say(lang, "survey.all")), *frameworks])}
{_select("check", say(lang, "survey.blocker"), [("", say(lang, "survey.all")), *checks])}
{_select("order", say(lang, "survey.order"), orders)}
<span class="break"></span>
<fieldset><legend>{say(lang, "survey.verdict")}</legend>{chips}</fieldset>
<p class="state"><output name="shown" aria-live="polite"></output>
<button type="reset">{say(lang, "html.reset")}</button></p>
</form>"""


def _select(name: str, label: str, options: list[tuple[str, str]]) -> str:
    listed = "".join(f'<option value="{attribute(value)}">{escape_html(text)}</option>' for value, text in options)
    return f'<label class="topic"><span>{label}</span> <select name="{name}">{listed}</select></label>'
