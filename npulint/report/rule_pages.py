"""The documentation of checks for reports: by code or name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npulint.core.texts import say
from npulint.judge.catalogue.check import Check
from npulint.judge.postprocess.engine import ENGINE_RULES, EngineRule
from npulint.judge.settings import Settings
from npulint.report.view import RulePage


def pages_of(settings: Settings) -> Callable[[str], RulePage | None]:
    """A function from check code or name to the documentation page, None if unknown; it loads the full catalogue on
    first use."""
    lang = settings.language()
    rules: dict[str, Check | EngineRule] = {}

    def page(code: str) -> RulePage | None:
        if not rules:
            from npulint.judge.catalogue.load import load_catalogue

            listed: Sequence[Check | EngineRule] = (*load_catalogue(settings.checks).checks, *ENGINE_RULES)
            rules.update((word, rule) for rule in listed for word in (rule.name, rule.code))
        rule = rules.get(code)
        return None if rule is None else _rule_page(rule, lang)

    return page


def _rule_page(rule: Check | EngineRule, lang: str) -> RulePage:
    markdown = page_of(rule, lang)
    if isinstance(rule, Check):
        from npulint.judge.catalogue.page import general

        text = rule.text[lang]
        return RulePage(text.title, general(text.why), general(text.fix), markdown)
    return RulePage(say(lang, f"title.{rule.name}"), say(lang, f"about.{rule.name}"), "", markdown)


def page_of(rule: Check | EngineRule, lang: str) -> str:
    """The documentation page of a check as Markdown."""
    if isinstance(rule, Check):
        from npulint.data.precision import precision
        from npulint.judge.catalogue.page import render_page

        return render_page(rule, lang, precision(rule.code).judged).rstrip("\n") + "\n"
    facts = say(lang, "list.and").join(
        [say(lang, f"severity.{rule.severity}"), say(lang, f"category.{rule.category}"), rule.topic]
    )
    parts = [f"# {rule.code} {rule.name}", say(lang, f"title.{rule.name}"), facts, say(lang, f"about.{rule.name}")]
    return "\n\n".join(parts) + "\n"
