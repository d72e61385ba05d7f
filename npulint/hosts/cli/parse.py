"""Parses command line arguments according to the table of options. argparse formats the help; `npulint.config`
validates the values, so that command line and configuration files give the same messages."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from npulint.commands.settings.options import GROUPS, Option
from npulint.core.errors import ConfigError
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import say
from npulint.hosts.cli import foreign
from npulint.hosts.cli.commands import COMMANDS, Command
from npulint.report.terminal import wrap

ParsedOptions = dict[str, list[str] | bool]


class Helped(Exception):
    """Raised for ``--help``; carries the help text."""


class _Formatter(argparse.HelpFormatter):
    """Wraps Chinese text, which has no spaces and whose characters take two columns."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width - len(indent)))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError([message])


def parse(command: Command, words: Sequence[str], lang: str) -> tuple[list[str], ParsedOptions]:
    """The positional arguments and the options passed; raises `ConfigError`, or `Helped` with the help."""
    parser = _parser(command, lang)
    end = words.index("--") if "--" in words else len(words)
    namespace, rest = parser.parse_known_intermixed_args(list(words[:end]))
    values: dict[str, Any] = vars(namespace)
    if values.pop("help"):
        raise Helped(_help(parser, command, lang))
    plain: list[str] = values.pop("words", None) or []
    unknown = [word for word in rest if word.startswith("-") and word != "-"]
    if unknown:
        raise ConfigError([_unknown_option(word, command, lang) for word in unknown])
    plain += [*rest, *words[end + 1 :]]
    if len(plain) < command.least:
        missing = say(lang, "missing.argument", word=" ".join(command.words.split()[len(plain) :]))
        usage = say(lang, "missing.usage", usage=f"npulint {command.name} {command.words}") if command.least > 1 else ""
        raise ConfigError([missing + usage])
    if len(plain) > command.most > 0 or (plain and not command.words):
        raise ConfigError([say(lang, "unexpected.argument", word=plain[command.most])])
    return plain, {name: value for name, value in values.items() if value is not None}


def overview(lang: str) -> str:
    """The help of ``npulint`` alone."""
    width = max(len(command.name) for command in COMMANDS)
    rows = [f"  {command.name:<{width}}  {command.help(lang)}" for command in COMMANDS]
    usage = say(lang, "usage") + say(lang, "usage.commands")
    head = [usage, "", say(lang, "about"), "", say(lang, "heading", text=say(lang, "commands"))]
    return "\n".join([*head, *rows, "", say(lang, "command.help"), say(lang, "version.help"), ""])


def _parser(command: Command, lang: str) -> _Parser:
    parser = _Parser(
        prog=f"npulint {command.name}",
        usage=argparse.SUPPRESS,
        formatter_class=_Formatter,
        description=command.help(lang),
        epilog=say(lang, "exit.codes") if command.name in ("check", "compare", "try") else None,
        add_help=False,
        allow_abbrev=False,
    )
    if command.words:
        arguments = parser.add_argument_group(say(lang, "group.arguments"))
        arguments.add_argument("words", nargs="*", metavar=command.words, help=command.words_help(lang))
    for name in GROUPS:
        options = [option for option in command.options if option.group == name]
        if options:
            group = parser.add_argument_group(say(lang, f"group.{name}"))
            for option in options:
                _add(group, option, lang)
    last = parser.add_argument_group(say(lang, "group.help"))
    last.add_argument("-h", "--help", action="store_true", help=say(lang, "help.help"))
    return parser


def _help(parser: _Parser, command: Command, lang: str) -> str:
    """The help of a command with headings and colons of its language, which argparse does not support."""
    words = f"[{command.words}]" if command.words and not command.least else command.words
    words = f"{words} ..." if words and not command.most else words
    usage = " ".join(filter(None, ["npulint", command.name, say(lang, "usage.options"), words]))
    return f"{say(lang, 'usage')}{usage}\n\n" + "".join(_headings(parser.format_help().splitlines(), lang))


def _headings(lines: Iterable[str], lang: str) -> Iterable[str]:
    for line in lines:
        heading = line.endswith(":") and not line[0].isspace()
        yield (say(lang, "heading", text=line[:-1]) if heading else line) + "\n"


def _add(group: Any, option: Option, lang: str) -> None:
    text = option.help(lang).replace("%", "%%")
    if option.kind != "flag":
        metavar = option.metavar or f"{{{','.join(option.choices)}}}"
        group.add_argument(f"--{option.key}", dest=option.name, action="append", metavar=metavar, help=text)
        if option.alias:
            group.add_argument(f"--{option.alias}", dest=option.name, action="append", help=argparse.SUPPRESS)
        return
    for flag, value in ((f"--{option.key}", True), (f"--no-{option.key}", False)):
        shown = text if flag == option.flag else argparse.SUPPRESS
        flags = [f"-{option.short}", flag] if option.short and value else [flag]
        group.add_argument(*flags, dest=option.name, action="store_const", const=value, help=shown)


def _unknown_option(word: str, command: Command, lang: str) -> str:
    flags = [option.flag for option in command.options] + ["--help"]
    close = closest_match(word.partition("=")[0], flags)
    return say(lang, "unknown.option", word=word) + (foreign.meant(word, lang) or did_you_mean(close, lang))
