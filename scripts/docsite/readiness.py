"""The pages of the readiness checklist and of the pre-tuning checklist: one that names all items, and one for each."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from npulint.judge.catalogue.check import Catalogue, Check, Failing, ItemDefinition
from npulint.judge.catalogue.page import word
from scripts.docsite import examples
from scripts.docsite.checks import path_of, title_of, topic_path
from scripts.docsite.markup import front, inline, link, table
from scripts.docsite.words import say, topic

INDEX = "readiness/index.md"
PRETUNING = "pretuning/index.md"
_ANSWERS = ("passed", "failed", "unknown", "absent")


def item_path(name: str, index: str = INDEX) -> str:
    """The file of the page of an item of the list with this index page."""
    return f"{posixpath.dirname(index)}/{name}.md"


def readiness(catalogue: Catalogue, lang: str) -> dict[str, str]:
    """All pages about the two lists, by file."""
    pages = {}
    for index, items in ((INDEX, catalogue.items), (PRETUNING, catalogue.pretuning)):
        pages[index] = _index(index, items, lang)
        for item in items:
            pages[item_path(item.name, index)] = _page(item, index, catalogue, lang)
    return pages


def _index(here: str, items: Sequence[ItemDefinition], lang: str) -> str:
    header = [say(lang, "readiness.item"), say(lang, "readiness.look")]
    rows = []
    for item in items:
        linked = f"[{inline(item_title(item, lang))}]({link(here, item_path(item.name, here))})"
        rows.append([linked, inline(item.text[lang].look)])
    about = say(lang, f"{_list(here)}.about", n=len(items))
    heading = say(lang, _list(here))
    return "\n\n".join([front(title=heading), f"# {heading}", about, table(header, rows)]) + "\n"


def item_title(item: ItemDefinition, lang: str) -> str:
    """The title of an item, as a heading begins."""
    title = item.text[lang].title
    return title[:1].upper() + title[1:]


def _list(index: str) -> str:
    """The name of the list with this index page."""
    return posixpath.dirname(index)


def _page(item: ItemDefinition, index: str, catalogue: Catalogue, lang: str) -> str:
    here, text = item_path(item.name, index), item.text[lang]
    parts = [
        front(title=item_title(item, lang), tags=[item.name]),
        f"# {inline(item_title(item, lang))}",
        f'<div class="np-lead"><b>{say(lang, "readiness.look")}</b><br>{inline(text.look)}</div>',
        f"## {say(lang, 'readiness.decided')} {{ #decided }}",
        _decided(item, lang) if index == INDEX else say(lang, "pretuning.decided"),
        f"### {say(lang, f'{_list(index)}.fails')} {{ #fails }}",
        *(_findings(item.fails, catalogue, here, lang) or [say(lang, "readiness.fails.none")]),
        *_doubted(item, catalogue, here, lang),
        *_examples(item, _list(index), lang),
        say(lang, "readiness.key", key=item.key),
    ]
    return "\n\n".join(parts) + "\n"


def _decided(item: ItemDefinition, lang: str) -> str:
    if item.otherwise == "passed":
        return say(lang, "readiness.decided.passed")
    return say(lang, f"readiness.decided.{'person' if item.passed is None else 'evidence'}")


def _doubted(item: ItemDefinition, catalogue: Catalogue, here: str, lang: str) -> list[str]:
    findings = _findings(item.doubted, catalogue, here, lang)
    return [f"### {say(lang, 'readiness.doubted')} {{ #doubted }}", *findings] if findings else []


def _findings(fails: Failing, catalogue: Catalogue, here: str, lang: str) -> list[str]:
    parts = []
    if fails.topics:
        names = [f"- [{topic(lang, name)}]({link(here, topic_path(name))})" for name in _pages(fails.topics, catalogue)]
        about = say(lang, "readiness.topics", severity=word(fails.severity, lang))
        parts += [about, "\n".join(names)]
    for key, chosen in (("checks", fails.checks), ("but", fails.but)):
        checks = [check for check in catalogue.checks if check.name in chosen]
        if checks:
            parts += [say(lang, f"readiness.{key}"), "\n".join(_row(here, check, lang) for check in checks)]
    return parts


def _pages(topics: Sequence[str], catalogue: Catalogue) -> list[str]:
    """The topics that have a check, and so a page."""
    used = {check.topic for check in catalogue.checks}
    return [name for name in topics if name in used]


def _row(here: str, check: Check, lang: str) -> str:
    return f"- [{inline(title_of(check, lang))}]({link(here, path_of(check.name))}) `{check.code}`"


def _examples(item: ItemDefinition, listed: str, lang: str) -> list[str]:
    parts = []
    for answer in _ANSWERS:
        chosen = [example for example in item.examples if example.answer == answer]
        if chosen:
            name = say(lang, f"{listed}.{answer}")
            parts.append(f"## {name} {{ #{answer} .np-{answer} data-search-exclude }}")
            parts += [examples.shown(one.files, one.target, one.evidence, lang) for one in chosen]
    return parts
