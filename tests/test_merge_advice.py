"""Advice that is the same all over a project: one finding with its places, each of which can be ignored or accepted."""

from __future__ import annotations

from typing import Any

import pytest

from npulint.commands.check.pipeline import run
from npulint.facts.model import Span
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, Fix, FixEdit, FixStep, ProgramSummary, Related
from npulint.judge.postprocess.finalize import FOR_EDITORS
from npulint.judge.postprocess.merge_advice import merge_advice
from npulint.judge.settings import Settings
from tests.project_support import Project
from tests.surface_support import finding

_TRAIN = """\
import torch
import torch_npu

model = torch.nn.Linear(3, 3).npu()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([1], 8, pin_memory=True, num_workers=2):
    model(x.npu()).sum().backward()
    optimizer.step()
"""
_UNFUSED = "NPU2316"
_FILES = {"train_a.py": _TRAIN, "train_b.py": "# the other one\n" + _TRAIN}


@pytest.fixture
def two(project: Project) -> Project:
    """A project of two training programs that share nothing but a habit."""
    return project.write(_FILES)


def _places(project: Project, *words: str) -> list[list[str]]:
    """The places of each finding of the habit, its own first."""
    found = project.check(f"--select={_UNFUSED}", *words).findings
    return [[f"{one['path']}:{one['line']}" for one in (finding, *finding["related"])] for finding in found]


def test_one_habit_is_one_finding_with_the_programs_that_have_it(two: Project) -> None:
    assert _places(two) == [["train_a.py:5", "train_b.py:6"]]
    (found,) = two.check(f"--select={_UNFUSED}").findings
    assert (found["program"], found["programs"]) == ("train_a.py", ["train_b.py"])


def test_a_comment_silences_one_of_its_places(two: Project) -> None:
    line = "optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)"
    two.write({"train_a.py": _TRAIN.replace(line, f"{line}  # npulint: ignore[{_UNFUSED}] known")})
    assert _places(two) == [["train_b.py:6"]]


def test_a_baseline_accepts_the_places_that_it_knows(two: Project) -> None:
    words = ("--baseline=base.json",)
    two.run("check", "--no-cache", f"--select={_UNFUSED}", "--write-baseline", *words)
    assert _places(two, *words) == []
    two.write({"train_c.py": "# new\n\n" + _TRAIN})
    assert _places(two, *words) == [["train_c.py:7"]]


def test_what_shows_lines_has_each_place(two: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two.folder)
    found = run(Settings(paths=(".",), select=(_UNFUSED,), cache=False), order=FOR_EDITORS).findings
    assert [(one.path, one.span.line, one.related) for one in found] == [("train_a.py", 5, ()), ("train_b.py", 6, ())]


def _advice(path: str, **changes: Any) -> Finding:
    words = {"project": ".", "wording": "`{name}`: {count:places}", "about": "x", **changes}
    return finding(path=path, program=path, **words)


def _merged(*findings: Finding) -> list[tuple[str, int, str]]:
    """Path, number of places and message of each finding after advice is merged."""
    found = merge_advice(findings, load_catalogue(()), [ProgramSummary("b.py", 1, "torch", "x")])
    return [(one.path, one.places, one.message) for one in found]


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        pytest.param({}, 1, id="about speed"),
        pytest.param({"category": "hygiene"}, 1, id="about tidiness"),
        pytest.param({"category": "functional", "severity": "note"}, 1, id="a note"),
        pytest.param({"category": "functional"}, 2, id="it decides whether a program trains"),
        pytest.param({"category": "precision"}, 2, id="it decides what a program computes"),
        pytest.param({"severity": "error"}, 2, id="an error"),
        pytest.param({"code": "NPU6100"}, 2, id="a difference"),
        pytest.param({"project": ""}, 2, id="not of a project"),
        pytest.param({"wording": ""}, 2, id="a run or graph says something of one place"),
    ],
)
def test_what_is_merged(changes: dict[str, Any], number: int) -> None:
    assert len(_merged(_advice("a.py", **changes), _advice("b.py", **changes))) == number


@pytest.mark.parametrize(
    "changes",
    [{"project": "other"}, {"severity": "note"}, {"confidence": "low"}, {"fix": Fix("Another way.")}],
    ids=["another project", "less severe", "less sure", "another fix"],
)
def test_what_asks_for_another_change_stays_apart(changes: dict[str, Any]) -> None:
    assert len(_merged(_advice("a.py"), _advice("b.py", **changes))) == 2


def test_the_first_program_of_the_project_has_the_finding() -> None:
    assert _merged(_advice("a.py", message="`x`: 1 place"), _advice("b.py", message="`x`: 1 place")) == [
        ("b.py", 2, "`x`: 2 places")
    ]


def test_a_message_that_says_more_stays_as_it_is() -> None:
    assert _merged(_advice("a.py"), _advice("b.py", message="`x`. And more")) == [("b.py", 2, "`x`. And more")]


_AT_A = Related("a.py", Span(13, 17, 13, 38), "x")


def _change(path: str) -> FixEdit:
    return FixEdit("unsafe", (FixStep("delete", path, Span(13, 17, 13, 38)),))


@pytest.mark.parametrize(
    ("second", "fixed"),
    [
        pytest.param({"path": "b.py", "fix": Fix("f", changes=(_change("b.py"),))}, ["a.py", "b.py"], id="both"),
        pytest.param({"path": "b.py", "fix": Fix("f")}, ["a.py"], id="a place without one"),
        pytest.param({"path": "b.py", "fix": Fix("f"), "places": 2, "related": (_AT_A,)}, [], id="not in another"),
    ],
)  # fmt: skip
def test_the_places_keep_their_fixes(second: dict[str, Any], fixed: list[str]) -> None:
    first = _advice("a.py", fix=Fix("f", "unsafe", changes=(_change("a.py"),)))
    other = _advice(second.pop("path"), **second)
    (found,) = merge_advice([first, other], load_catalogue(()), [ProgramSummary("a.py", 1, "torch", "x")])
    assert [change.steps[0].path for change in found.fix.changes] == fixed
    assert found.fix.applicability == ("unsafe" if fixed else "manual")
