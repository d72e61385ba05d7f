"""What a port has done to each program: no program is called ported unless its training surely reaches the NPU."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from npulint.commands.port.model import PortedProgram
from npulint.judge.findings import Finding, ProgramSummary, RunResult

_REACHING = "device"
"""The readiness item that says whether the training runs on the NPU."""
_ORDER = ("trains", "open", "reaches", "python2", "unread", "engine", "left", "other")
_LIBRARIES = {"horovod-not-migrated": "horovod"}
"""The checks whose findings mean that a library for GPUs stays, and the library."""
_UNREADABLE = (
    "python2",
    "python2-read",
    "syntax-error",
    "encoding",
    "unreadable",
    "too-deep",
    "too-large",
    "time",
    "memory",
)


def blocked(
    programs: Sequence[ProgramSummary], result: RunResult, is_closed: Callable[[str], bool]
) -> dict[str, tuple[str, str]]:
    """The programs that cannot be ported as a whole, with the reason and its place: some file that is to be ported
    `is_closed` to fixes, because it is Python 2 or cannot be read; or a program that does not train uses an inference
    engine for GPUs."""
    reasons = {problem.path: problem.reason for problem in result.unreadable if problem.reason in _UNREADABLE}
    reasons = {path: reason for path, reason in reasons.items() if is_closed(path)}
    reasons_of: dict[str, tuple[str, str]] = {}
    for program in programs:
        for path in program.paths:
            reason = reasons.get(path, "")
            if reason:
                reasons_of[program.entry] = ("python2" if reason.startswith("python2") else "unread", path)
                break
        engine = next((name for name, group in program.gpu_only if group == "inference"), "")
        if engine and "train" not in program.roles:
            reasons_of.setdefault(program.entry, ("engine", engine))
    return _with_sharers(programs, reasons_of)


def _with_sharers(
    programs: Sequence[ProgramSummary], sharers: dict[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Add the programs that share files with a training which stays as it is: half of its files must not change."""
    waiting = [
        summary
        for summary in programs
        if "train" in summary.roles and sharers.get(summary.entry, ("engine",))[0] != "engine"
    ]
    while waiting:
        stopped = waiting.pop()
        for program in programs:
            if program.entry not in sharers and not set(stopped.paths).isdisjoint(program.paths):
                sharers[program.entry] = sharers[stopped.entry]
                waiting.append(program)
    return sharers


def ported(
    before: Sequence[ProgramSummary],
    programs: Sequence[ProgramSummary],
    left: Sequence[Finding],
    changed: Collection[str],
    untouched: Collection[str],
    stopped: Mapping[str, tuple[str, str]],
    entries: Collection[str],
) -> tuple[PortedProgram, ...]:
    """The programs of a project after the port: `programs` are they as the checks see them then, `left` what is left
    to a person. `changed` are the changed files, `untouched` those that use CUDA as before, `stopped` as by `blocked`,
    `entries` the programs that were named (empty: all)."""
    after = {program.entry: program for program in programs}
    halves = [finding for finding in left if finding.name in _LIBRARIES]
    errors = [finding for finding in left if finding.severity == "error"]
    ported_programs = []
    for summary in before:
        touched = not set(summary.paths).isdisjoint(changed)
        now = after.get(summary.entry, summary)
        if summary.entry in stopped:
            status, because = stopped[summary.entry]
            ported_programs.append(PortedProgram(summary.entry, summary.framework, status, touched, because=because))
        elif entries and summary.entry not in entries:
            ported_programs.append(PortedProgram(summary.entry, summary.framework, "left", touched))
        else:
            reached = touched and summary.entry not in untouched
            ported_programs.append(_judged(now, _about(now, errors), touched, reached, _about(now, halves)))
    return tuple(sorted(ported_programs, key=lambda ported_program: _ORDER.index(ported_program.status)))


def _about(program: ProgramSummary, errors: Sequence[Finding]) -> list[Finding]:
    paths = set(program.paths)
    return [error for error in errors if error.path in paths or program.entry in (error.program, *error.programs)]


def _judged(
    program: ProgramSummary, errors: Sequence[Finding], touched: bool, reached: bool, halves: Sequence[Finding]
) -> PortedProgram:
    """What became of a program; one that does not train is `reached` if nothing in its own file stays as it was: what
    stays there only tries the classes of a module."""
    item = next((checklist_item for checklist_item in program.checklist if checklist_item.item == _REACHING), None)
    trains = "train" in program.roles
    surely = item is not None and item.status == "passed" and program.state == "migrated"
    names = [*(name for name, _ in program.gpu_only), *(_LIBRARIES[halve.name] for halve in halves)]
    library = ", ".join(dict.fromkeys(names))
    if not errors and not library and not trains:
        status = "reaches" if reached and program.state == "migrated" else "other"
        return PortedProgram(program.entry, program.framework, status, touched)
    if not errors and not library and surely:
        return PortedProgram(program.entry, program.framework, "trains", touched)
    items = tuple(checklist_item.title for checklist_item in program.checklist if checklist_item.status == "failed")
    if item is not None and item.status == "unknown":
        items = (item.title, *items)
    return PortedProgram(program.entry, program.framework, "open", touched, len(errors), items, library)
