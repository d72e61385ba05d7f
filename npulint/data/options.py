"""Adapter options: keys, spellings and types in each mechanism, and legal values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

import msgspec

from npulint.core.suggest import may_help, similar
from npulint.data import lazy_table

MECHANISMS = ("session_key", "run_config", "npu_options")
_CLOSE = 0.7
Status = Literal["active", "experimental", "deprecated", "removed", "dead"]
_TYPES: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "bool": (bool, int), "flag": bool}


class OptionUse(msgspec.Struct, frozen=True):
    """An option in one mechanism. `name` is its spelling there (``DumpConfig.dump_path``), `type` one of str, int, bool
    (0 and 1 are accepted), flag (strictly bool), object, any. `values` lists all legal values (for objects the class),
    `low` and `high` bound numbers, `pattern` matches texts and `example` is such a text; without any of them every
    value is legal. `listed`: the list is compared as Python does. `since` and `until` are adapter releases (``r1.9.0``,
    or a year). `position` is the argument index, -1 if it varies. `chips` are the generations that have the option
    (none: all), `value_chips` those of single values."""

    name: str
    type: str
    values: tuple[str | bool | int | None, ...] = ()
    low: int | None = None
    high: int | None = None
    pattern: str = ""
    example: str = ""
    listed: bool = False
    default: str | None = None
    since: str = ""
    until: str = ""
    position: int = -1
    chips: tuple[str, ...] = ()
    value_chips: dict[str, tuple[str, ...]] = {}

    def accepts(self, value: object) -> bool:
        """Whether the adapter accepts a value. Letter case counts; numerals may be texts unless `listed`."""
        if self.listed and self.values:
            return value in self.values
        if value is None or self.type == "object" or str(value) == self.default:
            return True
        if self.values:
            return value in self.values or str(value) in map(str, self.values)
        if self.pattern:
            return not isinstance(value, str) or re.fullmatch(self.pattern, value) is not None
        if isinstance(value, int) and not isinstance(value, bool):
            return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        return True

    def fits(self, value: object) -> bool:
        """Whether a value's type can be assigned to the option; None means not set."""
        if value is None or self.type == "any":
            return True
        if self.type == "object":  # the class that created it; functions may pass it on
            other = isinstance(value, str) and not value.endswith("Config")
            return not self.values or value in self.values or other
        if self.listed:
            return value in self.values or self.default is None or isinstance(value, _TYPES[self.type])
        return isinstance(value, _TYPES[self.type])


class AdapterOption(msgspec.Struct, frozen=True):
    """One option. `field` is the member of the session key's protobuf value (s, b or i); status is active, deprecated,
    removed or dead (read by no adapter); `mode` is inference if it only applies there; `uses` by mechanism."""

    key: str
    status: Status
    uses: dict[str, OptionUse]
    field: str = ""
    mode: str = ""
    replacement: str = ""
    note: str = ""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return tuple(m for m in MECHANISMS if m in self.uses)


options = lazy_table("adapter_options.json", tuple[AdapterOption, ...])
"""All options."""


def option(key: str) -> AdapterOption | None:
    """The option of that key, or of that spelling in any mechanism (``dump_config.dump_path``)."""
    return _spellings().get(key)


def elsewhere(key: str, mechanism: str) -> tuple[str, ...]:
    """The other mechanisms in which some adapter release reads this spelling."""
    return tuple(m for m in MECHANISMS if m != mechanism and key in legal_keys(m))


@cache
def arguments(holder: str) -> dict[int, str]:
    """The arguments of a class of the run configuration (``DumpConfig``) that have a fixed place, by that place;
    those of NPURunConfig have no holder.

    >>> arguments("DumpConfig")[1]
    'dump_path'
    """
    uses = [o.uses["run_config"] for o in options() if "run_config" in o.uses]
    split = [(use.name.rpartition("."), use) for use in uses if use.position >= 0 and not use.until]
    return {use.position: last for (head, _, last), use in split if head == holder}


@cache
def legal_keys(mechanism: str) -> frozenset[str]:
    """Every spelling that some adapter release reads in a mechanism, groups (``dump_config``) included.

    Raises:
        KeyError: for a mechanism that does not exist.
    """
    if mechanism not in MECHANISMS:
        raise KeyError(mechanism)
    names = {o.uses[mechanism].name for o in options() if mechanism in o.uses and o.status != "dead"}
    if mechanism == "npu_options":
        names |= {name.rpartition(".")[0] for name in names if "." in name}
        names |= {name.partition(".")[0] for name in names}
    return frozenset(names)


def near(key: str, mechanism: str) -> str | None:
    """The spelling in a mechanism that `key` probably means, or none when nothing is close. For a key
    that no adapter reads any more it is the replacement.

    Raises:
        KeyError: for a mechanism that does not exist.
    """
    legal, adapter_option = legal_keys(mechanism), option(key)
    successor = option(adapter_option.replacement) if adapter_option is not None and key not in legal else None
    if successor is not None and mechanism in successor.uses:
        return successor.uses[mechanism].name
    if not may_help():
        return None
    folded = key[:80].casefold()
    best = max(similar(folded, sorted(legal)), key=lambda candidate: _closeness(folded, candidate), default=None)
    return best if best is not None and _closeness(folded, best) >= _CLOSE else None


def _closeness(folded: str, candidate: str) -> float:
    """Similarity from 0 to 1: by letters, by a common run of words, or as a part of the candidate."""
    from difflib import SequenceMatcher  # imported on demand: rarely needed

    name = candidate if "." in folded else candidate.rpartition(".")[2]
    words, others = folded.split("_"), name.casefold().split("_")
    run = SequenceMatcher(None, words, others).find_longest_match().size
    by_words = run / max(len(words), len(others)) + 0.05 if run > 1 else 0.0
    by_part = 0.85 if len(words) > 1 and folded in name.casefold() else 0.0
    return max(SequenceMatcher(None, folded, name.casefold()).ratio(), by_words, by_part)


@cache
def _spellings() -> dict[str, AdapterOption]:
    spelled = {use.name: o for o in options() for use in o.uses.values()}
    return spelled | {o.key: o for o in options()}


# Corrections of misspelled adapter options and rejected values, where they are certain.

_SAME = 0.85  # minimum similarity of a typo
_APART = 0.04  # minimum lead over the next candidate
_COUNTERPARTS = (  # of precision_mode and precision_mode_v2
    ("allow_mix_precision", "mixed_float16"),
    ("allow_mix_precision_bf16", "mixed_bfloat16"),
    ("must_keep_origin_dtype", "origin"),
    ("force_fp16", "fp16"),
)


@cache
def meant_key(key: str, mechanism: str) -> str | None:
    """The one spelling in a mechanism that differs from `key` by a slip; None where none or several are near.

    >>> meant_key("precison_mode", "session_key"), meant_key("precision", "session_key")
    ('precision_mode', None)

    Raises:
        KeyError: for a mechanism that does not exist.
    """
    return _slip(key, legal_keys(mechanism))


def meant_value(value: str, use: OptionUse) -> str | None:
    """The legal value of an option that a text differs from by letter case, a slip or its separators, or that is
    called so in the other precision option; None where it is not clear.

    >>> meant_value("ALL", Use("dump_mode", "str", ("input", "output", "all")))
    'all'
    """
    legal = [str(choice) for choice in use.values]
    other = counterpart(value)
    if other in legal:
        return other
    if use.pattern and not legal:
        joined = re.sub(r"\s*[,;|]\s*", "|", value.strip())
        return joined if joined != value and re.fullmatch(use.pattern, joined) else None
    return _slip(value, legal)


def counterpart(value: str) -> str | None:
    """What a value of precision_mode is called in precision_mode_v2, or the reverse.

    >>> counterpart("origin"), counterpart("allow_mix_precision"), counterpart("force_fp32")
    ('must_keep_origin_dtype', 'mixed_float16', None)
    """
    both = dict(_COUNTERPARTS) | {second: first for first, second in _COUNTERPARTS}
    return both.get(value)


def _slip(text: str, candidates: Iterable[str]) -> str | None:
    from difflib import SequenceMatcher  # imported on demand: rarely needed

    folded = text[:80].casefold()
    similar = [
        (SequenceMatcher(None, folded, candidate.casefold()).ratio(), candidate)
        for candidate in sorted(candidates)
        if re.findall(r"\d+", candidate) == re.findall(r"\d+", folded)
    ]
    similar.sort(reverse=True)
    if not similar or similar[0][0] < _SAME:
        return None
    return None if len(similar) > 1 and similar[1][0] > similar[0][0] - _APART else similar[0][1]
