"""The sentence about checks that find nothing because a release or the chip is not known."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.core.texts import count, say, with_label
from npulint.judge.findings import OpenRelease
from npulint.judge.settings import TARGET_KEYS

_KEYS, _CHECKS = 4, 2  # that are named


def labelled(opened: Sequence[OpenRelease], lang: str) -> list[str]:
    """The sentence behind its label, as a line of its own; none where everything is known."""
    return [with_label(lang, say(lang, "open"), sentence(opened, lang))] if opened else []


def sentence(opened: Sequence[OpenRelease], lang: str) -> str:
    """How many checks need what, and how to state it: ``2 checks need a version or a chip …: declare …``."""
    by_key: dict[str, dict[str, None]] = {}
    for one in opened:
        by_key.setdefault(one.key, {})[one.name] = None
    ordered = sorted(by_key.items(), key=lambda item: (item[0] not in TARGET_KEYS, -len(item[1]), item[0]))
    shown = ordered[:_KEYS]
    declared = [_named(f"`--target {key}=…`", list(names), lang) for key, names in shown if key in TARGET_KEYS]
    pinned = [_named(f"`{key}`", list(names), lang) for key, names in shown if key not in TARGET_KEYS]
    if len(ordered) > _KEYS:  # the last ones are packages, of which there are many
        pinned.append(count(lang, "open.more", len(ordered) - _KEYS))
    what = [
        say(lang, key, list=say(lang, "list.and").join(listed))
        for key, listed in (("open.declare", declared), ("open.pin", pinned))
        if listed
    ]
    checks = len({one.name for one in opened})
    return count(lang, "open.checks", checks, list=say(lang, "list.clause").join(what))


def _named(key: str, names: Sequence[str], lang: str) -> str:
    """What is not known, and for which checks."""
    shown = [*names[:_CHECKS], *([count(lang, "open.others", len(names) - _CHECKS)] if len(names) > _CHECKS else [])]
    return key + say(lang, "aside", text=say(lang, "list.and").join(shown))
