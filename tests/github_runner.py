"""What the runner of GitHub makes of a log: the commands it obeys, unescaped, and the lines that it only shows.

It knows two forms. ``::name key=value,…::data`` has to begin the line, blanks apart; ``##[name key=value;…]data`` may
stand anywhere in it. After ``stop-commands`` it executes nothing but the passed token.
"""

from __future__ import annotations

import re

import msgspec

NAMES = frozenset(
    "error warning notice debug group endgroup add-mask add-matcher remove-matcher add-path set-env set-output "
    "save-state echo stop-commands".split()
)
_V1, _V2 = {";": "%3B", "]": "%5D"}, {":": "%3A", ",": "%2C"}
# What comparing by culture passes over; the runner compares so.
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
                     "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8]")  # fmt: skip


class Command(msgspec.Struct, frozen=True):
    """A command that the runner obeyed."""

    name: str
    data: str
    properties: dict[str, str] = {}


def unescaped(text: str, others: dict[str, str]) -> str:
    """The runner's way: one replacement after the other, the percent sign last."""
    for char, escape in ({"\r": "%0D", "\n": "%0A"} | others | {"%": "%25"}).items():
        text = text.replace(escape, char)
    return text


def run(log: str) -> tuple[list[Command], list[str]]:
    """The commands of a log, and all other lines."""
    commands: list[Command] = []
    shown: list[str] = []
    stopped = ""
    for line in re.split("\r\n|\r|\n", log):
        command = _second(line, NAMES | {stopped}) or _first(line, NAMES | {stopped})
        if command is None or (stopped and command.name != stopped):
            shown.append(line)
            continue
        commands.append(command)
        if command.name == "stop-commands":
            stopped = command.data
        elif command.name == stopped:
            stopped = ""
    return commands, shown


def _second(line: str, names: frozenset[str]) -> Command | None:
    line = line.lstrip()
    if not _UNSEEN.sub("", line).startswith("::"):
        return None
    info, found, data = line[line.index(":", line.index(":") + 1) + 1 :].partition("::")
    name, _, words = info.partition(" ")
    if not found or name not in names or not name:
        return None
    return Command(name, unescaped(data, {}), _properties(words.strip(), ",", _V2))


def _first(line: str, names: frozenset[str]) -> Command | None:
    seen = _UNSEEN.sub("", line)
    _, found, rest = seen.partition("##[")
    info, closed, data = rest.partition("]")
    name, _, words = info.partition(" ")
    if not found or not closed or name not in names or not name:
        return None
    return Command(name, unescaped(data, _V1), _properties(words, ";", _V1))


def _properties(words: str, sign: str, others: dict[str, str]) -> dict[str, str]:
    pairs = (word.partition("=") for word in words.split(sign) if word)
    return {key: unescaped(value.lstrip("="), others) for key, _, value in pairs if key and value.lstrip("=")}
