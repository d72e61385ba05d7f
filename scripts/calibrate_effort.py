"""Fits the weights of effort estimates to ports that experts have made, and says how well they predict.

    python -m scripts.calibrate_effort CORPUS CASES [--details]

CORPUS has `cases_dev.csv`, CASES a folder for each case (`case_id`): originals (`…-orig`) and their ports (`…-migr`).
The truth is the size of the expert's diff: changed lines, without blank ones and comments, of the files that both sides
have. Most lines of such diffs are not about the port (arguments, logging, paths of data), so that by default only
changed lines that name a part of it count (`OF_PORT`), in the files that have some. The prediction for a project is
made with weights that were fitted without it and others of its repository. Printed are the weights for
`data-src/effort.csv` and rank correlations (Spearman), also with all files and with whole diffs.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import correlation, median
from typing import NamedTuple

from npulint.api import check
from npulint.judge.effort import FileEffort, estimate
from scripts.measure_port import inside

OF_PORT = re.compile(
    r"npu|cuda|gpu|device|ascend|apex|\bamp\b|loss_scale|precision|float16|fp16|half\(|nccl|hccl|distributed|world_size"
    r"|rank_size|local_rank|launch|DataParallel|horovod|hvd|drop_remainder|drop_last|ConfigProto|Session|RunConfig"
    r"|Estimator",
    re.IGNORECASE,
)
"""What a changed line of a port names."""
PLACE, FILE = (0.5, 1.0, 2.0, 3.0, 5.0), (0.0, 1.0, 2.0, 3.0, 5.0, 8.0)
"""The weights that are tried: few and apart, so that no single project decides."""
_KINDS = (".py", ".sh", ".yaml", ".yml")
_LONG = 6000  # lines; longer files are data
_ALIKE = 0.5  # similarity of a file that was moved
_FEW = 5  # lines that do not matter


class FileDiff(NamedTuple):
    """The size of an expert's diff of one file: changed lines, and those that name a part of the port."""

    path: str
    lines: int
    of_port: int


class Case(NamedTuple):
    """A project: its repository, the expert's diffs, and the estimate of each file."""

    name: str
    repository: str
    diffs: tuple[FileDiff, ...]
    efforts: dict[str, FileEffort]


class Sample(NamedTuple):
    """What is fitted: edited places and edited files of a project, and the lines that the expert changed."""

    repository: str
    places: int
    files: int
    lines: int


def cases(corpus: Path, folder: Path) -> Iterator[Case]:
    """The pairs of the corpus that are checked out in a folder."""
    with (corpus / "cases_dev.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["case_id"]: row for row in csv.DictReader(stream)}
    for name, row in sorted(rows.items()):
        other = row["counterpart"]
        if row["kind"] == "pair" and row["side"] == "orig" and (folder / name).is_dir() and (folder / other).is_dir():
            diffs = tuple(diffs_of(folder / name, folder / other / rows[other]["root"], row["root"]))
            with inside(folder / name):
                found = estimate(check(".", isolated=True, cache=False))
            yield Case(name, row["repo"], diffs, {one.path: one for one in found.files})


def diffs_of(original: Path, ported: Path, root: str) -> Iterator[FileDiff]:
    """The diffs of the files that both sides have, under the same path or moved; paths are those of the original."""
    above = original / root if (original / root).is_dir() else original
    old, new = _texts(above), _texts(ported)
    moved = sorted(new.keys() - old.keys())
    free = old.keys() - new.keys()
    pairs = [(path, path) for path in sorted(old.keys() & new.keys())]
    for path in moved:
        named = [one for one in sorted(free) if one.rpartition("/")[2] == path.rpartition("/")[2]]
        found = max(named, key=lambda one: _likeness(old[one], new[path]), default="")
        if found and _likeness(old[found], new[path]) > _ALIKE:
            free -= {found}
            pairs.append((found, path))
    prefix = above.relative_to(original).as_posix().removeprefix(".")
    for before, after in pairs:
        yield FileDiff(f"{prefix}/{before}".lstrip("/"), *changed(old[before], new[after]))


def _texts(folder: Path) -> dict[str, list[str]]:
    """The files that ports change by path, as `lines_of`."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and (path.suffix in _KINDS or path.name.startswith("requirements")):
            lines = lines_of(path.read_bytes().decode("utf-8", "replace"))
            if len(lines) <= _LONG:
                found[path.relative_to(folder).as_posix()] = lines
    return found


def lines_of(text: str) -> list[str]:
    """The lines of a text that are neither blank nor comments, with single blanks."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _likeness(one: Sequence[str], other: Sequence[str]) -> float:
    compared = SequenceMatcher(None, one, other, autojunk=False)
    return compared.ratio() if compared.quick_ratio() > _ALIKE else 0.0


def changed(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines differ, and how many of them name a part of the port."""
    lines = of_port = 0
    for tag, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += max(last - first, end - begin)
            of_port += max(
                sum(bool(OF_PORT.search(line)) for line in some) for some in (old[first:last], new[begin:end])
            )
    return lines, of_port


def samples(found: Sequence[Case], only_ported: bool, size: Callable[[FileDiff], int]) -> list[Sample]:
    """The samples of all projects; `only_ported` keeps the files in which the expert has changed a part of the port."""
    made = []
    for case in found:
        diffs = [one for one in case.diffs if one.of_port or not only_ported]
        efforts = [case.efforts[one.path] for one in diffs if one.path in case.efforts]
        edited = [one.automatic + one.review for one in efforts if one.automatic + one.review]
        made.append(Sample(case.repository, sum(edited), len(edited), sum(map(size, diffs))))
    return made


def fitted(some: Sequence[Sample]) -> tuple[float, float]:
    """The weights of a place and of a file with the least squared logarithmic error."""
    return min(itertools.product(PLACE, FILE), key=lambda weights: math.fsum(_error(one, weights) ** 2 for one in some))


def _error(one: Sample, weights: tuple[float, float]) -> float:
    return math.log((predicted(one, weights) + _FEW) / (one.lines + _FEW))


def predicted(one: Sample, weights: tuple[float, float]) -> float:
    """The changed lines that weights mean."""
    return weights[0] * one.places + weights[1] * one.files


class Quality(NamedTuple):
    """How well projects are predicted by weights that are fitted to the others: the rank correlation, the median factor
    between predicted and changed lines, and how many weights are chosen."""

    correlation: float
    factor: float
    chosen: int


def left_out(some: Sequence[Sample]) -> Quality:
    """The quality of predictions, each without its own project and others of its repository."""
    weights = [fitted([other for other in some if other.repository != one.repository]) for one in some]
    guesses = [predicted(one, own) for one, own in zip(some, weights, strict=True)]
    factor = math.exp(median(abs(_error(one, own)) for one, own in zip(some, weights, strict=True)))
    return Quality(spearman(guesses, [one.lines for one in some]), factor, len(set(weights)))


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """The rank correlation of two lists."""
    return correlation(_ranks(one), _ranks(other))


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value; equal ones share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for rank, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(rank)
    return [sum(places[value]) / len(places[value]) for value in values]


def report(found: Sequence[Case], details: bool) -> Iterator[str]:
    """The lines of the output."""
    main_samples = samples(found, True, lambda one: one.of_port)
    weights = fitted(main_samples)
    if details:
        for case, one in zip(found, main_samples, strict=True):
            guess = predicted(one, weights)
            yield f"{case.name:48} places {one.places:4} files {one.files:3} lines {one.lines:4} predicted {guess:5.0f}"
    yield f"projects {len(found)}, weights: place {weights[0]:g}, file {weights[1]:g}"
    kinds: tuple[tuple[str, bool, Callable[[FileDiff], int]], ...] = (
        ("lines about the port, files with some", True, lambda one: one.of_port),
        ("lines about the port, all files", False, lambda one: one.of_port),
        ("all lines, files with some about the port", True, lambda one: one.lines),
        ("all lines, all files", False, lambda one: one.lines),
    )
    for title, only_ported, size in kinds:
        quality = left_out(samples(found, only_ported, size))
        yield (
            f"{title:44} rank correlation {quality.correlation:.2f}, median factor {quality.factor:.2f}, "
            f"different weights {quality.chosen}"
        )
    of_port = [sum(one.of_port for one in case.diffs) for case in found]
    lines = [sum(one.lines for one in case.diffs) for case in found]
    yield f"{sum(of_port)} of {sum(lines)} lines are about the port; rank correlation {spearman(of_port, lines):.2f}"


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--details", action="store_true", help="list the projects")
    options = parser.parse_args(words)
    found = list(cases(options.corpus, options.cases))
    if len(found) < 3:
        return 1
    for line in report(found, options.details):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
