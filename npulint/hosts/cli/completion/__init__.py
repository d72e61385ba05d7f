"""``npulint completion``: prints a shell completion script. It is static text made from the tables of commands, options
and checks, so that pressing Tab starts no program."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from npulint.commands.settings.options import InvalidOption, choice
from npulint.core.errors import ConfigError
from npulint.hosts.cli.completion.model import SHELLS, CommandSpec, check_words, verbs
from npulint.hosts.cli.host import Host


class _Shell(Protocol):
    def script(self, verbs: tuple[CommandSpec, ...], checks: tuple[str, ...]) -> str: ...


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the script for one shell; raises `ConfigError` for an unknown shell."""
    try:
        name = choice(words[0], SHELLS, lang)
    except InvalidOption as refused:
        raise ConfigError(refused.texts) from refused
    shell = cast(_Shell, import_module(f"npulint.hosts.cli.completion.{name}"))
    host.write(shell.script(verbs(lang), check_words()))
    return 0
