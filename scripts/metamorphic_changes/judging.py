"""What npulint reports for the files of a project, in a form in which two programs can be compared."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from npulint.commands.check.pipeline import build_result, check_paths
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, ProgramSummary
from npulint.judge.settings import Settings
from scripts.measure_port import inside
from scripts.metamorphic_changes.source import Files

_NO_LIMIT = {"time": 10**6, "memory": 10**6}  # a limit that depends on the speed of the machine makes other results
_NOTHING: Files = {}
_NO_NAMES: Mapping[str, str] = {}
_FILES = re.compile(r"\bin \d+ files?\b")
_FIRST = re.compile(r", first `[^`]*`")
_LINE = re.compile(r"(\blines? |:)\d+(?:[–-]\d+)?\b")

Answer = tuple[str, ...]
"""A finding, or a property of a program, in words."""


class Answers(NamedTuple):
    """All that was reported, with how often: findings, and the readiness of programs; and the findings among them that
    are in a part of a file which a change moves to a new one."""

    findings: Counter[Answer]
    readiness: Counter[Answer]
    repeats: Counter[Answer]


def renamed(answers: Answers, names: Mapping[str, str]) -> Answers:
    """Answers with other words in their texts."""

    def changed(counts: Counter[Answer]) -> Counter[Answer]:
        result: Counter[Answer] = Counter()
        for answer, count in counts.items():
            result[tuple(_plain(text, names) for text in answer)] += count
        return result

    return Answers(*map(changed, answers)) if names else answers


class Difference(NamedTuple):
    """What is reported only before, and only after a change."""

    lost: list[Answer]
    gained: list[Answer]

    def __bool__(self) -> bool:
        return bool(self.lost or self.gained)


def difference(before: Answers, after: Answers) -> Difference:
    """The difference between the answers for a program and for a changed one. What is reported once more in a
    part that was moved to another file is no difference."""
    repeats = Counter({answer: count for answer, count in after.repeats.items() if before.findings[answer]})
    gained = after.findings - before.findings - repeats
    lost = before.findings - after.findings
    readiness = before.readiness - after.readiness, after.readiness - before.readiness
    return Difference(sorted((lost + readiness[0]).elements()), sorted((gained + readiness[1]).elements()))


class Judge:
    """A temporary folder with the files of a project, in which npulint checks it and its variants."""

    def __init__(self, folder: Path, files: Files, target: Mapping[str, str]) -> None:
        self._folder = folder
        self._files = files
        self._target = dict(target)
        for path, data in files.items():
            _write(folder / path, data)

    def answers(self, changed: Files = _NOTHING, names: Mapping[str, str] = _NO_NAMES, splits: bool = False) -> Answers:
        """What is reported with some files changed or added, where an added file has a part of another if that
        `splits`; `names` maps new words to those of the unchanged program. The folder is as before afterwards."""
        with self._changed(changed), inside(self._folder):
            settings = Settings(
                paths=(".",), target=self._target, cache=False, jobs=1, budget=_NO_LIMIT, min_severity="note"
            )
            result = build_result(check_paths(settings, _catalogue()), settings, _catalogue(), 0.0)
        added = changed.keys() - self._files.keys()
        repeats = [finding for finding in result.findings if splits and finding.path in added]
        return Answers(
            Counter(_finding(finding, names) for finding in result.findings),
            Counter(_readiness(result.programs, added, names)),
            Counter(_finding(finding, names) for finding in repeats),
        )

    @contextlib.contextmanager
    def _changed(self, changed: Files) -> Iterator[None]:
        try:
            for path, data in changed.items():
                _write(self._folder / path, data)
            yield
        finally:
            for path in changed:
                if path in self._files:
                    _write(self._folder / path, self._files[path])
                else:
                    _remove(self._folder, path)


@contextlib.contextmanager
def judge(files: Files, target: Mapping[str, str]) -> Iterator[Judge]:
    """Context manager: a judge of a project for a target environment."""
    with TemporaryDirectory(prefix="metamorphic-") as folder:
        yield Judge(Path(folder), files, target)


@cache
def _catalogue() -> Catalogue:
    return load_catalogue(whole=False)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _remove(folder: Path, path: str) -> None:
    """Remove a file, and the folders that are empty then."""
    (folder / path).unlink()
    for parent in Path(path).parents:
        if parent.name and not os.listdir(folder / parent):
            (folder / parent).rmdir()


def _finding(finding: Finding, names: Mapping[str, str]) -> Answer:
    return "finding", finding.code, finding.name, finding.severity, finding.confidence, _plain(finding.message, names)


def _readiness(
    programs: Collection[ProgramSummary], added: Collection[str], names: Mapping[str, str]
) -> Iterator[Answer]:
    """The properties of the programs and the items of their checklists, without programs that the change adds."""
    for program in programs:
        if program.entry in added:
            continue
        entry = f"program {program.entry}"
        yield entry, "framework", program.framework
        yield entry, "state", program.state
        yield entry, "modes", " ".join(program.modes)
        yield entry, "roles", " ".join(program.roles)
        yield entry, "devices", program.devices
        yield entry, "migration", program.migration
        for item in program.checklist:
            codes = " ".join(sorted({failure.code for failure in item.failures}))
            yield entry, item.item, item.status, codes, _plain(item.look, names)


def _plain(text: str, names: Mapping[str, str]) -> str:
    """A text without lines, numbers of files, and which of several locations is the first, with the words of the
    unchanged program."""
    for new, old in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<!\w){re.escape(new)}(?!\w)", old.replace("\\", r"\\"), text)
    return _FILES.sub("in … files", _FIRST.sub(", first …", _LINE.sub(r"\1…", text)))
