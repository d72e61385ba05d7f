"""What can be completed, independent of the shell."""

from __future__ import annotations

import msgspec

from npulint.commands.settings.options import Option
from npulint.core.texts import say
from npulint.hosts.cli.commands import COMMANDS, SHELLS, Command

__all__ = ["SHELLS", "CommandSpec", "Flag", "ValueHint", "check_words", "verbs"]


class ValueHint(msgspec.Struct, frozen=True):
    """What follows a flag or command. Kinds: ``none`` (nothing), ``any`` (free text), ``words`` (one of them), ``list``
    (several of them, comma-separated), ``keys`` (one, then ``=`` and a text), ``reports`` (one, then ``=`` and a file),
    ``checks`` (check names, comma-separated), ``check`` (one), ``file`` and ``folder``."""

    kind: str = "none"
    words: tuple[str, ...] = ()


class Flag(msgspec.Struct, frozen=True):
    """An option with its dashes, the value that follows, and its help."""

    name: str
    value: ValueHint
    help: str


class CommandSpec(msgspec.Struct, frozen=True):
    """A command, its flags, and the kind of its positional arguments."""

    name: str
    help: str
    flags: tuple[Flag, ...]
    words: ValueHint


def verbs(lang: str) -> tuple[CommandSpec, ...]:
    """All commands, described in ``en`` or ``zh``."""
    return tuple(_verb(command, lang) for command in COMMANDS)


def check_words() -> tuple[str, ...]:
    """Everything that `--select` takes: names and codes of the built-in checks, topics and categories."""
    from npulint.judge.catalogue.load import load_catalogue
    from npulint.judge.postprocess.engine import ENGINE_RULES
    from npulint.judge.postprocess.select import Identity

    rules: list[Identity] = [*load_catalogue(whole=False).checks, *ENGINE_RULES]
    return tuple(sorted({word for rule in rules for word in (rule.name, rule.code, rule.topic, rule.category)}))


def _verb(command: Command, lang: str) -> CommandSpec:
    flags = [Flag(option.flag, _of_option(option), option.help(lang)) for option in command.options]
    flags.append(Flag("--help", ValueHint(), say(lang, "help.help")))
    return CommandSpec(command.name, command.help(lang), tuple(flags), _of_words(command.words))


def _of_option(option: Option) -> ValueHint:
    if option.kind == "flag":
        return ValueHint()
    if option.kind == "choice":
        return ValueHint("words", option.choices)
    if option.kind == "map":
        return ValueHint("keys", option.choices)
    if option.kind == "pairs":
        return ValueHint("reports", option.choices)
    if option.kind == "list" and option.choices:
        return ValueHint("list", option.choices)
    return _of_words(option.metavar) if option.metavar else ValueHint("any")


def _of_words(metavar: str) -> ValueHint:
    if not metavar:
        return ValueHint()
    kinds = {
        "CHECKS": "checks",
        "CODE|NAME": "check",
        "DIR": "folder",
        "PATTERNS": "file",
        "REFERENCE MIGRATED": "file",
    }
    if metavar == "SHELL":
        return ValueHint("words", SHELLS)
    return ValueHint(kinds.get(metavar) or ("file" if metavar.rstrip("S") in ("FILE", "PATH") else "any"))
