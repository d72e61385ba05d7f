"""Summaries of programs for reports."""

from __future__ import annotations

from npulint.facts.model import Fact
from npulint.facts.roles import Role
from npulint.judge.findings import ChecklistItem, ProgramSummary
from npulint.judge.summaries.verdict import RunsOn
from npulint.model.programs.program_fact import UNPORTED
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
        device=_device(program),
        counterpart=fact.counterpart if fact.configured else "",
    )


def _device(program: Program) -> RunsOn:
    """Where code that nothing moves to the NPU runs on an NPU server: nowhere if it surely reaches what requires CUDA,
    on the host if it asks for CUDA and has another way, and for TensorFlow without an adapter; else unknown."""
    fact = program.fact
    if fact.framework == "tensorflow":
        return "host" if fact.state == "not_started" else "unknown"
    if fact.framework != "torch" or fact.migration not in UNPORTED:
        return "unknown"
    uses = program.index.of_kind("cuda")
    libraries = filter(_only_for_gpus, program.index.of_kind("library"))
    if any(map(program.surely_runs, (*libraries, *filter(_requires_cuda, uses)))):
        return "cuda"
    return "host" if any(use.get("fallback") == "yes" and program.surely_runs(use) for use in uses) else "unknown"


def _requires_cuda(use: Fact) -> bool:
    """Whether a use of CUDA that runs stops the program on an NPU server; the cheapest questions first."""
    return (
        use.get("form") in ("method", "text", "api", "type")
        and use.get("breaks") == "yes"
        and use.get("use") not in ("field", "apart", "compared")
        and use.get("behind") == "none"
        and "yes" not in (use.get("guarded"), use.get("beside_npu"), use.get("fallback"), use.get("in_test"))
        and use.get("active") == "yes"
        and use.get("matters") != "no"
    )


def _gpu_only(program: Program) -> tuple[tuple[str, str], ...]:
    """The libraries that only GPUs have and whose import stops the program on an NPU server, unless an option that is
    off leads there, with their groups."""
    libraries = filter(_only_for_gpus, program.index.of_kind("library"))
    return tuple(dict.fromkeys((fact.name, fact.get_text("group")) for fact in libraries))


def _only_for_gpus(library: Fact) -> bool:
    """Whether the import of a library stops the program on an NPU server, if it runs."""
    return (
        library.get("works") == "no"
        and library.get("failure") == "stops"
        and "no" not in (library.get("runs"), library.get("active"))
    )
