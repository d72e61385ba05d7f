"""Shared by the commands about checks: loading the catalogue for the options, looking up checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from npulint.catalogue.check import Catalogue, Check
from npulint.errors import ConfigError
from npulint.options import OPTIONS
from npulint.postprocess.engine import ENGINE_RULES, EngineRule
from npulint.postprocess.select import specificity
from npulint.report.view import RulePage
from npulint.settings import Settings
from npulint.suggest import closest_match, did_you_mean
from npulint.texts import count, say


def load_all(settings: Settings) -> Catalogue:
    """The built-in checks and those of the settings; raises `CatalogueError`."""
    from npulint.catalogue.load import load_catalogue

    return load_catalogue(settings.checks)


def pages_of(settings: Settings) -> Callable[[str], RulePage | None]:
    """A function from check code or name to the documentation page, None if unknown; it loads the full catalogue on
    first use."""
    lang = settings.language()
    rules: dict[str, Check | EngineRule] = {}

    def page(code: str) -> RulePage | None:
        if not rules:
            listed: Sequence[Check | EngineRule] = (*load_all(settings).checks, *ENGINE_RULES)
            rules.update((word, rule) for rule in listed for word in (rule.name, rule.code))
        rule = rules.get(code)
        return None if rule is None else _rule_page(rule, lang)

    return page


def built_in(settings: Settings) -> Settings:
    """The settings without checks of the project, whose texts are not npulint's own."""
    return msgspec.structs.replace(settings, checks=())


def _rule_page(rule: Check | EngineRule, lang: str) -> RulePage:
    markdown = page_of(rule, lang)
    if isinstance(rule, Check):
        from npulint.catalogue.page import general

        text = rule.text[lang]
        return RulePage(text.title, general(text.why), general(text.fix), markdown)
    return RulePage(say(lang, f"title.{rule.name}"), say(lang, f"about.{rule.name}"), "", markdown)


def page_of(rule: Check | EngineRule, lang: str) -> str:
    """The documentation page of a check as Markdown."""
    if isinstance(rule, Check):
        from npulint.catalogue.page import render_page
        from npulint.data.precision import precision

        return render_page(rule, lang, precision(rule.code).judged).rstrip("\n") + "\n"
    facts = say(lang, "list.and").join(
        [say(lang, f"severity.{rule.severity}"), say(lang, f"category.{rule.category}"), rule.topic]
    )
    parts = [f"# {rule.code} {rule.name}", say(lang, f"title.{rule.name}"), facts, say(lang, f"about.{rule.name}")]
    return "\n\n".join(parts) + "\n"


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
