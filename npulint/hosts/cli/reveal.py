"""``npulint reveal``: answers what the calls of ``reveal_value`` and ``reveal_runs`` in a project see."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from npulint.commands.settings.config import load
from npulint.core.errors import NpulintError
from npulint.core.texts import count, known, say
from npulint.discover.paths import shown
from npulint.facts.model import Problem
from npulint.hosts.cli.catalogue import known_options
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.rules import list_format
from npulint.report.summary import reason
from npulint.report.terminal import escape_control_chars

if TYPE_CHECKING:
    from npulint.model.execution.answers import Answer
    from npulint.model.execution.reveal import Revealed, Unfollowed

_MOST_STARTS: Final = 10  # starts that are not followed, of which each is named
_LONGEST: Final = 2_000  # characters of a value in the text for people


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print an answer for each probe, ordered by place, and return 0. Raises `NpulintError` for what is no folder, and
    for a start that starts nothing of the project."""
    shape = list_format(options, lang)
    lang = load([], known_options(options), host.environ).language()
    root = words[0]
    if not os.path.isdir(root):
        text = say(lang, "short.missing") if not os.path.lexists(root) else ""
        raise NpulintError(f"{root}: {text}" if text else say(lang, "reveal.no-folder", path=root))
    given = options.get("start")
    start = given[-1] if isinstance(given, list) else None
    result = _revealed(root, start, lang)
    for problem in result.problems:
        host.warn(_problem(problem, lang))
    for line in _not_followed(result.unfollowed, lang):
        host.warn(line)
    if result.unfollowed and start is None:
        host.warn(say(lang, "reveal.unfollowed.name-one"))
    if not result.answers:
        text = say(lang, "reveal.none", path=escape_control_chars(root))
        host.warn(text) if shape == "json" else host.write(f"{text}\n")
    else:
        write = _json if shape == "json" else _text
        host.write("".join(write(answer, lang) for answer in result.answers))
    return 0


def _revealed(root: str, start: str | None, lang: str) -> Revealed:
    from npulint.model.execution.reveal import reveal
    from npulint.model.execution.starts import StartError

    try:
        return reveal(root, start)
    except StartError as error:
        text = say(lang, f"reveal.start.{error.reason}", word=escape_control_chars(error.word))
        raise NpulintError(say(lang, "reveal.start", text=text)) from error


def _json(answer: Answer, lang: str) -> str:
    record = answer.record()
    record["path"] = shown(answer.probe.path)
    return json.dumps(record) + "\n"


def _text(answer: Answer, lang: str) -> str:
    probe = answer.probe
    place = escape_control_chars(f"{shown(probe.path)}:{probe.line}")
    lines = [_runs(answer, place, lang) if probe.kind == "runs" else _value(answer, place, lang)]
    if answer.steps:
        places = [escape_control_chars(f"{shown(path)}:{line}") for path, line in answer.steps]
        lines.append(say(lang, "reveal.steps", places=say(lang, "list.and").join(places)))
    return "".join(f"{line}\n" for line in lines)


def _runs(answer: Answer, place: str, lang: str) -> str:
    from npulint.model.execution.answers import UNFOLLOWED

    command = answer.reason.removeprefix(f"{UNFOLLOWED}: ")
    if answer.runs == "maybe" and command != answer.reason:
        return say(lang, "reveal.runs.not-followed", place=place, command=escape_control_chars(command))
    return say(lang, f"reveal.runs.{answer.runs}", place=place)


def _value(answer: Answer, place: str, lang: str) -> str:
    from npulint.model.execution.answers import TOO_LARGE, UNFOLLOWED, UNREACHED

    if answer.is_certain:
        values = [escape_control_chars(_shortened(repr(value))) for value in answer.values]
        if len(values) == 1:
            return say(lang, "reveal.known", place=place, value=values[0])
        return say(lang, "reveal.several", place=place, values=say(lang, "list.and").join(values))
    if answer.reason in (UNREACHED, TOO_LARGE):
        return say(lang, f"reveal.{answer.reason}", place=place)
    command = answer.reason.removeprefix(f"{UNFOLLOWED}: ")
    if command != answer.reason:
        return say(lang, "reveal.not-followed", place=place, command=escape_control_chars(command))
    if answer.reason:
        return say(lang, "reveal.depends", place=place, reason=escape_control_chars(answer.reason))
    return say(lang, "reveal.not-known", place=place)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _problem(problem: Problem, lang: str) -> str:
    line = f":{problem.span.line}" if problem.span.line > 1 or problem.reason == "syntax-error" else ""
    text = reason(problem, lang)
    if problem.detail:
        text = say(lang, "problem.detail", text=text, detail=problem.detail)
    return f"{problem.path}{line}: {text}"


def _not_followed(unfollowed: Sequence[Unfollowed], lang: str) -> list[str]:
    lines = []
    for start, word in unfollowed[:_MOST_STARTS]:
        place = f"{shown(start.path)}:{start.line}: " if start.path else ""
        why = _why(word, lang)
        lines.append(say(lang, "reveal.unfollowed", place=place, command=start.command, reason=why))
    if len(unfollowed) > _MOST_STARTS:
        lines.append(count(lang, "reveal.unfollowed.more", len(unfollowed) - _MOST_STARTS))
    return lines


def _why(word: str, lang: str) -> str:
    for key in (f"reveal.why.{word}", f"short.{word}"):
        if known(key):
            return say(lang, key)
    return say(lang, "reveal.why.other", word=word)
