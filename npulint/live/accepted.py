"""The baseline of live checks in tests: findings that may stay for now.

It is JSON: ``{"version": 1, "tests": {"tests/test_net.py::test_step": [{…}]}}``, sorted. What is accepted for one test
is accepted for all, since the same line may run in many.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import msgspec

from npulint.core.errors import ConfigError
from npulint.judge.baseline import VERSION, Document, read_document, write_accepted
from npulint.judge.findings import Finding
from npulint.judge.postprocess.identity import line_text
from npulint.judge.source_lines import LineProvider


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
