"""Builds `Settings` from defaults, the closest configuration file and the command line. A configuration file is data:
it contains no code and refers to none. The only files it can make a run write are fixes of the checked files."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from npulint.configured_paths import complaints, enclosed, joined, refuse_foreign, usual_baseline
from npulint.errors import ConfigError
from npulint.option_parsing import InvalidOption, from_table, from_words
from npulint.options import OPTIONS, Option
from npulint.settings import MACHINE_FORMATS, Settings
from npulint.suggest import closest_match, did_you_mean
from npulint.texts import say

CONFIG_NAME = "npulint.toml"
LANGUAGE_VARIABLES = ("NPULINT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
_LIMIT = 1_000_000  # bytes


def language(environ: Mapping[str, str], lang: str = "auto") -> str:
    """``en`` or ``zh``: `lang` if it is one of them, else the language of the environment (``NPULINT_LANG``
    first)."""
    if lang in ("en", "zh"):
        return lang
    for name in LANGUAGE_VARIABLES:
        if environ.get(name):
            return "zh" if environ[name].lower().startswith("zh") else "en"
    return "en"


def load(
    paths: Sequence[str],
    words: Mapping[str, Sequence[str] | bool],
    environ: Mapping[str, str],
    stdin: bytes | None = None,
) -> Settings:
    """The settings of a run over `paths`. `words` maps names of command line options to a bool (flags) or to the values
    passed. Raises `ConfigError` with all problems."""
    lang = language(environ, _last(words.get("lang"), "auto"))
    problems: list[str] = []
    args = _command_line(words, lang, problems)
    file, isolated = args.pop("config", ""), args.pop("isolated", False)
    if file and isolated:
        problems.append(say(lang, "bad.combination", one="--config", other="--isolated"))
    start = args.get("stdin_filename") or (paths[0] if paths else ".")
    values: dict[str, Any] = {}
    if not isolated:
        path, table = _chosen(file, lang) if file else _closest(start, environ, lang)
        values = _configured(path, table, args, lang, problems) if path else {}
    if problems:
        raise ConfigError(problems)
    _relative_to(values.get("base", ""), args)
    _settle_fixes(values, args, lang)
    _settle_reference(values, args, stdin, lang)
    values.update(args)
    _settle_supported(values, environ)
    _settle_language(values, environ)
    _settle_revision(values, environ)
    if not isolated:
        _settle_baseline(values, lang)
    return Settings(paths=tuple(paths) or (".",), stdin=stdin, **values)


def _last(value: Sequence[str] | bool | None, default: str) -> str:
    return value[-1] if value and not isinstance(value, bool) else default


_APART = {"fix": ("write_baseline",), "diff": ("write_baseline", "prune_baseline", "output")}
"""Options that change or show files, and the options that they cannot be combined with."""


def _settle_fixes(values: dict[str, Any], args: Mapping[str, Any], lang: str) -> None:
    """Turn off configured fixes when a baseline is written; report options that exclude each other."""
    if args.get("write_baseline"):
        values.pop("fix", None)
    pairs = [(one, other) for one, others in _APART.items() for other in others if args.get(one) and args.get(other)]
    spelled = [tuple(f"--{name.replace('_', '-')}" for name in pair) for pair in pairs]
    if spelled:
        raise ConfigError([say(lang, "bad.combination", one=one, other=other) for one, other in spelled])


def _settle_reference(values: dict[str, Any], args: Mapping[str, Any], stdin: bytes | None, lang: str) -> None:
    """Drop the configured reference for standard input or a change; report it when both are on the command line."""
    alone = "-" if stdin is not None else "--consequences-since" if args.get("consequences_since") else ""
    if alone and args.get("reference"):
        raise ConfigError([say(lang, "bad.combination", one="--reference", other=alone)])
    if alone:
        values.pop("reference", None)


def _settle_language(values: dict[str, Any], environ: Mapping[str, str]) -> None:
    """Set `lang`: machine formats default to English, because who reads them rarely started the run."""
    configured = values.get("lang", "auto")
    machine = values.get("format", "text") in MACHINE_FORMATS
    values["lang"] = "en" if configured == "auto" and machine else language(environ, configured)


def _settle_supported(values: dict[str, Any], environ: Mapping[str, str]) -> None:
    """Default `supported_ops` to the operator packages of the installed CANN."""
    if "supported_ops" not in values and environ.get("ASCEND_OPP_PATH"):
        further = environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":")
        values["supported_ops"] = (environ["ASCEND_OPP_PATH"], *filter(None, further))


def _settle_revision(values: dict[str, Any], environ: Mapping[str, str]) -> None:
    """Default the revision to the start of the range that pre-commit checks: then nothing is staged."""
    if values.get("consequences_since") == "auto":
        values["consequences_since"] = environ.get("PRE_COMMIT_FROM_REF") or "auto"


def _settle_baseline(values: dict[str, Any], lang: str) -> None:
    """Default the baseline to the file next to the configuration or in the working directory."""
    usual = (
        "" if "baseline" in values else usual_baseline(values.get("base", ""), lang, bool(values.get("write_baseline")))
    )
    if usual:
        values["baseline"] = usual


def _command_line(words: Mapping[str, Sequence[str] | bool], lang: str, problems: list[str]) -> dict[str, Any]:
    args: dict[str, Any] = {}
    for option in OPTIONS:
        value = words.get(option.name)
        if value is None:
            continue
        try:
            args[option.name] = value if isinstance(value, bool) else from_words(option, value, lang)
        except InvalidOption as refused:
            problems += [f"--{option.key}: {text}" for text in refused.texts]
    return args


def _configured(
    path: str, table: Mapping[str, Any], args: Mapping[str, Any], lang: str, problems: list[str]
) -> dict[str, Any]:
    """The settings in a configuration file. Paths that the command line overrides (`args`) may be anything."""
    keys: dict[str, Option] = {option.key: option for option in OPTIONS if option.config}
    folder = os.path.dirname(path)
    values: dict[str, Any] = {"config": path, "base": folder}
    for key, value in table.items():
        option = keys.get(key)
        if option is None:
            meant = closest_match(key, keys)
            complaint = say(lang, "unknown.key", word=key) + did_you_mean(meant, lang)
            problems.append(f"{_place_of(key, path, lang)}: {complaint}")
            continue
        try:
            values[option.name] = from_table(option, value, lang)
        except InvalidOption as refused:
            problems += [f"{_place_of(key, path, lang)}: {key}: {text}" for text in refused.texts]
    for option in (option for option in keys.values() if option.is_path and option.name in values):
        if option.name not in args:
            wrong = complaints(option, values[option.name], folder, lang)
            problems += [f"{_place_of(option.key, path, lang)}: {option.key}: {text}" for text in wrong]
        values[option.name] = joined(values[option.name], folder)
    values["supported_ops_within"] = enclosed(values.keys() - args.keys(), folder)
    return values


def places(path: str, lang: str) -> dict[str, str]:
    """Where a configuration file sets which key, as ``path:line`` by key. Raises `ConfigError`."""
    _, table = _chosen(path, lang)
    return {key: _place_of(key, path, lang) for key in table}


def _place_of(key: str, path: str, lang: str) -> str:
    """``path:line`` of a key written in the usual way, else the path alone: tomllib keeps no positions."""
    import re

    text = _bytes(path, lang).decode("utf-8", "replace")
    section = re.search(r"(?m)^[ \t]*\[tool\.npulint\b", text) if os.path.basename(path) == "pyproject.toml" else None
    name = re.escape(key)
    written = re.compile(rf"""(?m)^[ \t]*(?:["']?{name}["']?[ \t]*[.=]|\[(?:tool\.npulint\.)?{name}\])""")
    found = written.search(text, section.start() if section else 0)
    return f"{path}:{text.count(chr(10), 0, found.start()) + 1}" if found else path


def _relative_to(base: str, args: dict[str, Any]) -> None:
    """Rewrite command line patterns with a folder, which are relative to the working directory, relative to `base`."""
    if os.path.abspath(base or ".") == os.getcwd():
        return
    for name in ("exclude", "extend_exclude"):
        if name in args:
            args[name] = tuple(_rebased(pattern, base) for pattern in args[name])


def _rebased(pattern: str, base: str) -> str:
    negated = pattern.startswith("!")
    body = pattern[negated:]
    if "/" not in body.rstrip("/"):
        return pattern
    moved = os.path.relpath(body.lstrip("/"), base).replace(os.sep, "/")
    return ("!" if negated else "") + "/" + moved + ("/" if body.endswith("/") else "")


def _chosen(path: str, lang: str) -> tuple[str, Mapping[str, Any]]:
    table = _section(path, _parsed(path, _bytes(path, lang), lang))
    return path, table if table is not None else {}


def _closest(start: str, environ: Mapping[str, str], lang: str) -> tuple[str, Mapping[str, Any]]:
    """Path and content of the closest configuration at or above `start`, up to the repository root or home folder."""
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
                        return shown, table
        parent = os.path.dirname(folder)
        if parent == folder or folder == home or os.path.exists(os.path.join(folder, ".git")):
            return "", {}
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

    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if found:
        return f"{found[1]}:{found[2]}", message[: found.start()]
    return str(data.count(b"\n") + 1), message.removesuffix(" (at end of document)")


def defaults() -> dict[str, Any]:
    """The default of every configurable option by configuration key, for the documentation."""
    blank = msgspec.structs.asdict(Settings())
    return {option.key: blank[option.name] for option in OPTIONS if option.config}
