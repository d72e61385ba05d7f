"""The straight way: paths, sources, facts, programs, findings, settled findings. Start reading here."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Sequence

import msgspec

from npulint.assemble.build import assemble
from npulint.cache import Cache, open_cache
from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.discover.context import company
from npulint.discover.files import Discovery, discover
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.discover.projects import base_of, group
from npulint.evaluate.checklist import summarise
from npulint.evaluate.checks import evaluate
from npulint.facts.model import Fact, FileFacts
from npulint.findings import Finding, ProgramSummary, RunResult
from npulint.memory import fingerprint, remembered_facts
from npulint.read.files import load, read
from npulint.settings import Settings
from npulint.settle.run import settle

_COLLECT_AFTER = 1500  # files


class Outcome(msgspec.Struct, frozen=True):
    """What one project gives: findings in no order, its programs, and per file what was not read and
    which comments may silence findings."""

    findings: list[Finding]
    programs: list[ProgramSummary]
    files: list[FileFacts]


def run(settings: Settings) -> RunResult:
    """Check the paths of `settings`. Raises `CatalogueError` for a broken check file."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks)
    found = piped(settings) if settings.stdin is not None else discover(settings.paths, settings.discovery())
    more = company(found, settings.discovery())
    outcomes = _judge_all(group([*found.files, *more]), catalogue, settings, open_cache(settings.cache))
    silent = {file.path for file in more}
    return settle(
        [one for outcome in outcomes for one in outcome.findings if one.path not in silent],
        [one for outcome in outcomes for one in outcome.programs],
        [one for outcome in outcomes for one in outcome.files if one.path not in silent],
        found.problems,
        settings,
        catalogue,
        time.perf_counter() - begun,
    )


def piped(settings: Settings) -> Discovery:
    """Standard input as the one file that was found, under the name it is to have."""
    name = settings.stdin_filename
    kinds = kinds_of(os.path.basename(name)) or ("python",)
    sources = [SourceFile(name, kind, name, base_of(name, False), len(settings.stdin or b"")) for kind in kinds]
    return Discovery(sources, [], {}, frozenset((name,)), 0)


def _judge_all(
    projects: dict[str, list[SourceFile]], catalogue: Catalogue, settings: Settings, cache: Cache
) -> list[Outcome]:
    """Project by project. The collector of cyclic garbage rests meanwhile: it would walk over all syntax
    trees and facts again and again (a third of the time), and finds something only between projects."""
    outcomes = []
    waiting = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        with cache.together():
            for root, sources in projects.items():
                outcomes.append(judge_project(root, sources, catalogue, settings, cache))
                waiting += len(sources)
                if waiting > _COLLECT_AFTER:
                    gc.collect()
                    waiting = 0
    finally:
        if collecting:
            gc.enable()
    return outcomes


def judge_project(
    root: str, sources: Sequence[SourceFile], catalogue: Catalogue, settings: Settings, cache: Cache
) -> Outcome:
    """Read, assemble and evaluate one project, unless the cache remembers the answer."""
    loaded = [load(source, _given(source, settings)) for source in sources]
    if not cache.enabled:
        return _judge(root, [read(item) for item in loaded], catalogue, settings)
    key = fingerprint(loaded, root, catalogue.digest, settings)
    known = cache.get_many([key]).get(key)
    if known is not None:
        outcome = _decoded(known)
        if outcome is not None:
            return outcome
    outcome = _judge(root, remembered_facts(loaded, cache), catalogue, settings)
    cache.put_many({key: msgspec.msgpack.encode(outcome)})
    return outcome


def _given(source: SourceFile, settings: Settings) -> bytes | None:
    return settings.stdin if source.path == settings.stdin_filename else None


def judge(files: dict[str, str], target: dict[str, str], catalogue: Catalogue) -> list[Finding]:
    """What the catalogue says of some texts by file name: how the examples of checks are tested."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="npulint-") as folder:
        for name, text in files.items():
            place = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8", newline="") as out:
                out.write(text)
        settings = Settings(paths=(folder,), target=target, cache=False)
        found = discover(settings.paths, settings.discovery())
        sources = [msgspec.structs.replace(one, path=os.path.relpath(one.location, folder)) for one in found.files]
        outcome = judge_project(".", sources, catalogue, settings, open_cache(False))
    return settle(outcome.findings, outcome.programs, outcome.files, (), settings, catalogue).findings


def facts_of(path: str) -> list[Fact]:
    """Every fact of one file (the rest of its project is read too, for names reach across files).
    Raises `FileNotFoundError` when it is not among the files that are read."""
    options = Settings().discovery()
    found = discover([path], options)
    if not found.files:
        raise FileNotFoundError(path)
    wanted = found.files[0].path
    projects = group([*found.files, *company(found, options)])
    root, sources = next((r, s) for r, s in projects.items() if any(one.path == wanted for one in s))
    unique: dict[int, Fact] = {}
    for program in assemble(root, [read(load(source)) for source in sources]):
        for kind in program.index.kinds():
            unique.update({id(fact): fact for fact in program.index.of_kind(kind) if fact.path == wanted})
    return sorted(unique.values(), key=lambda f: (f.span, f.kind, f.name))


def _judge(root: str, files: Sequence[FileFacts], catalogue: Catalogue, settings: Settings) -> Outcome:
    findings: list[Finding] = []
    programs: list[ProgramSummary] = []
    for program in assemble(root, files, settings.target.get("adapter", "")):
        findings += evaluate(catalogue.checks, program, settings.target, settings.language())
        if program.entry and program.attrs["framework"] != "none":
            programs.append(summarise(program))
    slim = [FileFacts(f.path, f.kind, problems=f.problems, comments=f.comments) for f in files]
    return Outcome(findings, programs, slim)


def _decoded(data: bytes) -> Outcome | None:
    try:
        return msgspec.msgpack.decode(data, type=Outcome)
    except msgspec.MsgspecError:
        return None
