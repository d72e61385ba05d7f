"""Runs the public training programs of tests/data/try_scripts.csv under ``npulint try``, and as they are on the CPU.

    python -m scripts.try_public FOLDER --python VENV/bin/python [--mirrors MIRRORS] [--only NAMES] [--steps 3]

FOLDER receives the checkouts, the outputs and a table, `table.csv`: whether each program reached its steps, its
findings by severity, whether the parameters after each step equal those of the plain run bit by bit, the seconds until
the first step, and how many times as long the steps took. The interpreter has PyTorch and what the programs import;
MIRRORS has git directories or clones named owner+name, without which the repositories are cloned.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from npulint.fakes.torch.digest_lines import VARIABLE, Digest, digests_in
from scripts.trying.checkouts import placed
from scripts.trying.programs import Program, programs

ROOT = Path(__file__).parent.parent
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


def main() -> None:
    """Run what the arguments select."""
    parser = argparse.ArgumentParser(description="Run public training programs under npulint try.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the programs")
    parser.add_argument("--mirrors", type=Path, help="a folder of git directories named owner+name")
    parser.add_argument("--only", default="", help="the names of the programs, with commas")
    parser.add_argument("--steps", type=int, default=3)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for program in programs():
        if not given.only or program.name in given.only.split(","):
            rows.append(tried(program, given.folder.resolve(), given.python, given.mirrors, given.steps))
            print("  ".join(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    if rows:
        with (given.folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, rows[0])
            out.writeheader()
            out.writerows(rows)


def tried(program: Program, folder: Path, python: str, mirrors: Path | None, steps: int) -> dict[str, Any]:
    """The line of the table for a program."""
    there = folder / program.name
    try:
        placed(program.repository, program.commit, program.checkout, there, mirrors)
        where = there / program.folder
        for kind, *words in program.made_up():
            called(python, ["-m", "scripts.trying.made_up", str(where), kind, *words])
    except subprocess.CalledProcessError as error:
        return {"name": program.name, "kind": program.kind, "ended": f"no program: {error.cmd[0]}"}
    trial = under_try(program, where, python, steps)
    (folder / f"{program.name}.try.txt").write_text(trial.text)
    (folder / f"{program.name}.json").write_text(trial.report)
    plain = as_it_is(program, where, python, len(trial.digests) or steps)
    (folder / f"{program.name}.plain.txt").write_text(plain.text)
    return line(program, trial, plain)


def line(program: Program, trial: Run, plain: Run) -> dict[str, Any]:
    """What the two runs of a program say."""
    found = json.loads(trial.report)["findings"] if trial.report else []
    severities = Counter(one["severity"] for one in found)
    ended = [one for one in trial.text.split("\n") if one.startswith("Ended") or "error:" in one]
    return {
        "name": program.name,
        "kind": program.kind,
        "ended": ended[-1] if ended else f"exit code {trial.code}",
        "steps": len(trial.digests),
        "errors": severities["error"],
        "warnings": severities["warning"],
        "notes": severities["note"],
        "equal": compared(trial.digests, plain.digests),
        "set_up": round(trial.set_up, 1),
        "set_up_plain": round(plain.set_up, 1),
        "overhead": round(trial.step / plain.step, 1) if plain.step else "",
    }


def compared(trial: list[Digest], plain: list[Digest]) -> str:
    """Whether the parameters were the same after each step."""
    pairs = list(zip(trial, plain, strict=False))
    if not pairs:
        return "no steps"
    if all(one.parameters == other.parameters for one, other in pairs):
        return f"bit by bit ({len(pairs)})"
    apart = max(abs(one.total - other.total) / max(abs(other.total), 1.0) for one, other in pairs)
    return f"differ by {apart:.0e}"


def under_try(program: Program, where: Path, python: str, steps: int) -> Run:
    """Run a program under ``npulint try``."""
    options = ["--isolated", "--format", "json", "--steps", str(steps), "--time-limit", str(LIMIT), "--python", python]
    command = [sys.executable, "-m", "npulint", "try", *options, *shlex.split(program.options)]
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
    plain = str(ROOT / "scripts" / "trying" / "plain.py")
    command = [python, plain, str(steps), "cpu" if program.cpu else "posing", *program.script.split()]
    started = time.time()
    try:
        done = subprocess.run(
            [*command, *program.words(True)],
            cwd=where,
            env={**variables(), **(JOB if program.kind == "DDP" else {}), **(ON_CPU if program.cpu else {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        text = bytes(late.stderr or b"").decode()  # bytes, whatever was asked for
        return Run(digests_in(text), started, text)
    return Run(digests_in(done.stderr), started, done.stderr + done.stdout[-4000:])


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
        "NPULINT_LANG": "en",
        "TORCHDYNAMO_DISABLE": "1",
        VARIABLE: "1",
    }
    return {**os.environ, **fixed}


if __name__ == "__main__":
    main()
