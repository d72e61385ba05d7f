"""Runs a public program under ``npulint try``, or as it is on the CPU."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from npulint.fakes.supervision.supervisor import terminal
from npulint.fakes.torch.digests import VARIABLE, Digest, digests_in
from scripts.trying.programs import Program

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(tempfile.gettempdir()) / "npulint-try-public"  # what programs keep for all runs
JOB = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29531", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
ON_CPU = {"ACCELERATE_USE_CPU": "1"}
LIMIT = 240  # seconds of a run


class Run(NamedTuple):
    """What one run printed: the digests after its steps, its seconds, and its start."""

    digests: list[Digest]
    started: float
    text: str
    report: str = ""
    code: int = 0

    @property
    def set_up(self) -> float:
        """Seconds until the first step has ended."""
        return self.digests[0].time - self.started if self.digests else 0.0

    @property
    def step(self) -> float:
        """Seconds per step after the first one."""
        spans = len(self.digests) - 1
        return (self.digests[-1].time - self.digests[0].time) / spans if spans > 0 else 0.0


def under_try(program: Program, where: Path, python: str, steps: int, words: str | None = None) -> Run:
    """Run a program under ``npulint try`` with the options that its line of the table has, or with other `words`."""
    given = program.options if words is None else words
    options = ["--isolated", "--format", "json", "--steps", str(steps), "--time-limit", str(LIMIT), "--python", python]
    command = [sys.executable, "-m", "npulint", "try", *options, *shlex.split(given)]
    started = time.time()
    done = subprocess.run(
        [*command, *program.script.split(), "--", *program.words(False)],
        cwd=where,
        env=variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(digests_in(done.stderr), started, done.stderr, done.stdout, done.returncode)


def as_it_is(program: Program, where: Path, python: str, steps: int) -> Run:
    """Run a program on the CPU with the arguments for it, else with the CPU posing as its accelerator."""
    own = ROOT / "scripts" / "trying"
    if program.kind == "tensorflow":
        return _run([python, str(own / "plain_tensorflow.py"), str(steps), *program.script.split()], program, where)
    parts = ["cpu" if program.cpu else "posing", *(["synthetic"] if "--synthetic" in program.options else [])]
    command = [python, str(own / "plain.py"), str(steps), ",".join(parts), *program.script.split()]
    return _run(command, program, where)


def _run(command: list[str], program: Program, where: Path) -> Run:
    started = time.time()
    try:
        with terminal() as typed:
            done = subprocess.run(
                [*command, *program.words(True)],
                cwd=where,
                env={**variables(), **_own(program)},
                stdin=typed,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
    except subprocess.TimeoutExpired as late:
        text = bytes(late.stderr or b"").decode()  # bytes, whatever was asked for
        return Run(digests_in(text), started, text)
    return Run(digests_in(done.stderr), started, done.stderr + done.stdout[-4000:])


def _own(program: Program) -> dict[str, str]:
    """What the environment of a run on the CPU needs for this program."""
    if program.kind == "tensorflow":
        folders = ("tensorflow_trial", "shared")
        return {"PYTHONPATH": os.pathsep.join(str(ROOT / "npulint" / "fakes" / "on_path" / one) for one in folders)}
    return {**(JOB if program.kind == "DDP" else {}), **(ON_CPU if program.cpu else {})}


def called(python: str, words: list[str]) -> None:
    """Run Python with the modules of this project. Raises `subprocess.CalledProcessError`."""
    subprocess.run([python, *words], cwd=ROOT, env=variables(), check=True)


def variables() -> dict[str, str]:
    """The environment of both runs."""
    fixed = {
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "TORCH_HOME": str(FOLDER / "torch"),
        "WANDB_MODE": "disabled",
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "NPULINT_LANG": "en",
        "TORCHDYNAMO_DISABLE": "1",
        VARIABLE: "1",
    }
    return {**os.environ, **fixed}
