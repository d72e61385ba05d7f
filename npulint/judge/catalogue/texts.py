"""Reads the texts of a check in both languages and validates their placeholders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from re import Match

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.judge.catalogue.check import CheckText, Query
from npulint.judge.catalogue.forms import PLURALS, problem
from npulint.judge.catalogue.vocabulary import fact_kinds
from npulint.judge.catalogue.yaml_tree import Fields, Keys, YamlNode

# The placeholders in texts of checks: ``{name}``, ``{total_us:time}``, and ``{device|0}`` for arguments of calls.

_PLACEHOLDER = lazy_compile(r"\{([a-z_][a-z0-9_]*)(?:\|([0-9]+))?(?::([a-z]+))?\}")
_MEANT = lazy_compile(r"\{([A-Za-z_][^\s{}]*)\}")
"""What an author means as a placeholder. Code in texts has a quote or a blank: ``{"NPU": 1}``, ``{k: v}``."""


class Placeholder(msgspec.Struct, frozen=True):
    """One placeholder: an attribute or argument `name`, the `form` in which a number is shown, and the `position` at
    which a call may be given the argument instead of by keyword (-1: by keyword only)."""

    name: str
    form: str = ""
    position: int = -1

    @classmethod
    def of(cls, match: Match[str]) -> Placeholder:
        """The placeholder that a match of the grammar stands for."""
        return cls(match[1], match[3] or "", int(match[2]) if match[2] else -1)


def substitute(text: str, value: Callable[[Placeholder], str | None]) -> str:
    """`text` with the value of each placeholder in its place; one whose value is None stays."""
    if "{" not in text:
        return text

    def replaced(match: Match[str]) -> str:
        shown = value(Placeholder.of(match))
        return match[0] if shown is None else shown

    return _PLACEHOLDER.sub(replaced, text)


def written(text: str) -> Iterator[tuple[str, Placeholder | None]]:
    """What stands between the braces of everything in a text that is meant as a placeholder, with the placeholder; None
    for one that nothing would fill, since it is misspelt."""
    for match in _MEANT.finditer(text):
        valid = _PLACEHOLDER.fullmatch(match[0])
        yield match[1], None if valid is None else Placeholder.of(valid)


LANGUAGES = ("en", "zh")
LONGEST_TITLE = 90

_PARTS = ("title", "message", "why", "fix")
_WIDE = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"
_SEAM = lazy_compile(rf"(?<=[\u3000-\u303f\uff00-\uffef]) | (?=[\u3000-\u303f\uff00-\uffef])|(?<={_WIDE}) (?={_WIDE})")
"""The blank that line folding leaves next to Chinese punctuation or between Chinese characters."""
_CHINESE = lazy_compile(r"[\u3400-\u9fff]")
_ALWAYS = frozenset(("name", "short", "path"))
_COUNTS = frozenset(("count", "files"))
"""Placeholders of checks that report several places as one finding (`once`)."""
_COMPOSED = {
    "subject": ("what", "argument"),
    "before": ("reference", "reference_place"),
    "after": ("migrated", "migrated_place"),
}
"""Placeholders composed of several attributes."""


def read_texts(fields: Fields, node: YamlNode, find: Query, once: bool = False) -> dict[str, CheckText]:
    """The texts by language; `find`, and whether the check reports several places `once`, decide which placeholders are
    valid."""
    texts: dict[str, CheckText] = {}
    places: dict[str, Keys] = {}
    for lang, block in fields.mapping(node, "text", LANGUAGES).items():
        places[lang] = fields.mapping(block, f"text.{lang}", _PARTS)
        texts[lang] = _language(fields, places[lang], lang)
    for part in ("message", "why", "fix"):
        if all(part in places.get(lang, {}) for lang in LANGUAGES):
            _agree(fields, places["zh"][part], part, texts)
            counts = _COUNTS if once else frozenset()
            _fillable(fields, places["en"][part], part, getattr(texts["en"], part), find, counts)
    return texts


def placeholders(text: str) -> frozenset[str]:
    """All that is meant as a placeholder in a text, each with its format (``total_us:time``)."""
    return frozenset(placeholder for placeholder, _ in written(text))


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
    bare = (
        name if form in PLURALS else placeholder
        for placeholder in names
        for name, _, form in (placeholder.partition(":"),)
    )
    return frozenset(placeholder.removesuffix(f"_{lang}") for placeholder in bare)


def _fillable(fields: Fields, place: YamlNode, part: str, text: str, find: Query, counts: frozenset[str]) -> None:
    """Report what is meant as a placeholder and that not every found fact fills: misspelt ones, and names that are no
    attribute and no argument of it."""
    for spelling, placeholder in sorted(dict(written(text)).items()):
        wrong = "" if placeholder is None else problem(placeholder.name, placeholder.form)
        if wrong:
            fields.problem(place, f"text.en.{part}: {{{spelling}}}: {wrong}")
        if placeholder is None or (placeholder.name not in _ALWAYS | counts and not _filled(placeholder, find)):
            fields.problem(
                place, f"text.en.{part}: nothing fills {{{spelling if placeholder is None else placeholder.name}}}"
            )


def _filled(placeholder: Placeholder, find: Query) -> bool:
    """Whether every fact that a query finds has a value for a placeholder."""
    if find.any:
        return all(_filled(placeholder, part) for part in find.any)
    if find.all:
        return _filled(placeholder, find.all[0])
    kind = fact_kinds().get(find.kind)
    if kind is None:  # reported where it is written
        return True
    needed = _COMPOSED.get(placeholder.name) or _localized(placeholder.name)
    return all(name in kind.attributes for name in needed) or (kind.arguments and _is_argument(placeholder, find))


def _is_argument(placeholder: Placeholder, find: Query) -> bool:
    """Whether a placeholder names an argument of the calls that a query finds: by its position, as the query does, or
    (any keyword) where the query is about a call."""
    if placeholder.name in _COUNTS:
        return False
    return (
        placeholder.position >= 0
        or find.kind == "call"
        or placeholder.name in {key.partition("|")[0] for key in find.args}
    )


def _localized(name: str) -> tuple[str, ...]:
    """The attributes of a placeholder in both languages."""
    return (name, f"{name.removesuffix('_en')}_zh") if name.endswith("_en") else (name,)


def _list(names: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "no placeholder"
