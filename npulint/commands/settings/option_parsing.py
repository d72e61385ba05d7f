"""Converts option values from command line words or TOML to the types of `Settings`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from npulint.commands.settings.options import Option
from npulint.core.lazy_regex import lazy_compile
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import say

_VERSION = lazy_compile(r"[0-9]+(?:[.+_-]?[A-Za-z0-9]+)*")
URL = r"https?://[^\s\x00-\x1f]+"
"""The pattern of addresses that reports may link to; a browser would run others (javascript:)."""
FRAMEWORKS = ("tensorflow", "torch")


class InvalidOption(Exception):
    """An invalid option value; `texts` say why."""

    def __init__(self, *texts: str) -> None:
        super().__init__(*texts)
        self.texts = texts


def from_words(option: Option, words: Sequence[str], lang: str) -> Any:
    """The value of an option from `words`, one per occurrence on the command line; raises `InvalidOption`."""
    if option.kind in ("list", "folders"):
        parts = [word.split(",") if option.kind == "list" else [word] for word in words]
        return _checked_list(option, tuple(part.strip() for group in parts for part in group if part.strip()), lang)
    if option.kind == "map":
        return _checked_map(option, dict(_pair(option, word, lang) for word in words), lang)
    if option.kind == "levels":
        return _levels(option, dict(_pair(option, word, lang) for word in words), lang)
    if option.kind == "groups":
        pairs = [_pair(option, word, lang) for word in words]
        return _groups(option, {key: [*value.split(",")] for key, value in _collected(pairs)}, lang)
    if option.kind == "pairs":
        return tuple(_checked_pair(option, *_pair(option, word, lang), lang) for word in words)
    word = words[-1]
    if option.kind == "number":
        return number(word, lang)
    if option.kind == "choice":
        return choice(word, option.choices, lang)
    if not word:
        raise InvalidOption(say(lang, "bad.empty"))
    if option.kind == "url" and not re.fullmatch(URL, word):
        raise InvalidOption(say(lang, "bad.url", word=word))
    return word


def from_table(option: Option, value: Any, lang: str) -> Any:
    """The value of an option from a configuration file; raises `InvalidOption` for a wrong type."""
    if option.kind == "flag" and isinstance(value, bool):
        return value
    if option.kind in ("list", "folders") and isinstance(value, list):
        if all(isinstance(part, str) and part for part in value):
            return _checked_list(option, tuple(value), lang)
    elif option.kind in _TABLES and isinstance(value, dict):
        return _TABLES[option.kind](option, value, lang)
    elif option.kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        return from_words(option, [str(value)], lang)
    elif option.kind in ("choice", "text", "url") and isinstance(value, str):
        return from_words(option, [value], lang)
    kind = {"choice": "text", "url": "text", "folders": "list", "levels": "map", "groups": "map"}.get(
        option.kind, option.kind
    )
    raise InvalidOption(_mistyped(kind, value, lang))


def _checked_list(option: Option, parts: tuple[str, ...], lang: str) -> tuple[str, ...]:
    if option.metavar == "PATTERNS":
        _refuse_costly(parts, lang)
    return parts


def _refuse_costly(patterns: Iterable[str], lang: str) -> None:
    """Raise `InvalidOption` for patterns that take too long to match."""
    wild = [part for part in patterns if "*" in part]
    if wild:
        from npulint.discover.ignore import is_costly

        refused = [say(lang, "bad.pattern", word=part) for part in wild if is_costly(part)]
        if refused:
            raise InvalidOption(*refused)


def choice(word: str, choices: Sequence[str], lang: str) -> str:
    """`word` if it is one of `choices`; raises `InvalidOption` with the closest match."""
    if word in choices:
        return word
    text = say(lang, "unknown.value", word=word, choices=say(lang, "list.and").join(choices))
    meant = closest_match(word, choices)
    raise InvalidOption(text + did_you_mean(meant, lang))


def _pair(option: Option, word: str, lang: str) -> tuple[str, str]:
    key, sign, value = word.partition("=")
    if not sign or not key.strip() or not value.strip():
        raise InvalidOption(say(lang, "bad.pair", word=word, form=option.metavar))
    return key.strip(), value.strip()


def _checked_pair(option: Option, key: str, value: str, lang: str) -> tuple[str, str]:
    return choice(key, option.choices, lang), value


def _checked_map(option: Option, table: dict[str, Any], lang: str) -> dict[str, Any]:
    if option.name == "budget":
        return {choice(key, option.choices, lang): number(value, lang) for key, value in table.items()}
    texts: list[str] = []
    for key, value in table.items():
        try:
            choice(key, option.choices, lang)
            _version(key, value, lang)
        except InvalidOption as refused:
            texts += refused.texts
    if texts:
        raise InvalidOption(*texts)
    return {key: soc_family(value) if key == "soc" else value for key, value in table.items()}


def _levels(option: Option, table: dict[str, Any], lang: str) -> dict[str, str]:
    """A table of choices by check; raises `InvalidOption`."""
    for value in table.values():
        if not isinstance(value, str):
            raise InvalidOption(_mistyped("text", value, lang))
        choice(value, option.choices, lang)
    return table


def _groups(option: Option, table: dict[str, Any], lang: str) -> dict[str, tuple[str, ...]]:
    """A table of lists of checks by pattern; raises `InvalidOption`."""
    groups = {}
    for pattern, words in table.items():
        if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
            raise InvalidOption(_mistyped("list", words, lang))
        groups[pattern] = tuple(word.strip() for word in words)
    _refuse_costly(groups, lang)
    return groups


def _collected(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs, with the values of equal keys joined."""
    found: dict[str, str] = {}
    for key, value in pairs:
        found[key] = f"{found[key]},{value}" if key in found else value
    return list(found.items())


def _mistyped(kind: str, value: Any, lang: str) -> str:
    return say(lang, "bad.type", wanted=say(lang, f"type.{kind}"), given=f"`{value!r:.60}`")


_TABLES: dict[str, Callable[[Option, dict[str, Any], str], dict[str, Any]]] = {
    "map": _checked_map,
    "levels": _levels,
    "groups": _groups,
}


def number(word: Any, lang: str) -> int:
    """A whole number from 0; raises `InvalidOption`."""
    if isinstance(word, bool) or not re.fullmatch(r"[0-9]{1,6}", str(word)):
        raise InvalidOption(say(lang, "bad.number", word=word))
    return int(word)


def soc_family(soc: str) -> str:
    """The SoC family that checks use: ``910B`` for ``Ascend910B1``."""
    name = re.sub(r"^ASCEND[-_]?", "", soc.upper())
    return re.sub(r"(?<=[0-9][A-Z])[0-9]+$", "", name)


def _version(key: str, value: Any, lang: str) -> None:
    if not isinstance(value, str):  # TOML reads 2.10 as 2.1
        raise InvalidOption(say(lang, "bad.quoted", key=key, value=value))
    if key == "framework":
        choice(value, FRAMEWORKS, lang)
    elif key == "soc":
        from npulint.data.chips import is_soc, soc_names  # only where a chip is specified

        if not is_soc(value):
            raise InvalidOption(say(lang, "bad.soc", word=value, list=say(lang, "list.and").join(soc_names())))
    elif not _VERSION.fullmatch(value):
        raise InvalidOption(say(lang, "bad.version", word=value))
