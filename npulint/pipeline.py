"""The straight way: paths, sources, facts, programs, findings, settled findings. Start reading here."""

from __future__ import annotations

import time
from collections.abc import Sequence

from npulint.assemble.build import DEFAULT_ADAPTER, assemble
from npulint.assemble.programs import Program
from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.discover.files import Discovery, discover
from npulint.discover.projects import group
from npulint.evaluate.checks import evaluate
from npulint.evaluate.checklist import summarise
from npulint.facts.model import Fact, FileFacts
from npulint.findings import Finding, ProgramSummary, RunResult, Summary
from npulint.read.files import read_all
from npulint.settings import Settings
from npulint.settle.run import settle


def run(settings: Settings) -> RunResult:
    """Check the paths of `settings`; raises `CatalogueError` for a broken check file."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks)
    found = discover(settings.paths, settings.discovery())
    findings: list[Finding] = []
    programs: list[ProgramSummary] = []
    files: list[FileFacts] = []
    for root, sources in group(found).items():
        read = read_all(sources, settings)
        files += read
        for program in assemble(root, read, settings.target.get("adapter", "")):
            findings += evaluate(catalogue.checks, program, settings.target, settings.language())
            if program.entry:
                programs.append(summarise(program))
    return settle(findings, programs, files, found.problems, settings, catalogue, time.perf_counter() - begun)
