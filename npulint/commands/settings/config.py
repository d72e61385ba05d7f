"""Builds `Settings` from defaults, the closest configuration file and the command line. A configuration file is data:
it contains no code and refers to none. The only files it can make a run write are fixes of the checked files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from npulint.commands.settings.config_files import (
    CONFIG_NAME,
    EXTEND,
    ConfigFile,
    chosen,
    closest,
    complaints,
    enclosed,
    has_section,
    joined,
    place_of,
    usual_baseline,
    with_extended,
)
from npulint.commands.settings.options import OPTIONS, InvalidOption, Option, from_table, from_words
from npulint.core.errors import ConfigError
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import say
from npulint.judge.settings import MACHINE_FORMATS, Settings

__all__ = ["CONFIG_NAME", "LANGUAGE_VARIABLES", "defaults", "extended", "has_section", "language", "load", "places"]

LANGUAGE_VARIABLES = ("NPULINT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


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
    named, isolated = args.pop("config", ""), args.pop("isolated", False)
    if named and isolated:
        problems.append(say(lang, "bad.combination", one="--config", other="--isolated"))
    start = args.get("stdin_filename") or (paths[0] if paths else ".")
    values: dict[str, Any] = {}
    if not isolated:
        file = chosen(named, lang) if named else closest(start, environ, lang)
        values = _configured(file, args, lang, problems) if file else {}
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


_APART = {
    "fix": ("write_baseline",),
    "fix_only": ("write_baseline", "diff"),
    "diff": ("write_baseline", "prune_baseline", "output"),
    "add_ignore": ("fix", "fix_only", "diff", "write_baseline", "prune_baseline", "output"),
    "watch": ("fix", "fix_only", "diff", "write_baseline", "prune_baseline", "add_ignore"),
    "quiet": ("verbose",),
}
"""Options that change or show files, and the options that they cannot be combined with."""


def _settle_fixes(values: dict[str, Any], args: Mapping[str, Any], lang: str) -> None:
    """Turn off configured fixes when a baseline or comments are written, or files watched; report options that exclude
    each other."""
    if any(args.get(name) for name in ("write_baseline", "add_ignore", "watch")):
        values.pop("fix", None)
        values.pop("fix_only", None)
    pairs = [(name, other) for name, others in _APART.items() for other in others if args.get(name) and args.get(other)]
    spelled = [tuple(f"--{name.replace('_', '-')}" for name in pair) for pair in pairs]
    if spelled:
        raise ConfigError([say(lang, "bad.combination", one=option, other=other) for option, other in spelled])


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


def _configured(file: ConfigFile, args: Mapping[str, Any], lang: str, problems: list[str]) -> dict[str, Any]:
    """The settings in a configuration file and those that it extends: its own values take precedence, entries of tables
    one by one; ``extend-`` lists are added to one another. Paths that the command line overrides (`args`) may be
    anything."""
    values: dict[str, Any] = {}
    for config_file in with_extended(file, lang):
        for name, value in _values_in(config_file, file.folder, args, lang, problems).items():
            before = values.get(name)
            if isinstance(before, dict):
                value = {**before, **value}
            elif before and name.startswith("extend_"):
                value = tuple(dict.fromkeys([*before, *value]))
            values[name] = value
    return {**values, "config": file.path, "base": file.folder}


def _values_in(file: ConfigFile, base: str, args: Mapping[str, Any], lang: str, problems: list[str]) -> dict[str, Any]:
    """The settings in one configuration file, patterns relative to `base`."""
    path, folder = file.path, file.folder
    keys: dict[str, Option] = {option.key: option for option in OPTIONS if option.config}
    values: dict[str, Any] = {}
    for key, value in file.table.items():
        option = keys.get(key)
        if key == EXTEND:
            continue
        if key == "tool" and isinstance(value, dict) and "npulint" in value:
            problems.append(f"{place_of('tool.npulint', path, lang)}: {say(lang, 'tool.table')}")
            continue
        if option is None:
            meant = closest_match(key, [*keys, EXTEND])
            complaint = say(lang, "unknown.key", word=key) + did_you_mean(meant, lang)
            problems.append(f"{place_of(key, path, lang)}: {complaint}")
            continue
        try:
            values[option.name] = from_table(option, value, lang)
        except InvalidOption as refused:
            problems += [f"{place_of(key, path, lang)}: {key}: {text}" for text in refused.texts]
    for option in (option for option in keys.values() if option.is_path and option.name in values):
        if option.name not in args:
            wrong = complaints(option, values[option.name], folder, lang)
            problems += [f"{place_of(option.key, path, lang)}: {option.key}: {text}" for text in wrong]
        values[option.name] = joined(values[option.name], folder)
    if "supported_ops" in values:
        values["supported_ops_within"] = enclosed(values.keys() - args.keys(), folder)
    if folder != base:
        _rebase(values, folder, base)
    return values


def places(path: str, lang: str) -> dict[str, str]:
    """Where a configuration file, or one that it extends, sets which key, as ``path:line`` by key. Raises
    `ConfigError`."""
    files = with_extended(chosen(path, lang), lang)
    return {key: place_of(key, file.path, lang) for file in files for key in file.table}


def extended(path: str, lang: str) -> list[str]:
    """The configuration files that the one at `path` extends, the closest first. Raises `ConfigError`."""
    return [file.path for file in reversed(with_extended(chosen(path, lang), lang)[:-1])]


def _relative_to(base: str, args: dict[str, Any]) -> None:
    """Rewrite command line patterns with a folder, which are relative to the working directory, relative to `base`."""
    if os.path.abspath(base or ".") != os.getcwd():
        _rebase(args, "", base)


def _rebase(values: dict[str, Any], folder: str, base: str) -> None:
    """Rewrite patterns with a folder, which are relative to `folder`, relative to `base`."""
    for name in ("exclude", "extend_exclude"):
        if name in values:
            values[name] = tuple(_rebased(pattern, folder, base) for pattern in values[name])
    if "per_file_ignores" in values:
        table = values["per_file_ignores"].items()
        values["per_file_ignores"] = {_rebased(pattern, folder, base): words for pattern, words in table}


def _rebased(pattern: str, folder: str, base: str) -> str:
    negated = pattern.startswith("!")
    body = pattern[negated:]
    if "/" not in body.rstrip("/"):
        return pattern
    moved = os.path.relpath(os.path.join(folder, body.lstrip("/")), base or os.curdir).replace(os.sep, "/")
    return ("!" if negated else "") + "/" + moved + ("/" if body.endswith("/") else "")


def defaults() -> dict[str, Any]:
    """The default of every configurable option by configuration key, for the documentation."""
    blank = msgspec.structs.asdict(Settings())
    return {option.key: blank[option.name] for option in OPTIONS if option.config}
