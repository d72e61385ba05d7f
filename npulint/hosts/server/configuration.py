"""Reads client settings and configuration files of folders, and locates their errors."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from npulint.commands.settings.config import CONFIG_NAME, load
from npulint.commands.settings.config_files import usual_baseline
from npulint.commands.settings.options import OPTIONS, InvalidOption, Option, choice, from_words
from npulint.core.errors import CatalogueError, NpulintError
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import say
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines

CONFIG_FILES = (CONFIG_NAME, "pyproject.toml")
_SHARED = (
    *(
        "select",
        "extend_select",
        "ignore",
        "preview",
        "min_severity",
        "min_confidence",
        "checks",
        "target",
        "lang",
        "docs_url",
    ),
    *("exclude", "extend_exclude", "respect_gitignore", "baseline", "config", "isolated", "cache"),
)
_OPTIONS: dict[str, Option] = {option.name: option for option in OPTIONS if option.name in _SHARED}
_OWN = {"run": ("onType", "onSave"), "scope": ("errors", "open", "workspace")}
_PATHS = ("checks", "config", "baseline")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ClientSettings(msgspec.Struct, frozen=True):
    """The settings of the client. `run` is ``onType`` or ``onSave``; `scope` selects findings in files that are not
    open: ``open`` shows none, ``errors`` the errors of projects with an open file, ``workspace`` all. `words` are the
    command line options that it sets; `problems` are invalid settings."""

    run: str = "onType"
    scope: str = "errors"
    words: dict[str, list[str] | bool] = {}
    problems: tuple[str, ...] = ()


class ConfigProblem(msgspec.Struct, frozen=True):
    """A problem in the file at the absolute `path` (empty: no file), at a line and column from 1."""

    path: str
    line: int
    column: int
    message: str


def understood(sent: object, lang: str) -> ClientSettings:
    """The settings sent by a client, with keys in any spelling; null means the default."""
    section = _section(sent)
    own: dict[str, str] = {}
    words: dict[str, list[str] | bool] = {}
    problems: list[str] = []
    for key, value in section.items():
        name = _HUMP.sub("_", key).replace("-", "_").lower()
        if value is None or value in ("", [], {}):
            continue
        try:
            if name in _OWN:
                own[name] = choice(str(value), _OWN[name], lang)
            elif name in _OPTIONS:
                words[name] = _words(_OPTIONS[name], value, lang)
            else:
                meant = closest_match(name, [*_OPTIONS, *_OWN])
                problems.append(say(lang, "unknown.key", word=key) + did_you_mean(meant, lang))
        except InvalidOption as refused:
            problems += [f"{key}: {text}" for text in refused.texts]
    return ClientSettings(words=words, problems=tuple(problems), **own)


def _section(sent: object) -> dict[str, Any]:
    """npulint's part of the settings, which may be sent bare or nested."""
    for name in ("settings", "npulint"):
        if isinstance(sent, dict) and isinstance(sent.get(name), dict):
            sent = sent[name]
    return {str(key): value for key, value in sent.items()} if isinstance(sent, dict) else {}


def _words(option: Option, value: object, lang: str) -> list[str] | bool:
    """A value as command line words or a flag; raises `InvalidOption` for an invalid one."""
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise InvalidOption(_mistyped("type.flag", value, lang))
        return value
    if option.kind == "map" and isinstance(value, dict):
        words = [f"{key}={part}" for key, part in value.items() if part not in (None, "")]
    elif isinstance(value, str):
        words = [value]
    elif isinstance(value, list) and all(isinstance(part, str) for part in value):
        words = value if option.kind != "list" else [",".join(value)]
    else:
        kind = {"choice": "text", "url": "text", "folders": "list"}.get(option.kind, option.kind)
        raise InvalidOption(_mistyped(f"type.{kind}", value, lang))
    if words:
        from_words(option, words, lang)
    return words


def _mistyped(kind: str, value: object, lang: str) -> str:
    return say(lang, "bad.type", wanted=say(lang, kind), given=f"`{value!r:.60}`")


def settings_for(
    place: str, folder: str, client: ClientSettings, environ: Mapping[str, str], locale: str
) -> tuple[str, Settings]:
    """The folder that is checked as one with a file in `place`, and its settings: the folder of the closest
    configuration, else the workspace `folder`. Raises `NpulintError`."""
    words: dict[str, list[str] | bool] = {name: value for name, value in client.words.items() if value != []}
    for name in _PATHS:
        value = words.get(name)
        if isinstance(value, list):
            words[name] = [os.path.join(folder, os.path.expanduser(path)) for path in value]
    settings = load([place], words, {**({"NPULINT_LANG": locale} if locale else {}), **environ})
    base = os.path.abspath(settings.base) if settings.config else ""
    root = base if base and (base + os.sep).startswith(os.path.join(folder, "")) else folder
    if not settings.config and "baseline" not in words:
        settings = msgspec.structs.replace(settings, baseline=usual_baseline(root, settings.language()))
    return root, msgspec.structs.replace(settings, paths=(root,), base=base or root, jobs=1)


def problems_of(error: NpulintError, places: Sequence[str]) -> list[ConfigProblem]:
    """The problems that made settings invalid, with their places. Problems without a file belong to the first existing
    configuration file in `places`."""
    if isinstance(error, CatalogueError):
        return [ConfigProblem(os.path.abspath(p.path), p.line, p.column, p.message) for p in error.problems]
    return [_placed(line, places) for line in str(error).split("\n")]


def _placed(line: str, places: Sequence[str]) -> ConfigProblem:
    match = re.match(r"(?P<path>.+?\.toml)(?::(?P<line>\d+))?(?::(?P<column>\d+))?[:：]\s*(?P<text>.*)", line)
    if match and os.path.exists(match["path"]):
        at = int(match["line"] or 1), int(match["column"] or 1)
        return ConfigProblem(os.path.abspath(match["path"]), *at, match["text"])
    there = next((path for path in places if os.path.exists(path)), "")
    return ConfigProblem(there, _line_of(line.partition(":")[0], there), 1, line)


def _line_of(key: str, path: str) -> int:
    """The line of a configuration file that sets a key; 1 if not found."""
    for number, line in enumerate(FileLines()(path), 1):
        if re.match(rf"[ \t]*{re.escape(key)}[ \t]*=", line):
            return number
    return 1
