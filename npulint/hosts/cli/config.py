"""``npulint config``: prints the settings in force for a path, with their origins."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from npulint.commands.settings.config import LANGUAGE_VARIABLES, extended, load, places
from npulint.commands.settings.options import OPTIONS, Option
from npulint.core.texts import say
from npulint.discover.files import EXCLUDED
from npulint.hosts.cli.host import Host
from npulint.judge.settings import Settings
from npulint.report.terminal import escape_control_chars

_WIDTH = 40  # column at which origins are aligned


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the settings as valid TOML, unset ones as comments, or the JSON schema of the configuration. Raises
    `ConfigError` as ``check`` does."""
    if options.pop("schema", False):
        from npulint.commands.settings.config_schema import schema

        host.write(msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n")
        return 0
    settings = load(words, options, host.environ)
    lang = settings.language()
    written = places(settings.config, lang) if settings.config else {}
    head = _head(settings)
    rows = [
        (_line(option.key, _value(option, settings)), _origin(option, options, written, settings, host))
        for option in OPTIONS
        if option.config
    ]
    width = min(max(len(text) for text, _ in rows), _WIDTH)
    host.write("".join([f"# {head}\n", *(f"{text:<{width}}  # {origin}\n" for text, origin in rows)]))
    return 0


def _head(settings: Settings) -> str:
    """The configuration file and what it extends."""
    lang = settings.language()
    if not settings.config:
        return say(lang, "settings.none")
    head = say(lang, "settings.file", path=escape_control_chars(settings.config))
    bases = map(escape_control_chars, extended(settings.config, lang))
    return "".join([head, *(say(lang, "settings.extends", path=path) for path in bases)])


def _value(option: Option, settings: Settings) -> Any:
    """The effective value of an option."""
    if option.name == "min_severity":
        return settings.shown_from(settings.format)
    value = msgspec.structs.asdict(settings)[option.name]
    return EXCLUDED if option.name == "exclude" and value is None else value


def _origin(
    option: Option, options: Collection[str], written: Mapping[str, str], settings: Settings, host: Host
) -> str:
    lang = settings.language()
    if option.name in options:
        return say(lang, "settings.command-line")
    if option.key in written:
        return escape_control_chars(written[option.key])
    if option.name == "lang" and any(host.environ.get(name) for name in LANGUAGE_VARIABLES):
        return say(lang, "settings.environment")
    return say(lang, "settings.found" if option.name == "baseline" and settings.baseline else "settings.default")


def _line(key: str, value: Any) -> str:
    return f"{key} = {_toml(value)}" if value != "" else f'# {key} = ""'


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return msgspec.json.encode(escape_control_chars(value)).decode()
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_toml(inner)}" for key, inner in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return str(value) if isinstance(value, int) else f"[{', '.join(_toml(inner) for inner in value)}]"


def _key(name: str) -> str:
    """A key of TOML, in quotes where it needs them."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml(name)
