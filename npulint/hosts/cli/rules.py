"""``npulint rules``: lists all checks."""

from __future__ import annotations

import msgspec

from npulint.commands.settings.config import load
from npulint.commands.settings.options import LIST_FORMAT, InvalidOption, choice
from npulint.core.errors import ConfigError
from npulint.core.texts import say
from npulint.hosts.cli.catalogue import known_options, load_all
from npulint.hosts.cli.host import Host
from npulint.judge.catalogue.check import Check
from npulint.judge.postprocess.engine import ENGINE_RULES, EngineRule
from npulint.judge.postprocess.select import Selection, hidden_checks, not_found


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """List the checks that the settings select, ordered by code."""
    shape = list_format(options, lang)
    settings = load([], known_options(options), host.environ)
    lang = settings.language()
    rules: list[Check | EngineRule] = sorted((*load_all(settings).checks, *ENGINE_RULES), key=lambda rule: rule.code)
    problems = not_found("--select", settings.select, rules, lang)
    if problems:
        raise ConfigError(problems)
    hidden = hidden_checks((rule for rule in rules if isinstance(rule, Check)), settings)
    selection = Selection(settings, hidden)
    chosen = [rule for rule in rules if selection.includes(rule)]
    host.write(_json(chosen, lang) if shape == "json" else _table(chosen, lang))
    return 0


def list_format(options: dict[str, list[str] | bool], lang: str) -> str:
    """``text`` or ``json`` from the option; raises `ConfigError` for another value."""
    values = options.get("format")
    try:
        return choice(values[-1], LIST_FORMAT.choices, lang) if isinstance(values, list) else "text"
    except InvalidOption as refused:
        raise ConfigError([f"--format: {text}" for text in refused.texts]) from refused


def _title(rule: Check | EngineRule, lang: str) -> str:
    return rule.text[lang].title if isinstance(rule, Check) else say(lang, f"title.{rule.name}")


def _status(rule: Check | EngineRule) -> str:
    return rule.status if isinstance(rule, Check) else "stable"


def _table(rules: list[Check | EngineRule], lang: str) -> str:
    width = max((len(rule.name) for rule in rules), default=0)
    return "".join(
        f"{r.code}  {r.severity:<7}  {r.category:<11}  {_status(r):<7}  {r.name:<{width}}  {_title(r, lang)}\n"
        for r in rules
    )


def _json(rules: list[Check | EngineRule], lang: str) -> str:
    rows = [
        {
            "code": rule.code,
            "name": rule.name,
            "family": getattr(rule, "family", "engine"),
            "topic": rule.topic,
            "category": rule.category,
            "severity": rule.severity,
            "confidence": rule.confidence,
            "status": _status(rule),
            "title": _title(rule, lang),
        }
        for rule in rules
    ]
    return msgspec.json.format(msgspec.json.encode(rows), indent=2).decode() + "\n"
