"""Tells each difference once: what occurs at several places, or is one change seen in several calls, is one row."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.model import Span

_INDEX = lazy_compile(r"(?<=\.)\d+(?=\.)")
_CODE = (".py", ".sh", ".ipynb")
_BLOCKS = 8  # values of a network description; a file with so many others is another network
_DISTRIBUTED = ("reduction", "sampler", "ranks")
"""Parts of one change, a program that trains on several devices; the part that says most comes first."""
_NAMES = 4


def consolidated(differences: Iterable[Difference]) -> list[Difference]:
    """The differences, each once at its first place, with its other places in `also`; equal and undetermined values
    stay as they are."""
    rows = list(differences)
    differing = [row for row in rows if row.change not in ("none", "unknown")]
    rest = [row for row in rows if row.change in ("none", "unknown")]
    return [*_repeated(_distributed(_other_networks(_without_parts(differing)))), *rest]


def _without_parts(differences: Sequence[Difference]) -> list[Difference]:
    """Without calculations that are part of an argument that differs as a whole."""
    arguments = [
        (side.path, side.span)
        for difference in differences
        if difference.change == "changed" and difference.argument
        for side in (difference.reference, difference.migrated)
        if side is not None
    ]
    return [
        difference
        for difference in differences
        if not (
            _calculates(difference)
            and any(_is_within(difference.migrated or difference.reference, *each) for each in arguments)
        )
    ]


def _calculates(difference: Difference) -> bool:
    return (
        difference.part in ("arithmetic", "operation")
        and difference.change in ("removed", "added")
        and not difference.argument
    )


def _is_within(inner: SideValue | None, path: str, outer: Span) -> bool:
    if inner is None or inner.path != path or inner.span == outer:
        return False
    first, last = (inner.span.line, inner.span.column), (inner.span.end_line, inner.span.end_column)
    return (outer.line, outer.column) <= first and last <= (outer.end_line, outer.end_column)


def _repeated(differences: Sequence[Difference]) -> list[Difference]:
    """The same difference at several places becomes one."""
    return [_joined(group) for group in _grouped(differences, _subject)]


def _subject(difference: Difference) -> Hashable:
    texts = [None if side is None else side.text for side in (difference.reference, difference.migrated)]
    return (
        difference.part,
        difference.change,
        _INDEX.sub("*", difference.what),
        difference.argument,
        *texts,
        difference.certain,
        difference.adapter,
        difference.evaluates,
        difference.constants,
    )


def _joined(group: Sequence[Difference], what: str = "") -> Difference:
    """The first difference of a group, for all of them."""
    first, *others = group
    if not others:
        return first
    names = {difference.what for difference in group}
    what = what or (first.what if len(names) == 1 else _INDEX.sub("*", first.what))
    also = (
        *first.also,
        *((other.reference, other.migrated) for other in others),
        *(way for other in others for way in other.also),
    )
    return msgspec.structs.replace(first, what=what, also=also, count=sum(difference.count for difference in group))


def _grouped(differences: Iterable[Difference], key: Callable[[Difference], Hashable]) -> list[list[Difference]]:
    groups: dict[Hashable, list[Difference]] = defaultdict(list)
    for difference in differences:
        groups[key(difference)].append(difference)
    return list(groups.values())


def _other_networks(differences: Sequence[Difference]) -> list[Difference]:
    """Many layers that differ between two descriptions of networks are one difference: another file is read."""
    result: list[Difference] = []
    heads = {_head(difference) for difference in differences if difference.part == "layer"}
    for group in _grouped(differences, lambda difference: _description(difference, heads) or id(difference)):
        difference = group[0]
        if len(group) < _BLOCKS or difference.reference is None or difference.migrated is None:
            result += group
            continue
        left, right = (
            side.shown_as(posixpath.basename(side.path)) for side in (difference.reference, difference.migrated)
        )
        joined = _joined(group, left.text)
        result.append(msgspec.structs.replace(joined, reference=_plain(left), migrated=_plain(right), also=()))
    return result


def _plain(side: SideValue) -> SideValue:
    return msgspec.structs.replace(side, provenance=())


def _head(difference: Difference) -> str:
    return difference.what.partition(".")[0]


def _description(difference: Difference, heads: Container[str]) -> tuple[str, str] | None:
    """The two configuration files of different names that describe a layer, of which other values are under one of the
    names `heads`; None for anything else."""
    if (
        difference.part not in ("layer", "setting")
        or _head(difference) not in heads
        or not difference.named
        or difference.reference is None
        or difference.migrated is None
    ):
        return None
    files = difference.reference.path, difference.migrated.path
    if any(path.endswith(_CODE) for path in files) or len({posixpath.basename(path) for path in files}) == 1:
        return None
    return files


def _distributed(differences: Sequence[Difference]) -> list[Difference]:
    """What only one program does for training on several devices (process group, sampler, wrapper, epochs of the
    sampler) is one difference, told under the part that says most."""

    def key(difference: Difference) -> Hashable:
        alone = (
            difference.change in ("removed", "added") and difference.part in _DISTRIBUTED and not difference.argument
        )
        return difference.change if alone and not difference.evaluates else id(difference)

    return [_one_of_many(group) if len(group) > 1 else group[0] for group in _grouped(differences, key)]


def _one_of_many(group: Sequence[Difference]) -> Difference:
    ordered = sorted(group, key=lambda difference: (not difference.certain, _DISTRIBUTED.index(difference.part)))
    joined = _joined(ordered)
    names = list(dict.fromkeys(name for difference in ordered for name in difference.what.split(", ")))
    text = ", ".join(names[:_NAMES]) + (", …" if len(names) > _NAMES else "")
    sides = {name: side.shown_as(text) for name in ("reference", "migrated") if (side := getattr(joined, name))}
    return msgspec.structs.replace(joined, what=text, **sides)
