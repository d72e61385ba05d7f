"""Corrections of misspelled adapter options and rejected values, where they are certain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from npulint.data.options import OptionUse, legal_keys

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
    legal = [str(one) for one in use.values]
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
