"""Every sentence of npulint's messages, in English and Chinese. The texts of checks are in their YAML files.

They are in the JSON files of this folder: by key, the English and the Chinese sentence."""

from __future__ import annotations

import os
from functools import cache

import msgspec

FAMILIES: tuple[str, ...] = (
    "agent",
    "baseline",
    "change",
    "commands",
    "compare",
    "doctor",
    "effort",
    "fix",
    "fixes",
    "github",
    "graphs",
    "html",
    "init",
    "live",
    "mcp",
    "merged",
    "options",
    "page",
    "pair",
    "port",
    "problem",
    "recording",
    "reveal",
    "runs",
    "server",
    "settings",
    "short",
    "step",
    "survey",
    "topic",
    "try",
    "verdict",
    "versions",
    "word",
)
"""The first parts of keys whose sentences are in a separate file, which is read on first use."""


def say(lang: str, key: str, /, **values: object) -> str:
    """The sentence `key` in `lang` (``en`` or ``zh``) with its values filled in."""
    text = _entry(key)[lang == "zh"]
    return text.format(**values) if values else text


def count(lang: str, key: str, n: int, /, **values: object) -> str:
    """The same for a sentence about `n` things; English tells one from many by ``one|many``."""
    singular, _, many = _entry(key)[lang == "zh"].partition("|")
    return (many if many and n != 1 else singular).format(n=n, **values)


def with_label(lang: str, label: str, text: str) -> str:
    """The text behind its label, with the colon of the language."""
    return say(lang, "heading", text=label) + ("" if lang == "zh" else " ") + text


def known(key: str) -> bool:
    """Whether there is such a sentence."""
    try:
        return bool(_entry(key))
    except KeyError:
        return False


def _entry(key: str) -> tuple[str, str]:
    family = key.partition(".")[0]
    if key in table("main") or family not in FAMILIES:
        return table("main")[key]
    return table(family)[key]


@cache
def table(family: str) -> dict[str, tuple[str, str]]:
    """The sentences of one of the `FAMILIES`, or of all others (``main``)."""
    with open(os.path.join(os.path.dirname(__file__), f"{family}.json"), "rb") as stream:
        return msgspec.json.decode(stream.read(), type=dict[str, tuple[str, str]])
