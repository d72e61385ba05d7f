"""Check selection from select, extend-select and ignore."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from npulint.core.errors import ConfigError
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import say
from npulint.judge.settings import Settings

if TYPE_CHECKING:
    from npulint.judge.catalogue.check import Check

_ALL = "all"


class Identity(Protocol):
    """What identifies a check: the attributes that checks, engine rules and findings share."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def category(self) -> str: ...


def specificity(selector: str, rule: Identity) -> int:
    """How specifically `selector` names the check, 0 if not at all: code or name, then a code prefix of family and
    category, then a topic, then a category, a family prefix, ``NPU`` and ``all``."""
    word = selector.casefold()
    code = rule.code.casefold()
    if word in (code, rule.name.casefold()):
        return 100
    if word.startswith("npu") and code.startswith(word):
        return {3: 10, 4: 20}.get(len(word), 40 + len(word))
    if _snake(word) == _snake(rule.topic):
        return 35
    if word == rule.category.casefold():
        return 30
    return 1 if word == _ALL else 0


def selected(rule: Identity, select: Sequence[str], extend_select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether the check is selected. Without `select` all are; the more specific of selecting and ignoring words
    decides, `ignore` if equal."""
    chosen = max((specificity(word, rule) for word in (*select, *extend_select)), default=0)
    if not chosen and select:
        return False
    dropped = max((specificity(word, rule) for word in ignore), default=0)
    return not dropped or chosen > dropped


def hidden_checks(checks: Iterable[Check], settings: Settings) -> set[str]:
    """The codes of the checks that are not to run: opt-in checks that the settings do not select by topic, code or
    name, and, if previews are switched off, preview checks that they do not select by code or name."""
    named = {word.casefold() for word in (*settings.select, *settings.extend_select)}
    topics = {_snake(word) for word in named}

    def is_hidden(check: Check) -> bool:
        if named & {check.code.casefold(), check.name}:
            return False
        return (check.opt_in and check.topic not in topics) or (check.status == "preview" and not settings.preview)

    return {check.code for check in checks if is_hidden(check)}


class Selection:
    """The checks that the settings select, decided once per code; codes in `excluded` never are."""

    def __init__(self, settings: Settings, excluded: Iterable[str] = ()) -> None:
        self._words = settings.select, settings.extend_select, settings.ignore
        self._known = dict.fromkeys(excluded, False)

    def includes(self, rule: Identity) -> bool:
        """Whether the check (or the check of a finding) is selected."""
        answer = self._known.get(rule.code)
        if answer is None:
            answer = self._known[rule.code] = selected(rule, *self._words)
        return answer


def unknown_words(settings: Settings, rules: Sequence[Identity]) -> list[str]:
    """Notices for ignored words that name no check, so that a shared configuration works with versions that lack the
    check. Raises `ConfigError` when a selected word names none."""
    lang = settings.language()
    problems = not_found("select", settings.select, rules, lang)
    problems += not_found("extend-select", settings.extend_select, rules, lang)
    if problems:
        raise ConfigError(problems)
    return [
        say(lang, "unknown.ignored", option=option, word=word) + did_you_mean(meant, lang)
        for option, words in _tolerated(settings)
        for word, meant in unknown(words, rules)
    ]


def _tolerated(settings: Settings) -> Iterable[tuple[str, Iterable[str]]]:
    """The options whose words need not name a check, with these words."""
    yield "ignore", settings.ignore
    yield "unfixable", settings.unfixable
    yield "severity", settings.severity
    yield "per-file-ignores", [word for words in settings.per_file_ignores.values() for word in words]


def not_found(option: str, words: Iterable[str], rules: Sequence[Identity], lang: str) -> list[str]:
    """A message for every word of an option that names no check."""
    return [
        f"{option}: {say(lang, 'unknown.check', word=word)}{did_you_mean(meant, lang)}"
        for word, meant in unknown(words, rules)
    ]


def unknown(selectors: Iterable[str], rules: Sequence[Identity]) -> list[tuple[str, str]]:
    """The words that name no check, each with the closest match (or empty)."""
    return [
        (word, closest_match(word, _words(rules)))
        for word in dict.fromkeys(selectors)
        if word.casefold() != _ALL and not any(specificity(word, rule) for rule in rules)
    ]


def _words(rules: Sequence[Identity]) -> set[str]:
    return {word for rule in rules for word in (rule.code, rule.name, rule.topic, rule.category)}


def _snake(word: str) -> str:
    return word.casefold().replace("-", "_")
