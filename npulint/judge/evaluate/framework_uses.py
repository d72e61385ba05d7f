"""What is seen of frameworks, joined across files and projects."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.judge.findings import FrameworkUse

SHOWN = ("tensorflow", "keras", "tf_slim", "npu_bridge", "npu_device", "torch", "torch_npu", "lightning")
"""The frameworks and adapters whose imports are shown, in this order."""
_ORDER = ("import", "configuration", "start")


def joined(uses: Iterable[FrameworkUse]) -> list[FrameworkUse]:
    """What is seen in several projects as one."""
    found: dict[tuple[str, str], FrameworkUse] = {}
    for use in uses:
        add(found, use)
    return sorted(found.values(), key=_rank)


def _rank(use: FrameworkUse) -> tuple[int, int, str]:
    place = SHOWN.index(use.framework) if use.framework in SHOWN else len(SHOWN)
    return _ORDER.index(use.use), place, use.framework


def add(found: dict[tuple[str, str], FrameworkUse], framework_use: FrameworkUse) -> None:
    """Add what is seen to what was found before, with the first place of both."""
    key = (framework_use.use, framework_use.framework)
    other = found.get(key)
    first = framework_use if other is None else min(framework_use, other, key=lambda use: (use.path, use.line))
    files = framework_use.files + (0 if other is None else other.files)
    found[key] = FrameworkUse(framework_use.framework, files, first.path, first.line, framework_use.use)
