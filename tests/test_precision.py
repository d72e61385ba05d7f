"""The precision of checks: how labels are read and answered, and that statuses follow from the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from npulint.data.precision import Precision, precision
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.postprocess.select import hidden_checks
from npulint.judge.settings import Settings
from scripts import measure_checks
from scripts.labels import Answer, Label, read_labels, verdicts

CHECKS = sorted(load_catalogue(()).checks, key=lambda check: check.code)


def finding(code: str = "NPU2100", path: str = "train.py", line: int = 10, **more: Any) -> dict[str, Any]:
    return {
        "code": code,
        "path": path,
        "line": line,
        "topic": "device_cuda",
        "severity": "warning",
        "related": [],
        **more,
    }


def label(answer: Answer, **more: Any) -> Label:
    named = {"path": "train.py", "line": 10, "code": "", "topic": "device_cuda", "allowed": 0, **more}
    return Label("project", "project", "", answer=answer, **named)


def test_the_status_of_each_check_follows_from_the_figures() -> None:
    earned = {one.code for one in CHECKS if one.basis or precision(one.code).confirmed}
    assert {one.code for one in CHECKS if one.status == "stable"} == earned


def test_checks_that_are_often_wrong_are_notes() -> None:
    assert [one.code for one in CHECKS if precision(one.code).poor and one.severity != "note"] == []


@pytest.mark.parametrize(
    ("figures", "confirmed", "poor"),
    [
        (Precision(5, 0, 0, 3), True, False),
        (Precision(4, 0, 0, 3), False, False),
        (Precision(5, 0, 0, 2), False, False),
        (Precision(9, 0, 1, 3), True, False),
        (Precision(8, 0, 1, 8), False, False),
        (Precision(8, 1, 0, 8), False, False),
        (Precision(3, 0, 2, 3), False, True),
        (Precision(3, 2, 0, 3), False, True),
        (Precision(7, 1, 2, 3), False, False),
        (Precision(0, 2, 2, 0), False, False),
        (Precision(), False, False),
    ],
)
def test_five_findings_in_three_projects_decide(figures: Precision, confirmed: bool, poor: bool) -> None:
    assert (figures.confirmed, figures.poor) == (confirmed, poor)


def test_what_is_right_may_be_useless() -> None:
    some = Precision(6, 3, 1, 2)
    assert (some.share, some.usefulness, some.judged) == (0.9, 0.6, (6, 9, 10))


def test_a_useful_label_is_answered_nearby_or_by_a_related_place() -> None:
    near, far = finding(line=13), finding("NPU2101", line=14)
    related = finding("NPU2102", path="model.py", line=1, related=[{"path": "./train.py", "line": 9}])
    other = finding("NPU2103", topic="dropout")
    found = list(verdicts([label("useful")], [near, far, related, other]))
    assert found == [("NPU2100", "useful"), ("NPU2102", "useful")]


def test_a_false_label_counts_at_its_line_above_the_severity_that_it_allows() -> None:
    note, warning = finding("NPU2401", severity="note"), finding("NPU2402")
    assert list(verdicts([label("false", allowed=1)], [note, warning])) == [("NPU2402", "false")]
    assert list(verdicts([label("useless", allowed=1)], [note, warning])) == [("NPU2402", "useless")]
    assert list(verdicts([label("false")], [finding(line=11)])) == []
    assert list(verdicts([label("false", line=0, topic="any")], [finding(line=99)])) == [("NPU2100", "false")]


def test_a_label_of_a_check_says_nothing_of_others() -> None:
    assert list(verdicts([label("false", code="NPU2101")], [finding()])) == []


def test_findings_of_which_labels_disagree_are_left_out() -> None:
    assert list(verdicts([label("useful"), label("false")], [finding()])) == []
    assert list(verdicts([label("useful"), label("useless")], [finding()])) == []


def test_a_label_of_a_project_confirms_one_finding_of_each_check() -> None:
    found = [finding(line=1), finding(line=50), finding("NPU2101", path="eval.py")]
    assert list(verdicts([label("useful", path="", line=0)], found)) == [("NPU2100", "useful"), ("NPU2101", "useful")]


def test_both_layouts_of_tables(tmp_path: Path) -> None:
    places = tmp_path / "places.csv"
    places.write_text(
        "repo,commit,path,line,code,topic,expect,severity,reason\n"
        "a/b,0,train.py,3,NPU2100,device_cuda,fire,warning,right\n"
        "a/b,0,eval.py,,,any,quiet,note,false\n"
        "a/b,0,eval.py,4,NPU2382,drop_remainder,useless,note,true but no reason to act\n"
        "a/b,0,train.py,,,readiness,fire,,\n",
        encoding="utf-8",
    )
    cases = tmp_path / "cases.csv"
    cases.write_text(
        "case_id,kind,path,line,category,expectation,severity_guess\n"
        "P-x-orig,pair,train.py,3,device_cuda,fire,error\n"
        "P-x-migr,pair,train.py,,device_cuda,quiet,warning\n"
        "P-x-migr,pair,,,device_cuda,quiet,warning\n"
        "C-y,clean,,,*,quiet,error\n",
        encoding="utf-8",
    )
    assert read_labels(places) == [
        Label("a+b", "a+b", "torch=2.7", "train.py", 3, "NPU2100", "device_cuda", "useful", 2),
        Label("a+b", "a+b", "torch=2.7", "eval.py", 0, "", "any", "false", 1),
        Label("a+b", "a+b", "torch=2.7", "eval.py", 4, "NPU2382", "drop_remainder", "useless", 1),
    ]
    assert read_labels(cases) == [
        Label("P-x-orig", "P-x", "", "train.py", 3, "", "device_cuda", "useful", 2),
        Label("P-x-migr", "P-x", "", "train.py", 0, "", "device_cuda", "false", 1),
    ]


def test_a_project_is_measured(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "a+b"
    project.mkdir(parents=True)
    (project / "train.py").write_text("import torch\nmodel = torch.nn.Linear(2, 2).cuda()\n", encoding="utf-8")
    table = tmp_path / "labels.csv"
    table.write_text(
        "repo,commit,path,line,code,topic,expect,severity,reason\na/b,0,train.py,2,,device_cuda,fire,warning,right\n",
        encoding="utf-8",
    )
    found = measure_checks.measure([(table, project.parent)], tmp_path / "kept")
    assert Precision(1, 0, 0, 1) in found.values()
    assert measure_checks.measure([(table, project.parent)], tmp_path / "kept") == found


def test_figures_of_other_projects_are_added(tmp_path: Path) -> None:
    table = tmp_path / "precision.csv"
    table.write_text("code,useful,useless,false,projects\nNPU1101,3,1,0,2\nNPU1102,1,0,0,1\n", encoding="utf-8")
    found = {"NPU1101": Precision(2, 0, 1, 1), "NPU1103": Precision(0, 1, 0, 0)}
    assert measure_checks.with_table(found, table) == {
        "NPU1101": Precision(5, 1, 1, 3),
        "NPU1102": Precision(1, 0, 0, 1),
        "NPU1103": Precision(0, 1, 0, 0),
    }


EARNED = {"NPU1101": Precision(5, 0, 0, 3)}
ROWS = "a-row:\n  code: NPU1101\n  topic: other\n\nb-row:\n  code: NPU1102\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("code: NPU1101\nstatus: preview\n", "code: NPU1101\nstatus: stable\n", id="a check"),
        pytest.param("code: NPU1102\nstatus: stable\n", "code: NPU1102\nstatus: preview\n", id="no longer"),
        pytest.param("code: NPU1101\nstatus: deprecated\n", "code: NPU1101\nstatus: deprecated\n", id="deprecated"),
        pytest.param(
            f"shared:\n  status: preview\n\n{ROWS}",
            f"shared:\n  status: preview\n\n{ROWS.replace('01', '01' + chr(10) + '  status: stable')}",
            id="a row that shares the other status",
        ),
        pytest.param(
            f"# a table\nshared:\n  status: preview\n\n{ROWS}  status: stable\n",
            f"# a table\nshared:\n  status: preview\n\n{ROWS.replace('01', '01' + chr(10) + '  status: stable')}",
            id="a row that now has the shared status",
        ),
        pytest.param(
            f"shared:\n  status: preview\n  basis: tables\n\n{ROWS}",
            f"shared:\n  status: preview\n  basis: tables\n\n{ROWS}".replace("01\n", "01\n  status: stable\n").replace(
                "02\n", "02\n  status: stable\n"
            ),
            id="a shared basis",
        ),
    ],
)
def test_statuses_are_written_into_files_and_rows(before: str, after: str) -> None:
    assert measure_checks.with_statuses(before, EARNED) == after
    assert measure_checks.with_statuses(after, EARNED) == after


def test_previews_can_be_switched_off_but_for_those_that_are_named() -> None:
    hidden = hidden_checks(CHECKS, Settings(preview=False))
    opt_in = {check.code for check in CHECKS if check.opt_in}
    assert hidden == opt_in | {check.code for check in CHECKS if check.status == "preview"}
    one = min(hidden)
    assert hidden_checks(CHECKS, Settings(preview=False, extend_select=(one.lower(),))) == hidden - {one}
    assert hidden_checks(CHECKS, Settings()) == opt_in
