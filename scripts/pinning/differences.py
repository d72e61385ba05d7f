"""The differences between the records of two recordings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from scripts.pinning.plain import canonical
from scripts.pinning.projects import Project
from scripts.pinning.store import Stored

_NESTED = ("attributes", "arguments", "reference", "migrated", "near", "evidence")
_LABELS = {
    "finding": "code",
    "fact": "kind",
    "rest": "kind",
    "readiness": "item",
    "item": "item",
    "run": "field",
    "row": "part",
    "reported row": "part",
    "reported part": "part",
}
"""By kind of record the field whose value its differences are grouped by."""
_SIDES = ("reference.path", "reference.span", "migrated.path", "migrated.span")
_IDENTITIES: dict[str, Sequence[Sequence[str]]] = {
    "finding": (("code", "path", "span", "program"), ("code", "path", "span"), ("code", "path", "message")),
    "fact": (("kind", "name", "path", "span"), ("kind", "path", "span")),
    "rest": (("kind", "path"),),
    "program": (("entry",),),
    "readiness": (("entry", "item"),),
    "run": (("field",),),
    "comparison": ((),),
    "pair": (("reference", "migrated"), ("migrated",), ("reference",)),
    "item": (("programs", "item"),),
    "row": (("programs", "part", "what", "argument", *_SIDES), ("programs", "part", "what", "argument")),
    "reported row": (("programs", "part", "what", *_SIDES), ("programs", "part", "what")),
    "reported part": (("programs", "part"),),
}
"""By kind of record the fields by which an old and a new record are taken for the same, the most exact first."""

Flat = dict[str, str]
"""The JSON texts of all fields of a record; nested ones have dotted names."""


class Change(msgspec.Struct, frozen=True):
    """One difference: its kind, the project, the place there, and both values as JSON texts (empty: there is none)."""

    kind: str
    project: str
    place: str
    old: str = ""
    new: str = ""
    code: str = ""


def differences(old: dict[Project, Stored], new: dict[Project, Stored], common: bool = False) -> Iterator[Change]:
    """All differences between two recordings, in the order of their projects; those of the `common` ones only, or also
    which projects are in one of them only."""
    for project in sorted(old.keys() & new.keys() if common else old.keys() | new.keys()):
        before, after = old.get(project), new.get(project)
        if before is None or after is None:
            yield Change("project only in the new" if before is None else "project only in the old", str(project), "")
        else:
            yield from _of_project(str(project), before, after)


def _of_project(name: str, old: Stored, new: Stored) -> Iterator[Change]:
    before, after = old.header, new.header
    if before.content != after.content:
        yield Change("project with another content", name, "", before.content, after.content)
        return
    for part in sorted(before.failures.keys() | after.failures.keys()):
        whys = before.failures.get(part, ""), after.failures.get(part, "")
        if whys[0] != whys[1]:
            yield Change(f"project fails: {part}", name, "", *whys)
    if before.body != after.body:
        parts = _parts(before.failures.keys() | after.failures.keys())
        yield from changes(name, _without(old.records(), parts), _without(new.records(), parts))


_OF_PARTS = {"facts": ("fact", "rest")}


def _parts(failed: Iterable[str]) -> frozenset[str]:
    """The kinds of records that are missing where some parts have failed; all, unless only the facts are missing."""
    return frozenset(kind for part in failed for kind in _OF_PARTS.get(part, _IDENTITIES.keys() - _OF_PARTS["facts"]))


def _without(records: Iterable[dict[str, Any]], kinds: frozenset[str]) -> Iterator[dict[str, Any]]:
    return (record for record in records if record["record"] not in kinds)


def changes(name: str, old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]]) -> Iterator[Change]:
    """The differences between the old and the new records of one project."""
    before, after = _apart(old, new)
    for kind in sorted(before.keys() | after.keys()):
        gone, come = before.get(kind, []), after.get(kind, [])
        for identity in _IDENTITIES[kind]:
            pairs, gone, come = _paired(identity, gone, come)
            for left, right in pairs:
                yield from _changed(name, kind, left, right)
        yield from (
            Change(f"{_group(kind, flat)} gone", name, place(flat), shown(flat), "", _code(flat)) for flat in gone
        )
        yield from (
            Change(f"{_group(kind, flat)} new", name, place(flat), "", shown(flat), _code(flat)) for flat in come
        )


_ByKind = dict[str, list[Flat]]


def _apart(old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]]) -> tuple[_ByKind, _ByKind]:
    """The records that only one side has, by kind."""
    counts = Counter(map(canonical, old))
    after: _ByKind = defaultdict(list)
    for record in new:
        text = canonical(record)
        if counts[text]:
            counts[text] -= 1
        else:
            after[record["record"]].append(flat_of(record))
    before: _ByKind = defaultdict(list)
    for text in counts.elements():
        record = msgspec.json.decode(text)
        before[record["record"]].append(flat_of(record))
    return before, after


def flat_of(record: dict[str, Any]) -> Flat:
    """A record with the JSON text of each field."""
    flat: Flat = {}
    for name, value in record.items():
        if name in _NESTED and isinstance(value, dict):
            flat.update((f"{name}.{inner}", canonical(part).decode()) for inner, part in value.items())
        else:
            flat[name] = canonical(value).decode()
    return flat


def _paired(
    identity: Sequence[str], old: Sequence[Flat], new: Sequence[Flat]
) -> tuple[list[tuple[Flat, Flat]], list[Flat], list[Flat]]:
    """The pairs of old and new records with equal fields, and the others of both sides."""
    by_key: dict[tuple[str, ...], list[Flat]] = defaultdict(list)
    for flat in reversed(new):
        by_key[_key(identity, flat)].append(flat)
    pairs, gone = [], []
    for flat in old:
        same = by_key.get(_key(identity, flat))
        if same:
            pairs.append((flat, same.pop()))
        else:
            gone.append(flat)
    left = {id(flat) for flats in by_key.values() for flat in flats}
    return pairs, gone, [flat for flat in new if id(flat) in left]


def _key(identity: Sequence[str], flat: Flat) -> tuple[str, ...]:
    return tuple(flat.get(name, "") for name in identity)


def _changed(project: str, kind: str, old: Flat, new: Flat) -> Iterator[Change]:
    """A difference for each field."""
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name, ""), new.get(name, "")
        if before != after:
            prefix, _, inner = name.partition(".")
            argument = prefix == "arguments"
            field = "argument" if argument else inner if prefix == "attributes" else name
            where = f"{place(new)} {msgspec.json.decode(new['name'])}({inner})" if argument else place(new)
            yield Change(
                f"{_group(kind, new)} {field}{_direction(before, after)}", project, where, before, after, _code(new)
            )


def _direction(old: str, new: str) -> str:
    """What a difference between two values means for how certain they are; empty where that is the same."""
    before, after = _certainty(old), _certainty(new)
    if before is None or after is None:
        return ""
    if before != after:
        return ": now known" if after else ": no longer known"
    return ": order" if _members(old) == _members(new) else ""


def _certainty(text: str) -> bool | None:
    """Whether a value is known; None where values are neither known nor unknown."""
    value = msgspec.json.decode(text) if text else None
    if isinstance(value, dict) and "exact" in value:
        return bool(value["exact"])
    return value not in ("unknown", "maybe", "?") if isinstance(value, str) else None


def _members(text: str) -> list[bytes] | str:
    """The members of possible values, without their order; the text of other values."""
    value = msgspec.json.decode(text)
    return sorted(map(canonical, value["values"])) if isinstance(value, dict) else text


def _group(kind: str, flat: Flat) -> str:
    label = flat.get(_LABELS.get(kind, ""), "")
    return f"{kind} {msgspec.json.decode(label)}" if label else kind


def _code(flat: Flat) -> str:
    return str(msgspec.json.decode(flat["code"])) if "code" in flat else ""


def place(flat: Flat) -> str:
    """Where the subject of a record is: file and line, else the entry script, else the programs."""
    for prefix in ("", "migrated.", "reference.", "near."):
        if f"{prefix}span" in flat and f"{prefix}path" in flat:
            path, span = (msgspec.json.decode(flat[prefix + name]) for name in ("path", "span"))
            return f"{path}:{span[0]}"
    names = [msgspec.json.decode(flat[name]) for name in ("entry", "path", "programs", "field") if name in flat]
    return " -> ".join(names[0]) if names and isinstance(names[0], list) else str(names[0]) if names else ""


def shown(flat: Flat) -> str:
    """A record that has no counterpart, in one line."""
    hidden = ("record", "path", "span", "kind", "code", "programs", "fingerprint")
    return ", ".join(f"{name}={text}" for name, text in flat.items() if name not in hidden)
