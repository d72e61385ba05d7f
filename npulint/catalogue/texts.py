"""Reads the texts of a check in both languages and validates their placeholders."""

from __future__ import annotations

import re

from npulint.catalogue.check import CheckText, Query
from npulint.catalogue.fields import Fields, Keys
from npulint.catalogue.forms import PLURALS, problem
from npulint.catalogue.queries import kinds_found
from npulint.catalogue.vocabulary import fact_kinds
from npulint.catalogue.yaml_tree import YamlNode

LANGUAGES = ("en", "zh")
LONGEST_TITLE = 90

_PARTS = ("title", "message", "why", "fix")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*(?::\w+)?)\}")
_WIDE = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"
_SEAM = re.compile(rf"(?<=[\u3000-\u303f\uff00-\uffef]) | (?=[\u3000-\u303f\uff00-\uffef])|(?<={_WIDE}) (?={_WIDE})")
"""The blank that line folding leaves next to Chinese punctuation or between Chinese characters."""
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_ALWAYS = frozenset(("name", "short", "path", "count", "files"))
_COMPOSED = {
    "subject": ("what", "argument"),
    "before": ("reference", "reference_place"),
    "after": ("migrated", "migrated_place"),
}
"""Placeholders composed of several attributes."""


def read_texts(fields: Fields, node: YamlNode, find: Query) -> dict[str, CheckText]:
    """The texts by language; `find` decides which placeholders are valid."""
    found: dict[str, CheckText] = {}
    places: dict[str, Keys] = {}
    for lang, block in fields.mapping(node, "text", LANGUAGES).items():
        places[lang] = fields.mapping(block, f"text.{lang}", _PARTS)
        found[lang] = _language(fields, places[lang], lang)
    for part in ("message", "why", "fix"):
        if all(part in places.get(lang, {}) for lang in LANGUAGES):
            _agree(fields, places["zh"][part], part, found)
            _fillable(fields, places["en"][part], part, placeholders(getattr(found["en"], part)), find)
    return found


def placeholders(text: str) -> frozenset[str]:
    """The placeholders in a text, each with its format (``total_us:time``)."""
    return frozenset(_PLACEHOLDER.findall(text))


def unfolded(text: str) -> str:
    """A Chinese text without the blanks from YAML line folding."""
    return _SEAM.sub("", text)


def _language(fields: Fields, parts: Keys, lang: str) -> CheckText:
    read = {part: fields.text(parts[part], f"text.{lang}.{part}") if part in parts else "" for part in _PARTS}
    if "title" in parts:
        title = read["title"]
        if len(title) > LONGEST_TITLE:
            fields.problem(parts["title"], f"text.{lang}.title has {len(title)} characters, at most {LONGEST_TITLE}")
        if "\n" in title or placeholders(title):
            fields.problem(parts["title"], f"text.{lang}.title must be one line without placeholders")
    if lang == "zh":
        read = {part: unfolded(text) for part, text in read.items()}
        for part in ("title", "why"):
            if read[part] and not _CHINESE.search(read[part]):
                fields.problem(parts[part], f"text.zh.{part} is not Chinese")
    return CheckText(**read)


def _agree(fields: Fields, place: YamlNode, part: str, texts: dict[str, CheckText]) -> None:
    english, chinese = (_meant(placeholders(getattr(texts[lang], part)), lang) for lang in LANGUAGES)
    if english != chinese:
        fields.problem(place, f"text.zh.{part} has {_list(chinese)} but text.en.{part} has {_list(english)}")


def _meant(names: frozenset[str], lang: str) -> frozenset[str]:
    """The placeholders without language and noun: `cause_en` is `cause_zh` in Chinese, `count:places` is `count`."""
    bare = (name if form in PLURALS else one for one in names for name, _, form in (one.partition(":"),))
    return frozenset(one.removesuffix(f"_{lang}") for one in bare)


def _fillable(fields: Fields, place: YamlNode, part: str, names: frozenset[str], find: Query) -> None:
    """Report placeholders that are not an attribute of every fact kind that may be found; calls have arguments of any
    name."""
    reported = [fact_kinds()[kind] for kind in kinds_found(find)]
    for written in sorted(names - _ALWAYS):
        name, _, form = written.partition(":")
        wrong = problem(name, form)
        if wrong:
            fields.problem(place, f"text.en.{part}: {{{written}}}: {wrong}")
        known = () if name in _ALWAYS else _COMPOSED.get(name) or _localized(name)
        filled = all(kind.arguments or all(one in kind.attributes for one in known) for kind in reported)
        if not name.islower() or not filled:
            fields.problem(place, f"text.en.{part}: nothing fills {{{name}}}")


def _localized(name: str) -> tuple[str, ...]:
    """The attributes of a placeholder in both languages."""
    return (name, f"{name.removesuffix('_en')}_zh") if name.endswith("_en") else (name,)


def _list(names: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "no placeholder"
