"""Recognizes configuration files of training frameworks, and of containers, by the keys in their text."""

from __future__ import annotations

import re
from functools import cache

from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_arguments import file_signatures
from npulint.discover.manifests import describes_containers

MOST = 64 * 1024
"""Maximum bytes of a configuration that starts a training; larger files are data."""

_TARGET = lazy_compile(
    rb"(?m)^[ \t]*(?:- )?[\"']?(?:_?target_?|class_path)[\"']?[ \t]*:[ \t]*[\"']?[A-Za-z_]\w*(?:\.\w+)+"
)

Keys = tuple[bytes, ...]


def may_configure_training(data: bytes) -> bool:
    """Whether a text may be the configuration of a training framework, name classes of a program, or describe
    containers. The structure is not parsed: nested keys count wherever they are."""
    if describes_containers(data):
        return True
    if (b"target" in data or b"class_path" in data) and _TARGET.search(data):
        return True
    return any(
        all(_is_key(data, word) for word in required) and (not usual or any(_is_key(data, word) for word in usual))
        for required, usual in _signatures()
        if all(word in data for word in required)  # most files lack the words, which is found out faster
    )


@cache
def _signatures() -> tuple[tuple[Keys, Keys], ...]:
    """The last segments of the required and of the usual keys of each signature."""
    return tuple((_last(file_signature.required), _last(file_signature.usual)) for file_signature in file_signatures())


def _last(keys: tuple[str, ...]) -> Keys:
    return tuple(dict.fromkeys(key.rpartition(".")[2].encode() for key in keys))


def _is_key(data: bytes, word: bytes) -> bool:
    """Whether a word is a key of YAML, JSON or TOML somewhere in a text."""
    return word in data and _pattern(word).search(data) is not None


@cache
def _pattern(word: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?m)(?:^|[{,])[ \t]*(?:- )?[\"']?" + re.escape(word) + rb"[\"']?[ \t]*[:=]")
