"""``npulint explain``: the page of a check."""

from __future__ import annotations

from npulint.catalogue.check import Check
from npulint.cli.catalogue import known_options, load_all, look_up
from npulint.cli.host import Host
from npulint.config import load
from npulint.settle.engine import EngineRule
from npulint.texts import say


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the pages; an unknown name raises `ConfigError` with the nearest one."""
    settings = load([], known_options(options), host.environ)
    catalogue = load_all(settings)
    rules = [look_up(word, catalogue, settings.language()) for word in words]
    host.write("\n".join(_page(rule, settings.language()) for rule in rules))
    return 0


def _page(rule: Check | EngineRule, lang: str) -> str:
    if isinstance(rule, Check):
        from npulint.catalogue.page import render_page

        return render_page(rule, lang).rstrip("\n") + "\n"
    facts = say(lang, "list.and").join(
        [say(lang, f"severity.{rule.severity}"), say(lang, f"category.{rule.category}"), rule.topic]
    )
    parts = [f"# {rule.code} {rule.name}", say(lang, f"title.{rule.name}"), facts, say(lang, f"about.{rule.name}")]
    return "\n\n".join(parts) + "\n"
