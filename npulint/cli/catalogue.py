"""What the commands about checks share: the catalogue by the options given, and looking checks up."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.catalogue.check import Catalogue, Check
from npulint.errors import ConfigError
from npulint.nearby import nearest
from npulint.options import OPTIONS
from npulint.settings import Settings
from npulint.settle.engine import ENGINE_RULES, EngineRule
from npulint.texts import say


def load_all(settings: Settings) -> Catalogue:
    """The built-in checks and those of the settings; raises `CatalogueError`."""
    from npulint.catalogue.load import load_catalogue

    return load_catalogue(settings.checks)


def known_options(options: dict[str, list[str] | bool]) -> dict[str, list[str] | bool]:
    """The options that a run also has; the format of a list is not the format of a report."""
    names = {option.name for option in OPTIONS}
    return {name: value for name, value in options.items() if name in names and name != "format"}


def look_up(word: str, catalogue: Catalogue, lang: str) -> Check | EngineRule:
    """The check with this code or name; raises `ConfigError` with the nearest one."""
    rules: Sequence[Check | EngineRule] = (*catalogue.checks, *ENGINE_RULES)
    for rule in rules:
        if word.casefold() in (rule.code.casefold(), rule.name):
            return rule
    meant = nearest(word, [name for rule in rules for name in (rule.code, rule.name)])
    hint = say(lang, "meant", word=meant) if meant else ""
    raise ConfigError([say(lang, "invalid.unknown", name=word) + hint])
