"""Recognizes configuration files of training frameworks by the keys in their text."""

from __future__ import annotations

import re
from functools import cache

from npulint.data.training_arguments import file_signatures
from npulint.lazy_regex import lazy_compile

MOST = 64 * 1024
"""Maximum bytes of a configuration that starts a training; larger files are data."""

_TARGET = lazy_compile(
    rb"(?m)^[ \t]*(?:- )?[\"']?(?:_?target_?|class_path)[\"']?[ \t]*:[ \t]*[\"']?[A-Za-z_]\w*(?:\.\w+)+"
)


def may_configure_training(data: bytes) -> bool:
    """Whether a text may be the configuration of a training framework, or name classes of a program. The structure is
    not parsed: nested keys count wherever they are."""
    if _TARGET.search(data):
        return True
    found = {match.decode() for match in _keys().findall(data)}
    if not found:
        return False
    return any(
        found.issuperset(map(_last, one.required)) and (not one.usual or not found.isdisjoint(map(_last, one.usual)))
        for one in file_signatures()
    )


@cache
def _keys() -> re.Pattern[bytes]:
    """All keys of the signatures, as keys of YAML, JSON or TOML."""
    names = {_last(key) for one in file_signatures() for key in (*one.required, *one.usual)}
    listed = "|".join(sorted(map(re.escape, names)))
    return re.compile(rf"(?m)(?:^|[{{,])[ \t]*(?:- )?[\"']?({listed})[\"']?[ \t]*[:=]".encode())


def _last(key: str) -> str:
    return key.rpartition(".")[2]
