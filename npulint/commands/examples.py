"""Checks texts that are not on the disk as one project, or as the two sides of a comparison: examples of checks."""

from __future__ import annotations

import os

import msgspec

from npulint.commands.check.project_results import Evaluator
from npulint.commands.check.temp_project import materialize
from npulint.core.cache import open_cache
from npulint.judge.catalogue.check import Catalogue, two_sided
from npulint.judge.findings import Finding, RunResult
from npulint.judge.postprocess.finalize import FOR_EXAMPLES, finalize
from npulint.judge.postprocess.record import RunContext
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines

AGAINST = "against/"
"""The folder of the other profile in examples of checks that compare two."""


def judge(files: dict[str, str], target: dict[str, str], catalogue: Catalogue, lang: str = "en") -> list[Finding]:
    """The findings of the catalogue in source texts by file name; for tests of examples."""
    return check_sources(files, target, catalogue, lang).findings


def check_sources(files: dict[str, str], target: dict[str, str], catalogue: Catalogue, lang: str = "en") -> RunResult:
    """The result of checking source texts by file name as one project; texts of two sides are compared. Run findings
    are not merged into source findings, because examples are about each check by itself."""
    if two_sided(files):
        from npulint.commands.compare import compare_command  # most examples have one side

        return compare_command.compare_sources(files, target, catalogue, lang)
    settings = Settings(target=target, cache=False, lang=lang)
    with materialize(files) as (folder, sources):
        if any(name.startswith(AGAINST) for name in files):  # of two profiles
            settings = msgspec.structs.replace(settings, against=os.path.join(folder, AGAINST))
            sources = [source for source in sources if not source.path.startswith(AGAINST)]
        results = Evaluator(catalogue, settings, open_cache(False)).project(".", sources)
    lines = FileLines({name: text.encode() for name, text in files.items()})
    return finalize(results, RunContext(settings, catalogue, lines), FOR_EXAMPLES)
