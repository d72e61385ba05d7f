"""One project from the facts of its files to its raw results: assembled and evaluated."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.commands.build import assemble
from npulint.commands.check.isolation import unjudged, without_failing
from npulint.core import suggest
from npulint.core.budget import BudgetError
from npulint.core.cancellation import checkpoint
from npulint.core.wings import service
from npulint.data.chips import chip
from npulint.facts.model import Fact, FileFacts
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.chip import UNKNOWN_CHIPS, inferred_chips
from npulint.judge.evaluate.checks import evaluate
from npulint.judge.evaluate.chips import generation, target_chips
from npulint.judge.evaluate.demoted import Demoted, grouped
from npulint.judge.evaluate.frameworks_seen import frameworks_seen, unstarted_training
from npulint.judge.evaluate.summary import summarise
from npulint.judge.findings import Finding, GraphSummary, InferredChips, OpenRelease, ProgramSummary
from npulint.judge.postprocess.merge_programs import merge_project
from npulint.judge.postprocess.record import RawResults
from npulint.judge.result_cache import configured_op_list, listed_ops
from npulint.judge.settings import Settings
from npulint.judge.summaries.run_summary import RunSummary
from npulint.read.files import ReadableFiles, load, read
from npulint.recognizers.file_role import file_roles, in_tree, role_by_name
from npulint.recognizers.programs import Program

_BYTES = 40  # of source for a call, assignment or import


def evaluate_project(
    root: str,
    files: Sequence[FileFacts],
    catalogue: Catalogue,
    settings: Settings,
    readable: ReadableFiles | None = None,
) -> RawResults:
    """The raw results of a project; `readable` are its files, for what only an execution tells.

    Code that recurses too deeply to be resolved, or that takes more time or memory
    than allowed, becomes a problem of its file, else of this project."""
    suggest.renew()
    limit = settings.limits().of_project(len(files), _BYTES * sum(map(_records, files)))
    try:
        return without_failing(files, limit, lambda left: _judged(root, left, catalogue, settings, readable))
    except RecursionError:
        return _unjudged(files, "too-deep")
    except BudgetError as error:
        return _unjudged(files, error.reason, error.detail)


def _unjudged(files: Sequence[FileFacts], reason: str, detail: str = "") -> RawResults:
    """The results of a project that could not be evaluated."""
    return RawResults(files=[unjudged(f, reason, detail) for f in files if f.code is not None or f.graph is not None])


def _records(file: FileFacts) -> int:
    """The number of things that were read in a file."""
    code = file.code
    return len(file.facts) + (0 if code is None else len(code.calls) + len(code.assignments) + len(code.imports))


def _judged(
    root: str,
    files: Sequence[FileFacts],
    catalogue: Catalogue,
    settings: Settings,
    readable: ReadableFiles | None,
) -> RawResults:
    ranked: list[tuple[tuple[bool, bool], list[Finding]]] = []
    programs: list[ProgramSummary] = []
    graphs: list[GraphSummary] = []
    runs: list[RunSummary] = []
    related_files: frozenset[str] | None = None
    own = configured_op_list(settings) if listed_ops(files) else None
    assembled = assemble(root, files, *settings.declared(), None if own is None else own.ops, readable)
    files = [file for file in files if file.kind != "data"]
    inferred = chips_of(files, assembled, settings)
    chips = target_chips(settings.target, inferred.named, inferred.unlikely)
    around = settings.tree_around(root)
    roles = file_roles(root, files, assembled, around)
    unstarted = unstarted_training(assembled, roles)
    demoted: list[Demoted] = []
    opened: set[OpenRelease] = set()
    for program in assembled:
        checkpoint()
        program.fact.port = "transfer" if settings.torch_port == "transfer" else "explicit"
        if program.fact.run and settings.against:
            compare_profiles(program, settings)
        program.fact.chip = generation(chips)
        program.fact.soc = chip(settings.target.get("soc", ""))
        verdict = evaluate(catalogue, program, settings.target, settings.language(), chips, roles)
        ranked.append(((program.entry in roles, not program.fact.trains), verdict.findings))
        demoted += verdict.demoted
        opened.update(verdict.open_releases)
        if program.fact.graph is not None:
            graphs.append(service("graph_summary")(program))
        elif program.fact.run:
            summary: RunSummary = service("run_summary")(program)
            if len(assembled) == 1 or any(file.form != "fusion_switch" for file in summary.files):
                runs.append(summary)  # a switch file beside code is no run
            related_files = program.source_files
        elif program.entry and program.fact.framework != "none":
            role = roles.get(program.entry) or role_by_name(in_tree(program.entry, root, around))
            programs.append(summarise(program, verdict.checklist, role))
        program.index.release()
    ranked.sort(key=lambda pair: pair[0])  # a finding of shared code is told of a script that trains, not of a document
    findings = [finding for _, program_findings in ranked for finding in program_findings]
    findings += grouped(demoted)
    findings = merge_project(findings, catalogue.told_once("project"))
    if graphs:
        from npulint.judge.postprocess.merge_graph_findings import related_to_source

        findings = related_to_source(findings, catalogue, settings.language())
    if any(finding.artifact_location is not None for finding in findings):
        from npulint.judge.postprocess.merge_run_findings import with_counterparts

        findings = with_counterparts(findings, catalogue, related_files)
    slim = [FileFacts(f.path, f.kind, problems=f.problems, comments=f.comments, checksum=f.checksum) for f in files]
    unlisted = [] if own is None else own.problems
    return RawResults(
        *(findings, programs, slim, graphs, unlisted, runs),
        chips=[inferred] if programs else [],
        seen=[*unstarted, *frameworks_seen(files)],
        open_releases=sorted(opened),
    )


def compare_profiles(program: Program, settings: Settings) -> None:
    """Add to a run what differs from the profile that the settings name."""
    from npulint.discover.files import discover
    from npulint.model.code.index import Index, table

    discovery = discover([settings.against], settings.discovery())
    other = [read(load(file), budget=settings.limits()) for file in discovery.files if file.kind == "artifact"]
    own = [fact for kind in program.index.kinds() for fact in program.index.of_kind(kind)]
    changed: list[Fact] = service("changes")(own, other)
    program.index = Index([table(changed), *program.index.tables])


def chips_of(files: Sequence[FileFacts], programs: Sequence[Program], settings: Settings) -> InferredChips:
    """The chips that a project is for; nothing is inferred where one is declared."""
    if settings.target.get("soc"):
        return UNKNOWN_CHIPS
    _, torch, cann, _ = settings.declared()
    pinned = next((program.fact.get_text("torch") for program in programs if program.entry), "")
    return inferred_chips(files, programs, torch or pinned, cann)
