"""Operator types of CANN, as mixed precision lists and graphs name them."""

from __future__ import annotations

from functools import cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.suggest import may_help, similar
from npulint.data import lazy_table

_TYPE = lazy_compile(r"_?[A-Z][A-Za-z0-9_]*")
_SUFFIX = lazy_compile(r"(D|Ex|V\d)$")
_LOOKALIKE = str.maketrans({"1": "l", "0": "o", "_": None, ".": None, "/": None, "-": None})
_SHORT = 6  # shorter real types may differ in one letter


class _Operators(msgspec.Struct, frozen=True):
    types: frozenset[str]
    engine: frozenset[str]
    tensorflow: dict[str, str]


_operators = lazy_table("mixlist_ops.json", _Operators)


def known_op(name: str) -> bool:
    """Whether a name may be an operator type. No list is complete, so a name is only rejected if it cannot be one, is
    clearly a misspelling, or is the TensorFlow name of a recorded type."""
    operators = _operators()
    if name in operators.types or name in operators.engine:
        return True
    if not _TYPE.fullmatch(name):
        return False
    base = _SUFFIX.sub("", name)
    return base in operators.types or _misspelt(name) is None


def near_op(name: str) -> str | None:
    """The operator type that an unknown name probably means."""
    if known_op(name):
        return None
    meant = _misspelt(name)
    if meant is None and may_help():
        from difflib import get_close_matches  # imported on demand: rarely needed

        plain = _by_plain_form()
        given = _plain(name[:80]).removeprefix("tf")
        close = get_close_matches(given, similar(given, plain), n=1, cutoff=0.7)
        meant = min(plain[close[0]]) if close else None
    return meant


@cache
def _misspelt(name: str) -> str | None:
    """The type that a name certainly means: TensorFlow's name for it, different letter case, a one-letter typo."""
    operators = _operators()
    if name in operators.tensorflow:
        return operators.tensorflow[name]
    plain = _plain(name[:80])
    same = _by_plain_form().get(plain)
    if same:
        return min(same)
    return _one_slip(name) if len(name) >= _SHORT else None


@cache
def _by_plain_form() -> dict[str, list[str]]:
    """The operator types by their plain form."""
    form: dict[str, list[str]] = {}
    for op in sorted(_operators().types, reverse=True):
        form.setdefault(_plain(op), []).append(op)
    return form


@cache
def _by_beginning() -> dict[tuple[str, int], list[str]]:
    """The operator types by their first letter and their length."""
    beginning: dict[tuple[str, int], list[str]] = {}
    for op in _operators().types:
        beginning.setdefault((op[0], len(op)), []).append(op)
    return beginning


def _one_slip(name: str) -> str | None:
    sizes = (len(name) - 1, len(name), len(name) + 1)
    near = (op for size in sizes for op in _by_beginning().get((name[0], size), ()))
    return min((op for op in near if slipped(name, op)), default=None)


def slipped(name: str, other: str) -> bool:
    """Whether two names differ by one letter inside; a different ending or digit is a different type."""
    start = 0
    while start < min(len(name), len(other)) and name[start] == other[start]:
        start += 1
    rest, expected = name[start:], other[start:]
    if not rest or not expected or (rest[0] + expected[0]).isdigit():
        return False
    swapped = rest[:2] == expected[1::-1] and rest[2:] == expected[2:]
    return bool(rest[1:]) and (swapped or rest[1:] in (expected, expected[1:]) or rest == expected[1:])


def _plain(name: str) -> str:
    return name.translate(_LOOKALIKE).casefold()


# Fusion passes of CANN, as switch files and reports name them.

_passes = lazy_table("fusion_passes.json", frozenset[str])
_ENDS = ("", "pass", "fusionpass")
_SHORT_FUSION_PASSES = 12  # shorter names may differ in one letter


def known_pass(name: str) -> bool:
    """Whether the name is that of a recorded fusion pass. No list is complete: releases have different ones."""
    return name in _passes()


def near_pass(name: str) -> str | None:
    """The fusion pass that an unknown name certainly means: different letter case, a missing end, a one-letter typo."""
    if known_pass(name):
        return None
    plain = _plain_pass_name(name[:120])
    same = next((names for end in _ENDS if (names := _passes_by_plain_name().get(plain + end))), None)
    if same or len(name) < _SHORT_FUSION_PASSES:
        return same
    near = (
        fusion_pass
        for size in (-1, 0, 1)
        for fusion_pass in _passes_by_beginning().get((name[0], len(name) + size), ())
    )
    return min((fusion_pass for fusion_pass in near if slipped(name, fusion_pass)), default=None)


@cache
def _passes_by_plain_name() -> dict[str, str]:
    return {_plain_pass_name(name): name for name in sorted(_passes(), reverse=True)}


@cache
def _passes_by_beginning() -> dict[tuple[str, int], list[str]]:
    beginning: dict[tuple[str, int], list[str]] = {}
    for name in _passes():
        beginning.setdefault((name[0], len(name)), []).append(name)
    return beginning


def _plain_pass_name(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()
