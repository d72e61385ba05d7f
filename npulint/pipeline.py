"""The main pipeline: paths, sources, facts, programs, findings, postprocessed findings. Start reading here."""

from __future__ import annotations

import os
import time

import msgspec

from npulint.budget import GENEROUS
from npulint.cache import open_cache
from npulint.catalogue.check import Catalogue, two_sided
from npulint.catalogue.load import load_catalogue
from npulint.discover.context_files import context_files
from npulint.discover.file_filter import artifact_kinds, of_named_json
from npulint.discover.files import Discovery, discover
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.discover.projects import base_of, group, with_runs
from npulint.facts.model import Fact, Problem
from npulint.findings import Finding, RunResult
from npulint.postprocess.finalize import FOR_EXAMPLES, finalize
from npulint.postprocess.record import RawResults, RunContext, merged
from npulint.postprocess.scope import FindingKey, ReportScope
from npulint.progress import Progress, progress_counter
from npulint.project_results import Evaluator
from npulint.read.files import load, read
from npulint.settings import Settings
from npulint.source_lines import FileLines, LineProvider
from npulint.temp_project import materialize
from npulint.workers import check_projects


class CheckedProjects(msgspec.Struct, frozen=True):
    """All projects of a run with their raw results: the files that were found, the files of each project,
    `context_only` paths included, and the results of each."""

    found: Discovery
    context_only: frozenset[str]
    projects: dict[str, list[SourceFile]]
    outcomes: list[RawResults]


AGAINST = "against/"
"""The folder of the other profile in examples of checks that compare two."""


def run(settings: Settings, progress: Progress | None = None) -> RunResult:
    """Check the paths of `settings`. Raises `CatalogueError` for a broken check file."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks, whole=False)
    return build_result(check_paths(settings, catalogue, progress), settings, catalogue, begun)


def check_paths(settings: Settings, catalogue: Catalogue, progress: Progress | None = None) -> CheckedProjects:
    """Discover the files of ``settings.paths`` and evaluate each project."""
    found = piped(settings) if settings.stdin is not None else discover(settings.paths, settings.discovery())
    more = [] if settings.alone() else context_files(found, settings.discovery())
    projects = with_runs(group([*found.files, *more]))
    advance = progress_counter(sum(map(len, projects.values())), progress, number_of_files(found))
    outcomes = check_projects(projects, catalogue, settings, advance)
    return CheckedProjects(found, frozenset(file.path for file in more), projects, outcomes)


def number_of_files(found: Discovery) -> int:
    """The number of files that the summary of the run counts, read or not."""
    read = {file.path for file in found.files if file.kind != "data"}
    return len(read | {problem.path for problem in found.problems if problem.fatal})


def build_result(
    judged: CheckedProjects, settings: Settings, catalogue: Catalogue, begun: float, lines: LineProvider | None = None
) -> RunResult:
    """The postprocessed result of all projects. `begun` is the start of the run on the performance counter."""
    scope = ReportScope(judged.context_only, _caused(judged, catalogue, settings))
    lines = lines or FileLines(settings.piped(), settings.boundary())
    context = RunContext(settings, catalogue, lines, scope, started=begun)
    raw = merged(judged.outcomes, judged.found.problems)
    del judged  # of thousands of projects, the files take as much memory as the findings
    return finalize(raw, context)


def _caused(judged: CheckedProjects, catalogue: Catalogue, settings: Settings) -> frozenset[FindingKey]:
    if not judged.context_only or not settings.consequences_since:
        return frozenset()
    from npulint.change_impact import findings_caused_by_change  # it runs git

    return findings_caused_by_change(judged.projects, judged.outcomes, judged.context_only, catalogue, settings)


def piped(settings: Settings) -> Discovery:
    """Standard input as a discovery of one file, named ``settings.stdin_filename``."""
    name, data = settings.stdin_filename, settings.stdin or b""
    kinds = kinds_of(name) or artifact_kinds(name, data) or ("python",)
    if kinds == ("mixlist",):  # any JSON
        kinds = of_named_json(name, len(data), data)
    if not kinds:
        return Discovery([], [Problem(name, "unsupported")], {}, frozenset((name,)), 0)
    sources = [SourceFile(name, kind, name, base_of(name, False), len(data)) for kind in kinds]
    return Discovery(sources, [], {}, frozenset((name,)), 0)


def judge(files: dict[str, str], target: dict[str, str], catalogue: Catalogue, lang: str = "en") -> list[Finding]:
    """The findings of the catalogue in source texts by file name; for tests of examples."""
    return check_sources(files, target, catalogue, lang).findings


def check_sources(files: dict[str, str], target: dict[str, str], catalogue: Catalogue, lang: str = "en") -> RunResult:
    """The result of checking source texts by file name as one project; texts of two sides are compared. Run findings
    are not merged into source findings, because examples are about each check by itself."""
    if two_sided(files):
        from npulint import compare_command

        return compare_command.compare_sources(files, target, catalogue, lang)
    settings = Settings(target=target, cache=False, lang=lang)
    with materialize(files) as (folder, sources):
        if any(name.startswith(AGAINST) for name in files):  # of two profiles
            settings = msgspec.structs.replace(settings, against=os.path.join(folder, AGAINST))
            sources = [one for one in sources if not one.path.startswith(AGAINST)]
        results = Evaluator(catalogue, settings, open_cache(False)).project(".", sources)
    lines = FileLines({name: text.encode() for name, text in files.items()})
    return finalize(results, RunContext(settings, catalogue, lines), FOR_EXAMPLES)


def facts_of(path: str) -> list[Fact]:
    """Every fact of one file; of a graph, also those at the places of the source that built it. The rest of its project
    is read too, because names are resolved across files. Raises `FileNotFoundError` for a file that npulint does not
    read."""
    from npulint.assemble.build import assemble  # a run whose results are all in the cache needs none of it
    from npulint.isolation import without_failing

    options = Settings().discovery()
    found = discover([path], options)
    if not found.files:
        raise FileNotFoundError(path)
    path = found.files[0].path
    projects = group([*found.files, *context_files(found, options)])
    root, sources = next((r, s) for r, s in projects.items() if any(one.path == path for one in s))
    unique: dict[int, Fact] = {}
    limit = GENEROUS.of_project(len(sources), sum(source.size for source in sources))
    files = [read(load(source)) for source in sources]
    for program in without_failing(files, limit, lambda left: assemble(root, left)):
        if program.entry == path and program.fact.graph is not None:
            return [fact for facts in program.index.tables[0].values() for fact in facts]
        for kind in program.index.kinds():
            unique.update({id(fact): fact for fact in program.index.of_kind(kind) if fact.path == path})
    return sorted(unique.values(), key=lambda f: (f.span, f.kind, f.name))
