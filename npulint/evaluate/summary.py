"""Summaries of programs for reports."""

from __future__ import annotations

from npulint.assemble.programs import Program
from npulint.findings import ChecklistItem, ProgramSummary

_MODES = ("session", "estimator", "keras", "function")
_ROLES = (("train", "trains"), ("evaluate", "evaluates"), ("export", "exports"))


def summarise(program: Program, checklist: tuple[ChecklistItem, ...] = ()) -> ProgramSummary:
    """The summary of one program, with its readiness checklist."""
    attrs = program.attrs
    roles = [role for role, key in _ROLES if attrs[key] == "yes"]
    version = {"1": "tensorflow 1.x", "2": "tensorflow 2.x"}.get(attrs["tensorflow"], attrs["framework"])
    return ProgramSummary(
        entry=program.entry,
        files=len(program.paths),
        framework=version if attrs["framework"] == "tensorflow" else attrs["framework"],
        state=attrs["state"],
        modes=tuple(m for m in attrs["mode"].split() if m in _MODES),
        roles=tuple(roles) or (attrs["purpose"],),
        devices={"yes": "multi", "no": "single"}.get(attrs["multi_device"], "unknown"),
        checklist=checklist,
    )
