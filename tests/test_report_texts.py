"""The table of sentences: complete, and the same placeholders in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import npulint
from npulint.core.texts import FAMILIES, count, known, say, table
from npulint.hosts.cli.commands import COMMANDS
from npulint.judge.catalogue.check import CATEGORIES, STATES
from npulint.judge.findings import CONFIDENCES, SEVERITIES
from npulint.judge.postprocess.engine import ENGINE_RULES
from tests.tables import for_all

PACKAGE = Path(npulint.__file__).parent
MAIN = table("main")
LATER = {family: table(family) for family in FAMILIES}
TEXTS: dict[str, tuple[str, str]] = {**MAIN, **{key: both for later in LATER.values() for key, both in later.items()}}
USED = re.compile(r"\b(?:say|count)\(\s*[\w.]+(?:\(\))?,\s*(?P<quote>[\"'])(?P<key>[\w.-]+)(?P=quote)")


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@for_all({key: key for key in sorted(TEXTS)})
def test_both_languages_say_it_with_the_same_values(key: str) -> None:
    english, chinese = TEXTS[key]
    assert english.strip() and chinese.strip()
    variants = {frozenset(holes(part)) for part in english.split("|")}
    assert frozenset(holes(chinese)) == max(variants, key=len)
    assert len(variants) == 1


def test_no_file_has_a_key_twice() -> None:
    for path in (PACKAGE / "texts").glob("*.json"):
        keys = re.findall(r'^  "([^"]+)":', path.read_text(encoding="utf-8"), re.MULTILINE)
        assert sorted({key for key in keys if keys.count(key) > 1}) == [], path.name


def test_every_sentence_that_is_said_exists() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    said = {match["key"] for text in texts for match in USED.finditer(text)}
    assert len(said) > 50
    assert sorted(said - set(TEXTS)) == []


def test_a_table_of_its_own_holds_its_family_and_no_other() -> None:
    assert {(family, key.partition(".")[0]) for family, later in LATER.items() for key in later} == set(
        zip(FAMILIES, FAMILIES, strict=True)
    )
    assert not MAIN.keys() & {key for later in LATER.values() for key in later}  # the main table is asked first


def test_families_of_words_are_complete() -> None:
    wanted = [f"severity.{word}" for word in SEVERITIES] + [f"count.{word}" for word in SEVERITIES]
    wanted += [f"confidence.{word}" for word in CONFIDENCES] + [f"category.{word}" for word in CATEGORIES]
    wanted += [f"state.{word}" for word in STATES]
    wanted += [f"{kind}.{rule.name}" for rule in ENGINE_RULES for kind in ("title", "about")]
    assert [key for key in wanted if not known(key)] == []


def test_every_sentence_is_said_somewhere() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in PACKAGE.rglob("*.py") if p.parent.name != "texts")
    families = set(re.findall(r"f\"([a-z]+(?:\.[a-z]+)*)\.\{", source)) | set(
        re.findall(r"_word\(\"([a-z]+)\"", source)
    )
    families |= {"type", "invalid.fix"} | set(re.findall(r"\bword\(\"([a-z.]+)\"", source))
    quoted = set(re.findall(r"[\"']([\w.-]+)[\"']", source))
    unsaid = [key for key in TEXTS if key not in quoted and not any(key.startswith(f"{f}.") for f in families)]
    assert unsaid == []


def test_one_and_many() -> None:
    assert [count("en", "found", n) for n in (0, 1, 2)] == ["Found 0 findings", "Found 1 finding", "Found 2 findings"]
    assert count("zh", "found", 1) == "共 1 个问题"


def test_values_are_not_read_as_sentences() -> None:
    assert say("en", "unknown.key", word="{word}") == "unknown key `{word}`"


def test_commands_are_explained_in_both_languages() -> None:
    for command in COMMANDS:
        for explained in (command.help, *([command.words_help] if command.words else [])):
            assert explained("en").isascii()
            assert not explained("zh").isascii()
