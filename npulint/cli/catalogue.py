"""Shared by the commands about checks: loading the catalogue for the options, looking up checks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.catalogue.check import Catalogue, Check
from npulint.errors import ConfigError
from npulint.options import OPTIONS
from npulint.postprocess.engine import ENGINE_RULES, EngineRule
from npulint.postprocess.select import specificity
from npulint.settings import Settings
from npulint.suggest import closest_match, did_you_mean
from npulint.texts import count, say


def load_all(settings: Settings) -> Catalogue:
    """The built-in checks and those of the settings; raises `CatalogueError`."""
    from npulint.catalogue.load import load_catalogue

    return load_catalogue(settings.checks)


def built_in(settings: Settings) -> Settings:
    """The settings without checks of the project, whose texts are not npulint's own."""
    return msgspec.structs.replace(settings, checks=())


def known_options(options: dict[str, list[str] | bool]) -> dict[str, list[str] | bool]:
    """The options that ``check`` also has, without `format`: list formats are not report formats."""
    names = {option.name for option in OPTIONS}
    return {name: value for name, value in options.items() if name in names and name != "format"}


def look_up(word: str, catalogue: Catalogue, lang: str) -> Check | EngineRule:
    """The check with this code or name; raises `ConfigError` with the closest match."""
    rules: Sequence[Check | EngineRule] = (*catalogue.checks, *ENGINE_RULES)
    for rule in rules:
        if word.casefold() in (rule.code.casefold(), rule.name):
            return rule
    meant = closest_match(word, [name for rule in rules for name in (rule.code, rule.name)])
    several = sum(1 for rule in rules if specificity(word, rule))
    hint = count(lang, "invalid.several", several, name=word) if several else did_you_mean(meant, lang)
    raise ConfigError([say(lang, "invalid.unknown", name=word) + hint])
