"""The flake8 plugin (codes ``NPU…``): findings of npulint's own engine, which runs once for all files.

flake8 loads it in every run where npulint is installed, so it imports nothing until findings are needed. With several
jobs the engine runs before flake8 starts its workers; workers that do not inherit its findings get them from the
cache of npulint.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from npulint import __version__

if TYPE_CHECKING:
    from npulint.hosts.linter_findings import LinterFindings

_PREFIX = "NPU"
_NOT_CHECKED = "NPU0000"
_STDIN = "stdin"
Row = tuple[int, int, str, type[object]]


class NpulintPlugin:
    """Reports the findings in one file, whose tree flake8 has parsed for other plugins."""

    name = "npulint"
    version = __version__
    _paths: ClassVar[Sequence[str]] = ()
    _off: ClassVar[bool] = False
    _found: ClassVar[LinterFindings | None] = None

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def parse_options(cls, options: Namespace) -> None:
        """Remember which files flake8 was given, and run npulint if there will be workers."""
        cls._paths, cls._found = tuple(options.filenames), None
        cls._off = _is_off(options)
        jobs = options.jobs
        alone = not jobs.is_auto and jobs.n_jobs <= 1
        if not (alone or cls._off or "-" in cls._paths or multiprocessing.parent_process()):
            cls._findings()

    @classmethod
    def _findings(cls) -> LinterFindings:
        from npulint.hosts.linter_findings import check_files

        if cls._found is None:
            cls._found = check_files(cls._paths, os.environ)
        return cls._found

    def run(self) -> Iterator[Row]:
        """Line, column, code with message, and type of each finding."""
        if self._off:
            return
        from npulint.hosts.linter_findings import check_text, message_of

        if "-" in self._paths:
            linter_findings = check_text(self._filename, "".join(self._lines).encode(), os.environ)
        else:
            linter_findings = self._findings()
        if linter_findings.error:
            yield 1, 0, f"{_NOT_CHECKED} npulint: {linter_findings.error}", type(self)
        for finding in linter_findings.of(self._filename):
            text = f"{finding.code} {message_of(finding)} [{finding.name}]"
            yield finding.span.line, finding.span.column - 1, text, type(self)


def _is_off(options: Namespace) -> bool:
    """Whether flake8 would show no finding: nothing of npulint is selected, or all of it is ignored."""
    chosen = [*(options.select or ()), *(options.extend_select or ())]
    if any(_of_npulint(word) for word in chosen):
        return False
    dropped = [*(options.ignore or ()), *(options.extend_ignore or ())]
    return bool(options.select) or any(_PREFIX.startswith(word) for word in dropped)


def _of_npulint(word: str) -> bool:
    return word.startswith(_PREFIX) or _PREFIX.startswith(word)
