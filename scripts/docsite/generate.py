"""All pages of the site in one language, from the catalogue and the guides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.codes import PATTERN
from npulint.judge.catalogue.page import word
from npulint.judge.catalogue.sources import RETIRED, builtin_directory
from scripts.docsite.checks import all_rules, path_of, retired_page, rule_page, topic_path
from scripts.docsite.guides import AUTHORS, GUIDES, guides, title
from scripts.docsite.lists import ALL, TOPICS, category_path, lists
from scripts.docsite.readiness import INDEX, PRETUNING, item_path, item_title, readiness
from scripts.docsite.words import CATEGORIES, say, topic
from scripts.docsite.words import TOPICS as TITLES

_RETIRED = re.compile(rf"({PATTERN})\s*(.*)")
RENAMED = "renamed.txt"
_RENAMED = re.compile(r"([a-z0-9-]+) ([a-z0-9-]+)")


def pages(catalogue: Catalogue, lang: str, retired: dict[str, str]) -> dict[str, str]:
    """Every page by its Markdown file; the same files in both languages."""
    found = {**guides(lang), **lists(catalogue, lang), **readiness(catalogue, lang)}
    for rule in all_rules(catalogue):
        found[path_of(rule.name)] = rule_page(rule, catalogue, lang)
    for code, reason in retired.items():
        found[path_of(code)] = retired_page(code, reason, lang)
    return found


def navigation(catalogue: Catalogue, lang: str) -> list[dict[str, Any]]:
    """The menu; single checks are left to lists and search, for a menu of hundreds on every page helps nobody."""
    used = sorted({rule.topic for rule in all_rules(catalogue)}, key=lambda name: TITLES[name][0])
    topics: list[Any] = [TOPICS, *({topic(lang, name): topic_path(name)} for name in used)]
    categories = [{word(name, lang).capitalize(): category_path(name)} for name in CATEGORIES]
    authors = [{title(name, lang): f"guides/{name}.md"} for name in AUTHORS]
    written: list[Any] = [{title(name, lang): f"guides/{name}.md"} for name in GUIDES]
    items = [{item_title(item, lang): item_path(item.name)} for item in catalogue.items]
    pretuning = [{item_title(item, lang): item_path(item.name, PRETUNING)} for item in catalogue.pretuning]
    return [
        {say(lang, "nav.home"): "index.md"},
        {say(lang, "nav.guides"): [*written, {say(lang, "nav.authors"): authors}]},
        {
            say(lang, "nav.checks"): [
                ALL,
                {say(lang, "nav.categories"): categories},
                {say(lang, "nav.topics"): topics},
            ]
        },
        {say(lang, "nav.readiness"): [INDEX, *items]},
        {say(lang, "nav.pretuning"): [PRETUNING, *pretuning]},
    ]


def redirects(catalogue: Catalogue, renamed: dict[str, str]) -> dict[str, str]:
    """What leads to the page of which check: codes, and names that checks had before."""
    return {**{rule.code: rule.name for rule in all_rules(catalogue)}, **renamed}


def retired_codes(text: str) -> dict[str, str]:
    """The reasons by code of a list of retired codes."""
    return {match[1]: match[2].strip() for line in text.splitlines() if (match := _RETIRED.match(line))}


def renamed_checks(text: str, catalogue: Catalogue) -> dict[str, str]:
    """Old name to new name, from lines ``old new``. Raises `ValueError` for a line of another form, a new name
    that no check has, or an old one that some check has."""
    names = {rule.name for rule in all_rules(catalogue)}
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _RENAMED.fullmatch(line.strip())
        if match is None or match[2] not in names or match[1] in names:
            raise ValueError(f"{RENAMED}:{number}: must be an old name and the new name of a check: {line!r}")
        found[match[1]] = match[2]
    return found


def retired() -> dict[str, str]:
    """The retired codes of the built-in checks."""
    return retired_codes((Path(builtin_directory()) / RETIRED).read_text(encoding="utf-8"))


def renamed(catalogue: Catalogue) -> dict[str, str]:
    """The former names of the built-in checks."""
    return renamed_checks((Path(builtin_directory()) / RENAMED).read_text(encoding="utf-8"), catalogue)
