"""What the migration tool convert_tf2npu rewrites or reports, npulint reports as well: the table in
docs/convert-tf2npu.md, and programs of our own for its rows."""

from __future__ import annotations

import re

import msgspec
import pytest

from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.postprocess.engine import SYNTAX_ERROR
from tests.convert_other_rewrites import OTHER_REWRITES
from tests.convert_reports import REPORTS
from tests.convert_samples import ESTIMATOR, MARK, ON_GPU, SESSION, Shape, filled, on_gpu, on_npu
from tests.convert_single_device import SINGLE_DEVICE
from tests.project_support import ROOT, Project

SHAPES = [*SINGLE_DEVICE, *OTHER_REWRITES, *REPORTS]
NAMED = re.compile(r"`([a-z0-9-]+)` \((NPU\d{4})\)")
CODES = {check.name: check.code for check in load_catalogue(use_cache=False).checks} | {
    SYNTAX_ERROR.name: SYNTAX_ERROR.code
}
RULES = [*(str(n) for n in range(1, 37)), *(f"R{n}" for n in range(1, 7)), *(f"V{n}" for n in range(1, 9))]
PITFALLS = [f"P{n}" for n in range(1, 8)]
SHOWN_ELSEWHERE = {
    "36": "an import is no finding",
    "R1": "the support list is judged name by name in the tests of its checks",
    "R6": "files that are not read are no findings",
    "V6": "the callback is wrong after the rewrite, not before",
    "V8": "the rules of TensorFlow 1",
}


class Row(msgspec.Struct, frozen=True):
    """A row of the table: the checks that it names with their codes, what fixes make of it, and its remark."""

    checks: dict[str, str]
    cell: str
    fix: str
    remark: str


def rows() -> dict[str, Row]:
    """The rows of all tables by their rule."""
    text = (ROOT / "docs" / "convert-tf2npu.md").read_text(encoding="utf-8")
    found = {}
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and re.fullmatch(r"[RVP]?\d+", cells[0]):
            assert len(cells) == 5 and cells[0] not in found, line
            found[cells[0]] = Row(dict(NAMED.findall(cells[2])), *cells[2:])
    return found


ROWS = rows()


def told(shape: Shape, text: str, project: Project) -> list[int]:
    """The lines at which the check of a shape speaks of a program."""
    files = {"train.py": text} | ({"train.sh": shape.launcher} if shape.launcher else {})
    answer = project.write(files).check()
    assert answer.err == ""
    return sorted(f["line"] for f in answer.findings if f["name"] == shape.check and f["path"] == "train.py")


def test_the_table_has_every_rule_once() -> None:
    assert sorted(ROWS) == sorted([*RULES, *PITFALLS])


@pytest.mark.parametrize("rule", ROWS)
def test_a_row_names_checks_that_exist_or_says_why_there_is_none(rule: str) -> None:
    row = ROWS[rule]
    assert {name: CODES.get(name) for name in row.checks} == row.checks
    assert NAMED.sub("", row.cell).strip(", ") == ("" if row.checks else "nothing")
    assert row.checks or len(row.remark.split()) > 4


@pytest.mark.parametrize("rule", [rule for rule in ROWS if rule not in SHOWN_ELSEWHERE])
def test_a_row_is_shown_by_a_program(rule: str) -> None:
    shown = {shape.check for shape in SHAPES if shape.rule == rule}
    assert shown and shown <= {*ROWS[rule].checks, *dict(NAMED.findall(ROWS[rule].remark))}


@pytest.mark.parametrize("shape", SHAPES, ids=[f"{shape.rule}-{shape.check}" for shape in SHAPES])
def test_the_program_for_a_gpu_is_reported_at_its_line(project: Project, shape: Shape) -> None:
    text = on_gpu(shape)
    expected = [number for number, line in enumerate(text.split("\n"), 1) if MARK in line]
    assert len(expected) == 1
    assert told(shape, text, project) == expected


@pytest.mark.parametrize("shape", SHAPES, ids=[f"{shape.rule}-{shape.check}" for shape in SHAPES])
def test_its_migrated_twin_is_not(project: Project, shape: Shape) -> None:
    assert told(shape, on_npu(shape), project) == []


@pytest.mark.parametrize("program", [SESSION, ESTIMATOR], ids=["session", "estimator"])
def test_names_of_compat_v1_are_judged_like_those_they_stand_for(project: Project, program: str) -> None:
    text = filled(program, ON_GPU[program])
    plain = project.write({"train.py": text}).check()
    aliases = project.write({"train.py": text.replace("tf.", "tf.compat.v1.")}).check()
    assert [(f["name"], f["line"]) for f in aliases.findings] == [(f["name"], f["line"]) for f in plain.findings]
    assert len(plain.findings) > 2
