"""Ports a copy of a public program, and runs it before and after."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from npulint.fakes.torch.digests import Digest
from scripts.trying.programs import Program
from scripts.trying.runs import Run, as_it_is, under_try, variables

STYLES = ("npu", "agnostic", "transfer")
NEAR = 2e-3  # relative difference of losses: half precision, and fused optimizers in another order
_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)')
_CAUSES = {  # what stops or stands still, far from the line that causes it: checks that name the cause
    "has no attribute '_scatter'": ("data-parallel-to-migrate",),
}
_SKIPPED = 6  # steps that a gradient scaler may leave out until its scale fits
_PORTING = 600  # seconds


class Ported(NamedTuple):
    """What ``npulint port --write`` said: its exit code, the plan and standard error."""

    code: int
    plan: dict[str, Any]
    text: str


class Proof(NamedTuple):
    """Whether a program trains after a port in one style, without an edit by hand.

    The `verdict` is ``trains`` (the loss of the first step is the same: the port adds mixed precision); ``refused``
    (`detail`: the reason); ``listed`` (it does not train, and the plan names the line at which it stops, or the
    cause); ``differs`` (it trains otherwise); ``stops`` (it does not train, and the plan is silent about it); or
    ``cannot run`` (neither does it before the port, or its steps change nothing)."""

    style: str
    verdict: str
    detail: str = ""
    steps: int = 0
    losses: tuple[tuple[float, float], ...] = ()
    equal: bool = False
    left: int = 0


def ported(folder: Path, style: str) -> Ported:
    """Port the project in a folder."""
    command = [sys.executable, "-m", "npulint", "port", ".", "--isolated", "--style", style, "--write"]
    done = subprocess.run(
        [*command, "--format", "json"],
        cwd=folder,
        env=variables(),
        capture_output=True,
        text=True,
        timeout=_PORTING,
        check=False,
    )
    return Ported(done.returncode, json.loads(done.stdout) if done.stdout.startswith("{") else {}, done.stderr)


def proofs(
    program: Program, original: Path, folder: Path, python: str, steps: int, styles: Sequence[str] = STYLES
) -> list[Proof]:
    """Port copies of the program in `original` into `folder`, one for each style, and compare their runs with its own.
    What the runs print is kept in the folder."""
    copies = {style: Path(shutil.copytree(original, folder / style, symlinks=True)) for style in styles}
    plain = as_it_is(program, original / program.folder, python, steps)
    (folder / "plain.txt").write_text(plain.text)
    if not plain.digests:
        return [Proof(style, "cannot run", _last(plain.text)) for style in styles]
    if len(plain.digests) > 1 and _distinct(plain.digests) == 1:
        return [
            Proof(style, "cannot run", "its own steps change no parameter, so nothing is proven") for style in styles
        ]
    return [_proof(style, program, copy, python, plain) for style, copy in copies.items()]


def _proof(style: str, program: Program, copy: Path, python: str, plain: Run) -> Proof:
    project = copy / program.checkout
    done = ported(project, style)
    (copy.parent / f"{style}.plan.json").write_text(json.dumps(done.plan, indent=1))
    (copy.parent / f"{style}.port.txt").write_text(done.text)
    if not done.plan:
        return Proof(style, "refused", _last(done.text))
    trial = under_try(program, copy / program.folder, python, len(plain.digests) + _SKIPPED, _given(program))
    (copy.parent / f"{style}.try.txt").write_text(trial.text)
    (copy.parent / f"{style}.try.json").write_text(trial.report)
    left = sum(one["severity"] != "note" for one in done.plan["left"])
    pairs = list(zip(plain.digests, trial.digests, strict=False))
    losses = tuple((one.loss, other.loss) for one, other in pairs)
    equal = all(one.parameters == other.parameters for one, other in pairs)
    result = Proof(style, "trains", "", len(pairs), losses, equal, left)
    if not pairs or (len(pairs) < len(plain.digests) and not _ended(trial)):
        place, text = stop(trial.text, project)
        verdict = "listed" if is_listed(done.plan, place, text) else "stops"
        return result._replace(verdict=verdict, detail=f"{place} {text}")
    if _distinct(trial.digests[: len(pairs)]) < _distinct(plain.digests[: len(pairs)]):
        text = "the optimizer changes no parameter of the model"
        return result._replace(verdict="listed" if is_listed(done.plan, "", text) else "differs", detail=text)
    apart = farthest(pairs[:1])
    return result if apart <= NEAR else result._replace(verdict="differs", detail=f"losses differ by {apart:.1e}")


def _distinct(digests: Sequence[Digest]) -> int:
    """How many states of parameters there were after steps."""
    return len({one.parameters for one in digests})


def _ended(trial: Run) -> bool:
    """Whether a program ended by itself: a gradient scaler leaves out steps."""
    return "The program ended" in trial.text


def is_listed(plan: dict[str, Any], place: str, text: str) -> bool:
    """Whether what a plan leaves to a person has the line at which a program stops, or the cause of what it says."""
    causes = {name for part, names in _CAUSES.items() if part in text for name in names}
    return any(f"{one['path']}:{one['line']}" == place or one["name"] in causes for one in plan["left"])


def _given(program: Program) -> str:
    if program.kind == "tensorflow":
        return "--framework tensorflow"
    return "--synthetic" if "--synthetic" in program.options else ""


def farthest(pairs: Sequence[tuple[Digest, Digest]]) -> float:
    """The greatest relative difference between the losses of steps; of sums of parameters where a loss is unknown."""
    return max((_apart(one.loss, other.loss) for one, other in pairs if not math.isnan(one.loss)), default=0.0)


def _apart(one: float, other: float) -> float:
    if math.isnan(other):
        return math.inf
    return abs(one - other) / max(abs(one), 1e-3) if one != other else 0.0


def stop(text: str, project: Path) -> tuple[str, str]:
    """The innermost line of its project where a program stopped, and what it said. A trial names its own copies of the
    files, so only the ends of paths count."""
    for line in reversed(text.replace("\r", "\n").split("\n")):
        found = _FRAME.match(line)
        if found and "site-packages" not in found[1]:
            parts = Path(found[1]).parts
            inside = (Path(*parts[start:]) for start in range(1, len(parts)))
            path = next((one for one in inside if (project / one).is_file()), None)
            if path is not None:
                return f"{path}:{found[2]}", _last(text)
    return "", _last(text)


def _last(text: str) -> str:
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip()]
    return lines[-1][:200] if lines else ""
