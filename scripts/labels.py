"""Labels: places in real projects of which a person has said whether a finding is right there.

One layout has a row for each place in a repository: ``repo``, ``path``, ``line``, ``code`` (empty: any check of the
``topic``), ``expect`` (``fire``: a finding is right here and useful, ``useless``: it is right, but nobody changes a
line or a plan because of it, ``quiet``: it is false), ``severity`` (the highest one that is no false alarm, or worth
its place). The other one has rows for cases, each in a folder of its own: ``case_id``, ``path``, ``line``,
``category`` (a topic), ``expectation`` and ``severity_guess`` (from this severity on a finding is false).
"""

from __future__ import annotations

import csv
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

NEAR = 3  # lines between a label and the finding that answers it
RELEASE = "torch=2.7"  # projects of today are checked for this target
_RANK = {"": 0, "none": 0, "note": 1, "warning": 2, "error": 3}
_SIDES = ("-orig", "-migr", "-before", "-after")

Finding = dict[str, Any]
"""A finding of the JSON report."""


Answer = Literal["useful", "useless", "false"]
"""What a reader says of a finding."""
_ANSWERS: dict[str, Answer] = {"fire": "useful", "useless": "useless", "quiet": "false"}


class Label(NamedTuple):
    """One label. `project` names the project for counting (both halves of a pair are one project); `line` 0 means the
    whole file, an empty `path` the whole project. `allowed` is the rank of the highest severity that is neither false
    nor useless."""

    folder: str
    project: str
    target: str
    path: str
    line: int
    code: str
    topic: str
    answer: Answer
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
    folder, answer = row["repo"].replace("/", "+"), _ANSWERS[row["expect"]]
    line, allowed = int(row["line"] or 0), _RANK[row["severity"]]
    return Label(folder, folder, RELEASE, row["path"], line, row["code"], row["topic"], answer, allowed)


def _of_case(row: dict[str, str]) -> Label | None:
    answer = _ANSWERS[row["expectation"]]
    if row["kind"] in ("clean", "hostile") or not (answer == "useful" or row["path"]):
        return None
    case = row["case_id"]
    project = next((case.removesuffix(side) for side in _SIDES if case.endswith(side)), case)
    line, allowed = int(row["line"] or 0), _RANK[row["severity_guess"]] - 1
    return Label(case, project, "", row["path"], line, "", row["category"], answer, allowed)


def verdicts(labels: Sequence[Label], findings: Sequence[Finding]) -> Iterator[tuple[str, Answer]]:
    """The code of each finding at a labelled place, with what the label says of it; findings of which labels disagree
    are left out. A label about a whole file or project confirms one finding of each check."""
    judged: dict[int, set[Answer]] = {}
    for label in labels:
        confirmed: set[str] = set()
        for number, finding in enumerate(findings):
            if not label.speaks_of(finding) or (not label.line and finding["code"] in confirmed):
                continue
            useful = label.answer == "useful"
            if _confirmed(label, finding) if useful else _refuted(label, finding):
                judged.setdefault(number, set()).add(label.answer)
                if useful:
                    confirmed.add(finding["code"])
    for number, answers in judged.items():
        if len(answers) == 1:
            yield findings[number]["code"], answers.pop()


def _confirmed(label: Label, finding: Finding) -> bool:
    """Whether the finding speaks of the labelled place, as its own or a related one."""
    if not label.path:
        return True
    near = range(label.line - NEAR, label.line + NEAR + 1) if label.line else None
    return any(path == label.path and (near is None or line in near) for path, line in _places(finding))


def _refuted(label: Label, finding: Finding) -> bool:
    """Whether the finding stands at a place where it is false or useless, more severe than it may be."""
    path, line = next(iter(_places(finding)))
    return path == label.path and label.line in (0, line) and _RANK[finding["severity"]] > label.allowed


def _places(finding: Finding) -> Iterable[tuple[str, int]]:
    """Paths and lines: the finding's own place first."""
    for one in (finding, *(finding.get("related") or ())):
        yield posixpath.normpath(one.get("path") or ""), one.get("line") or 0
