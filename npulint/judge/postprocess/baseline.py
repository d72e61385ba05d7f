"""Matches findings with the baseline by path, check and line, also after a file or function was moved."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from npulint.core.digest import blake2b
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import FileFacts
from npulint.judge.evaluate.places import Place, covered, narrowed, place_of
from npulint.judge.findings import Baseline, Finding, Related
from npulint.judge.findings import BaselineEntry as Entry
from npulint.judge.postprocess.engine import FILE_NOT_READ, SYNTAX_ERROR
from npulint.judge.postprocess.identity import line_text, unstamped
from npulint.judge.settings import Settings
from npulint.judge.source_lines import LineProvider

_OF_FILES = (SYNTAX_ERROR.code, FILE_NOT_READ.code)
_SHOWN = 120  # characters of a line
_HEAD = lazy_compile(r"\s*(?:async\s+def|def|class)\s+(\w+)")


class Compared(msgspec.Struct, frozen=True):
    """The `new` and `known` findings; without a baseline all are new."""

    new: list[Finding]
    known: list[Finding] = []
    baseline: Baseline | None = None


def compared_with(
    settings: Settings,
    findings: list[Finding],
    files: Sequence[FileFacts],
    codes: Collection[str],
    lines: LineProvider,
    context_only: Collection[str] = (),
) -> Compared:
    """The findings (sorted) split by the baseline of the settings. `files` are those of the run, `codes` the selected
    checks. Entries of `context_only` files match findings but are never stale. Raises `ConfigError` for an unreadable
    baseline."""
    path = settings.baseline
    if not path:
        return Compared(findings)
    from npulint.judge.baseline import load_baseline

    fresh = settings.write_baseline and not os.path.lexists(path)
    entries = [] if fresh else load_baseline(path, settings.language())
    place = EntryBuilder(os.path.dirname(path), lines)
    unread = {file.path for file in files if any(problem.fatal for problem in file.problems)}
    seen = {place.path(file.path) for file in files}
    repeated = {unstamped(place.path(file.path)) for file in files if file.kind == "artifact"}
    read = seen - {place.path(path) for path in unread}

    digests = {_digest(path) for path in seen}

    def judged(entry: Entry) -> bool:
        there = seen if entry.code in _OF_FILES else read  # unread files only have engine findings
        evaluated = entry.path in there or not place.exists(entry) or unstamped(entry.path) in repeated
        return entry.code in codes and (evaluated or any(_file_of(each) in digests for each in entry.at))

    return compare(path, entries, findings, place, judged, {place.path(name) for name in context_only}, digests)


def compare(
    path: str,
    entries: Sequence[Entry],
    findings: Sequence[Finding],
    place: EntryBuilder,
    judged: Callable[[Entry], bool],
    context_only: Collection[str] = (),
    seen: Collection[str] | None = None,
) -> Compared:
    """The findings (sorted) split by entries. Entries that this run did not evaluate (`judged` is false), and unmatched
    ones of `context_only` files, stay as they are. So do the places of entries in other files than those `seen`, whose
    paths are given by their digests (None: all). An entry matches as many findings as it counts, none with more
    places than its own; of findings with equal lines, those in the function of the entry come first. Then remaining
    findings and entries are matched as moved if check and line are equal and the scope is too, or the file of the entry
    is gone; run findings also move to artifacts of later runs. Of the remaining grouped findings, places that an entry
    records are known, and only the others are new."""
    budget = _Budget(filter(judged, entries))
    now = [place.entry(finding) for finding in findings]
    matched = [
        budget.take(e for e in budget.at(entry.key) if e.scope == entry.scope and _accepts(e, entry)) for entry in now
    ]
    matched = [
        stayed or budget.take(e for e in budget.at(entry.key) if _accepts(e, entry))
        for stayed, entry in zip(matched, now, strict=True)
    ]
    matched = [
        stayed or budget.take(_moved(entry, budget, place, finding.artifact_location is not None))
        for stayed, entry, finding in zip(matched, now, findings, strict=True)
    ]
    parts = [
        (None, finding) if had else _split(finding, entry, budget, place)
        for had, entry, finding in zip(matched, now, findings, strict=True)
    ]
    left = budget.left()
    apart = [entry for entry in left if entry.path in context_only or _unseen(entry, seen)]
    evaluated = [entry for entry in left if entry not in apart]
    grown = {entry.key for had, entry in zip(matched, now, strict=True) if not had}
    accepted = [part for _, part in parts if part is not None]
    active = [
        _with_unseen(had, entry, seen) if had else place.entry(part)
        for had, entry, (_, part) in zip(matched, now, parts, strict=True)
        if part is not None
    ]
    return Compared(
        [part for part, _ in parts if part is not None],
        accepted,
        Baseline(
            path,
            active=merged_entries(active),
            stale=[entry for entry in evaluated if entry.key in grown],
            fixed=[entry for entry in evaluated if entry.key not in grown],
            not_evaluated=[
                *(entry for entry in entries if not judged(entry)),
                *apart,
            ],
        ),
    )


def merged_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Entries with equal ones of one function merged and counted."""
    unique: dict[tuple[str, ...], Entry] = {}
    for entry in entries:
        key = *entry.key, entry.scope
        have = unique.get(key)
        if have is not None:
            wider = max(have, entry, key=lambda baseline_entry: baseline_entry.places)
            entry = msgspec.structs.replace(wider, count=have.count + entry.count)
        unique[key] = entry
    return list(unique.values())


class EntryBuilder:
    """Converts findings to entries. `folder` is that of the baseline file."""

    def __init__(self, folder: str, lines: LineProvider) -> None:
        self._folder = os.path.abspath(folder or ".")
        self._lines = lines
        self._there: dict[str, bool] = {}

    def entry(self, finding: Finding) -> Entry:
        """The entry of one finding."""
        places = covered(finding)
        return Entry(
            path=self.path(finding.path),
            check=finding.name,
            code=finding.code,
            line=_short(line_text(finding, self._lines) or finding.message),
            scope=self.scope(finding),
            places=finding.places,
            message=finding.message,
            at=tuple(sorted(map(self.place, places))) if len(places) > 1 else (),
        )

    def scope(self, located: Finding | Related) -> str:
        """The function or class around a place."""
        return scope(self._lines(located.path), located.span.line)

    def place(self, related: Related) -> str:
        """The digest of a place: of its path and of its line."""
        lines, number = self._lines(related.path), related.span.line
        text = " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else related.message
        return f"{_digest(self.path(related.path))}:{_digest(text)}"

    def path(self, path: str) -> str:
        """A path of the run relative to the baseline file."""
        try:
            return os.path.relpath(path, self._folder).replace(os.sep, "/")
        except ValueError:  # on another drive
            return path

    def exists(self, entry: Entry) -> bool:
        """Whether the file of an entry exists."""
        there = self._there.get(entry.path)
        if there is None:
            there = self._there[entry.path] = os.path.lexists(os.path.join(self._folder, entry.path))
        return there


def scope(lines: Sequence[str], number: int) -> str:
    """The function or class around a line, by indentation: ``Model.build``; empty at module level."""
    if not 0 < number <= len(lines):
        return ""
    names: list[str] = []
    depth = _indent(lines[number - 1])
    for line in reversed(lines[: number - 1]):
        if depth == 0:
            break
        if line.strip() and _indent(line) < depth and not line.lstrip().startswith(("#", ")", "]", "}")):
            depth = _indent(line)
            head = _HEAD.match(line)
            if head:
                names.append(head[1])
    return ".".join(reversed(names))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


def _recorded(entry: Entry) -> Sequence[str]:
    """The digests of the places of an entry; empty if they were not recorded."""
    if entry.places == 1:
        return [f"{_digest(entry.path)}:{_digest(entry.line)}"]
    return entry.at if len(entry.at) == entry.places else ()


def _file_of(place: str) -> str:
    """The digest of the path of a recorded place."""
    return place.partition(":")[0]


def _unseen(entry: Entry, seen: Collection[str] | None) -> list[str]:
    """The recorded places of an entry in files that the run has not read."""
    return [] if seen is None else [place for place in entry.at if _file_of(place) not in seen]


def _with_unseen(had: Entry, now: Entry, seen: Collection[str] | None) -> Entry:
    """The entry of a finding, with the places of its former entry in files that the run has not read."""
    unseen = _unseen(had, seen)
    if not unseen:
        return now
    at = tuple(sorted((*_recorded(now), *unseen)))
    return msgspec.structs.replace(had, count=1, places=len(at), at=at)


def _lines_of(places: Iterable[str]) -> Counter[str]:
    """How many of the places have the same line, in whatever file."""
    return Counter(place.partition(":")[2] for place in places)


def _accepts(entry: Entry, now: Entry) -> bool:
    """Whether an entry covers all places of a finding, as far as they are recorded; else, whether it covers as many."""
    if entry.places < now.places:
        return False
    old, new = _recorded(entry), _recorded(now)
    return now.places == 1 or not old or not new or not _lines_of(new) - _lines_of(old)


def _split(finding: Finding, now: Entry, budget: _Budget, place: EntryBuilder) -> tuple[Finding | None, Finding | None]:
    """The new and the known part of a finding that no entry accepts as a whole; either may be missing."""
    places = covered(finding)
    keys = [place.place(each) for each in places]
    alike = [entry for entry in budget.of_check(now.code) if not set(keys).isdisjoint(_recorded(entry))]
    if not now.at and not any(entry.at for entry in alike):
        return finding, None
    budget.use(alike)
    free: Counter[str] = Counter()
    for entry in alike:
        free |= Counter(_recorded(entry))
    moved = _lines_of(free.elements())
    accepted: list[Place] = []
    scopes = {entry.scope for entry in alike}
    pairs = sorted(zip(places, keys, strict=True), key=lambda pair: place.scope(pair[0]) not in scopes)
    for recorded in (free, moved):  # the same place first, then the same line in another file
        for each, key in pairs:
            word = key if recorded is free else key.partition(":")[2]
            if place_of(each) not in accepted and recorded[word] > 0:
                accepted.append(place_of(each))
                recorded[word] -= 1
                if recorded is free:
                    moved[key.partition(":")[2]] -= 1
    new = [place_of(each) for each in places if place_of(each) not in accepted]
    if not accepted or not new:
        return (finding, None) if new else (None, finding)
    fresh = narrowed(finding, new)
    text = place.place(Related(fresh.path, fresh.span, ""))
    mark = blake2b(f"{finding.fingerprint}:{text}".encode(), digest_size=10).hexdigest()
    return msgspec.structs.replace(fresh, fingerprint=mark), narrowed(finding, accepted)


def _short(text: str) -> str:
    """A line as stored in entries; long ones are cut and get a digest."""
    if len(text) <= _SHOWN:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[:_SHOWN]}… {digest}"


def _indent(line: str) -> int:
    line = line.expandtabs()
    return len(line) - len(line.lstrip())


class _Budget:
    """The number of findings that each entry can still match."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._rest: Counter[Entry] = Counter()
        self._by_key: dict[tuple[str, str, str], list[Entry]] = {}
        self._by_line: dict[tuple[str, str], list[Entry]] = {}
        self._by_check: dict[str, list[Entry]] = {}
        self._used: set[Entry] = set()
        for entry in entries:
            self._rest[entry] += max(0, entry.count)
            self._by_key.setdefault(entry.key, []).append(entry)
            self._by_line.setdefault(entry.key[1:], []).append(entry)
            self._by_check.setdefault(entry.code, []).append(entry)

    def at(self, key: tuple[str, str, str]) -> Sequence[Entry]:
        return self._by_key.get(key, ())

    def like(self, entry: Entry) -> Sequence[Entry]:
        return self._by_line.get(entry.key[1:], ())

    def of_check(self, code: str) -> Sequence[Entry]:
        return self._by_check.get(code, ())

    def use(self, entries: Iterable[Entry]) -> None:
        """Mark entries that accept some places of findings, so that they are not left."""
        self._used.update(entries)

    def take(self, candidates: Iterable[Entry]) -> Entry | None:
        """Use up one match of the first entry that has any left; returns that entry, None if there is none."""
        for entry in candidates:
            if self._rest[entry] > 0:
                self._rest[entry] -= 1
                return entry
        return None

    def left(self) -> list[Entry]:
        rests = ((entry, rest) for entry, rest in self._rest.items() if rest > 0 and entry not in self._used)
        return [msgspec.structs.replace(entry, count=rest) for entry, rest in rests]


def _moved(now: Entry, budget: _Budget, place: EntryBuilder, run: bool) -> Iterator[Entry]:
    """The entries that may have matched a finding before it moved, likeliest first; with `run`, also in artifacts of
    other runs."""
    candidates = [e for e in budget.like(now) if _accepts(e, now)]
    name = os.path.basename(now.path)
    for entry in sorted(candidates, key=lambda e: (e.path != now.path, os.path.basename(e.path) != name, e.path)):
        again = run and unstamped(entry.path) == unstamped(now.path)
        if again or not place.exists(entry) or (entry.scope and entry.scope == now.scope):
            yield entry
