"""Which logs are output of a project's runs on NPUs, and what of other logs is of interest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.error_patterns import patterns
from npulint.facts.model import Fact
from npulint.recognizers.programs import Program
from npulint.runs.read.logs import LogSummary
from npulint.runs.read.logs.ending import RunEnd
from npulint.runs.read.logs.triage import LogMessage
from npulint.runs.read.source_fact import RunSource

_ABOUT_NPUS = lazy_compile(r"(?i)(?<![a-z])(?:npus?|torch_npu|ascend|cann|hccl|mindspeed)(?![a-z])")


def without_foreign_output(facts: Iterable[Fact], programs: Sequence[Program]) -> list[Fact]:
    """The facts, in their order, without what logs of other runs say.

    A log without a sign of any device belongs to a project whose code names the NPU. Without any program it is what
    npulint was asked about: then its end is of interest, and messages that mean the same on every device. Of a log that
    shows GPUs, only the end is of interest, and only if there is no program.
    """
    facts = list(facts)
    coded = [program for program in programs if program.fact.framework != "none"]
    for_npu = any(program.fact.project_npu or program.fact.npu for program in coded)
    notes = {fact.path: fact.note for fact in facts if isinstance(fact, RunSource)}
    unclear = {path for path, note in notes.items() if note == "no-npu"}
    foreign = {path for path, note in notes.items() if note == "gpu"} | (set() if for_npu else unclear)
    own = set() if coded and not for_npu else unclear
    kept = [fact for fact in facts if fact.path not in foreign or _is_kept(fact, bool(coded), fact.path in unclear)]
    return _with_ends([_of_run(fact) if fact.path in own else fact for fact in kept])


def _is_kept(fact: Fact, coded: bool, unclear: bool) -> bool:
    """Whether a fact of a log of another run is of interest; `coded`: there are programs, `unclear`: the log shows no
    device."""
    if coded or isinstance(fact, (RunSource, LogSummary)):
        return isinstance(fact, (RunSource, LogSummary))
    if isinstance(fact, LogMessage):
        return unclear and fact.name in _of_any_device()
    return unclear or isinstance(fact, RunEnd)


@cache
def _of_any_device() -> frozenset[str]:
    """The messages that programs without an NPU print as well, and whose explanation does not depend on it."""
    return frozenset(
        name
        for name, pattern in patterns().items()
        if pattern.general and not _ABOUT_NPUS.search(f"{pattern.cause[0]} {pattern.fix[0]}")
    )


def _of_run(fact: Fact) -> Fact:
    """What was read of the log of a run."""
    return msgspec.structs.replace(fact, note="") if isinstance(fact, RunSource) else fact


def _with_ends(facts: list[Fact]) -> list[Fact]:
    """The facts; an end is explained only by a message that is among them."""
    explaining = {fact.path for fact in facts if isinstance(fact, LogMessage) and fact.level in ("fatal", "error")}
    return [
        msgspec.structs.replace(fact, explained="no")
        if isinstance(fact, RunEnd) and fact.path not in explaining
        else fact
        for fact in facts
    ]
