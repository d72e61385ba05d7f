"""The readiness checklist of a training program: what a migration expert ticks off first."""

from __future__ import annotations

from npulint.assemble.programs import Program
from npulint.findings import ChecklistItem, ProgramSummary

_SCALING = ("initialize", "GradScaler", "scale_loss")
_MODES = ("session", "estimator", "keras", "function")


def summarise(program: Program) -> ProgramSummary:
    """What is known about one program."""
    attrs = program.attrs
    roles = [
        role
        for role, key in (("train", "trains"), ("evaluate", "evaluates"), ("export", "exports"))
        if attrs[key] == "yes"
    ]
    version = {"1": "tensorflow 1.x", "2": "tensorflow 2.x"}.get(attrs["tensorflow"], attrs["framework"])
    return ProgramSummary(
        entry=program.entry,
        files=len(program.paths),
        framework=version if attrs["framework"] == "tensorflow" else attrs["framework"],
        state=attrs["state"],
        modes=tuple(m for m in attrs["mode"].split() if m in _MODES),
        roles=tuple(roles) or (attrs["purpose"],),
        devices={"yes": "multi", "no": "single"}.get(attrs["multi_device"], "unknown"),
        checklist=_checklist(program) if attrs["trains"] == "yes" else (),
    )


def _checklist(program: Program) -> tuple[ChecklistItem, ...]:
    return _torch(program) if program.attrs["framework"] == "torch" else _tensorflow(program)


def _torch(program: Program) -> tuple[ChecklistItem, ...]:
    attrs, index = program.attrs, program.index
    scalers = [f for name in _SCALING for f in index.named("call", name) if f.name.startswith(("torch.", "apex."))]
    stock = [f.get("family") for f in index.of_kind("optimizer")]
    last = [f.get("drop_last") for f in index.of_kind("loader") if f.get("purpose") == "train"]
    fused = "ok" if {"npu", "apex_npu"} & set(stock) else "todo" if "stock" in stock else "unknown"
    return (
        ChecklistItem("device", "todo" if attrs["migration"] == "none" else "ok"),
        ChecklistItem("mixed_precision", {"mixed": "ok", "bf16": "ok"}.get(attrs["precision"], "todo")),
        ChecklistItem("loss_scale", "ok" if scalers or attrs["precision"] == "bf16" else "todo"),
        ChecklistItem("static_batch", "unknown" if not last else "todo" if {"missing", "no"} & set(last) else "ok"),
        ChecklistItem("fused_optimizer", fused),
    )


def _tensorflow(program: Program) -> tuple[ChecklistItem, ...]:
    attrs = program.attrs
    index = program.index
    scaled = any(f.get("what") == "optimizer" for f in index.of_kind("loss_scale"))
    batches = [
        f.get("drop_remainder")
        for n in ("batch", "padded_batch", "map_and_batch")
        for f in index.named("input_stage", n)
    ]
    mixed = {"mixed": "ok", "unknown": "unknown"}.get(attrs["precision"], "todo")
    return (
        ChecklistItem("device", "todo" if attrs["state"] != "migrated" else "ok"),
        ChecklistItem("mixed_precision", mixed),
        ChecklistItem("loss_scale", "ok" if scaled else "todo"),
        ChecklistItem(
            "static_batch", "unknown" if not batches else "todo" if {"missing", "no"} & set(batches) else "ok"
        ),
    )
