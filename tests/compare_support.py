"""Two programs as texts, and what of their recipes differs."""

from __future__ import annotations

from npulint.compare.difference import Difference, SideValue
from npulint.compare.matching.matches import counterparts
from npulint.compare.program_diff import Start, compared
from npulint.compare_command import _paired, _recipes, _Sided
from npulint.compare_inputs import ComparedProject, below, project
from npulint.settings import Settings
from npulint.temp_project import materialize
from npulint.training_config.starts import paired_starts

Files = str | dict[str, str]
Told = tuple[str, str, str, str, str]
"""Part, change, what with its argument, and both texts (``-``: that side lacks it)."""


def differences(reference: Files, migrated: Files) -> list[Difference]:
    """What of the first pair of programs was compared; a text alone is train.py."""
    files = {f"{side}/{name}": text for side, own in _sides(reference, migrated) for name, text in own.items()}
    with materialize(files, configurations=True) as (_, sources):
        left, right = (project(below(sources, side), Settings(cache=False)) for side in ("reference", "migrated"))
        return _compared(left, right)


def _sides(reference: Files, migrated: Files) -> list[tuple[str, dict[str, str]]]:
    return [
        (side, {"train.py": files} if isinstance(files, str) else files)
        for side, files in (("reference", reference), ("migrated", migrated))
    ]


def _compared(left: ComparedProject, right: ComparedProject) -> list[Difference]:
    matched = counterparts(left.names, right.names)
    one, other = _paired(left, right, matched).pairs[0]
    contexts = left.whole.context, right.whole.context
    ways = paired_starts(contexts[0], one.entry, contexts[1], other.entry)
    starts = [Start(first, second, left.configs, right.configs) for first, second in ways]
    return compared(*_recipes(_Sided(left, one), _Sided(right, other), matched), matched, starts)


def told(reference: Files, migrated: Files) -> list[Told]:
    """What differs, in short."""
    return [short(one) for one in differences(reference, migrated) if one.change not in ("none", "unknown")]


def short(one: Difference) -> Told:
    """A difference as its part, change, subject and texts."""
    what = f"{one.what}({one.argument})" if one.argument else one.what
    return one.part, one.change, what, _text(one.reference), _text(one.migrated)


def _text(mark: SideValue | None) -> str:
    return "-" if mark is None else mark.text


def places(reference: Files, migrated: Files) -> list[str]:
    """Where the differences are reported, as ``path:line``."""
    found = differences(reference, migrated)
    marks = [one.place for one in found if one.change not in ("none", "unknown")]
    return [f"{mark.path}:{mark.span.line}" for mark in marks if mark is not None]
