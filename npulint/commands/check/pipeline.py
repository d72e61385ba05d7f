"""The main pipeline: paths, sources, facts, programs, findings, postprocessed findings. Start reading here."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from npulint.commands.check.workers import check_projects
from npulint.core.budget import GENEROUS
from npulint.core.progress import Progress, progress_counter
from npulint.discover.context_files import context_files
from npulint.discover.file_filter import artifact_kinds, of_named_json
from npulint.discover.files import Discovery, discover
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.discover.projects import base_of, group, with_runs
from npulint.facts.model import Fact, Problem
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import RunResult
from npulint.judge.postprocess.finalize import PASSES, finalize
from npulint.judge.postprocess.passes import Pass
from npulint.judge.postprocess.record import FindingKey, RawResults, ReportScope, RunContext, merged
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines, LineProvider
from npulint.read.files import load, read


class CheckedProjects(msgspec.Struct, frozen=True):
    """All projects of a run with their raw results: the files that were found, the files of each project,
    `context_only` paths included, and the results of each."""

    discovery: Discovery
    context_only: frozenset[str]
    projects: dict[str, list[SourceFile]]
    outcomes: list[RawResults]


def run(settings: Settings, progress: Progress | None = None, order: Sequence[Pass] = PASSES) -> RunResult:
    """Check the paths of `settings`, with the passes `order` after it. Raises `CatalogueError` for a broken check
    file."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks, whole=False)
    return build_result(check_paths(settings, catalogue, progress), settings, catalogue, begun, order=order)


def check_paths(settings: Settings, catalogue: Catalogue, progress: Progress | None = None) -> CheckedProjects:
    """Discover the files of ``settings.paths`` and evaluate each project."""
    discovery = piped(settings) if settings.stdin is not None else discover(settings.paths, settings.discovery())
    more = [] if settings.alone() else context_files(discovery, settings.discovery())
    projects = with_runs(group([*discovery.files, *more]))
    advance = progress_counter(sum(map(len, projects.values())), progress, number_of_files(discovery))
    outcomes = check_projects(projects, catalogue, settings, advance)
    return CheckedProjects(discovery, frozenset(file.path for file in more), projects, outcomes)


def number_of_files(discovery: Discovery) -> int:
    """The number of files that the summary of the run counts, read or not."""
    read = {file.path for file in discovery.files if file.kind != "data"}
    return len(read | {problem.path for problem in discovery.problems if problem.fatal})


def build_result(
    judged: CheckedProjects,
    settings: Settings,
    catalogue: Catalogue,
    begun: float,
    lines: LineProvider | None = None,
    order: Sequence[Pass] = PASSES,
) -> RunResult:
    """The postprocessed result of all projects. `begun` is the start of the run on the performance counter."""
    scope = ReportScope(judged.context_only, _caused(judged, catalogue, settings))
    lines = lines or FileLines(settings.piped(), settings.boundary())
    context = RunContext(settings, catalogue, lines, scope, started=begun)
    raw = merged(judged.outcomes, judged.discovery.problems)
    del judged  # of thousands of projects, the files take as much memory as the findings
    return finalize(raw, context, order)


def _caused(judged: CheckedProjects, catalogue: Catalogue, settings: Settings) -> frozenset[FindingKey]:
    if not judged.context_only or not settings.consequences_since:
        return frozenset()
    from npulint.commands.check.change_impact import findings_caused_by_change  # it runs git

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


def facts_of(path: str) -> list[Fact]:
    """Every fact of one file; of a graph, also those at the places of the source that built it. The rest of its project
    is read too, because names are resolved across files. Raises `FileNotFoundError` for a file that npulint does not
    read."""
    from npulint.commands.build import assemble  # a run whose results are all in the cache needs none of it
    from npulint.commands.check.isolation import without_failing

    options = Settings().discovery()
    discovery = discover([path], options)
    if not discovery.files:
        raise FileNotFoundError(path)
    path = discovery.files[0].path
    projects = group([*discovery.files, *context_files(discovery, options)])
    root, sources = next((r, s) for r, s in projects.items() if any(source.path == path for source in s))
    unique: dict[int, Fact] = {}
    limit = GENEROUS.of_project(len(sources), sum(source.size for source in sources))
    files = [read(load(source)) for source in sources]
    for program in without_failing(files, limit, lambda left: assemble(root, left)):
        if program.entry == path and program.fact.graph is not None:
            return [fact for facts in program.index.tables[0].values() for fact in facts]
        for kind in program.index.kinds():
            unique.update({id(fact): fact for fact in program.index.of_kind(kind) if fact.path == path})
    return sorted(unique.values(), key=lambda f: (f.span, f.kind, f.name))
