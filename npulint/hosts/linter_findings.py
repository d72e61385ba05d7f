"""Findings for the plugins of other linters: one run of npulint over all files that the linter was given."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

import msgspec

from npulint.commands.check.pipeline import run
from npulint.commands.settings.config import load
from npulint.core.errors import NpulintError
from npulint.discover.paths import local, shown
from npulint.judge.findings import Finding
from npulint.judge.postprocess.finalize import FOR_EDITORS
from npulint.judge.settings import RANK, Settings
from npulint.report.terminal import escape_control_chars


class LinterFindings(msgspec.Struct, frozen=True):
    """All findings by the real path of their file, or the `error` for which there are none. `lowest` is the severity
    from which they are shown."""

    by_path: dict[str, list[Finding]] = {}
    error: str = ""
    lowest: str = "warning"

    def of(self, path: str, wanted: Collection[str] = ()) -> list[Finding]:
        """The findings to show in one file, in its order; those of the checks `wanted`, by name, whatever their
        severity."""
        of_file = self.by_path.get(os.path.realpath(path), ())
        return [finding for finding in of_file if RANK[finding.severity] >= RANK[self.lowest] or finding.name in wanted]


def check_files(paths: Sequence[str], environ: Mapping[str, str]) -> LinterFindings:
    """The findings in these files and folders, with the configuration file that belongs to the first of them. The rest
    of their projects is read as well, so that the findings are those of ``npulint check``."""
    try:
        return _found(load(list(paths) or ["."], {}, environ))
    except NpulintError as error:
        return LinterFindings(error=_line(str(error)))


def check_text(name: str, data: bytes, environ: Mapping[str, str]) -> LinterFindings:
    """The findings in the content of an editor or a pipe; `name` is that of its file."""
    try:
        path = shown(local(name))
        settings = load([path], {"stdin_filename": [path]}, environ, data)
        return _found(msgspec.structs.replace(settings, paths=(settings.stdin_filename,)))
    except NpulintError as error:
        return LinterFindings(error=_line(str(error)))


def message_of(finding: Finding) -> str:
    """The message of a finding on one line."""
    return escape_control_chars(finding.message)


def _found(settings: Settings) -> LinterFindings:
    by_path: dict[str, list[Finding]] = {}
    for finding in sorted(run(settings, order=FOR_EDITORS).findings, key=lambda finding: finding.span):
        by_path.setdefault(os.path.realpath(finding.path), []).append(finding)
    return LinterFindings(by_path, lowest=settings.shown_from("text"))


def _line(text: str) -> str:
    return escape_control_chars("; ".join(text.splitlines()))
