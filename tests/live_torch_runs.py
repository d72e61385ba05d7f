"""Records the models of `live_torch_models` for a release and prints what came of it, as JSON; a process of its own."""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

import torch

from npulint.data.aten import verdict
from npulint.live.torch.recording import record
from npulint.live.torch.step import TrainingStep, run_step
from tests.live_torch_models import CASES, Case


def step_of(made: Case) -> TrainingStep:
    return TrainingStep(
        made.get("model"),
        made.get("inputs"),
        made.get("train", True),
        made.get("loss"),
        made.get("targets"),
        None,
        made.get("step"),
        made.get("autocast", ""),
    )


def parameters(made: Case) -> list[torch.Tensor]:
    models = made.get("models") or [made["model"]]
    return [one for model in models for one in model.parameters()]


def outcome(made: Case, out: Any) -> list[torch.Tensor]:
    """The loss and all gradients, on the CPU."""
    output = out if isinstance(out, torch.Tensor) else out[0]
    return [output.detach().cpu(), *(one.grad.detach().cpu() for one in parameters(made) if one.grad is not None)]


def plainly(name: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    made = CASES[name]()
    step = step_of(made)
    torch.manual_seed(1)
    out = run_step(step, made.get("inputs"), made.get("targets"), "cpu")
    return outcome(made, out)


def run(name: str, release: str, method: str) -> dict[str, Any]:
    expected = plainly(name)
    torch.manual_seed(0)
    made = CASES[name]()
    before = [copy.deepcopy(one.detach()) for one in parameters(made)]
    got: list[torch.Tensor] = []
    torch.manual_seed(1)
    recorded = record(step_of(made), release, method, inspect=lambda out: got.extend(outcome(made, out)))
    state = torch.get_rng_state()
    torch.manual_seed(1)
    same = bool(torch.equal(state, torch.get_rng_state()))
    after = parameters(made)
    same = same and all(torch.equal(a, b) and b.grad is None and b.is_cpu for a, b in zip(before, after, strict=True))
    worst = max((difference(a, b) for a, b in zip(expected, got, strict=True)), default=0.0)
    nodes = [
        [node.op, verdict(node.op, release).word, node.phase, node.frames[-1].line if node.frames else 0, node.count]
        for node in recorded.graph.bodies[0].nodes
    ]
    return {"nodes": nodes, "method": recorded.method, "worst": worst, "unchanged": same, "notes": list(recorded.notes)}


def difference(one: torch.Tensor, other: torch.Tensor) -> float:
    scale = max(1.0, float(one.abs().max())) if one.numel() else 1.0
    return float((one - other).abs().max()) / scale if one.numel() else 0.0


def main(release: str, method: str, *names: str) -> None:
    found: dict[str, Any] = {}
    for name in names or CASES:
        try:
            found[name] = run(name, release, method)
        except Exception as error:
            found[name] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
