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
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from npulint.fakes.torch.digests import Digest
from scripts.trying.checkouts import placed
from scripts.trying.programs import Program, programs
from scripts.trying.runs import Run, as_it_is, called, under_try


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


if __name__ == "__main__":
    main()
