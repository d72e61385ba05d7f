"""Two programs as texts, and what of their recipes differs."""

from __future__ import annotations

from npulint.commands.check.temp_project import materialize
from npulint.commands.compare.compare_command import ProjectComparer
from npulint.commands.compare.compare_inputs import ComparedProject, below, project
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.settings import Settings

Files = str | dict[str, str]
ShortDifference = tuple[str, str, str, str, str]
"""Part, change, what with its argument, and both texts (``-``: that side lacks it)."""


def differences(reference: Files, migrated: Files) -> list[Difference]:
    """What of the first pair of programs was compared; a text alone is train.py."""
    files = {f"{side}/{name}": text for side, own in _sides(reference, migrated) for name, text in own.items()}
    with materialize(files, configurations=True) as (_, sources):
        left, right = (project(below(sources, side), Settings().declared()) for side in ("reference", "migrated"))
        return _compared(left, right)


def _sides(reference: Files, migrated: Files) -> list[tuple[str, dict[str, str]]]:
    return [
        (side, {"train.py": files} if isinstance(files, str) else files)
        for side, files in (("reference", reference), ("migrated", migrated))
    ]


def _compared(left: ComparedProject, right: ComparedProject) -> list[Difference]:
    comparer = ProjectComparer(left, right, Settings(cache=False), Catalogue())
    one, other = comparer.pairs().pairs[0]
    return comparer.differences(one, other, comparer.starts(one, other))


def short_differences(reference: Files, migrated: Files) -> list[ShortDifference]:
    """The differences in short form."""
    return [short(one) for one in differences(reference, migrated) if one.change not in ("none", "unknown")]


def short(one: Difference) -> ShortDifference:
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
