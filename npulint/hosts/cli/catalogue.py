"""Shared by the commands about checks: loading the catalogue for the options, looking up checks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from npulint.commands.settings.options import OPTIONS
from npulint.core.errors import ConfigError
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import count, say
from npulint.judge.catalogue.check import Catalogue, Check
from npulint.judge.postprocess.engine import ENGINE_RULES, EngineRule
from npulint.judge.postprocess.select import specificity
from npulint.judge.settings import Settings

_NAMED = 8  # names of checks that contain a word


def load_all(settings: Settings) -> Catalogue:
    """The built-in checks and those of the settings; raises `CatalogueError`."""
    from npulint.judge.catalogue.load import load_catalogue

    return load_catalogue(settings.checks)


def built_in(settings: Settings) -> Settings:
    """The settings without checks of the project, whose texts are not npulint's own."""
    return msgspec.structs.replace(settings, checks=())


def known_options(options: dict[str, list[str] | bool]) -> dict[str, list[str] | bool]:
    """The options that ``check`` also has, without `format`: list formats are not report formats."""
    names = {option.name for option in OPTIONS}
    return {name: value for name, value in options.items() if name in names and name != "format"}


def look_up(word: str, catalogue: Catalogue, lang: str) -> Check | EngineRule:
    """The check with this code or name; raises `ConfigError` with the names that contain the word, or the closest
    match."""
    rules: Sequence[Check | EngineRule] = (*catalogue.checks, *ENGINE_RULES)
    for rule in rules:
        if word.casefold() in (rule.code.casefold(), rule.name):
            return rule
    meant = closest_match(word, [name for rule in rules for name in (rule.code, rule.name)])
    several = sum(1 for rule in rules if specificity(word, rule))
    named = _containing(word, rules, lang)
    if several:
        hint = count(lang, "invalid.several", several, name=word)
    elif len(named) > 1:
        listed = say(lang, "list.and").join(f"`{name}`" for name in named[:_NAMED])
        hint = say(lang, "invalid.containing", list=listed)
        hint += count(lang, "invalid.containing.more", len(named) - _NAMED) if len(named) > _NAMED else ""
    else:
        hint = did_you_mean(named[0] if named else meant, lang)
    raise ConfigError([say(lang, "invalid.unknown", name=word) + hint])


def _containing(word: str, rules: Sequence[Check | EngineRule], lang: str) -> list[str]:
    """The names of checks that contain the words of a text, those that begin with it first; then those of checks whose
    topic or title contains them. A word of the text may be the beginning of a word there; a title without blanks
    contains it anywhere."""
    asked = [part for part in re.split(r"[\W_]+", word.casefold()) if part]
    if not asked:
        return []
    own = [rule.name for rule in rules if all(_begins(part, rule.name) for part in asked)]
    also = [rule.name for rule in rules if all(_is_in(part, rule, lang) for part in asked)]
    by_name = sorted(own, key=lambda name: (not name.startswith(asked[0]), len(name), name))
    return list(dict.fromkeys([*by_name, *sorted(also, key=lambda name: (len(name), name))]))


def _is_in(part: str, rule: Check | EngineRule, lang: str) -> bool:
    """Whether a word is in the name, the topic or the title of a check."""
    texts = [rule.name, rule.topic]
    if isinstance(rule, Check):
        texts += [text.title for key, text in rule.text.items() if key in (lang, "en")]
    return any(_begins(part, text) or (not part.isascii() and part in text.casefold()) for text in texts)


def _begins(part: str, text: str) -> bool:
    return any(word.startswith(part) for word in re.split(r"[\W_]+", text.casefold()))
