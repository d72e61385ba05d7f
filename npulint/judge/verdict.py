"""The verdict on a project, from its findings and readiness items: the one place where they are counted. Every report
and command takes words and numbers from this record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Literal

from npulint.judge.findings import ChecklistItem, Finding, ProgramSummary, RunResult
from npulint.judge.summaries.verdict import RunsOn, TrainingVerdict, Verdict
from npulint.model.programs.program_fact import UNPORTED

Meaning = Literal["stops", "unused", "wrong", "slows", "none"]
"""What a finding means for a run on the NPU: it stops or may stop, it does not use the NPU, its results are or may be
wrong, it is slow, or nothing of that."""

_BY_CONSEQUENCE: Mapping[str, Meaning] = {
    "stops": "stops",
    "wasted-device": "unused",
    "wrong-result": "wrong",
    "idle-devices": "slows",
    "much-slower": "slows",
    "slower": "slows",
}
_BY_CATEGORY: Mapping[str, Meaning] = {"functional": "stops", "precision": "wrong", "performance": "slows"}
_DEVICE = "device"  # the readiness item that training runs on the NPU
_CUDA = "device_cuda"  # the topic of uses of CUDA
_KEEPING = ("stops", "wasted-device", "")  # what those of them do that keep a program from the NPU; empty: not declared
_HOST_TOPICS = ("session_config", "estimator_migration")
_HOST_CHECK = "eager-training-step"
_NO_USERS = frozenset(("test", "documentation", "ci", "gpu", "other_device", "mindspore"))
"""Roles of scripts that nobody starts on an NPU server for the work of the project."""


def meaning(finding: Finding) -> Meaning:
    """What a finding means for a run, by the consequence that its check declares, else by its category. Notes are
    unsure or harmless, except that those about speed are about speed; what is in a file that cannot be parsed is
    unknown."""
    if finding.consequence:
        found = _BY_CONSEQUENCE.get(finding.consequence, "none")
    else:
        found = "none" if finding.topic == "parse" else _BY_CATEGORY.get(finding.category, "none")
    return "none" if finding.severity == "note" and found != "slows" else found


def verdict_of(result: RunResult) -> Verdict:
    """The verdict of a run, worked out here only where the run has none."""
    return result.verdict if result.verdict is not None else judged(result, result.findings)


def judged(result: RunResult, findings: Sequence[Finding], *, selective: bool = False) -> Verdict:
    """The verdict from a result and all `findings`, also those that thresholds hide from it."""
    severities = Counter(finding.severity for finding in findings)
    fatal = {problem.path for problem in result.unreadable if problem.fatal}
    trained = [program for program in result.programs if trains(program)]
    others = [program for program in result.programs if not trains(program)]
    topics = {finding.code: finding.topic for finding in findings}
    places = {program.entry: _runs_on(program, topics) for program in trained}
    hosted = {program.entry: _failing_device(program) for program in trained if places[program.entry] == "host"}
    meanings = Counter(_meaning_in(finding, (finding.program, *finding.programs), hosted) for finding in findings)
    frameworks = {program.framework for program in result.programs} - {"", "none", "unknown"}
    open_items = [item for program in trained for item in program.checklist if item.status == "unknown"]
    return Verdict(
        programs=sum(program.framework in frameworks for program in result.programs),
        training=_training(trained, findings, places, hosted),
        needing_cuda=tuple(program.entry for program in others if _needs_cuda(program)),
        library=not trained and any(map(_blocks_library, findings)),
        errors=severities["error"],
        warnings=severities["warning"],
        notes=severities["note"],
        stops=meanings["stops"],
        unused=meanings["unused"],
        wrong=meanings["wrong"],
        slows=meanings["slows"],
        undetermined=len({item.item for item in open_items if not item.compared}),
        to_compare=len({item.item for item in open_items if item.compared}),
        unread=len(fatal),
        partly_read=len({p.path for p in result.unreadable if not p.fatal and p.reason != "encoding"} - fatal),
        unstarted=sum(use.files for use in result.seen if use.use == "training"),
        not_recognised=sum(use.files for use in result.seen if use.use in ("configuration", "start")),
        graphs=len(result.graphs),
        runs=len(result.runs),
        steps=0 if result.step is None else result.step.steps,
        silent=sum(bool(file.note) for run in result.runs for file in run.files),
        read=result.summary.read,
        frameworks=bool(frameworks or result.seen),
        selective=selective,
    )


def trains(program: ProgramSummary) -> bool:
    """Whether a program is a training of the project: it has a readiness checklist, or trains in a way that no item is
    about; not if its file is there for something else, such as tests, or another launcher starts it on the NPU."""
    if program.counterpart:
        return False
    return bool(program.checklist) or ("train" in program.roles and not program.file_role)


def keeping_from_npu(programs: Sequence[ProgramSummary], findings: Sequence[Finding]) -> set[str]:
    """The codes of the findings that keep programs from the NPU, if any train those: the findings that fail the
    readiness item about it, and where no item is, those about CUDA in a program that stops without it."""
    without: set[str] = set()
    codes: set[str] = set()
    for program in [program for program in programs if trains(program)] or programs:
        item = _device_item(program)
        if item is None and program.device == "cuda":
            without.add(program.entry)
        codes |= _failing_device(program)
    return codes | {
        finding.code
        for finding in findings
        if finding.topic == _CUDA
        and finding.consequence in _KEEPING
        and not without.isdisjoint((finding.program, *finding.programs))
    }


def _device_item(program: ProgramSummary) -> ChecklistItem | None:
    return next((item for item in program.checklist if item.item == _DEVICE), None)


def _needs_cuda(program: ProgramSummary) -> bool:
    return program.device == "cuda" and program.file_role not in _NO_USERS


def _blocks_library(finding: Finding) -> bool:
    """Whether a finding is about code of no program, and says that it is written for CUDA."""
    return finding.severity == "error" and finding.topic == _CUDA and finding.program == finding.project


def _failing_device(program: ProgramSummary) -> set[str]:
    """The codes of the findings that fail the readiness item about the device of a program."""
    item = _device_item(program)
    return set() if item is None or item.status != "failed" else {failure.code for failure in item.failures}


def _meaning_in(finding: Finding, entries: Sequence[str], hosted: Mapping[str, Set[str]]) -> Meaning:
    """What a finding means for some programs. What keeps programs from the NPU does not stop them where all run on the
    CPU instead: `hosted` are these by entry script, with the codes of the findings that keep them from the NPU."""
    usual = meaning(finding)
    is_hosted = all(finding.code in hosted.get(entry, ()) for entry in entries)
    return "unused" if usual == "stops" and is_hosted else usual


def _training(
    programs: Sequence[ProgramSummary],
    findings: Sequence[Finding],
    places: Mapping[str, RunsOn],
    hosted: Mapping[str, Set[str]],
) -> tuple[TrainingVerdict, ...]:
    """The verdict on each training program; `places` says where each of them runs, `hosted` as in `_meaning_in`."""
    concerning = _concerning(programs, findings)
    verdicts = []
    for program in programs:
        own = [(finding, _meaning_in(finding, (program.entry,), hosted)) for finding in concerning[program.entry]]
        numbers = Counter(word for _, word in own)
        statuses = Counter(item.status for item in program.checklist)
        to_compare = sum(item.compared and item.status == "unknown" for item in program.checklist)
        verdicts.append(
            TrainingVerdict(
                entry=program.entry,
                runs_on=places[program.entry],
                stops=numbers["stops"],
                errors=sum(finding.severity == "error" and word == "stops" for finding, word in own),
                wrong=numbers["wrong"],
                slows=numbers["slows"],
                undetermined=statuses["unknown"] - to_compare,
                to_compare=to_compare,
                failed=statuses["failed"],
            )
        )
    return tuple(verdicts)


def _concerning(programs: Sequence[ProgramSummary], findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """The findings that concern each program, by entry script: those that name it, those in code it reaches, and for
    the only one those of the training run."""
    by_path: dict[str, list[str]] = defaultdict(list)
    for program in programs:
        for path in {program.entry, *program.paths}:
            by_path[path].append(program.entry)
    concerning: dict[str, list[Finding]] = {program.entry: [] for program in programs}
    for finding in findings:
        named = {finding.program, *finding.programs, *by_path.get(finding.path, ())}
        if finding.artifact_location is not None and len(programs) == 1:
            named.add(programs[0].entry)
        for entry in named & concerning.keys():
            concerning[entry].append(finding)
    return concerning


def _runs_on(program: ProgramSummary, topics: Mapping[str, str]) -> RunsOn:
    """Where a training program runs on an NPU server as it is, by its readiness item about the device, and by what its
    code requires where no item is about its way of being ported."""
    item = _device_item(program)
    if item is None:
        return program.device
    if item.status == "passed":
        return "npu"
    return _away(program, item, topics) if item.status == "failed" else "unknown"


def _away(program: ProgramSummary, item: ChecklistItem, topics: Mapping[str, str]) -> RunsOn:
    """Where a program runs whose readiness item about the device failed; unknown where it may reach the NPU and stops
    there."""
    if program.device != "unknown":
        return program.device
    if program.framework == "torch":
        return "cuda" if program.migration in UNPORTED else "unknown"
    check, code = ("", "") if item.evidence is None else (item.evidence.check, item.evidence.code)
    return "host" if check == _HOST_CHECK or topics.get(code) in _HOST_TOPICS else "unknown"
