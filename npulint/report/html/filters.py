"""The filters above the findings; hidden until the script runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.core.texts import say
from npulint.judge.catalogue.check import CATEGORIES
from npulint.report.html.charts import SEVERITIES
from npulint.report.html.markup import attribute, escape_html, topic_name
from npulint.report.html.page import Page


def filters(page: Page) -> str:
    """Search, severities, categories, topics, grouping, and the number of matching findings."""
    lang, carried = page.lang, page.carried
    severities = Counter(finding.severity for finding in carried)
    has_important = bool(severities["error"] or severities["warning"])
    on = [word for word in SEVERITIES if word != "note" or not has_important]
    shown = sum(severities[word] for word in on)
    categories = Counter(finding.category for finding in carried if finding.severity in on)
    listed = Counter(finding.topic for finding in carried if finding.severity in on)
    names = {finding.topic: topic_name(finding.topic, lang) for finding in carried}
    options = "".join(
        f'<option value="{attribute(topic)}" data-name="{attribute(name)}">'
        f"{escape_html(name)} ({listed[topic]})</option>"
        for topic, name in sorted(names.items(), key=lambda pair: pair[1])
    )
    left = say(lang, "html.shown", shown=shown, all=len(carried))
    template = say(lang, "html.shown", shown="{shown}", all="{all}")
    return f"""<form id="filters" role="search" aria-label="{say(lang, "html.filter")}" autocomplete="off" hidden>
<label class="search"><span class="unseen">{say(lang, "html.search")}</span>
<input type="search" name="q" placeholder="{say(lang, "html.search.hint")}" spellcheck="false"></label>
<fieldset class="group-by"><legend>{say(lang, "html.group")}</legend>
<span aria-hidden="true">{say(lang, "html.group")}</span>
<label><input type="radio" name="group" value="check" checked><span>{say(lang, "html.group.check")}</span></label>
<label><input type="radio" name="group" value="file"><span>{say(lang, "html.group.file")}</span></label></fieldset>
<p class="state"><output name="shown" aria-live="polite" data-text="{template}">{left}</output>
<button type="reset">{say(lang, "html.reset")}</button></p>
<span class="break"></span>
{_choice("severity", say(lang, "html.severity"), SEVERITIES, on, severities, lang)}
{_choice("category", say(lang, "html.category"), CATEGORIES, CATEGORIES, categories, lang)}
<label class="topic"><span>{say(lang, "html.topic")}</span> <select name="topic">
<option value="">{say(lang, "html.all-topics")}</option>{options}</select></label>
</form>
<p class="no-match" hidden>{say(lang, "html.no-match")}</p>
<template id="about" data-rest="{say(lang, "html.rest")}"><details class="about">
<summary>{say(lang, "html.about")}</summary></details></template>"""


def _choice(name: str, legend: str, values: Sequence[str], on: Sequence[str], counts: Counter[str], lang: str) -> str:
    boxes = "".join(
        f'<label class="chip {value}"><input type="checkbox" name="{name}" value="{value}"'
        f"{' checked' if value in on else ''}><span>{say(lang, f'{name}.{value}')} "
        f'<b data-n="{value}">{counts[value]}</b></span></label>'
        for value in values
    )
    return f"<fieldset><legend>{legend}</legend>{boxes}</fieldset>"
