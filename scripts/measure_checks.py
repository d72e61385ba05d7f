"""Measures precision and usefulness of each check on labelled projects, and gives it the status that it has earned.

    python -m scripts.measure_checks LABELS FOLDER [LABELS FOLDER ...] [--keep DIR] [--write | --add]

LABELS is a CSV table of places in projects of which a person has said whether a finding is useful there, right but
useless (nobody changes a line or a plan because of it), or false; FOLDER holds
the projects, one folder each. Two layouts of tables are understood (`scripts.labels`). Each project is checked once;
--keep stores the answers in DIR and reads them from there the next time. Printed is one line per check that spoke at a
labelled place. With --write, data-src/precision.csv is replaced, and so is the status of each check file; with --add,
the figures are added to those of the file, for projects that it does not know yet:

stable    at least 5 useful findings in at least 3 projects, 90 % of all that were judged, or `basis: tables`: the
          check repeats what a table of the adapter says, so that only a wrong table makes it wrong
preview   all others

A check of which fewer than 70 % are useful must be a note (`tests/test_precision.py`).
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from npulint.data.precision import Precision
from scripts.labels import Answer, Label, read_labels, verdicts

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "data-src" / "precision.csv"
COLUMNS = ("code", "useful", "useless", "false", "projects")

Report = dict[str, Any]
"""The JSON report of a project."""


def check(folder: Path, target: str) -> Report:
    """The JSON report of a project with all notes; no findings when the run has failed."""
    words = ["check", "--no-cache", "--isolated", "--lang=en", "--format=json", "--min-severity=note", "--exit-zero"]
    words += [f"--target={target}"] if target else []
    command = [sys.executable, "-m", "npulint", *words, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    try:
        answer: Report = json.loads(done.stdout)
    except ValueError:
        print(f"{folder}: {done.stderr.decode(errors='replace').strip()[-200:]}", file=sys.stderr)
        return {"findings": []}
    return answer


def answer_of(folder: Path, target: str, keep: Path | None) -> Report:
    """The report of a project, from `keep` if it is there."""
    stored = keep / f"{folder.parent.name}+{folder.name}.json" if keep else None
    if stored is None or not stored.exists():
        answer = check(folder, target)
        if stored is None:
            return answer
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(json.dumps(answer), encoding="utf-8")
    return dict(json.loads(stored.read_text(encoding="utf-8")))


def measure(tables: Iterable[tuple[Path, Path]], keep: Path | None) -> dict[str, Precision]:
    """The precision of each check that spoke at a labelled place, by code; `tables` are pairs of labels and folder."""
    by_folder: dict[Path, list[Label]] = defaultdict(list)
    for labels, folder in tables:
        for label in read_labels(labels):
            if (folder / label.folder).is_dir():
                by_folder[folder / label.folder].append(label)
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda one: answer_of(one, by_folder[one][0].target, keep), by_folder)
        judged = [
            (labels[0].project, verdict)
            for labels, answer in zip(by_folder.values(), answers, strict=True)
            for verdict in verdicts(labels, answer["findings"])
        ]
    return counted(judged)


def counted(judged: Iterable[tuple[str, tuple[str, Answer]]]) -> dict[str, Precision]:
    """Useful, useless and false findings, and projects with useful ones, by code."""
    answers: dict[str, Counter[Answer]] = defaultdict(Counter)
    projects: dict[str, set[str]] = defaultdict(set)
    for project, (code, answer) in judged:
        answers[code][answer] += 1
        if answer == "useful":
            projects[code].add(project)
    return {
        code: Precision(found["useful"], found["useless"], found["false"], len(projects[code]))
        for code, found in sorted(answers.items())
    }


def with_table(found: Mapping[str, Precision], table: Path) -> dict[str, Precision]:
    """The figures of other projects added to those of the table."""
    with table.open(newline="", encoding="utf-8") as stream:
        known = {row["code"]: Precision(*(int(row[name]) for name in COLUMNS[1:])) for row in csv.DictReader(stream)}
    both = {code: (found.get(code, Precision()), known.get(code, Precision())) for code in sorted({*found, *known})}
    return {
        code: Precision(*(sum(getattr(one, name) for one in pair) for name in COLUMNS[1:]))
        for code, pair in both.items()
    }


def write(found: dict[str, Precision]) -> None:
    """Replace the table, and the statuses of the check files."""
    with TABLE.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows((code, one.useful, one.useless, one.false, one.projects) for code, one in found.items())
    for path in sorted((ROOT / "checks").rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        changed = with_statuses(text, found)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def with_statuses(text: str, figures: Mapping[str, Precision]) -> str:
    """The text of a check file with the status that its check, or each row of its table, has earned."""
    shared = re.search(r"^shared:\n(?:  .*\n)+", text, re.MULTILINE)
    if shared is None:
        return _with_status(text, "", "", figures)
    rows = re.split(r"^(?=[\w-]+:$)", text[shared.end() :], flags=re.MULTILINE)
    return text[: shared.end()] + "".join(_with_status(row, "  ", shared[0], figures) for row in rows)


def _with_status(text: str, indent: str, shared: str, figures: Mapping[str, Precision]) -> str:
    """The text of a check with the status that it has earned. Its keys are indented by `indent`; `shared` are the lines
    that a row of a table shares, which say its status unless it has one of its own."""
    code = re.search(rf"^{indent}code: (NPU\w{{4}})\n", text, re.MULTILINE)
    own = re.search(rf"^{indent}status: (\w+)\n", text, re.MULTILINE)
    common = re.search(r"^  status: (\w+)\n", shared, re.MULTILINE)
    current = own or common
    if code is None or current is None or current[1] not in ("stable", "preview"):
        return text
    basis = f"{indent}basis: tables" in text.splitlines() or "  basis: tables" in shared.splitlines()
    status = "stable" if basis or figures.get(code[1], Precision()).confirmed else "preview"
    if status == current[1]:
        return text
    print(f"{code[1]} is {status}")
    line = "" if common and common[1] == status else f"{indent}status: {status}\n"
    start, end = own.span() if own else (code.end(), code.end())
    return text[:start] + line + text[end:]


def _line(name: str, one: Precision) -> str:
    """A line of the printed table."""
    answers = f"{one.useful:4} useful  {one.useless:4} useless  {one.false:4} false"
    return f"{name:7}  {answers}  {one.share:4.0%} right  {one.usefulness:4.0%} useful  in {one.projects} projects"


def main(words: Sequence[str]) -> None:
    """Run the script with the arguments `words`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path, metavar="LABELS FOLDER")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--add", action="store_true")
    options = parser.parse_args(words)
    if len(options.tables) % 2:
        parser.error("every table of labels needs the folder with its projects")
    found = measure(zip(options.tables[::2], options.tables[1::2], strict=True), options.keep)
    for code, one in found.items():
        print(_line(code, one))
    total = Precision(*(sum(getattr(one, name) for one in found.values()) for name in COLUMNS[1:4]))
    print(_line("all", total))
    if options.write or options.add:
        write(with_table(found, TABLE) if options.add else found)


if __name__ == "__main__":
    main(sys.argv[1:])
