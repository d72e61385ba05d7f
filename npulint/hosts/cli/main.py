"""The main function: finds the command, runs it, and turns errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from npulint import __version__
from npulint.commands.settings.config import language
from npulint.core.errors import CatalogueError, ConfigError, NpulintError
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import say
from npulint.hosts.cli import foreign
from npulint.hosts.cli.commands import COMMANDS
from npulint.hosts.cli.host import Host, OutputError, system

CANNOT = 2  # usage, configuration, catalogue or internal error
INTERRUPTED = 130


class _Module(Protocol):
    def run(self, words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int: ...


def main(argv: Sequence[str] | None = None, host: Host | None = None) -> int:
    """Run one command and return its exit code: 0 no findings, 1 findings, 2 error, 130 interrupted."""
    words = _command_first(list(sys.argv[1:] if argv is None else argv))
    host = host or system()
    lang = language(host.environ, _asked_language(words))
    try:
        return _dispatch(words, host, lang)
    except (NpulintError, CatalogueError) as error:
        host.warn("\n".join(say(lang, "error", text=line) for line in str(error).split("\n")))
        return CANNOT
    except OutputError as error:
        text = say(lang, "output.failed", path="<stdout>", detail=error.strerror or str(error))
        host.warn(say(lang, "error", text=text))
        return CANNOT
    except KeyboardInterrupt:
        host.warn(say(lang, "interrupted"))
        return INTERRUPTED
    except Exception:  # a bug must not look like findings
        import traceback

        host.warn(traceback.format_exc().rstrip())
        host.warn(say(lang, "internal"))
        return CANNOT


def _dispatch(words: list[str], host: Host, lang: str) -> int:
    first = words[0] if words else "--help"
    if first in ("-V", "--version") or words == ["version"]:
        host.write(f"npulint {__version__}\n")
        return 0
    from npulint.hosts.cli.parse import Helped, overview, parse  # ``--version`` does not need argparse

    if first in ("-h", "--help", "help"):
        host.write(overview(lang))
        return 0
    name = foreign.COMMANDS.get(first, first)
    command = next((command for command in COMMANDS if command.name == name), None)
    if command is None:
        raise ConfigError([_unknown_command(first, lang)])
    try:
        plain, options = parse(command, words[1:], lang)
    except Helped as helped:
        host.write(str(helped))
        return 0
    module = cast(_Module, import_module(f"npulint.hosts.cli.{command.module}"))
    return module.run(plain, options, host, lang)


def _unknown_command(word: str, lang: str) -> str:
    if os.path.lexists(word):
        return say(lang, "unknown.command", word=word) + say(lang, "command.path", path=word)
    close = closest_match(word, [command.name for command in COMMANDS])
    return say(lang, "unknown.command", word=word) + (foreign.meant(word, lang) or did_you_mean(close, lang))


def _command_first(words: list[str]) -> list[str]:
    """The arguments with a leading ``--lang`` moved behind the command, where all other options are."""
    if not words or words[0].partition("=")[0] != "--lang":
        return words
    count = 1 if "=" in words[0] else 2
    return [*words[count : count + 1], *words[:count], *words[count + 1 :]]


def _asked_language(words: Sequence[str]) -> str:
    """The value of ``--lang``, needed before the arguments are parsed."""
    for index, word in enumerate(words):
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
        if word == "--lang" and index + 1 < len(words):
            return words[index + 1]
    return "auto"
