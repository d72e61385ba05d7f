"""Records what npulint reports for many projects, and lists every difference between two recordings.

    python -m scripts.pin record OUT [PROJECT ...] [--pair REFERENCE MIGRATED] [--list FILE] [--resume]
    python -m scripts.pin compare OLD NEW [--code CODE] [--kind WORDS] [--common]
        [--project WORDS] [--examples N] [--all FILE]

`record` writes a file for each project to the folder OUT: all findings, all facts with the values of their attributes
and of the arguments of calls, and the answers of the readiness checklist; for a pair everything that `npulint compare`
reports, and every compared value with its provenance, reported or not. A line of FILE is a folder, or with a second
column after a tab a pair; a third column has targets such as ``torch=2.7``. Folders are relative to --root. A part of a
project that takes more than --seconds of the processor or more than --megabytes of memory, or that fails, is recorded
as failed. With --resume, what was recorded of the same content with the same npulint stays. OUT/projects.tsv lists all
projects, for --list.

`compare` prints the differences by kind, the most frequent first, with examples; --all writes every difference to a
file, as JSON lines. Exit code 1 if there are any."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from scripts.pinning.differences import Change, differences
from scripts.pinning.projects import Project, content_of, engine_digest, parsed_list
from scripts.pinning.recording import Limits, record, warm_up
from scripts.pinning.store import Header, Stored, file_name, stored, write_list

_LONGEST = 240  # characters of a value that is printed


def main(argv: Sequence[str] | None = None) -> int:
    """Record or compare, as the command line says."""
    options = _parser().parse_args(argv)
    return int(options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts.pin", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record", help="record what npulint reports for projects")
    recording.set_defaults(run=run_record)
    recording.add_argument("out", type=Path, help="folder of the recording")
    recording.add_argument("projects", nargs="*", metavar="PROJECT", help="a project folder")
    recording.add_argument("--pair", nargs=2, action="append", default=[], metavar="FOLDER", help="folders to compare")
    recording.add_argument("--list", type=Path, action="append", default=[], metavar="FILE", help="a list of projects")
    recording.add_argument("--root", type=Path, default=Path(), help="what the folders are relative to")
    recording.add_argument("--target", action="append", default=[], metavar="KEY=VALUE", help="for all projects")
    recording.add_argument("--resume", action="store_true", help="keep what has not changed")
    recording.add_argument("--seconds", type=int, default=300, help="of the processor for a part of a project")
    recording.add_argument("--megabytes", type=int, default=12_000, help="of memory for a part of a project")
    comparing = commands.add_parser("compare", help="list the differences between two recordings")
    comparing.set_defaults(run=run_compare)
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--code", action="append", default=[], help="only checks whose code begins so")
    comparing.add_argument("--kind", action="append", default=[], help="only kinds of differences with these words")
    comparing.add_argument("--project", default="", help="only projects whose name contains this")
    comparing.add_argument("--common", action="store_true", help="only projects that are in both")
    comparing.add_argument("--examples", type=int, default=3, help="of each kind")
    comparing.add_argument("--all", type=Path, metavar="FILE", help="write every difference to this file")
    return parser


def run_record(options: argparse.Namespace) -> int:
    """Record all projects, the smallest first. Exit code 2 if a folder is missing."""
    try:
        contents = {project: content_of(project, options.root) for project in _projects(options)}
    except NotADirectoryError as missing:
        print(f"{missing}: not a folder", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    engine, before = engine_digest(), stored(options.out)
    limits = Limits(options.seconds, options.megabytes << 20)
    headers: list[Header] = []
    begun = time.monotonic()
    warm_up()
    for number, (project, content) in enumerate(sorted(contents.items(), key=lambda pair: (pair[1].size, pair[0])), 1):
        header = Header(project, content.digest, engine)
        old = before.get(project)
        if options.resume and old is not None and (old.header.content, old.header.engine) == (content.digest, engine):
            headers.append(old.header)
            continue
        headers.append(record(options.out, project, options.root, header, limits))
        if old is not None and old.path.name != file_name(project, content.digest):
            old.path.unlink()
        print(f"{number}/{len(contents)} {progress(headers[-1])}", file=sys.stderr, flush=True)
    write_list(options.out)
    print(summary(headers, time.monotonic() - begun))
    return 0


def _projects(options: argparse.Namespace) -> list[Project]:
    target = tuple(options.target)
    every = [Project(path, "", target) for path in options.projects]
    every += [Project(reference, migrated, target) for reference, migrated in options.pair]
    for path in options.list:
        listed = parsed_list(path.read_text(encoding="utf-8", errors="surrogateescape"))
        every += [msgspec.structs.replace(one, target=one.target or target) for one in listed]
    return list(dict.fromkeys(every))


def progress(header: Header) -> str:
    """What was recorded of a project, in a line."""
    counts = ", ".join(f"{count} {kind}" for kind, count in header.counts.items() if kind != "run")
    failures = "".join(f"; {part} failed: {why}" for part, why in header.failures.items())
    return f"{header.project}: {counts}; {header.seconds:.1f} s{failures}"


def summary(headers: Sequence[Header], seconds: float) -> str:
    """What was recorded of all projects."""
    counts: Counter[str] = Counter()
    for header in headers:
        counts.update(header.counts)
    pairs = sum(1 for header in headers if header.project.migrated)
    failed = sum(1 for header in headers if header.failures)
    lines = [f"{len(headers) - pairs} projects, {pairs} pairs, {failed} with failures, in {seconds:.0f} s:"]
    return "\n".join([*lines, *(f"  {count:>9} {kind}" for kind, count in sorted(counts.items()))])


def run_compare(options: argparse.Namespace) -> int:
    """List the differences. Exit code 1 if there are any, 2 if a recording has no projects."""
    recordings = [stored(options.old), stored(options.new)]
    for folder, recording in zip((options.old, options.new), recordings, strict=True):
        if not recording:
            print(f"{folder}: no recording", file=sys.stderr)
            return 2
    old, new = (_of_projects(recording, options.project) for recording in recordings)
    chosen = (one for one in differences(old, new, options.common) if is_chosen(one, options.code, options.kind))
    tally = Tally(options.examples)
    if options.all is None:
        tally.add(chosen)
    else:
        with options.all.open("wb") as stream:
            tally.add(_copied(chosen, stream))
    for line in tally.lines():
        print(line)
    projects = old.keys() & new.keys() if options.common else old.keys() | new.keys()
    print(f"{tally.total} differences in {len(tally.projects)} of {len(projects)} projects")
    return 1 if tally.total else 0


def _of_projects(recording: dict[Project, Stored], words: str) -> dict[Project, Stored]:
    return {project: file for project, file in recording.items() if words in str(project)}


def is_chosen(change: Change, codes: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether a difference is of one of the codes and of one of the kinds, if any are given."""
    by_code = not codes or any(change.code.startswith(code) for code in codes)
    return by_code and (not kinds or any(f" {words} " in f" {change.kind.replace(':', ' :')} " for words in kinds))


def _copied(changes: Iterable[Change], stream: BinaryIO) -> Iterator[Change]:
    for change in changes:
        stream.write(msgspec.json.encode(change) + b"\n")
        yield change


class Tally:
    """Counts differences by kind, and keeps some of each as examples, of several projects if possible."""

    def __init__(self, examples: int) -> None:
        self.total = 0
        self.projects: set[str] = set()
        self._examples = examples
        self._counts: Counter[str] = Counter()
        self._projects: dict[str, set[str]] = {}
        self._first: dict[str, list[Change]] = {}
        self._further: dict[str, list[Change]] = {}

    def add(self, changes: Iterable[Change]) -> None:
        """Count some differences."""
        for change in changes:
            self.total += 1
            self._counts[change.kind] += 1
            self.projects.add(change.project)
            seen = self._projects.setdefault(change.kind, set())
            kept = (self._further if change.project in seen else self._first).setdefault(change.kind, [])
            if len(kept) < self._examples:
                kept.append(change)
            seen.add(change.project)

    def lines(self) -> Iterator[str]:
        """The kinds with their counts and examples, the most frequent first."""
        for kind, count in sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0])):
            yield f"{count:>7}  {kind}  ({len(self._projects[kind])} projects)"
            for change in [*self._first[kind], *self._further.get(kind, [])][: self._examples]:
                yield f"           {change.project}  {change.place}"
                yield from (
                    f"             {sign} {_short(text)}"
                    for sign, text in (("-", change.old), ("+", change.new))
                    if text
                )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


if __name__ == "__main__":
    sys.exit(main())
