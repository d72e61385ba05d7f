"""Measures `npulint port` on projects of which experts have made the port.

    python -m scripts.measure_port CORPUS CASES [--style NAME] [--case WORD] [--missing] [--patches DIR]

CORPUS has `labels_dev.csv`: places of the originals that the experts changed, with the topic. CASES has a folder for
each project (`case_id`); only originals of pairs are ported. Printed are, by topic, the labelled places that the port
changes too, files that are broken afterwards, and projects that a second port changes again.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import os
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from npulint.commands.port.model import PortPlan
from npulint.commands.port.plan import plan_port
from npulint.core.errors import NpulintError
from npulint.fix.diff import unified
from npulint.fix.write import write_all
from npulint.judge.fix_results import Touched
from npulint.judge.settings import Settings

_UNTOUCHED = ("python2", "unread", "engine")
_CUDA = re.compile(rb"^[^#\n\"']*(?:\.cuda\(|torch\.cuda\.\w|backend=.nccl)", re.MULTILINE)
NEAR = 3  # lines between a labelled and a changed place
IN_FILE = ("session_config", "loss_scale", "mixed_precision")  # the configuration and its use may be far apart
ALSO = {  # topics that are about the same edit
    "session_config": ("estimator_migration", "setting"),
    "estimator_migration": ("session_config", "setting"),
    "mixed_precision": ("apex_amp", "setting", "loss_scale"),
    "apex_amp": ("mixed_precision", "loss_scale"),
    "loss_scale": ("apex_amp", "mixed_precision"),
    "distribution": ("env_vars", "device_cuda"),
    "device_cuda": ("env_vars", "dependency", "distribution"),
    "dropout": ("affinity_op",),
    "affinity_op": ("dropout", "deprecated_api"),
    "drop_remainder": ("dataloader_perf",),
}
MODEL = ("unsupported_op", "dynamic_shape")  # how to replace an operator or a shape is decided for each model
Label = dict[str, str]


class Measured(NamedTuple):
    """What came out of one project."""

    made: Counter[str]
    labels: Counter[str]
    missing: list[Label]
    broken: list[str]
    again: bool
    refused: str = ""
    half: tuple[str, ...] = ()


def labels_of(table: Path) -> dict[str, list[Label]]:
    """The edits of experts by project: labelled places of originals, without topics that each model decides."""
    found: dict[str, list[Label]] = defaultdict(list)
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            wanted = row["kind"] == "pair" and row["expectation"] == "fire" and row["case_id"].endswith("-orig")
            if wanted and row["category"] not in MODEL:
                found[row["case_id"]].append(row)
    return dict(found)


def measure(folder: Path, labels: Sequence[Label], style: str, patch: Path | None = None) -> Measured:
    """Port one project in memory, set the changes against the labels, then write a copy and port that again."""
    wanted = Counter(row["category"] for row in labels)
    with (
        tempfile.TemporaryDirectory() as place,
        inside(Path(shutil.copytree(folder, Path(place) / "p", symlinks=True))),
    ):
        settings = Settings(paths=(".",), cache=False)
        try:
            plan = plan_port(settings, style, ())
        except NpulintError as error:
            return Measured(Counter(), wanted, list(labels), [], False, str(error))
        if patch is not None:
            patch.write_bytes(unified(plan.files))
        missing = [row for row in labels if not is_made(row, plan)]
        made = wanted - Counter(row["category"] for row in missing)
        half = half_ported(plan)
        broken = [one.path for one in plan.files if one.path.endswith(".py") and not _is_whole(one.before, one.after)]
        write_all(plan.fixes)
        again = bool(plan_port(settings, style, ()).files)
    return Measured(made, wanted, missing, broken, again, half=half)


def half_ported(plan: PortPlan) -> tuple[str, ...]:
    """What makes a port half one, in a style that names the NPU: a program that is called untouched and whose entry
    changes, or a file of a program called ported that still names CUDA, of which nothing is said."""
    after = {one.path: one.after for one in plan.files}
    said = {one.finding.path for one in plan.left}
    members = {one.entry: one.paths for one in plan.result.programs}
    found = [
        one.entry for one in plan.programs if one.status in _UNTOUCHED and after.keys() & members.get(one.entry, ())
    ]
    for program in plan.programs:
        if program.status == "trains" and plan.style.name == "npu":
            paths = (path for path in members.get(program.entry, ()) if path.endswith(".py") and path not in said)
            found += [path for path in paths if _CUDA.search(after.get(path) or Path(path).read_bytes())]
    return tuple(dict.fromkeys(found))


def is_made(row: Label, plan: PortPlan) -> bool:
    """Whether a fix about the topic of a label changes the labelled place."""
    topics = {row["category"], *ALSO.get(row["category"], ())}
    for one in plan.fixes.fixed:
        if one.finding is None or one.finding.topic not in topics:
            continue
        if not row["path"] or any(part.path == row["path"] and _is_there(row, part) for part in one.touched):
            return True
    return False


def _is_there(row: Label, part: Touched) -> bool:
    if not row["line"] or row["category"] in IN_FILE:
        return True
    return not part.statement and part.first - NEAR <= int(row["line"]) <= part.last + NEAR


def _is_whole(before: bytes, after: bytes) -> bool:
    return not _parses(before) or _parses(after)


def _parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def report(measured: dict[str, Measured], missing: bool) -> Iterator[str]:
    """The lines of the output."""
    for name, one in measured.items():
        share = f"{one.made.total()}/{one.labels.total()}"
        notes = [f"broken {path}" for path in one.broken] + (["changes again"] if one.again else [])
        notes += [f"half ported {path}" for path in one.half]
        yield f"{name:48} {share:>7}  {', '.join([*notes, *filter(None, [one.refused])])}"
        if missing:
            yield from (f"    {row['path']}:{row['line']} {row['category']}: {row['evidence']}" for row in one.missing)
    made = sum((one.made for one in measured.values()), Counter[str]())
    labels = sum((one.labels for one in measured.values()), Counter[str]())
    for topic, number in labels.most_common():
        yield f"{topic:24} {made[topic]:4}/{number:<4} {made[topic] / number:4.0%}"
    broken = sum(len(one.broken) for one in measured.values())
    again = sum(one.again for one in measured.values())
    yield f"total {made.total()}/{labels.total()} = {made.total() / max(labels.total(), 1):.1%}"
    yield f"projects with something half ported {sum(bool(one.half) for one in measured.values())}"
    yield f"broken files {broken}, projects that a second run changes {again}, of {len(measured)}"


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--style", default="npu")
    parser.add_argument("--case", default="")
    parser.add_argument("--missing", action="store_true", help="list the labelled places that the port does not change")
    parser.add_argument("--patches", type=Path, help="folder for the patches")
    options = parser.parse_args(words)
    measured: dict[str, Measured] = {}
    for name, labels in labels_of(options.corpus / "labels_dev.csv").items():
        if options.case.lower() in name.lower() and (options.cases / name).is_dir():
            patch = options.patches / f"{name}.diff" if options.patches else None
            measured[name] = measure(options.cases / name, labels, options.style, patch)
    for line in report(measured, options.missing):
        print(line)
    return 0 if measured else 1


if __name__ == "__main__":
    sys.exit(main())
