"""Labels: places in real projects of which a person has said whether a finding is right there.

One layout has a row for each place in a repository: ``repo``, ``path``, ``line``, ``code`` (empty: any check of the
``topic``), ``expect`` (``fire``: a finding is right here, ``quiet``: it is false), ``severity`` (the highest one that
is no false alarm). The other one has rows for cases, each in a folder of its own: ``case_id``, ``path``, ``line``,
``category`` (a topic), ``expectation`` and ``severity_guess`` (from this severity on a finding is false).
"""

from __future__ import annotations

import csv
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

NEAR = 3  # lines between a label and the finding that answers it
RELEASE = "torch=2.7"  # projects of today are checked for this target
_RANK = {"": 0, "none": 0, "note": 1, "warning": 2, "error": 3}
_SIDES = ("-orig", "-migr", "-before", "-after")

Finding = dict[str, Any]
"""A finding of the JSON report."""


class Label(NamedTuple):
    """One label. `project` names the project for counting (both halves of a pair are one project); `line` 0 means the
    whole file, an empty `path` the whole project. `allowed` is the rank of the highest severity that is not false."""

    folder: str
    project: str
    target: str
    path: str
    line: int
    code: str
    topic: str
    right: bool
    allowed: int

    def speaks_of(self, finding: Finding) -> bool:
        """Whether a finding is of the labelled check or topic."""
        return finding["code"] == self.code if self.code else self.topic in ("any", "*", finding["topic"])


def read_labels(table: Path) -> list[Label]:
    """The labels of a table about places or files; those about whole projects without a topic are left out."""
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    labels = map(_of_case if rows and "case_id" in rows[0] else _of_repository, rows)
    return [one for one in labels if one is not None]


def _of_repository(row: dict[str, str]) -> Label | None:
    if row["topic"] == "readiness":
        return None
    folder, right = row["repo"].replace("/", "+"), row["expect"] == "fire"
    line, allowed = int(row["line"] or 0), _RANK[row["severity"]]
    return Label(folder, folder, RELEASE, row["path"], line, row["code"], row["topic"], right, allowed)


def _of_case(row: dict[str, str]) -> Label | None:
    right = row["expectation"] == "fire"
    if row["kind"] in ("clean", "hostile") or not (right or row["path"]):
        return None
    case = row["case_id"]
    project = next((case.removesuffix(side) for side in _SIDES if case.endswith(side)), case)
    line, allowed = int(row["line"] or 0), _RANK[row["severity_guess"]] - 1
    return Label(case, project, "", row["path"], line, "", row["category"], right, allowed)


def verdicts(labels: Sequence[Label], findings: Sequence[Finding]) -> Iterator[tuple[str, bool]]:
    """The code of each finding at a labelled place, with whether it is right; findings of which labels disagree are
    left out. A label about a whole file or project confirms one finding of each check."""
    judged: dict[int, set[bool]] = {}
    for label in labels:
        confirmed: set[str] = set()
        for number, finding in enumerate(findings):
            if not label.speaks_of(finding) or (not label.line and finding["code"] in confirmed):
                continue
            if _confirmed(label, finding) if label.right else _refuted(label, finding):
                judged.setdefault(number, set()).add(label.right)
                if label.right:
                    confirmed.add(finding["code"])
    for number, answers in judged.items():
        if len(answers) == 1:
            yield findings[number]["code"], answers == {True}


def _confirmed(label: Label, finding: Finding) -> bool:
    """Whether the finding speaks of the labelled place, as its own or a related one."""
    if not label.path:
        return True
    near = range(label.line - NEAR, label.line + NEAR + 1) if label.line else None
    return any(path == label.path and (near is None or line in near) for path, line in _places(finding))


def _refuted(label: Label, finding: Finding) -> bool:
    """Whether the finding stands at a place where it is false, more severe than it may be."""
    path, line = next(iter(_places(finding)))
    return path == label.path and label.line in (0, line) and _RANK[finding["severity"]] > label.allowed


def _places(finding: Finding) -> Iterable[tuple[str, int]]:
    """Paths and lines: the finding's own place first."""
    for one in (finding, *(finding.get("related") or ())):
        yield posixpath.normpath(one.get("path") or ""), one.get("line") or 0
