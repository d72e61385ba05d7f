"""Grouped findings: one for each cause, and each place of it can be new, accepted or ignored by itself."""

from __future__ import annotations

import pytest

from npulint.facts.model import Span
from npulint.judge.findings import Related
from npulint.judge.postprocess.record import ReportScope
from tests.project_support import Project
from tests.surface_support import finding

_SHARED = """\
import torch

def place(model):
    return model.cuda()

def steps(model, rows):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in rows:
        model(x.cuda()).sum().backward()
        optimizer.step()
"""
_ENTRY = """\
import torch
import shared

model = shared.place(torch.nn.Linear(3, 3))
rows = torch.utils.data.DataLoader([1], 8)
shared.steps(model, rows)
"""
_CAUSE = "NPU2100"
_FILES = {"shared.py": _SHARED, "train_a.py": _ENTRY, "train_b.py": _ENTRY}


@pytest.fixture
def two(project: Project) -> Project:
    """A project of two training programs that share the module with the CUDA calls."""
    return project.write(_FILES)


def _places(project: Project, *words: str) -> list[list[str]]:
    """The places of each finding of the cause, its own first."""
    found = project.run("check", "--format=json", "--no-cache", f"--select={_CAUSE}", *words).findings
    return [[f"{one['path']}:{one['line']}" for one in (finding, *finding["related"])] for finding in found]


def test_a_cause_that_two_programs_share_is_one_finding(two: Project) -> None:
    assert _places(two) == [["shared.py:9", "shared.py:4"]]


def test_a_program_with_places_of_its_own_joins_the_finding(two: Project) -> None:
    two.write({"train_b.py": _ENTRY + "torch.cuda.synchronize()\n"})
    (places,) = _places(two)
    assert sorted(places) == ["shared.py:4", "shared.py:9", "train_b.py:7"]
    (found,) = two.run("check", "--format=json", "--no-cache", f"--select={_CAUSE}").findings
    assert "3 places in 2 files" in found["message"]


def test_causes_that_share_no_place_stay_apart(project: Project) -> None:
    alone = _SHARED + _ENTRY.replace("import shared\n", "").replace("shared.", "")
    assert len(_places(project.write({"a.py": alone, "b.py": alone}))) == 2


@pytest.mark.parametrize(
    ("path", "text", "new"),
    [
        pytest.param("shared.py", _SHARED + "        torch.cuda.synchronize()\n", ["shared.py:11"], id="below"),
        pytest.param("shared.py", _SHARED.replace("h\n", "h\ntorch.cuda.init()\n", 1), ["shared.py:2"], id="top"),
        pytest.param("train_a.py", _ENTRY + "torch.cuda.synchronize()\n", ["train_a.py:7"], id="in one of two entries"),
        pytest.param("train_c.py", _ENTRY + "torch.cuda.synchronize()\n", ["train_c.py:7"], id="in a new entry"),
        pytest.param("train_c.py", _ENTRY, None, id="a new entry without new places"),
        pytest.param("shared.py", "\n\n" + _SHARED, None, id="moved lines"),
    ],
)  # fmt: skip
def test_only_new_places_are_reported_against_a_baseline(
    two: Project, path: str, text: str, new: list[str] | None
) -> None:
    words = ("--baseline=base.json",)
    two.run("check", "--no-cache", f"--select={_CAUSE}", "--write-baseline", *words)
    assert _places(two, *words) == []
    two.write({path: text})
    assert _places(two, *words) == ([] if new is None else [new])
    two.run("check", "--no-cache", f"--select={_CAUSE}", "--write-baseline", *words)
    assert _places(two, *words) == []


def test_the_annotation_of_a_new_place_is_at_its_line(two: Project) -> None:
    words = ("--no-cache", f"--select={_CAUSE}", "--baseline=base.json")
    two.run("check", "--write-baseline", *words)
    two.write({"shared.py": _SHARED + "        torch.cuda.synchronize()\n"})
    assert "::error file=shared.py,line=11," in two.run("check", "--format=github", *words).out
    fingerprints = {one["fingerprint"] for one in two.run("check", "--format=json", *words).findings}
    two.write({"shared.py": "# a comment\n" + _SHARED + "        torch.cuda.synchronize()\n"})
    assert {one["fingerprint"] for one in two.run("check", "--format=json", *words).findings} == fingerprints


def test_a_named_file_has_the_annotation_of_a_finding_in_others(two: Project) -> None:
    two.write({"train_b.py": _ENTRY + "torch.cuda.synchronize()\n"})
    (places,) = _places(two, "train_b.py")
    assert places[0] == "train_b.py:7"


def test_a_place_that_a_change_causes_in_another_file_has_the_annotation() -> None:
    second = Span(9, 1, 9, 5)
    one = finding(path="a.py", places=2, related=(Related("b.py", second, "x"),), wording="{count:places}")
    assert ReportScope(frozenset(("a.py", "b.py"))).in_scope(one) is False
    scope = ReportScope(frozenset(("a.py", "b.py")), frozenset(((one.code, "b.py", second),)))
    assert scope.in_scope(one)
    shown = scope.shown(one)
    assert (shown.path, shown.span, shown.message) == ("b.py", second, "2 places")
    assert [(place.path, place.span) for place in shown.related] == [("a.py", one.span)]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        pytest.param("    return model.cuda()", [["shared.py:9"]], id="at one of the places"),
        pytest.param("        model(x.cuda()).sum().backward()", [], id="at the place of the finding"),
    ],
)
def test_a_comment_silences_its_place(two: Project, line: str, left: list[list[str]]) -> None:
    two.write({"shared.py": _SHARED.replace(line, f"{line}  # npulint: ignore[{_CAUSE}] known")})
    assert _places(two) == left
    assert "unused-suppression" not in two.run("check", "--min-severity=note", "--no-cache").out


def test_a_group_begins_where_the_training_surely_comes(project: Project) -> None:
    helper = """
        import torch

        def moved(x):
            return x.cuda()

        def test_moved():
            assert torch.ones(1).cuda().is_cuda
        """
    entry = """
        import torch
        from helper import moved

        if torch.cuda.is_available():
            torch.ones(1).cuda()
        model = torch.nn.Linear(3, 3)
        loss = model(moved(torch.ones(3))).sum()
        loss.backward()
        """
    answer = project.write({"helper.py": helper, "train.py": entry}).check()
    (finding,) = (finding for finding in answer.findings if finding["name"] == "cuda-not-migrated")
    places = [(finding["path"], finding["line"]), *((place["path"], place["line"]) for place in finding["related"])]
    assert places[0] == ("train.py", 5)
    assert places[1] == ("helper.py", 5)
    assert set(places[2:]) >= {("train.py", 6), ("helper.py", 8)}
