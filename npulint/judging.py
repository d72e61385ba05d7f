"""One project from its sources to its outcome: read, assembled and evaluated, or remembered."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.assemble.build import assemble
from npulint.cache import Cache
from npulint.catalogue.check import Catalogue
from npulint.discover.kinds import SourceFile
from npulint.evaluate.checks import evaluate
from npulint.evaluate.summary import summarise
from npulint.facts.model import FileFacts, Problem
from npulint.findings import Finding, ProgramSummary
from npulint.memory import fingerprint, remembered_facts
from npulint.read.files import load, read
from npulint.settings import Settings

_FEW = 40  # files of a project; to read so few anew costs less than to remember the facts of each


class Outcome(msgspec.Struct, frozen=True):
    """What one project gives: findings in no order, its programs, and per file what was not read and
    which comments may silence findings."""

    findings: list[Finding]
    programs: list[ProgramSummary]
    files: list[FileFacts]


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
        outcome = decoded(known)
        if outcome is not None:
            return outcome
    files = remembered_facts(loaded, cache) if len(loaded) > _FEW else [read(item) for item in loaded]
    outcome = _judge(root, files, catalogue, settings)
    cache.put_many({key: msgspec.msgpack.encode(outcome)})
    return outcome


def _given(source: SourceFile, settings: Settings) -> bytes | None:
    return settings.stdin if source.path == settings.stdin_filename else None


def _judge(root: str, files: Sequence[FileFacts], catalogue: Catalogue, settings: Settings) -> Outcome:
    """What a project gives. Code that leads resolution round in circles spoils that project alone, and is named."""
    try:
        return _judged(root, files, catalogue, settings)
    except RecursionError:
        problems = [Problem(f.path, "too-deep") for f in files if f.code is not None]
        return Outcome([], [], [FileFacts(p.path, "python", problems=[p]) for p in problems])


def _judged(root: str, files: Sequence[FileFacts], catalogue: Catalogue, settings: Settings) -> Outcome:
    findings: list[Finding] = []
    programs: list[ProgramSummary] = []
    declared = [settings.target.get(key, "") for key in ("adapter", "torch", "cann", "soc")]
    for program in assemble(root, files, *declared):
        verdict = evaluate(catalogue, program, settings.target, settings.language())
        findings += verdict.findings
        if program.entry and program.attrs["framework"] != "none":
            programs.append(summarise(program, verdict.checklist))
    slim = [FileFacts(f.path, f.kind, problems=f.problems, comments=f.comments) for f in files]
    return Outcome(findings, programs, slim)


def decoded(data: bytes) -> Outcome | None:
    """An outcome from its bytes; None when they are damaged."""
    try:
        return msgspec.msgpack.decode(data, type=Outcome)
    except msgspec.MsgspecError:
        return None
