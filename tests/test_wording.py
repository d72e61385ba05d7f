"""English texts use the terms of the field; what they must not say is a table (tests/data/banned_phrases.csv)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import yaml

from npulint.commands.settings.options import OPTIONS
from npulint.hosts.cli.commands import COMMANDS
from npulint.judge.catalogue.load import load_catalogue
from scripts.docsite import words
from tests.surface_support import call
from tests.wording_support import ROOT, banned, check_texts, engine_texts, item_texts, raised_texts

LONGEST_TITLE = 72


def wrong(texts: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{place}: {problem}" for place, text in texts for problem in banned(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3 can be mended with --fix", True),
        ("what cannot be told from source", True),
        ("this is no number", True),
        ("the option is no longer read; there is no check of this name", False),
        ("the run ends with `has to be told`", False),
        ('it stops with "dump_path has to be set"', False),
        ("its own kernel, and a hook of its own list", False),
    ],
)
def test_the_table_finds_phrases_but_not_in_quotations(text: str, found: bool) -> None:
    assert bool(banned(text)) is found


def test_the_engine() -> None:
    assert wrong(engine_texts()) == []


def test_messages_where_they_are_raised() -> None:
    texts = list(raised_texts())
    assert len(texts) > 100
    assert wrong(texts) == []


def test_the_checks() -> None:
    texts = list(check_texts(events=False))
    assert len(texts) > 2800
    assert wrong(texts) == []


def test_the_checklists() -> None:
    assert wrong(item_texts()) == []


def test_titles_of_checks_are_short() -> None:
    titles = {check.name: check.text["en"].title for check in load_catalogue().checks}
    assert {name: title for name, title in titles.items() if len(title) > LONGEST_TITLE} == {}


def test_help() -> None:
    pages = [(command.name, call(command.name, "--help", "--lang", "en").out) for command in COMMANDS]
    options = [(option.name, option.help("en")) for option in OPTIONS]
    assert all(text for _, text in pages)
    assert wrong([("", call("--help", "--lang", "en").out), *pages, *options]) == []


@pytest.mark.parametrize("name", [".pre-commit-hooks.yaml", "action.yml"])
def test_descriptions_of_integrations(name: str) -> None:
    def strings(node: object) -> Iterable[tuple[str, str]]:
        if isinstance(node, dict):
            yield from ((key, text) for key, text in node.items() if key in ("description", "name"))
        for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from strings(part)

    texts = [(key, text) for key, text in strings(yaml.safe_load((ROOT / name).read_text(encoding="utf-8")))]
    assert texts
    assert wrong(texts) == []


def test_the_site() -> None:
    tables = (words.TEXTS, words.TOPICS, words.CATEGORIES)
    assert wrong((key, text) for table in tables for key, (text, _) in table.items()) == []
