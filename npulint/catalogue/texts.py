"""Reads the wording of a check in both languages and sees that the placeholders agree."""

from __future__ import annotations

import re

from npulint.catalogue.check import Query, Text
from npulint.catalogue.fields import Fields
from npulint.catalogue.questions import kinds_found
from npulint.catalogue.vocabulary import KINDS
from npulint.catalogue.yaml_tree import Mapping, Node

LANGUAGES = ("en", "zh")
LONGEST_TITLE = 90

_PARTS = ("title", "message", "why", "fix")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_ALWAYS = frozenset(("name", "short", "path"))


def read_texts(fields: Fields, node: Node, find: Query) -> dict[str, Text]:
    """The texts by language; `find` decides which placeholders can be filled."""
    found: dict[str, Text] = {}
    for lang, block in fields.mapping(node, "text", LANGUAGES).items():
        found[lang] = _language(fields, block, lang)
    if len(found) == len(LANGUAGES):
        _agree(fields, node, found)
        _fillable(fields, node, found, find)
    return found


def placeholders(text: str) -> frozenset[str]:
    """The names that stand in braces in a text."""
    return frozenset(_PLACEHOLDER.findall(text))


def _language(fields: Fields, node: Node, lang: str) -> Text:
    parts = fields.mapping(node, f"text.{lang}", _PARTS)
    read = {part: fields.text(parts[part], f"text.{lang}.{part}") if part in parts else "" for part in _PARTS}
    if "title" in parts:
        title = read["title"]
        if len(title) > LONGEST_TITLE:
            fields.problem(parts["title"], f"text.{lang}.title has {len(title)} characters, at most {LONGEST_TITLE}")
        if "\n" in title or placeholders(title):
            fields.problem(parts["title"], f"text.{lang}.title must be one line without placeholders")
    if lang == "zh":
        for part in ("title", "why"):
            if read[part] and not _CHINESE.search(read[part]):
                fields.problem(parts[part], f"text.zh.{part} is not Chinese")
    return Text(**read)


def _agree(fields: Fields, node: Node, texts: dict[str, Text]) -> None:
    for part in ("message", "why", "fix"):
        names = {lang: placeholders(getattr(text, part)) for lang, text in texts.items()}
        if names["en"] != names["zh"]:
            where = _place(node, "zh", part)
            fields.problem(
                where, f"text.zh.{part} has {_list(names['zh'])} but text.en.{part} has {_list(names['en'])}"
            )


def _fillable(fields: Fields, node: Node, texts: dict[str, Text], find: Query) -> None:
    """Every placeholder must be an attribute of each kind of fact that may be reported; calls have
    arguments of any name."""
    reported = [KINDS[kind] for kind in kinds_found(find)]
    for part in ("message", "why", "fix"):
        for name in sorted(placeholders(getattr(texts["en"], part)) - _ALWAYS):
            if not name.islower() or not all(name in kind.attributes or kind.arguments for kind in reported):
                fields.problem(_place(node, "en", part), f"text.en.{part}: nothing fills {{{name}}}")


def _list(names: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "no placeholder"


def _place(node: Node, *path: str) -> Node:
    """The node at the end of a path of keys, or the last that exists."""
    for name in path:
        if not isinstance(node, Mapping) or name not in node.entries:
            break
        node = node.entries[name][1]
    return node
