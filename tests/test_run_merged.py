"""What a run and the source say of the same thing is told once, at the line that has to be changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from npulint.commands.check.pipeline import build_result, check_paths
from npulint.commands.session import Session
from npulint.judge.catalogue.load import load_catalogue, load_files
from npulint.judge.findings import Finding, RunResult
from npulint.judge.postprocess.merge_run_findings import with_counterparts
from npulint.judge.priorities import first_steps
from npulint.judge.settings import Settings
from tests.project_support import Project
from tests.surface_support import finding

TABLE = """Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types
{rows}
"""
DETAILS = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
    "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)\n"
    'aten::mm,"4,4","{stack}",10,10,900,900,900,900\n'
)
TRAIN = """import tensorflow as tf


def block(x, name):
    with tf.variable_scope(name):
        return tf.layers.dense(x, 8)


x = tf.placeholder(tf.float32, [4, 8])
h = block(x, "encoder")
with tf.name_scope("loss"):
    h = tf.nn.relu(h)
    total = tf.reduce_sum(h)
top = tf.nn.top_k(h, 3)
mean = tf.reduce_sum(h, 1)
train_op = tf.train.AdamOptimizer(1e-3).minimize(total)
with tf.Session() as session:
    for step in range(1000):
        session.run(train_op)
        if step % 50 == 0:
            print(step)
"""
CHECK = """
code: {code}
since: "0.1"
status: preview
topic: run_artifact
category: performance
{severity}
confidence: high
{more}
find: {find}
text:
  en: {{title: t, message: "{message}", why: w, fix: f}}
  zh: {{title: 题, message: "{message}", why: 因, fix: 改}}
references: [{{title: t, source: "https://example.org/"}}]
examples:
  - bad: |
      x  # expect
  - good: |
      y
"""
_LEVELS = {
    "error": "consequence: stops\noccurs: always",
    "warning": "consequence: much-slower\noccurs: always",
    "note": "consequence: slower\noccurs: always",
}
"""The keys from which a severity follows."""
SOURCE, OTHER, RUN = "NPU1398", "NPU1397", "NPU5398"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the working directory is; checks of its own and what is remembered lie beside it."""
    folder = tmp_path / "project"
    for one in (folder, tmp_path / "checks"):
        one.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    return folder


def written(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")


def kernels(folder: Path, *rows: str, path: str = "PROF/op_summary_1.csv") -> None:
    written(folder, path, TABLE.format(rows="\n".join(rows)))


def asked(
    folder: Path, code: str, find: str, message: str = "{name} is slow", more: str = "", severity: str = "warning"
) -> None:
    text = CHECK.format(code=code, find=find, message=message, more=more, severity=_LEVELS[severity])
    family = "run" if code == RUN else "tensorflow"
    written(folder.parent, f"checks/{family}/{code.lower()}-check.yaml", text)


def own_checks(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name[:7].upper() for path in (folder.parent / "checks").rglob("*.yaml")))


def checked(folder: Path, *paths: str, **settings: Any) -> RunResult:
    """The answer of the checks of the test alone."""
    catalogue = load_files([str(folder.parent / "checks")])
    whole = Settings(paths=paths or (".",), **{"select": own_checks(folder), "cache": False, **settings})
    return build_result(check_paths(whole, catalogue), whole, catalogue, 0.0)


def lines(one: Finding, path: str = "train.py") -> list[int]:
    return [place.span.line for place in one.related if place.path == path]


def rows(one: Finding) -> list[int]:
    """The rows of the profile that a finding names."""
    return lines(one, "PROF/op_summary_1.csv")


def slow_operators(folder: Path, source: str = "[tensorflow.nn.top_k, tensorflow.reduce_sum]", **changes: str) -> None:
    """A check of calls, and one of operators that says the same."""
    asked(folder, SOURCE, f"{{call: {source}}}", "`{name}` is slow", severity="note")
    where = "{share: {ge: 1}, rank: {le: 3}}"
    found = f"{{run_op: [TopKV2, ReduceSumD], where: {where}}}"
    asked(folder, RUN, found, "`{name}` takes {share} %", **{"more": f"joins: [{SOURCE}]", **changes})


TOP = 'TopKV2_1,TopKV2,AI_CORE,3000,24,"256,256",DT_FLOAT'
SUM = 'loss/Sum_2,ReduceSumD,AI_CORE,3000,24,"256,256",DT_FLOAT'


def test_what_run_and_source_say_of_an_operator_is_one_finding_in_the_source(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP)
    slow_operators(project, severity="error")
    found = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    (one,) = [one for one in found if one.span.line == 14]
    assert (one.code, one.path, one.severity) == (SOURCE, "train.py", "error")
    (row,) = one.related
    assert (row.path, row.span.line) == ("PROF/op_summary_1.csv", 2)
    assert row.message == "the run confirms it (`npu5398-check`)"
    assert one.message == "`tensorflow.nn.top_k` is slow In the run: `TopKV2` takes 100.0 %"
    assert {other.severity for other in found if other is not one} == {"note"}
    assert RUN not in {other.code for other in found}


def test_where_several_fit_alike_the_finding_of_the_run_stays_and_names_them(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, 'Sum_2,ReduceSumD,AI_CORE,3000,24,"256,256",DT_FLOAT')
    slow_operators(project)
    result = checked(project, "train.py", "PROF/op_summary_1.csv")
    (advice,) = [one for one in result.findings if one.path == "train.py"]
    assert (advice.code, advice.span.line, lines(advice), advice.cost) == (SOURCE, 13, [14, 15], 0.0)
    (one,) = [one for one in result.findings if one.code == RUN]
    assert lines(one) == [13, 15]
    assert all("npu1398-check" in place.message for place in one.related)


def test_a_scope_tells_which_of_several_is_meant(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, SUM)
    slow_operators(project)
    found = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert [(one.span.line, rows(one), lines(one)) for one in found] == [(13, [2], []), (14, [], [15])]
    assert ["In the run" in one.message for one in found] == [True, False]


def test_the_place_that_a_run_names_stays_a_finding_of_its_own(project: Path) -> None:
    """Also where it is no more severe than the other places of the same advice."""
    written(project, "train.py", TRAIN)
    kernels(project, TOP, 'MatMul_1,MatMulV2,AI_CORE,9000,24,"256,256",DT_FLOAT')
    slow_operators(project, severity="note")
    rest, named = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert (rest.severity, named.severity) == ("note", "note")
    assert (rest.span.line, lines(rest), rows(rest), rest.places, rest.cost) == (13, [15], [], 2, 0.0)
    assert (named.span.line, lines(named), rows(named), named.places, named.cost) == (14, [], [2], 1, 25.0)
    assert named.message == "`tensorflow.nn.top_k` is slow In the run: `TopKV2` takes 25.0 %"


def test_of_the_places_of_a_grouped_finding_the_one_that_a_run_names_comes_first(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, 'Relu,Relu,AI_CORE,3000,24,"256,256",DT_FLOAT')
    calls = "{call: [tensorflow.nn.top_k, tensorflow.reduce_sum, tensorflow.nn.relu]}"
    asked(project, SOURCE, calls, "`{name}` is slow", more="once: file", severity="note")
    asked(project, RUN, "{run_op: Relu}", "`{name}` takes {share} %", more=f"joins: [{SOURCE}]")
    (one,) = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert (one.span.line, rows(one), lines(one)) == (12, [2], [13, 14, 15])
    kernels(project, TOP)
    asked(project, RUN, "{run_op: TopKV2}", "`{name}` takes {share} %", more=f"joins: [{SOURCE}]")
    (one,) = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert (one.span.line, rows(one), lines(one)) == (12, [2], [14, 13, 15])
    assert one.related[1].message == "`tensorflow.nn.top_k` builds such an operator"


def test_a_finding_about_another_operator_is_none_of_the_runs(project: Path) -> None:
    written(project, "train.py", TRAIN.replace("tf.reduce_sum", "other"))
    kernels(project, SUM)
    slow_operators(project)
    assert {one.code: one.path for one in checked(project, "train.py", "PROF/op_summary_1.csv").findings} == {
        RUN: "PROF/op_summary_1.csv",
        SOURCE: "train.py",
    }


def test_the_check_named_first_is_meant_first(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP)
    slow_operators(project, source="tensorflow.Session", more=f"joins: [{OTHER}, {SOURCE}]")
    asked(project, OTHER, "{call: tensorflow.train.AdamOptimizer}", "`precision_mode` is not set")
    found = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert [(one.code, lines(one, "PROF/op_summary_1.csv")) for one in found] == [(OTHER, [2]), (SOURCE, [])]


def test_what_costs_most_is_to_be_done_first(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP, 'MatMul_1,MatMulV2,AI_CORE,9000,24,"256,256",DT_FLOAT', path="out/op_summary_1.csv")
    slow_operators(project)
    found = checked(project, "train.py", "out/op_summary_1.csv").findings
    assert {one.span.line: one.cost for one in found} == {13: 0.0, 14: 25.0}
    table = "Step,Computing,Communication(Not Overlapped),Overlapped,Free\n1,10,70,0,20\n"
    written(project, "out/step_trace_time.csv", table)
    within = next(one for one in checked(project, "train.py", "out").findings if one.span.line == 14)
    assert within.cost == 2.5
    dearer = msgspec.structs.replace(within, code="NPU9999", cost=3.0)
    assert [step.first.code for step in first_steps([within, dearer])] == ["NPU9999", SOURCE]


def test_a_finding_that_no_artifact_shows_has_no_counterparts() -> None:
    catalogue = load_catalogue()
    joining = next(one for one in catalogue.checks if one.joins)
    both = [finding(code=joining.code), finding(code=joining.joins[0])]
    assert with_counterparts(both, catalogue) == both


def test_a_comment_in_the_source_silences_the_run(project: Path) -> None:
    written(project, "train.py", TRAIN.replace("top_k(h, 3)", f"top_k(h, 3)  # npulint: ignore[{SOURCE}] small"))
    kernels(project, TOP)
    slow_operators(project)
    result = checked(project, "train.py", "PROF/op_summary_1.csv")
    assert {one.code for one in result.findings} == {SOURCE}
    assert [(one.finding.code, one.reason) for one in result.suppressed] == [(RUN, "small"), (SOURCE, "small")]


def test_a_baseline_that_knows_the_source_knows_the_run(project: Path) -> None:
    written(project, "train.py", TRAIN)
    slow_operators(project)
    baseline = project.parent / "baseline.json"
    npulint(project, "check", "train.py", "--baseline", str(baseline), "--write-baseline")
    assert baseline.is_file()
    kernels(project, TOP)
    assert checked(project, "train.py", "PROF/op_summary_1.csv", baseline=str(baseline)).findings == []


def npulint(folder: Path, *words: str) -> str:
    checks = ("--checks", str(folder.parent / "checks"), "--select", ",".join(own_checks(folder)), "--exit-zero")
    environ = {"NPULINT_CACHE_DIR": str(folder.parent / "cache")}
    return Project(folder).run(*words, *checks, environ=environ).out


def test_whoever_selects_runs_alone_is_told_of_the_run_alone(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP)
    slow_operators(project)
    (one,) = checked(project, "train.py", "PROF/op_summary_1.csv", select=(RUN,)).findings
    assert (one.code, one.path, lines(one)) == (RUN, "PROF/op_summary_1.csv", [14])


def test_an_operator_leads_to_the_calls_that_build_it_without_a_word_in_the_check(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP, 'Sum_2,ReduceSumD,AI_CORE,3000,24,"256,256",DT_FLOAT')
    asked(project, RUN, "{run_op: [TopKV2, ReduceSumD]}")
    found = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert [(one.span.line, lines(one)) for one in found] == [(2, [14]), (3, [13, 15])]
    assert found[0].related[0].message == "`tensorflow.nn.top_k` builds such an operator"


@pytest.mark.parametrize(
    ("node", "kind", "expected"),
    [
        ("loss/Sum", "ReduceSumD", [13]),  # the call in the scope that builds such an operator
        ("gradients/loss/Relu_grad/ReluGrad", "ReluGrad", [12]),
        ("encoder/dense/MatMul", "MatMulV2", [6, 10]),  # that in the scope, and the one that hands its name on
        ("encoder_1/dense/BiasAdd", "BiasAdd", [5, 10]),
        ("encoder/dense/MatMulencoder/dense/BiasAdd", "MatMulV2", [6, 10]),
        ("elsewhere/Mul_3", "Mul", []),
    ],
)
def test_the_name_of_a_node_leads_to_the_line_that_gives_it(
    project: Path, node: str, kind: str, expected: list[int]
) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, f'{node},{kind},AI_CORE,3000,24,"256,256",DT_FLOAT')
    asked(project, RUN, f"{{run_op: {kind}}}")
    (one,) = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert lines(one) == expected


def test_names_that_many_lines_give_tell_nothing(project: Path) -> None:
    many = "".join(f'y{n} = block(x, "unit")\n' for n in range(4))
    written(project, "train.py", TRAIN + many)
    kernels(project, 'unit/dense/BiasAdd,BiasAdd,AI_CORE,3000,24,"256,256",DT_FLOAT')
    asked(project, RUN, "{run_op: BiasAdd}")
    (one,) = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert lines(one) == []


def test_computed_names_are_known_by_their_written_ends(project: Path) -> None:
    written(project, "train.py", TRAIN + 'for i in range(9):\n    h = tf.layers.dense(h, 8, name="stage%d" % i)\n')
    kernels(project, 'stage4/BiasAdd,BiasAdd,AI_CORE,3000,24,"256,256",DT_FLOAT')
    asked(project, RUN, "{run_op: BiasAdd}")
    (one,) = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert lines(one) == [23]


NET = """import torch


def step(net, x):
    loss = net(x).sum()
    loss.backward()

    return loss.item()
"""


def details(folder: Path, frame: str) -> None:
    written(folder, "prof/operator_details.csv", DETAILS.format(stack=frame))


def test_a_line_that_the_profile_names_is_where_the_finding_stands(project: Path) -> None:
    written(project, "code/train.py", NET)
    details(project, "/home/someone/job/code/train.py(8): step;")
    asked(project, RUN, "{run_line: any}", "{function} takes {share} %")
    (one,) = checked(project, "code", "prof/operator_details.csv").findings
    assert (one.path, one.span.line, one.span.column) == ("code/train.py", 8, 5)
    (row,) = one.related
    assert (row.path, row.span.line, row.message) == ("prof/operator_details.csv", 2, "the run shows it here")


@pytest.mark.parametrize(
    "frame", ["/a/code/train.py(7): step;", "/a/code/train.py(99): step;", "/a/other.py(8): step;", "/a/x.py(1): f;"]
)
def test_a_line_that_the_project_has_not_leaves_the_finding_at_the_artifact(project: Path, frame: str) -> None:
    written(project, "code/train.py", NET)
    details(project, frame)
    asked(project, RUN, "{run_line: any}", "{function} takes {share} %")
    (one,) = checked(project, "code", "prof/operator_details.csv").findings
    assert (one.path, one.span.line, one.related) == ("prof/operator_details.csv", 2, ())


def test_of_files_with_one_name_that_in_the_same_folder_is_meant(project: Path) -> None:
    for folder in ("code/a", "code/b"):
        written(project, f"{folder}/train.py", NET)
    asked(project, RUN, "{run_line: any}", "{function} takes {share} %")
    details(project, "/home/me/job/b/train.py(8): step;")
    (one,) = checked(project, "code", "prof/operator_details.csv").findings
    assert one.path == "code/b/train.py"
    details(project, "/home/me/job/train.py(8): step;")
    (one,) = checked(project, "code", "prof/operator_details.csv").findings
    assert one.path == "prof/operator_details.csv"


def test_what_is_measured_at_a_line_is_joined_with_what_the_source_says_there(project: Path) -> None:
    written(project, "code/train.py", NET)
    asked(project, SOURCE, "{import: torch}", "torch")
    asked(project, RUN, "{run_line: any}", "{function} takes {share} %", more=f"joins: [{SOURCE}]")
    details(project, "/a/code/train.py(8): step;")
    found = checked(project, "code", "prof/operator_details.csv").findings
    assert [(one.code, one.span.line) for one in found] == [(SOURCE, 1), (RUN, 8)]
    details(project, "/a/code/train.py(1): <module>;")
    (one,) = checked(project, "code", "prof/operator_details.csv").findings
    assert (one.code, one.span.line, one.severity) == (SOURCE, 1, "warning")


FALLBACK = (
    "2024-05-01 10:00:00,000 INFO torch_npu\n"
    "[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator 'aten::huber_loss' is not currently supported on "
    "the NPU backend and will fall back to run on the CPU. (function npu_cpu_fallback)\n"
)


def test_a_fallback_in_a_log_leads_to_the_calls(project: Path) -> None:
    written(project, "train.py", "import torch\nfrom torch.nn import functional as F\nloss = F.huber_loss(a, b)\n")
    written(project, "train.log", FALLBACK)
    asked(project, RUN, "{run_event: PT-CPU-FALLBACK}", "falls back")
    (one,) = checked(project, "train.py", "train.log").findings
    assert (one.path, one.span.line, lines(one)) == ("train.log", 2, [3])


def test_what_a_run_says_of_several_operators_stays_beside_the_source(project: Path) -> None:
    written(project, "train.py", "import torch\nx = torch.nanmedian(y)\nz = torch.linalg.lstsq(a, b)\n")
    asked(project, SOURCE, "{call: torch.nanmedian}", "`{name}` is slow", severity="note")
    found = "{run_event: PT-CPU-FALLBACK, where: {leads: 'yes'}}"
    asked(project, RUN, found, "{subjects}", more=f"joins: [{SOURCE}]")
    log = FALLBACK.replace("huber_loss", "nanmedian")
    written(project, "train.log", log)
    (one,) = checked(project, "train.py", "train.log").findings
    assert (one.code, one.severity) == (SOURCE, "warning")
    written(project, "train.log", log + FALLBACK.replace("huber_loss", "linalg_lstsq.out"))
    run, source = checked(project, "train.py", "train.log").findings
    assert (run.code, run.message, lines(run)) == (RUN, "aten::nanmedian, aten::linalg_lstsq.out", [2, 3])
    assert (source.code, source.severity) == (SOURCE, "note")


def test_a_stall_leads_to_what_happens_as_often(project: Path) -> None:
    written(project, "train.py", TRAIN + "hook = tf.train.CheckpointSaverHook('x', save_steps=50)\n")
    steps = "".join(f"step {n}, loss 2.0, {30.0 if n % 50 == 0 else 0.1} sec/step\n" for n in range(1, 1001))
    written(project, "train.log", "I tf_adapter/kernels/geop_npu.cc:694] start\n" + steps)
    asked(project, RUN, "{run_stall: periodic}", "stalls every {period} steps")
    (one,) = checked(project, "train.py", "train.log").findings
    assert (one.path, one.message) == ("train.log", "stalls every 50 steps")
    assert lines(one) == [20, 22]
    assert one.related[0].message == "happens every 50 steps"


def test_artifacts_within_a_project_belong_to_it(project: Path) -> None:
    folder = "PROF_000001_20240601120000000_ABCDEFGH/mindstudio_profiler_output"
    for name in ("one", "two"):
        written(project, f"{name}/train.py", TRAIN)
        written(project, f"{name}/requirements.txt", "tensorflow\n")
    kernels(project, TOP, path=f"two/{folder}/op_summary_1.csv")
    slow_operators(project)
    found = checked(project).findings
    assert [(one.path, one.span.line) for one in found if one.severity == "warning"] == [("two/train.py", 14)]
    kernels(project, TOP, path="three/op_summary_1.csv")
    named = checked(project, "one", "two", "three/op_summary_1.csv").findings
    assert [one.related for one in named if one.code == RUN] == [()]


def test_a_named_folder_without_code_is_searched_for_artifacts(project: Path) -> None:
    written(project, "src/train.py", TRAIN)
    written(project, "logs/old/data.csv", "a,b\n1,2\n")
    written(project, ".gitignore", "*.csv\n*.log\n")
    (project / ".git").mkdir()
    kernels(project, TOP, path="logs/op_summary_1.csv")
    slow_operators(project)
    found = checked(project, "src", "logs").findings
    assert [lines(one, "logs/op_summary_1.csv") for one in found if one.span.line == 14] == [[2]]
    kernels(project, TOP, path="src/op_summary_1.csv")
    (project / "logs/op_summary_1.csv").unlink()
    assert {one.severity for one in checked(project, "src", "logs").findings} == {"note"}
    written(project, "logs/plot.py", "import csv\n")
    kernels(project, TOP, path="logs/op_summary_1.csv")
    assert {one.severity for one in checked(project, "src", "logs").findings} == {"note"}


def test_who_names_the_folder_of_a_run_means_what_is_ignored_there(project: Path) -> None:
    folder = "PROF_000001_20240601120000000_ABCDEFGH"
    written(project, ".gitignore", "*.csv\n")
    (project / ".git").mkdir()
    kernels(project, TOP, path=f"{folder}/op_summary_1.csv")
    asked(project, RUN, "{run_op: TopKV2}")
    assert [one.path for one in checked(project, folder).findings] == [f"{folder}/op_summary_1.csv"]
    assert checked(project).findings == []


def test_code_that_is_named_with_an_artifact_is_all_the_code_there_is(project: Path) -> None:
    written(project, "pyproject.toml", "[project]\nname = 'all'\n")
    for folder in ("one", "two"):
        written(project, f"{folder}/train.py", TRAIN)
    kernels(project, TOP, path="op_summary_1.csv")
    asked(project, RUN, "{run_op: TopKV2}")
    assert {place.path for place in checked(project, "one", "op_summary_1.csv").findings[0].related} == {"one/train.py"}
    assert lines(checked(project, "op_summary_1.csv").findings[0], "two/train.py")


@pytest.mark.parametrize("code", [(), ("one", "two")])
def test_ranks_that_are_named_one_by_one_are_one_run(project: Path, code: tuple[str, ...]) -> None:
    for folder in code:
        written(project, f"{folder}/train.py", TRAIN)
        written(project, f"{folder}/pyproject.toml", "")
    ranks = [f"out/{n}_ascend_pt/ASCEND_PROFILER_OUTPUT" for n in (0, 1)]
    for rank in ranks:
        kernels(project, TOP, path=f"{rank}/kernel_details.csv")
    asked(project, RUN, "{run_op: TopKV2}", more="once: program")
    (one,) = checked(project, *code, *ranks).findings
    assert [place.path for place in one.related] == [f"{ranks[1]}/kernel_details.csv"]


def test_a_log_may_be_piped_in(project: Path) -> None:
    asked(project, RUN, "{run_event: PT-CPU-FALLBACK}", "falls back")
    (one,) = checked(project, "train.log", stdin=FALLBACK.encode(), stdin_filename="train.log").findings
    assert (one.path, one.span.line, one.message) == ("train.log", 2, "falls back")


def test_remembered_runs_are_joined_alike(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP)
    slow_operators(project)
    first, second = (checked(project, "train.py", "PROF/op_summary_1.csv", cache=True).findings for _ in range(2))
    assert first == second
    assert any(one.related for one in first)


@pytest.mark.parametrize("shape", ["text", "json", "sarif", "concise", "markdown", "html", "github", "gitlab", "junit"])
def test_every_report_is_written(project: Path, shape: str) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP)
    slow_operators(project)
    told = npulint(project, "check", "train.py", "PROF/op_summary_1.csv", "--format", shape, "--verbose")
    assert f"{SOURCE.lower()}-check" in told
    if shape == "json":
        found = {one["line"]: [place["path"] for place in one["related"]] for one in json.loads(told)["findings"]}
        assert found == {13: ["train.py"], 14: ["PROF/op_summary_1.csv"]}
    if shape == "sarif":
        advice, one = json.loads(told)["runs"][0]["results"]
        assert [place["message"]["text"] for place in advice["relatedLocations"]] == ["tensorflow.reduce_sum"]
        (place,) = one["relatedLocations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "PROF/op_summary_1.csv"
        assert "the run confirms it" in place["message"]["text"]
    if shape in ("text", "concise", "junit", "html"):
        assert "the run confirms it" in told


@pytest.mark.parametrize(("family", "type_"), [("foreach", "ForeachAddList"), ("input", "GetNext")])
def test_kernels_that_no_call_makes_are_joined_with_what_the_source_says(
    project: Path, family: str, type_: str
) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, f'k_1,{type_},AI_CORE,3000,24,"256,256",DT_FLOAT')
    asked(project, SOURCE, "{call: tensorflow.train.AdamOptimizer}", "`AdamOptimizer` has a fused counterpart")
    asked(project, RUN, f"{{run_family: {family}}}", "{name} takes {share} %", more=f"joins: [{SOURCE}]")
    (one,) = checked(project, "train.py", "PROF/op_summary_1.csv").findings
    assert (one.code, one.span.line) == (SOURCE, 16)
    assert one.message.endswith(f"{family} takes 100.0 %")


def test_it_is_said_in_chinese(project: Path) -> None:
    written(project, "train.py", TRAIN)
    kernels(project, TOP)
    slow_operators(project)
    found = checked(project, "train.py", "PROF/op_summary_1.csv", lang="zh").findings
    (row,) = [place for one in found for place in one.related if place.path == "PROF/op_summary_1.csv"]
    assert row.message == "运行产物证实（`npu5398-check`）"
    assert any("运行中：`TopKV2` takes 100.0 %" in one.message for one in found)


def test_editors_are_told_nothing_of_runs(project: Path) -> None:
    written(project, "train.py", TRAIN)
    folder = "PROF_000001_20240601120000000_ABCDEFGH"
    kernels(project, TOP, path=f"{folder}/op_summary_1.csv")
    slow_operators(project)
    checks = (str(project.parent / "checks"),)
    answer = Session(Settings(cache=False, checks=checks)).check(str(project / "train.py"))
    assert not [one for found in answer.findings.values() for one in found if one.artifact_location is not None]
    assert {one.code for one in answer.findings["train.py"]} >= {SOURCE}
