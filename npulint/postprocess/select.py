"""Which checks speak: the pure decision between select, extend-select and ignore."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from npulint.suggest import closest_match

_ALL = "all"


class Identity(Protocol):
    """What names a check: the attributes that checks, engine rules and findings share."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def category(self) -> str: ...


def specificity(selector: str, rule: Identity) -> int:
    """How exactly `selector` names the check; 0 when it does not. A code or name beats a code prefix of
    family and category, that beats a topic, then a category, a prefix of the family, ``NPU`` and ``all``."""
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


def wanted(rule: Identity, select: Sequence[str], extend_select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether the check speaks. Without `select` every check is selected; the more specific of the
    selecting and the ignoring words decides, and `ignore` where they are equally specific."""
    chosen = max((specificity(word, rule) for word in (*select, *extend_select)), default=0)
    if not chosen and select:
        return False
    dropped = max((specificity(word, rule) for word in ignore), default=0)
    return not dropped or chosen > dropped


def unknown(selectors: Iterable[str], rules: Sequence[Identity]) -> list[tuple[str, str]]:
    """The words that name no check, each with the nearest word that does (or nothing)."""
    return [
        (word, closest_match(word, _words(rules)))
        for word in dict.fromkeys(selectors)
        if word.casefold() != _ALL and not any(specificity(word, rule) for rule in rules)
    ]


def _words(rules: Sequence[Identity]) -> set[str]:
    return {word for rule in rules for word in (rule.code, rule.name, rule.topic, rule.category)}


def _snake(word: str) -> str:
    return word.casefold().replace("-", "_")
