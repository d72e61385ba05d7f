"""The baseline of a project's tests: what live checks find there and may stay for now.

It is JSON: ``{"version": 1, "tests": {"tests/test_net.py::test_step": [{…}]}}``, in a fixed order. What stands for one
test is known to all: the same line may run in many.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import msgspec

from npulint.baseline import VERSION, Document, read_document, write_whole
from npulint.errors import ConfigError
from npulint.findings import Finding
from npulint.postprocess.identity import line_text
from npulint.source_lines import LineProvider


class Accepted(msgspec.Struct, frozen=True, order=True):
    """A finding as a baseline knows it: by its file, check, operator and the text of its line, so that it is the same
    after lines have moved. `path` is relative to the folder of the baseline."""

    path: str
    check: str
    operator: str = ""
    line: str = ""


class _Document(Document):
    tests: dict[str, list[Accepted]]


def accepted(findings: Iterable[Finding], folder: str, lines: LineProvider) -> list[Accepted]:
    """The entries of findings in a baseline of this folder, in its order."""
    return sorted({_entry(one, folder, lines) for one in findings})


def _entry(one: Finding, folder: str, lines: LineProvider) -> Accepted:
    try:
        path = os.path.relpath(one.path, folder).replace(os.sep, "/")
    except ValueError:  # another drive
        path = one.path
    return Accepted(path, one.name, one.subject, line_text(one, lines) or one.message)


def load(path: str, lang: str) -> dict[str, list[Accepted]]:
    """The entries of a baseline by test; none when there is no such file. Raises `ConfigError` when it cannot be
    read."""
    try:
        return read_document(path, _Document, lang).tests
    except ConfigError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return {}
        raise


def save(path: str, tests: Mapping[str, Iterable[Accepted]], lang: str) -> None:
    """Write a baseline; tests without entries are left out. Raises `ConfigError`."""
    listed = {name: sorted(entries) for name, entries in sorted(tests.items())}
    document = _Document(VERSION, {name: entries for name, entries in listed.items() if entries})
    write_whole(path, msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n", lang)
