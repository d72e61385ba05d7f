"""One project from its sources to its outcome: read, assembled and evaluated, or remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from npulint.assemble.build import assemble
from npulint.assemble.programs import Program
from npulint.cache import Cache
from npulint.catalogue.check import Catalogue
from npulint.discover.kinds import SourceFile
from npulint.evaluate.checks import evaluate
from npulint.evaluate.summary import summarise
from npulint.facts.model import FileFacts, Problem
from npulint.findings import Finding, GraphSummary, ProgramSummary
from npulint.progress import Advance, no_progress
from npulint.read.files import Loaded, load, read
from npulint.result_cache import cached_facts, configured_op_list, fingerprint, listed_ops
from npulint.run_summary import RunSummary
from npulint.settings import Settings

if TYPE_CHECKING:
    from npulint.data.supported import SupportedOps

_FEW = 40  # files of a project; to read so few anew costs less than to remember the facts of each


class Outcome(msgspec.Struct, frozen=True):
    """What one project gives: findings in no order, its programs, per file what was not read and which comments may
    silence findings, its graphs, what is wrong with the lists of operators that these were to be held against, and what
    its runs left behind."""

    findings: list[Finding]
    programs: list[ProgramSummary]
    files: list[FileFacts]
    graphs: list[GraphSummary] = []
    unlisted: list[Problem] = []
    runs: list[RunSummary] = []


def check_project(
    root: str,
    sources: Sequence[SourceFile],
    catalogue: Catalogue,
    settings: Settings,
    cache: Cache,
    given: Mapping[str, bytes] = {},
    told: Advance = no_progress,
) -> Outcome:
    """Read, assemble and evaluate one project, unless the cache remembers the answer. `given` are the bytes of files
    that are to be judged as if they held these. `told` hears of every file that is done."""
    piped = {} if settings.stdin is None else {settings.stdin_filename: settings.stdin}
    loaded = [load(source, given.get(source.path, piped.get(source.path))) for source in sources]
    if not cache.enabled:
        return evaluate_project(root, facts_of(loaded, cache, told), catalogue, settings)
    key = fingerprint(loaded, root, catalogue.digest, settings)
    known = cache.get_many([key]).get(key)
    if known is not None:
        outcome = decoded(known)
        if outcome is not None:
            told(len(loaded))
            return outcome
    outcome = evaluate_project(root, facts_of(loaded, cache, told), catalogue, settings)
    cache.put_many({key: msgspec.msgpack.encode(outcome)})
    return outcome


def facts_of(loaded: Sequence[Loaded], cache: Cache, told: Advance = no_progress) -> list[FileFacts]:
    """The facts of loaded files, remembered where that pays."""
    if cache.enabled and len(loaded) > _FEW:
        return cached_facts(loaded, cache, told)
    files = []
    for item in loaded:
        files.append(read(item))
        told(1)
    return files


def evaluate_project(root: str, files: Sequence[FileFacts], catalogue: Catalogue, settings: Settings) -> Outcome:
    """What a project gives. Code that leads resolution round in circles spoils that project alone, and is named."""
    try:
        return _judged(root, files, catalogue, settings)
    except RecursionError:
        problems = [Problem(f.path, "too-deep") for f in files if f.code is not None]
        return Outcome([], [], [FileFacts(p.path, "python", problems=[p]) for p in problems])


def _judged(root: str, files: Sequence[FileFacts], catalogue: Catalogue, settings: Settings) -> Outcome:
    findings: list[Finding] = []
    programs: list[ProgramSummary] = []
    graphs: list[GraphSummary] = []
    runs: list[RunSummary] = []
    beside: frozenset[str] | None = None
    own = configured_op_list(settings) if listed_ops(files) else None
    for program in _programs(root, files, settings.target, None if own is None else own.ops):
        program.attrs["port"] = settings.torch_port
        verdict = evaluate(catalogue, program, settings.target, settings.language())
        findings += verdict.findings
        if "graph" in program.attrs:
            from npulint.evaluate.graphs import summarise_graph  # most projects have none

            graphs.append(summarise_graph(program))
        elif "run" in program.attrs:
            from npulint.evaluate.runs import summarise_run  # most projects have none

            runs.append(summarise_run(program))
            beside = program.source_files
        elif program.entry and program.attrs["framework"] != "none":
            programs.append(summarise(program, verdict.checklist))
    slim = [FileFacts(f.path, f.kind, problems=f.problems, comments=f.comments) for f in files]
    if graphs:
        from npulint.postprocess.merge_graph_findings import related_to_source

        findings = related_to_source(findings, catalogue, settings.language())
    if any(one.artifact_location is not None for one in findings):
        from npulint.postprocess.merge_run_findings import with_counterparts

        findings = with_counterparts(findings, catalogue, beside)
    return Outcome(findings, programs, slim, graphs, [] if own is None else list(own.problems), runs)


def _programs(
    root: str, files: Sequence[FileFacts], target: Mapping[str, str], supported: SupportedOps | None
) -> list[Program]:
    adapter, torch, cann, soc = (target.get(key, "") for key in ("adapter", "torch", "cann", "soc"))
    return assemble(root, files, adapter, torch, cann, soc, supported)


def decoded(data: bytes) -> Outcome | None:
    """An outcome from its bytes; None when they are damaged."""
    try:
        return msgspec.msgpack.decode(data, type=Outcome)
    except msgspec.MsgspecError:
        return None
