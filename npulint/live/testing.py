"""The implementation of the pytest plugin, imported when a test uses it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import pytest

from npulint.commands.settings.config import language
from npulint.core.errors import ConfigError
from npulint.core.texts import count, say
from npulint.judge.baseline import VERSION, Document, read_document, write_accepted
from npulint.judge.findings import Finding
from npulint.judge.postprocess.identity import line_text
from npulint.judge.settings import RANK
from npulint.judge.source_lines import LineProvider
from npulint.live.result import LiveResult

# The baseline of live checks in tests: findings that may stay for now.


class Accepted(msgspec.Struct, frozen=True, order=True):
    """A finding in the baseline, identified by file, check, operator and line text, so that it survives moved lines.
    `path` is relative to the folder of the baseline."""

    path: str
    check: str
    operator: str = ""
    line: str = ""


class _Document(Document):
    tests: dict[str, list[Accepted]]


def accepted(findings: Iterable[Finding], folder: str, lines: LineProvider) -> list[Accepted]:
    """The sorted baseline entries of findings, for a baseline in this folder."""
    return sorted({_entry(finding, folder, lines) for finding in findings})


def _entry(finding: Finding, folder: str, lines: LineProvider) -> Accepted:
    try:
        path = os.path.relpath(finding.path, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        path = finding.path
    return Accepted(path, finding.name, finding.subject, line_text(finding, lines) or finding.message)


def load(path: str, lang: str) -> dict[str, list[Accepted]]:
    """The entries of a baseline by test; empty if the file does not exist. Raises `ConfigError` if it cannot be
    read."""
    try:
        return read_document(path, _Document, lang).tests
    except ConfigError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return {}
        raise


def save(path: str, tests: Mapping[str, Iterable[Accepted]], lang: str) -> None:
    """Write a baseline, omitting tests without entries. Raises `ConfigError`."""
    listed = {name: sorted(entries) for name, entries in sorted(tests.items())}
    document = _Document(VERSION, {name: entries for name, entries in listed.items() if entries})
    write_accepted(path, msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n", lang)


class FixtureReport(msgspec.Struct, frozen=True):
    """The result of one test: all relevant findings, the number of new ones, the number of operators that leave the
    NPU, and syncs per step."""

    test: str
    name: str
    entries: list[Accepted]
    new: int
    leaving: int
    syncs: float


class Checks:
    """The live checks of one pytest run. `folder` is its root, which `baseline` is relative to."""

    def __init__(self, folder: str, baseline: str, fail_on: str, release: str, update: bool) -> None:
        self.reports: list[FixtureReport] = []
        self._lang = language(os.environ)
        self._path = os.path.join(folder, baseline) if baseline else ""
        self._fail_on = _severity(fail_on, self._lang)
        self._release = release
        self._update = update
        self._known = self._load()

    def _load(self) -> dict[str, list[Accepted]]:
        try:
            return load(self._path, self._lang) if self._path else {}
        except ConfigError as error:
            raise pytest.UsageError(f"npulint: {error}") from error

    def torch(self, test: str) -> Callable[..., LiveResult]:
        """The fixture ``npulint_torch`` for a test."""

        def npulint_torch(
            model: Any = None,
            inputs: Any = None,
            train: bool = True,
            *,
            release: str = "",
            fail_on: str = "",
            allow: Iterable[str] = (),
            **more: Any,
        ) -> LiveResult:
            __tracebackhide__ = True
            from npulint.live.torch.check import check_torch

            more["target"] = self._targeted(more.get("target"), release)
            result = check_torch(model, inputs, train=train, **more)
            self.check(test, result, fail_on, allow)
            return result

        return npulint_torch

    def tensorflow(self, test: str) -> Callable[..., LiveResult]:
        """The fixture ``npulint_tensorflow`` for a test."""

        def npulint_tensorflow(
            obj: Any, *inputs: Any, fail_on: str = "", allow: Iterable[str] = (), **more: Any
        ) -> LiveResult:
            __tracebackhide__ = True
            from npulint.live.tensorflow.check import check_tensorflow

            result = check_tensorflow(obj, *inputs, **more)
            self.check(test, result, fail_on, allow)
            return result

        return npulint_tensorflow

    def watch(
        self, test: str, path: str, release: str = "", fail_on: str = "", allow: Iterable[str] = (), **more: Any
    ) -> Watched:
        """The watcher for the body of a test with the marker, in the file at `path`."""
        from npulint.live.torch.check import release_for
        from npulint.live.torch.watch import watch_torch

        target = self._targeted(more.get("target"), release)
        more["target"] = {**target, "torch": release_for(path, "", target)}
        return Watched(self, test, watch_torch(name=test.rpartition("::")[2], **more), fail_on, allow)

    def _targeted(self, target: Mapping[str, str] | None, release: str) -> dict[str, str]:
        """The target with the PyTorch version that the test, else the pytest configuration sets."""
        torch_release = release or (target or {}).get("torch", "") or self._release
        return {**(target or {}), **({"torch": torch_release} if torch_release else {})}

    def check(self, test: str, result: LiveResult, fail_on: str, allow: Iterable[str], traced: bool = True) -> None:
        """Record the result of a test, and fail the test for new findings, with a traceback if `traced`."""
        __tracebackhide__ = True
        counted = result.failing(_severity(fail_on, self._lang) if fail_on else self._fail_on, allow)
        folder = os.path.dirname(self._path) or "."
        entries = {id(finding): accepted([finding], folder, result.lines)[0] for finding in counted}
        new = [] if self._update else self._new(counted, entries)
        leaving = sum(operator.count for operator in result.operators if not operator.fine)
        self.reports.append(
            FixtureReport(test, result.name, sorted(set(entries.values())), len(new), leaving, result.syncs_per_step)
        )
        if new:
            pytest.fail(result.complaint(new), pytrace=traced)

    def _new(self, findings: list[Finding], entries: dict[int, Accepted]) -> list[Finding]:
        accepteds = {entry for of_test in self._known.values() for entry in of_test}
        return [finding for finding in findings if entries[id(finding)] not in accepteds]

    def finish(self) -> None:
        """Write the baseline if requested; tests that did not run keep their entries."""
        if not self._update or not self._path:
            return
        accepted: dict[str, set[Accepted]] = {fixture_report.test: set() for fixture_report in self.reports}
        for report in self.reports:
            accepted[report.test].update(report.entries)
        save(self._path, {**self._known, **accepted}, self._lang)

    def packed(self) -> str:
        """The reports as JSON, for the parent process."""
        return msgspec.json.encode(self.reports).decode()

    def unpack(self, data: str) -> None:
        """Add the reports of another process."""
        self.reports += msgspec.json.decode(data, type=list[FixtureReport])

    def summary(self) -> list[str]:
        """A line for each test with findings, and a total."""
        lines = [self._line(report) for report in self.reports if report.entries or report.leaving or report.syncs]
        checked = len({report.test for report in self.reports})
        lines.append(count(self._lang, "live.tests", checked, new=sum(report.new for report in self.reports)))
        if self._update and self._path:
            lines.append(say(self._lang, "live.accepted", path=self._path))
        return lines

    def _line(self, fixture_report: FixtureReport) -> str:
        syncs = f"{fixture_report.syncs:g}"
        accepted_count = (
            len(fixture_report.entries) - fixture_report.new if not self._update else len(fixture_report.entries)
        )
        values = {
            "test": fixture_report.test,
            "new": fixture_report.new,
            "known": max(0, accepted_count),
            "leaving": fixture_report.leaving,
            "syncs": syncs,
        }
        return say(self._lang, "live.test", **values)


class Watched:
    """A test whose body is watched."""

    def __init__(self, checks: Checks, test: str, watch: Any, fail_on: str, allow: Iterable[str]) -> None:
        self._checks = checks
        self._test = test
        self._watch = watch
        self._fail_on = fail_on
        self._allow = tuple(allow)

    def begin(self) -> None:
        self._watch.__enter__()

    def end(self) -> None:
        """Stop watching, whatever the outcome."""
        self._watch.__exit__(None, None, None)

    def check(self) -> None:
        """Fail the test for its findings."""
        __tracebackhide__ = True
        self._checks.check(self._test, self._watch.result, self._fail_on, self._allow, traced=False)


def _severity(word: str, lang: str) -> str:
    if word not in RANK:
        raise pytest.UsageError(f"npulint: fail_on: {say(lang, 'unknown.value', word=word, choices=', '.join(RANK))}")
    return word
