"""``npulint explain``: prints the documentation page of checks."""

from __future__ import annotations

from npulint.commands.settings.config import load
from npulint.hosts.cli.catalogue import known_options, load_all, look_up
from npulint.hosts.cli.host import Host
from npulint.report.rule_pages import page_of


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the pages; an unknown name raises `ConfigError` with the closest match."""
    settings = load([], known_options(options), host.environ)
    catalogue = load_all(settings)
    rules = [look_up(word, catalogue, settings.language()) for word in words]
    host.write("\n".join(page_of(rule, settings.language()) for rule in rules))
    return 0
