"""Finds and reads configuration files, and the files that they extend."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from npulint.commands.settings.options import Option
from npulint.core.errors import ConfigError
from npulint.core.links import below, leads_out, repository
from npulint.core.texts import say

# Paths that come with a repository, not from the user: they must not lead out of the folder of the configuration.

BASELINE_NAME = "npulint-baseline.json"


def joined(value: Any, folder: str) -> Any:
    """The path or paths of an option in a configuration file in `folder`, relative to the working directory."""
    return (
        os.path.join(folder, value) if isinstance(value, str) else tuple(os.path.join(folder, path) for path in value)
    )


def complaints(option: Option, value: Any, folder: str, lang: str) -> list[str]:
    """What is wrong with the configured path or paths of an option: those that lead out of `folder`."""
    places = (value,) if isinstance(value, str) else value
    return [
        say(lang, "config.outside", path=place, flag=option.flag)
        for place in places
        if not below(os.path.join(folder, place), folder or os.curdir)
    ]


def usual_baseline(folder: str, lang: str, new: bool = False) -> str:
    """The baseline file that is used without any option, if there is one, or a `new` one is to be written; else empty.
    Raises `ConfigError` for a link that leads out of `folder`."""
    usual = os.path.join(folder, BASELINE_NAME)
    if not new and not os.path.exists(usual):
        return ""
    if not below(usual, folder or os.curdir):
        raise ConfigError([say(lang, "config.link", path=usual, flag="--baseline")])
    return usual


def refuse_foreign(path: str, shown: str, lang: str) -> None:
    """Raise `ConfigError` if the configuration file at `path`, which the user did not name, is a link that leads out of
    its folder and of the repository around it."""
    if leads_out(path, os.path.dirname(path)):
        raise ConfigError([say(lang, "config.link", path=shown, flag="--config")])


def enclosed(names: Collection[str], folder: str) -> str:
    """The folder that links in configured operator packages must not leave; empty if the user named the packages."""
    return (folder or os.curdir) if "supported_ops" in names else ""


CONFIG_NAME = "npulint.toml"
EXTEND = "extend"
"""The key that names the configuration file whose settings are the defaults of this one."""
_LIMIT = 1_000_000  # bytes


class ConfigFile(msgspec.Struct, frozen=True):
    """A configuration file: its path as it is shown, and npulint's table in it."""

    path: str
    table: Mapping[str, Any]

    @property
    def folder(self) -> str:
        """The folder that paths in it are relative to."""
        return os.path.dirname(self.path)


def with_extended(file: ConfigFile, lang: str) -> list[ConfigFile]:
    """The file and those that it extends, the most general first. Raises `ConfigError` for a file that cannot be read,
    has no settings, extends itself, or lies outside of the repository."""
    config_files = [file]
    while EXTEND in config_files[0].table:
        first = config_files[0]
        value, place = first.table[EXTEND], place_of(EXTEND, first.path, lang)
        if not isinstance(value, str) or not value:
            text = say(lang, "bad.type", wanted=say(lang, "type.text"), given=f"`{value!r:.60}`")
            raise ConfigError([f"{place}: {EXTEND}: {text}"])
        path = os.path.normpath(os.path.join(first.folder, value))
        around = repository(first.folder or os.curdir)
        if not below(path, first.folder or os.curdir) and not (around and below(path, around)):
            raise ConfigError([f"{place}: {EXTEND}: {say(lang, 'extend.outside', path=value)}"])
        if any(os.path.realpath(path) == os.path.realpath(config_file.path) for config_file in config_files):
            circle = " → ".join([*(config_file.path for config_file in reversed(config_files)), path])
            raise ConfigError([f"{place}: {EXTEND}: {say(lang, 'extend.circle', files=circle)}"])
        config_files.insert(0, _extended(path, place, lang))
    return config_files


def _extended(path: str, place: str, lang: str) -> ConfigFile:
    try:
        table = _section(path, _parsed(path, _bytes(path, lang), lang))
    except ConfigError as error:
        raise ConfigError([f"{place}: {EXTEND}: {text}" for text in str(error).split("\n")]) from error
    if table is None:
        raise ConfigError([f"{place}: {EXTEND}: {say(lang, 'extend.empty', path=path)}"])
    return ConfigFile(path, table)


def place_of(key: str, path: str, lang: str) -> str:
    """``path:line`` of a key written in the usual way, else the path alone: tomllib keeps no positions."""
    import re

    text = _bytes(path, lang).decode("utf-8", "replace")
    section = re.search(r"(?m)^[ \t]*\[tool\.npulint\b", text) if os.path.basename(path) == "pyproject.toml" else None
    name = re.escape(key)
    written = re.compile(rf"""(?m)^[ \t]*(?:["']?{name}["']?[ \t]*[.=]|\[(?:tool\.npulint\.)?{name}\])""")
    match = written.search(text, section.start() if section else 0)
    return f"{path}:{text.count(chr(10), 0, match.start()) + 1}" if match else path


def chosen(path: str, lang: str) -> ConfigFile:
    """The configuration file at `path`. Raises `ConfigError` for one that cannot be read."""
    table = _section(path, _parsed(path, _bytes(path, lang), lang))
    return ConfigFile(path, table if table is not None else {})


def closest(start: str, environ: Mapping[str, str], lang: str) -> ConfigFile | None:
    """The closest configuration at or above `start`, up to the repository root or home folder."""
    folder = os.path.abspath(start)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    while True:
        for name in (CONFIG_NAME, "pyproject.toml"):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                shown = _shown(path)
                refuse_foreign(path, shown, lang)
                data = _bytes(path, lang)
                if name == CONFIG_NAME or b"npulint" in data:  # parsing TOML costs more than this search
                    table = _section(path, _parsed(shown, data, lang))
                    if table is not None:
                        return ConfigFile(shown, table)
        parent = os.path.dirname(folder)
        if parent == folder or folder == home or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = parent


def _shown(path: str) -> str:
    here = os.path.join(os.getcwd(), "")
    return path[len(here) :] if path.startswith(here) else path


def _section(path: str, document: dict[str, Any]) -> Mapping[str, Any] | None:
    """npulint's settings in a TOML document: the whole npulint.toml, or its table in pyproject.toml."""
    if os.path.basename(path) != "pyproject.toml":
        return document
    tool = document.get("tool")
    section = tool.get("npulint") if isinstance(tool, dict) else None
    return section if isinstance(section, dict) else None


def has_section(path: str) -> bool:
    """Whether the pyproject.toml at `path` configures npulint. Raises `ConfigError` for broken TOML."""
    if not os.path.isfile(path):
        return False
    refuse_foreign(path, _shown(path), "en")
    return _section(path, _parsed(_shown(path), _bytes(path, "en"), "en")) is not None


def _bytes(path: str, lang: str) -> bytes:
    from npulint.discover.safe_open import TooLargeError, read_regular

    try:
        return read_regular(path, _LIMIT)
    except TooLargeError:
        detail = say(lang, "short.too-large")
    except OSError as error:
        detail = error.strerror or say(lang, "short.not-a-file")
    raise ConfigError([say(lang, "config.unreadable", path=_shown(path), detail=detail)])


def _parsed(path: str, data: bytes, lang: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError([say(lang, "config.broken", path=path, place=line, detail="UTF-8")]) from error
    except tomllib.TOMLDecodeError as error:
        place, detail = _place(str(error), data)
        raise ConfigError([say(lang, "config.broken", path=path, place=place, detail=detail)]) from error
    except ValueError as error:  # an integer of thousands of digits
        raise ConfigError(
            [say(lang, "config.broken", path=path, place=1, detail=str(error).partition(";")[0])]
        ) from error
    except RecursionError as error:
        detail = say(lang, "short.too-deep")
        raise ConfigError([say(lang, "config.broken", path=path, place=1, detail=detail)]) from error


def _place(message: str, data: bytes) -> tuple[str, str]:
    """The parser's message without ``(at line 3, column 5)``, and that position; the end of the file when it has
    none."""
    import re

    match = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if match:
        return f"{match[1]}:{match[2]}", message[: match.start()]
    return str(data.count(b"\n") + 1), message.removesuffix(" (at end of document)")
