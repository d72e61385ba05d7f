"""The lists of checks: all of them with filters, by topic, and by category."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.judge.catalogue.check import CATEGORIES, FAMILIES, Catalogue, Check
from npulint.judge.catalogue.page import word
from npulint.judge.findings import SEVERITIES
from scripts.docsite.checks import Rule, all_rules, path_of, title_of, topic_path
from scripts.docsite.markup import cards, front, inline, link, pill, plain, url
from scripts.docsite.words import CATEGORIES as ABOUT
from scripts.docsite.words import number, say, topic

ALL = "checks/index.md"
TOPICS = "topics/index.md"


def category_path(name: str) -> str:
    """The file of the page of a category."""
    return f"categories/{name}.md"


def lists(catalogue: Catalogue, lang: str) -> dict[str, str]:
    """All pages that list checks, by file."""
    rules = all_rules(catalogue)
    topics = sorted({rule.topic for rule in rules}, key=lambda name: topic("en", name))
    pages = {ALL: _all(rules, topics, lang), TOPICS: _topics(rules, topics, lang)}
    for name in topics:
        chosen = [rule for rule in rules if rule.topic == name]
        pages[topic_path(name)] = _page(topic_path(name), topic(lang, name), "", chosen, lang)
    for name in CATEGORIES:
        chosen = [rule for rule in rules if rule.category == name]
        title, path = word(name, lang).capitalize(), category_path(name)
        pages[path] = _page(path, title, ABOUT[name][lang == "zh"], chosen, lang)
    return pages


def _page(path: str, title: str, about: str, rules: Sequence[Rule], lang: str) -> str:
    """The checks of one topic or category, most severe first."""
    rank = {name: -place for place, name in enumerate(SEVERITIES)}
    ordered = sorted(rules, key=lambda rule: (rank[rule.severity], rule.code))
    head = [front(title=title, hide=["toc"], search={"boost": 4}), f"# {inline(title)}"]
    heading = f"## {number(lang, len(rules))} {{ data-search-exclude }}"  # each check has a page that search finds
    parts = [*head, *filter(None, [inline(about)]), heading, listed(path, ordered, lang)]
    return "\n\n".join(parts) + "\n"


def _topics(rules: Sequence[Rule], topics: Sequence[str], lang: str) -> str:
    rows = []
    for name in topics:
        chosen = [rule for rule in rules if rule.topic == name]
        rows.append((url(TOPICS, topic_path(name)), topic(lang, name), plain(number(lang, len(chosen)))))
    parts = [front(title=say(lang, "topics")), f"# {say(lang, 'topics')}", say(lang, "topics.about"), cards(rows)]
    return "\n\n".join(parts) + "\n"


def _all(rules: Sequence[Rule], topics: Sequence[str], lang: str) -> str:
    categories = say_list(lang, [f"[{word(name, lang)}]({link(ALL, category_path(name))})" for name in CATEGORIES])
    ways = {"topics": link(ALL, TOPICS), "readiness": link(ALL, "readiness/index.md"), "categories": categories}
    parts = [
        front(title=say(lang, "nav.all"), hide=["toc"], search={"exclude": True}),
        f"# {say(lang, 'nav.all')}",
        say(lang, "checks.about", n=len(rules)),
        say(lang, "checks.also", **ways),
        _filters(rules, topics, lang),
        listed(ALL, rules, lang),
    ]
    return "\n\n".join(parts) + "\n"


def say_list(lang: str, words: Sequence[str]) -> str:
    """Words with the comma of the language between them."""
    return ("、" if lang == "zh" else ", ").join(words)


def _filters(rules: Sequence[Rule], topics: Sequence[str], lang: str) -> str:
    """The form that the script of the site makes work; without scripts it is not shown."""
    families = {rule.family if isinstance(rule, Check) else "engine" for rule in rules}
    choices = {
        "family": ("framework", [(name, word(name, lang)) for name in FAMILIES if name in families]),
        "severity": ("severity", [(name, word(name, lang)) for name in reversed(SEVERITIES)]),
        "category": ("category", [(name, word(name, lang)) for name in CATEGORIES]),
        "topic": ("topic", [(name, topic(lang, name)) for name in topics]),
    }
    fields = [
        f'<label>{say(lang, "filter.text")} <input type="search" name="text" autocomplete="off"></label>',
        *(_choice(name, label, options, lang) for name, (label, options) in choices.items()),
        f'<button type="reset">{say(lang, "filter.clear")}</button>',
    ]
    shown, none = say(lang, "filter.shown", n="{n}"), say(lang, "filter.none")
    form = f'<form class="np-filter" data-shown="{shown}" data-none="{none}" hidden>'
    return "\n".join([form, *fields, '<output aria-live="polite"></output>', "</form>"])


def _choice(name: str, label: str, options: Sequence[tuple[str, str]], lang: str) -> str:
    rows = "".join(f'<option value="{value}">{plain(text)}</option>' for value, text in options)
    empty = f'<option value="">{say(lang, "filter.any")}</option>'
    return f'<label>{say(lang, f"filter.{label}")} <select name="{name}">{empty}{rows}</select></label>'


def listed(here: str, rules: Sequence[Rule], lang: str) -> str:
    """A table of checks that can be filtered: each row carries what the filters ask for."""
    head = "".join(
        f"<th>{say(lang, key)}</th>" for key in ("column.about", "filter.severity", "filter.category", "column.topic")
    )
    rows = [_listed_row(here, rule, lang) for rule in rules]
    table = ['<div class="np-scroll"><table class="np-checks">', f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    return "\n".join([*table, *rows, "</tbody>", "</table></div>"])


def _listed_row(here: str, rule: Rule, lang: str) -> str:
    family = rule.family if isinstance(rule, Check) else "engine"
    values = {"family": family, "category": rule.category, "severity": rule.severity, "topic": rule.topic}
    data = "".join(f' data-{name}="{value}"' for name, value in values.items()) if here == ALL else ""
    preview = "" if getattr(rule, "status", "stable") == "stable" else " " + pill(say(lang, "preview"), "np-preview")
    title = f'<a href="{url(here, path_of(rule.name))}">{inline(title_of(rule, lang))}</a>{preview}'
    cells = [
        f"{title}<br><code>{plain(rule.name)}</code> <small>{rule.code}</small>",
        pill(word(rule.severity, lang), f"np-{rule.severity}"),
        plain(word(rule.category, lang)),
        f'<a href="{url(here, topic_path(rule.topic))}">{plain(topic(lang, rule.topic))}</a>',
    ]
    return f"<tr{data}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
