"""Summaries of programs for reports."""

from __future__ import annotations

from npulint.facts.roles import Role
from npulint.judge.findings import ChecklistItem, ProgramSummary
from npulint.recognizers.programs import Program

_MODES = ("session", "estimator", "keras", "function")


def summarise(
    program: Program, checklist: tuple[ChecklistItem, ...] = (), file_role: Role | None = None
) -> ProgramSummary:
    """The summary of one program, with its readiness checklist; `file_role` is what its entry script is for, if not
    for training."""
    fact = program.fact
    roles = [
        role
        for role, plays in (("train", fact.trains), ("evaluate", fact.evaluates), ("export", fact.exports))
        if plays
    ]
    version = {"1": "tensorflow 1.x", "2": "tensorflow 2.x"}.get(fact.tensorflow, fact.framework)
    return ProgramSummary(
        entry=program.entry,
        files=len(program.paths),
        framework=version if fact.framework == "tensorflow" else fact.framework,
        state=fact.state,
        modes=tuple(m for m in fact.mode.split() if m in _MODES),
        roles=tuple(roles) or (fact.purpose,),
        devices={"yes": "multi", "no": "single"}.get(fact.multi_device, "unknown"),
        checklist=checklist,
        file_role=file_role or "",
        started_by=program.started_by,
        launches=program.launches,
        configured_by=fact.configured_by,
        paths=tuple(program.paths),
        torch=fact.torch,
        migration=fact.migration,
        gpu_only=_gpu_only(program),
    )


def _gpu_only(program: Program) -> tuple[tuple[str, str], ...]:
    """The libraries that only GPUs have and whose import stops the program on an NPU server, unless an option that is
    off leads there, with their groups."""
    libraries = [
        (fact.name, fact.get_text("group"))
        for fact in program.index.of_kind("library")
        if fact.get("works") == "no"
        and fact.get("failure") == "stops"
        and "no" not in (fact.get("runs"), fact.get("active"))
    ]
    return tuple(dict.fromkeys(libraries))
