"""Fleets of projects for the tests of surveys, and what is compared of their results."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from npulint.survey.model import CHECKED, FAILED, Part, ProjectRow, Summed
from tests.project_support import Answer, Project

TRAIN = """import torch

model = torch.nn.Linear(4, {size}).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(8, 4).cuda()).sum()
    loss.backward()
    optimizer.step()
"""
QUIET = ("--jobs", "1", "--no-reports")
TABLES = ("projects", "findings", "readiness")


def survey(project: Project, *words: str, out: str = "out") -> Answer:
    """A survey of the folder ``fleet``, or of what `words` begin with."""
    named = () if words and not words[0].startswith("-") else ("fleet",)
    return project.run("survey", *named, *words, "--out", out)


def fleet(folder: Path, number: int) -> Path:
    """A folder with projects that differ in one number."""
    for index in range(number):
        one = folder / f"project{index:02}"
        one.mkdir(parents=True)
        (one / "train.py").write_text(TRAIN.format(size=index + 1))
    return folder


def rows(out: Path, name: str) -> list[dict[str, str]]:
    """The rows of a table."""
    with open(out / f"{name}.csv", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def compared(out: Path) -> dict[str, list[dict[str, str]]]:
    """All tables without times."""
    tables = {name: rows(out, name) for name in TABLES}
    for row in tables["projects"]:
        del row["seconds"]
    return tables


def by_name(out: Path) -> dict[str, dict[str, str]]:
    """The rows of projects by name."""
    return {row["project"]: row for row in rows(out, "projects")}


def row(name: str, **fields: Any) -> ProjectRow:
    """A project that was checked."""
    usual: dict[str, Any] = {"source": f"/fleet/{name}", "verdict": "check", "frameworks": ("torch",), "lines": 10}
    usual |= {"passed": 3, "undetermined": 1, "effort_low": 0.0, "effort_mid": 0.0, "effort_high": 0.0}
    return ProjectRow(project=name, **{**usual, **fields})


def broken(name: str, failure: str, detail: str = "") -> ProjectRow:
    """A project without a result."""
    return ProjectRow(project=name, source=f"/fleet/{name}", status=FAILED, failure=failure, detail=detail)


def summed(*projects: ProjectRow, names: dict[str, str] | None = None) -> Summed:
    """What a survey of these projects adds up; `names` are those of the checks that block them."""
    found = Summed()
    found.checks.update(names or {})
    for one in projects:
        found.add(Part(project=one))
    return found


def large(number: int) -> Summed:
    """Many projects of all kinds."""
    codes = {f"NPU{1000 + index}": f"check-number-{index}" for index in range(60)}
    order = list(codes)
    verdicts = ("ready", "check", "open", "blocked", "unused")
    found = []
    for index in range(number):
        word = verdicts[index % 5]
        blocking = tuple(order[(index * 7 + step) % 60] for step in range(index % 4 + 1)) if word == "blocked" else ()
        found.append(
            row(
                f"group{index % 40}/project-{index}",
                verdict=word,
                blockers=blocking,
                errors=2 * len(blocking),
                warnings=index % 9,
                lines=37 * index,
                frameworks=("tensorflow 1.x",) if index % 3 else ("torch",),
                status=CHECKED,
                effort_low=index / 10,
                effort_mid=index / 5,
                effort_high=index / 2,
                report=f"reports/project-{index}.html",
            )
        )
    return summed(*found, broken("gone", "missing"), names=codes)
