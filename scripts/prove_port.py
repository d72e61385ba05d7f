"""Proves that public GPU projects train after ``npulint port`` without an edit by hand.

    python -m scripts.prove_port FOLDER --python VENV/bin/python [--mirrors MIRRORS] [--only NAMES] [--styles npu]

Each project of data-src/port_programs.csv runs for a few steps on the CPU as it is; copies of it are ported, one for
each style, and run for as many steps under ``npulint try``, whose CUDA calls raise. FOLDER receives the checkouts, the
plans, what the runs print, and the table `proofs.csv`; `--markdown en` prints it for the documentation. The interpreter
has PyTorch and what the programs import; the one that NPULINT_TENSORFLOW1_PYTHON names has TensorFlow 1.15, for the
programs of the kind tensorflow, which have one style. MIRRORS has git directories or clones named owner+name, without
which the repositories are cloned.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from scripts.trying.checkouts import placed
from scripts.trying.porting import STYLES, Proof, proofs
from scripts.trying.programs import Program, programs
from scripts.trying.runs import called

TABLE = Path(__file__).parent.parent / "data-src" / "port_programs.csv"
COLUMNS = ("name", "kind", "repository", "commit", *STYLES, "losses", "left", "detail")
HEADS = {
    "en": ("project", *STYLES, "first loss before / after"),
    "zh": ("项目", *STYLES, "迁移前/后的首个 loss"),
}
IN_CHINESE = {
    "trains": "可训练",
    "listed": "已列出",
    "refused": "拒绝迁移",
    "differs": "结果不同",
    "stops": "中断",
    "cannot run": "迁移前即无法运行",
}
GOOD = ("trains", "refused", "listed")


def main() -> int:
    """Prove what the arguments select; returns 1 if a program does not train and the plan does not say why."""
    parser = argparse.ArgumentParser(description="Run public GPU projects before and after npulint port.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the programs")
    parser.add_argument("--mirrors", type=Path, help="a folder of git directories named owner+name")
    parser.add_argument("--only", default="", help="the names of the programs, with commas")
    parser.add_argument("--styles", default=",".join(STYLES), help="the styles, with commas")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--markdown", choices=HEADS, help="print the table of FOLDER in a language, and run nothing")
    given = parser.parse_args()
    path = given.folder / "proofs.csv"
    if not given.markdown:
        given.folder.mkdir(parents=True, exist_ok=True)
        chosen = [one for one in programs(TABLE) if not given.only or one.name in given.only.split(",")]
        for program in chosen:
            found = proved(program, given.folder.resolve(), given)
            _kept(path, line(program, found))
            print("  ".join(f"{key}={value}" for key, value in line(program, found).items()), flush=True)
    rows = known(path)
    print("\n".join(markdown(rows, given.markdown) if given.markdown else summary(rows)))
    return int(any(row[style] and row[style] not in GOOD for row in rows for style in STYLES))


def proved(program: Program, folder: Path, given: argparse.Namespace) -> list[Proof]:
    """The proofs of a program, one for each style."""
    there = folder / program.name
    original = there / "original"
    of_tensorflow = program.kind == "tensorflow"
    styles = ["npu"] if of_tensorflow else given.styles.split(",")
    python = os.environ.get("NPULINT_TENSORFLOW1_PYTHON", given.python) if of_tensorflow else given.python
    for old in (original, *(there / style for style in styles)):
        shutil.rmtree(old, ignore_errors=True)
    try:
        placed(program.repository, program.commit, program.checkout, original, given.mirrors)
        for kind, *words in program.made_up():
            called(python, ["-m", "scripts.trying.made_up", str(original / program.folder), kind, *words])
    except subprocess.CalledProcessError as error:
        return [Proof(style, "cannot run", f"no program: {error.cmd[0]}") for style in styles]
    return proofs(program, original, there, python, given.steps, styles)


def line(program: Program, found: Sequence[Proof]) -> dict[str, str]:
    """The line of the table for a program."""
    verdicts = {one.style: one.verdict for one in found}
    details = [f"{one.style}: {one.detail}" for one in found if one.detail]
    exact = all(one.equal for one in found if one.verdict == "trains")
    first = next((one.losses[0] for one in found if one.losses), None)
    shown = "" if first is None else f"{first[0]:.4g}" if exact else f"{first[0]:.6g} / {first[1]:.6g}"
    return {
        "name": program.name,
        "kind": program.kind,
        "repository": program.repository,
        "commit": program.commit[:10],
        **{style: verdicts.get(style, "") for style in STYLES},
        "losses": shown,
        "left": str(max(one.left for one in found)),
        "detail": "; ".join(details),
    }


def known(path: Path) -> list[dict[str, str]]:
    """The lines of a table that an earlier run has written."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _kept(path: Path, row: dict[str, str]) -> None:
    """Put a line into the table, in the place of the one of the same program; styles that did not run stay."""
    rows = {one["name"]: one for one in known(path)}
    before = rows.get(row["name"], row)
    rows[row["name"]] = {**row, **{style: row[style] or before[style] for style in STYLES}}
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, COLUMNS)
        out.writeheader()
        out.writerows(rows.values())


def summary(rows: Sequence[dict[str, str]]) -> list[str]:
    """How many programs came to which verdict, by style."""
    return [
        f"{style}: " + ", ".join(f"{count} {word}" for word, count in Counter(row[style] for row in rows).most_common())
        for style in STYLES
    ]


def markdown(rows: Sequence[dict[str, str]], lang: str) -> list[str]:
    """The table for the documentation."""
    lines = [" | ".join(HEADS[lang]), " | ".join("---" for _ in HEADS[lang])]
    for row in rows:
        link = f"[{row['repository']}](https://github.com/{row['repository']}/tree/{row['commit']}): {row['name']}"
        verdicts = [row[style] or "–" for style in STYLES]
        if lang == "zh":
            verdicts = [IN_CHINESE.get(one, one) for one in verdicts]
        lines.append(" | ".join((link, *verdicts, row["losses"] or "–")))
    return [f"| {one} |" for one in lines]


if __name__ == "__main__":
    sys.exit(main())
