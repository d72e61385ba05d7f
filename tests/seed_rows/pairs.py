"""Pairs of a reference and its port, of which either is written in another style than the other."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from tests.seed_rows.sources import DoesNotApplyError, Files
from tests.seed_rows.table import STYLES, filled

PAIRS = Path(__file__).parent / "pairs.yaml"
PLAIN = "as_it_is"


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference and its port with slots, and what stands in them on both sides."""

    reference: str
    migrated: str
    slots: dict[str, str]


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in the slots of the reference and of the port, in bad and in correct form, and the checks of which
    one must speak. `open` gives for a style why it is not reported yet."""

    program: str
    checks: tuple[str, ...]
    reference: dict[str, str] = {}
    bad: dict[str, str] = {}
    good: dict[str, str] = {}
    open: dict[str, str] = {}

    def rendered(self, styles: tuple[str, str], bad: bool) -> Files:
        """Both sides, each in its style. Raises `DoesNotApplyError`."""
        pair = _document().programs[self.program]
        texts = {
            "reference": filled(pair.reference, {**pair.slots, **self.reference}),
            "migrated": filled(pair.migrated, {**pair.slots, **(self.bad if bad else self.good)}),
        }
        return {
            f"{side}/{path}": text
            for (side, source), style in zip(texts.items(), styles, strict=True)
            for path, text in STYLES[style](source).items()
        }


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    programs: dict[str, Pair]
    cases: dict[str, Difference]


@cache
def _document() -> _Document:
    return msgspec.yaml.decode(PAIRS.read_bytes(), type=_Document)


def differences() -> dict[str, Difference]:
    """All cases by name."""
    return _document().cases


def combinations(name: str) -> list[tuple[str, str]]:
    """The styles of both sides that apply to a case: one side as it is, the other in each style."""
    case = differences()[name]
    found = []
    for style in STYLES:
        for styles in dict.fromkeys(((PLAIN, style), (style, PLAIN))):
            try:
                case.rendered(styles, bad=True), case.rendered(styles, bad=False)
            except DoesNotApplyError:
                continue
            found.append(styles)
    return found
