"""The table of options: source of the command line, the configuration keys, the help and the documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.suggest import closest_match, did_you_mean, only_close_match
from npulint.core.texts import say
from npulint.judge.findings import CONFIDENCES, SEVERITIES
from npulint.judge.settings import FORMATS, LIMITED, PORTS, TARGET_KEYS

GROUPS = ("rules", "fixes", "output", "files", "run")


class Option(msgspec.Struct, frozen=True):
    """One option. `name` is the field of `Settings`, from which flag and configuration key are derived. Kinds: ``flag``
    (yes/no), ``choice`` (one of `choices`), ``number`` (from 0), ``text``, ``url`` (http or https), ``list``
    (comma-separated or repeated), ``folders`` (repeated; relative to the configuration file that sets it), ``map``
    (KEY=VALUE with the keys `choices`), ``pairs`` (CHOICE=TEXT, repeated), ``levels`` (CHECK=CHOICE, repeated),
    ``groups`` (PATTERN=CHECKS, repeated). `default_on` is a flag's default. `config` says whether a configuration file
    may set it. `is_path`: a configuration file may only name paths below its folder. `text` is the key of its help
    among those of options, if not the name; `short` a flag of one letter with the same meaning, `alias` another
    spelling of the flag, which is accepted but not shown."""

    name: str
    kind: str
    group: str
    choices: tuple[str, ...] = ()
    metavar: str = ""
    default_on: bool = False
    config: bool = True
    is_path: bool = False
    text: str = ""
    short: str = ""
    alias: str = ""

    @property
    def key(self) -> str:
        """The spelling in configuration files."""
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """The spelling on the command line; ``--no-…`` for a flag that is on by default."""
        return f"--no-{self.key}" if self.default_on else f"--{self.key}"

    def help(self, lang: str) -> str:
        """What it does, in a line."""
        return say(lang, f"options.{self.text or self.name}", choices=say(lang, "list.and").join(self.choices))


SELECT = Option("select", "list", "rules", metavar="CHECKS")
PREVIEW = Option("preview", "flag", "rules", default_on=True)
CHECKS = Option("checks", "folders", "rules", metavar="DIR", is_path=True)
LANG = Option("lang", "choice", "output", choices=("auto", "en", "zh"))
REFERENCE = Option("reference", "text", "rules", metavar="DIR", is_path=True)
FORMAT = Option("format", "choice", "output", choices=FORMATS, alias="output-format")
LIST_FORMAT = Option("format", "choice", "output", choices=("text", "json"), config=False, text="format.list")

OPTIONS: tuple[Option, ...] = (
    SELECT,
    Option("extend_select", "list", "rules", metavar="CHECKS"),
    Option("ignore", "list", "rules", metavar="CHECKS", alias="extend-ignore"),
    Option("per_file_ignores", "groups", "rules", metavar="PATTERN=CHECKS"),
    Option("severity", "levels", "rules", choices=SEVERITIES, metavar="CHECKS=SEVERITY"),
    Option("min_severity", "choice", "rules", choices=SEVERITIES),
    Option("min_confidence", "choice", "rules", choices=CONFIDENCES),
    PREVIEW,
    CHECKS,
    Option("target", "map", "rules", choices=TARGET_KEYS, metavar="KEY=VALUE"),
    Option("supported_ops", "folders", "rules", metavar="PATH", is_path=True),
    Option("fix", "flag", "fixes"),
    Option("unsafe_fixes", "flag", "fixes"),
    Option("fix_only", "flag", "fixes"),
    Option("diff", "flag", "fixes", config=False),
    Option("show_fixes", "flag", "fixes"),
    Option("unfixable", "list", "fixes", metavar="CHECKS"),
    Option("torch_port", "choice", "fixes", choices=PORTS),
    REFERENCE,
    Option("against", "text", "run", metavar="PROFILE", config=False),
    FORMAT,
    Option("output", "pairs", "output", choices=FORMATS, metavar="FORMAT=FILE", config=False),
    LANG,
    Option("color", "choice", "output", choices=("auto", "always", "never")),
    Option("docs_url", "url", "output", metavar="URL"),
    Option("source_url", "text", "output", metavar="URL"),
    Option("history", "folders", "output", metavar="REPORT", config=False),
    Option("verbose", "flag", "output", short="v"),
    Option("quiet", "flag", "output", short="q"),
    Option("silenced", "flag", "output", default_on=True),
    Option("statistics", "flag", "output"),
    Option("exclude", "list", "files", metavar="PATTERNS"),
    Option("extend_exclude", "list", "files", metavar="PATTERNS"),
    Option("respect_gitignore", "flag", "files", default_on=True),
    Option("force_exclude", "flag", "files"),
    Option("consequences_since", "text", "files", metavar="REV", config=False),
    Option("stdin_filename", "text", "files", metavar="FILE", config=False),
    Option("show_files", "flag", "files", config=False),
    Option("fail_on", "choice", "run", choices=("error", "warning", "note", "never")),
    Option("baseline", "text", "run", metavar="FILE", is_path=True),
    Option("write_baseline", "flag", "run", config=False),
    Option("prune_baseline", "flag", "run", config=False),
    Option("add_ignore", "flag", "run", config=False),
    Option("exit_zero", "flag", "run", short="e"),
    Option("exit_non_zero_on_fix", "flag", "run"),
    Option("watch", "flag", "run", config=False, short="w"),
    Option("jobs", "number", "run", metavar="N"),
    Option("budget", "map", "run", choices=LIMITED, metavar="KEY=NUMBER"),
    Option("cache", "flag", "run", default_on=True),
    Option("config", "text", "run", metavar="FILE", config=False),
    Option("isolated", "flag", "run", config=False),
)


# Converts option values from command line words or TOML to the types of `Settings`.

_VERSION = lazy_compile(r"[0-9]+(?:[.+_-]?[A-Za-z0-9]+)*")
URL = r"https?://[^\s\x00-\x1f]+"
"""The pattern of addresses that reports may link to; a browser would run others (javascript:)."""
FRAMEWORKS = ("tensorflow", "torch")


class InvalidOption(Exception):
    """An invalid option value; `texts` say why."""

    def __init__(self, *texts: str) -> None:
        super().__init__(*texts)
        self.texts = texts


def from_words(option: Option, words: Sequence[str], lang: str) -> Any:
    """The value of an option from `words`, one per occurrence on the command line; raises `InvalidOption`."""
    if option.kind in ("list", "folders"):
        parts = [word.split(",") if option.kind == "list" else [word] for word in words]
        return _checked_list(option, tuple(part.strip() for group in parts for part in group if part.strip()), lang)
    if option.kind == "map":
        return _checked_map(option, dict(_pair(option, word, lang) for word in words), lang)
    if option.kind == "levels":
        return _levels(option, dict(_pair(option, word, lang) for word in words), lang)
    if option.kind == "groups":
        pairs = [_pair(option, word, lang) for word in words]
        return _groups(option, {key: [*value.split(",")] for key, value in _collected(pairs)}, lang)
    if option.kind == "pairs":
        return tuple(_checked_pair(option, *_pair(option, word, lang), lang) for word in words)
    word = words[-1]
    if option.kind == "number":
        return number(word, lang)
    if option.kind == "choice":
        return choice(word, option.choices, lang)
    if not word:
        raise InvalidOption(say(lang, "bad.empty"))
    if option.kind == "url" and not re.fullmatch(URL, word):
        raise InvalidOption(say(lang, "bad.url", word=word))
    return word


def from_table(option: Option, value: Any, lang: str) -> Any:
    """The value of an option from a configuration file; raises `InvalidOption` for a wrong type."""
    if option.kind == "flag" and isinstance(value, bool):
        return value
    if option.kind in ("list", "folders") and isinstance(value, list):
        if all(isinstance(part, str) and part for part in value):
            return _checked_list(option, tuple(value), lang)
    elif option.kind in _TABLES and isinstance(value, dict):
        return _TABLES[option.kind](option, value, lang)
    elif option.kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        return from_words(option, [str(value)], lang)
    elif option.kind in ("choice", "text", "url") and isinstance(value, str):
        return from_words(option, [value], lang)
    kind = {"choice": "text", "url": "text", "folders": "list", "levels": "map", "groups": "map"}.get(
        option.kind, option.kind
    )
    raise InvalidOption(_mistyped(kind, value, lang))


def _checked_list(option: Option, parts: tuple[str, ...], lang: str) -> tuple[str, ...]:
    if option.metavar == "PATTERNS":
        _refuse_costly(parts, lang)
    return parts


def _refuse_costly(patterns: Iterable[str], lang: str) -> None:
    """Raise `InvalidOption` for patterns that take too long to match."""
    wild = [part for part in patterns if "*" in part]
    if wild:
        from npulint.discover.ignore import is_costly

        refused = [say(lang, "bad.pattern", word=part) for part in wild if is_costly(part)]
        if refused:
            raise InvalidOption(*refused)


def choice(word: str, choices: Sequence[str], lang: str) -> str:
    """`word` if it is one of `choices`; raises `InvalidOption` with the closest match."""
    if word in choices:
        return word
    text = say(lang, "unknown.value", word=word, choices=say(lang, "list.and").join(choices))
    meant = closest_match(word, choices)
    raise InvalidOption(text + did_you_mean(meant, lang))


def _pair(option: Option, word: str, lang: str) -> tuple[str, str]:
    key, sign, value = word.partition("=")
    if not sign or not key.strip() or not value.strip():
        raise InvalidOption(say(lang, "bad.pair", word=word, form=option.metavar))
    return key.strip(), value.strip()


def _checked_pair(option: Option, key: str, value: str, lang: str) -> tuple[str, str]:
    return choice(key, option.choices, lang), value


def _checked_map(option: Option, table: dict[str, Any], lang: str) -> dict[str, Any]:
    if option.name == "budget":
        return {choice(key, option.choices, lang): number(value, lang) for key, value in table.items()}
    texts: list[str] = []
    for key, value in table.items():
        try:
            choice(key, option.choices, lang)
            _version(key, value, lang)
        except InvalidOption as refused:
            texts += refused.texts
    if texts:
        raise InvalidOption(*texts)
    return {key: soc_family(value) if key == "soc" else value for key, value in table.items()}


def _levels(option: Option, table: dict[str, Any], lang: str) -> dict[str, str]:
    """A table of choices by check; raises `InvalidOption`."""
    for value in table.values():
        if not isinstance(value, str):
            raise InvalidOption(_mistyped("text", value, lang))
        choice(value, option.choices, lang)
    return table


def _groups(option: Option, table: dict[str, Any], lang: str) -> dict[str, tuple[str, ...]]:
    """A table of lists of checks by pattern; raises `InvalidOption`."""
    groups = {}
    for pattern, words in table.items():
        if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
            raise InvalidOption(_mistyped("list", words, lang))
        groups[pattern] = tuple(word.strip() for word in words)
    _refuse_costly(groups, lang)
    return groups


def _collected(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs, with the values of equal keys joined."""
    collected: dict[str, str] = {}
    for key, value in pairs:
        collected[key] = f"{collected[key]},{value}" if key in collected else value
    return list(collected.items())


def _mistyped(kind: str, value: Any, lang: str) -> str:
    return say(lang, "bad.type", wanted=say(lang, f"type.{kind}"), given=f"`{value!r:.60}`")


_TABLES: dict[str, Callable[[Option, dict[str, Any], str], dict[str, Any]]] = {
    "map": _checked_map,
    "levels": _levels,
    "groups": _groups,
}


def number(word: Any, lang: str) -> int:
    """A whole number from 0; raises `InvalidOption`."""
    if isinstance(word, bool) or not re.fullmatch(r"[0-9]{1,6}", str(word)):
        raise InvalidOption(say(lang, "bad.number", word=word))
    return int(word)


def soc_family(soc: str) -> str:
    """The SoC family that checks use: ``910B`` for ``Ascend910B1``, ``A2`` for ``Atlas 800T A2``."""
    from npulint.data.chips import without_maker  # only where a chip is specified

    name = without_maker(soc).upper()
    return re.sub(r"(?<=[0-9][A-Z])[0-9]+$", "", name)


def _version(key: str, value: Any, lang: str) -> None:
    if not isinstance(value, str):  # TOML reads 2.10 as 2.1
        raise InvalidOption(say(lang, "bad.quoted", key=key, value=value))
    if key == "framework":
        choice(value, FRAMEWORKS, lang)
    elif key == "soc":
        from npulint.data.chips import is_soc, soc_names  # only where a chip is specified

        if not is_soc(value):
            text = say(lang, "bad.soc", word=value, list=say(lang, "list.and").join(soc_names()))
            raise InvalidOption(text + did_you_mean(only_close_match(value, soc_names()), lang))
    elif not _VERSION.fullmatch(value):
        raise InvalidOption(say(lang, "bad.version", word=value))
