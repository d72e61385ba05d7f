"""Matches findings with the baseline by path, check and line, also after a file or function was moved."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from npulint.digest import blake2b
from npulint.facts.model import FileFacts
from npulint.findings import Baseline, Finding
from npulint.findings import BaselineEntry as Entry
from npulint.lazy_regex import lazy_compile
from npulint.postprocess.engine import FILE_NOT_READ, SYNTAX_ERROR
from npulint.postprocess.identity import line_text, unstamped
from npulint.settings import Settings
from npulint.source_lines import LineProvider

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
    from npulint.baseline import load_baseline

    fresh = settings.write_baseline and not os.path.lexists(path)
    entries = [] if fresh else load_baseline(path, settings.language())
    place = EntryBuilder(os.path.dirname(path), lines)
    unread = {file.path for file in files if any(problem.fatal for problem in file.problems)}
    seen = {place.path(file.path) for file in files}
    repeated = {unstamped(place.path(file.path)) for file in files if file.kind == "artifact"}
    read = seen - {place.path(path) for path in unread}

    def judged(entry: Entry) -> bool:
        there = seen if entry.code in _OF_FILES else read  # unread files only have engine findings
        evaluated = entry.path in there or not place.exists(entry) or unstamped(entry.path) in repeated
        return entry.code in codes and evaluated

    return compare(path, entries, findings, place, judged, {place.path(name) for name in context_only})


def compare(
    path: str,
    entries: Sequence[Entry],
    findings: Sequence[Finding],
    place: EntryBuilder,
    judged: Callable[[Entry], bool],
    context_only: Collection[str] = (),
) -> Compared:
    """The findings (sorted) split by entries. Entries that this run did not evaluate (`judged` is false), and unmatched
    ones of `context_only` files, stay as they are. An entry matches as many findings as it counts, none with more
    places than its own. Then remaining findings and entries are matched as moved if check and line are equal and the
    scope is too, or the file of the entry is gone; run findings also move to artifacts of later runs."""
    budget = _Budget(filter(judged, entries))
    now = [place.entry(one) for one in findings]
    known = [budget.take(e for e in budget.at(entry.key) if e.places >= entry.places) for entry in now]
    known = [
        stayed or budget.take(_moved(entry, budget, place, one.artifact_location is not None))
        for stayed, entry, one in zip(known, now, findings, strict=True)
    ]
    left = budget.left()
    evaluated = [entry for entry in left if entry.path not in context_only]
    grown = {entry.key for had, entry in zip(known, now, strict=True) if not had}
    return Compared(
        [one for had, one in zip(known, findings, strict=True) if not had],
        [one for had, one in zip(known, findings, strict=True) if had],
        Baseline(
            path,
            active=merged_entries(entry for had, entry in zip(known, now, strict=True) if had),
            stale=[entry for entry in evaluated if entry.key in grown],
            fixed=[entry for entry in evaluated if entry.key not in grown],
            not_evaluated=[
                *(entry for entry in entries if not judged(entry)),
                *(entry for entry in left if entry.path in context_only),
            ],
        ),
    )


def merged_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Entries with equal ones merged and counted."""
    unique: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        have = unique.get(entry.key)
        if have is not None:
            count, places = have.count + entry.count, max(have.places, entry.places)
            entry = msgspec.structs.replace(have, count=count, places=places)
        unique[entry.key] = entry
    return list(unique.values())


class EntryBuilder:
    """Converts findings to entries. `folder` is that of the baseline file."""

    def __init__(self, folder: str, lines: LineProvider) -> None:
        self._folder = os.path.abspath(folder or ".")
        self._lines = lines
        self._there: dict[str, bool] = {}

    def entry(self, one: Finding) -> Entry:
        """The entry of one finding."""
        return Entry(
            path=self.path(one.path),
            check=one.name,
            code=one.code,
            line=_short(line_text(one, self._lines) or one.message),
            scope=scope(self._lines(one.path), one.span.line),
            places=one.places,
            message=one.message,
        )

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
        for entry in entries:
            self._rest[entry] += max(0, entry.count)
            self._by_key.setdefault(entry.key, []).append(entry)
            self._by_line.setdefault(entry.key[1:], []).append(entry)

    def at(self, key: tuple[str, str, str]) -> Sequence[Entry]:
        return self._by_key.get(key, ())

    def like(self, entry: Entry) -> Sequence[Entry]:
        return self._by_line.get(entry.key[1:], ())

    def take(self, candidates: Iterable[Entry]) -> bool:
        """Use up one match of the first entry that has any left; returns whether there was one."""
        for entry in candidates:
            if self._rest[entry] > 0:
                self._rest[entry] -= 1
                return True
        return False

    def left(self) -> list[Entry]:
        return [msgspec.structs.replace(entry, count=rest) for entry, rest in self._rest.items() if rest > 0]


def _moved(now: Entry, budget: _Budget, place: EntryBuilder, run: bool) -> Iterator[Entry]:
    """The entries that may have matched a finding before it moved, likeliest first; with `run`, also in artifacts of
    other runs."""
    candidates = [e for e in budget.like(now) if e.places >= now.places]
    name = os.path.basename(now.path)
    for entry in sorted(candidates, key=lambda e: (e.path != now.path, os.path.basename(e.path) != name, e.path)):
        again = run and unstamped(entry.path) == unstamped(now.path)
        if again or not place.exists(entry) or (entry.scope and entry.scope == now.scope):
            yield entry
