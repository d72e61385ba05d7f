"""What is told of a training run as a whole: collected from facts, drawn as text and as SVG, given as numbers."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.check.pipeline import run
from npulint.core.texts import table
from npulint.judge.catalogue.vocabulary import fact_kinds
from npulint.judge.findings import RunResult, Summary
from npulint.judge.settings import FORMATS, MACHINE_FORMATS, Settings
from npulint.judge.summaries.run_summary import RunCurve, RunFile, RunGraph, RunPart, RunStall, RunSummary, RunTimes
from npulint.judge.verdict import verdict_of
from npulint.report.html.plots import axis, plot
from npulint.report.runs import words
from npulint.report.runs.text import bar, padded, powers, spark, stacked
from npulint.report.terminal import cells, has_blocks
from npulint.report.view import ReportView, render
from tests.html_support import EVIL, by_id, text_of, tree, with_class
from tests.run_support import LOSS, RESULT, RUN, SCALE, SIMILARITY
from tests.samples import sample
from tests.surface_support import sample as plain_result

TEXT = """Training run
  read  kernel table (191 rows), log ×2 (912 lines)
  not used  L2 cache table
  undetermined  gpu.log: no NPU content found
  malformed  PROF/kernel_details.csv: 1 of 192 rows cannot be read, the first at line 7
  Time by operator: 4 ms compute time in 30 kernels  PROF/kernel_details.csv
    MatMulV2   ████████████████████████  50.0 %     2 ms
    TransData  ████████████              25.0 %     1 ms
    3 other types                        25.0 %     1 ms
  Parts of a step: 10 ms, mean of 4 steps  PROF/step_trace_time.csv
    ████████████████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒······
    █ computing 40.0 %   ▒ communication not overlapped 50.0 %   · free 10.0 %
  loss scale  ██▁  2^16 → 1, 5 values
"""


def test_the_text_report_draws_it() -> None:
    text = render("text", RESULT, ReportView())
    assert text.startswith(TEXT)
    assert "\n  similarity  ██▁   lowest 0.9, 1 of 4 outputs below 0.98\n" in text
    assert "\n  slow steps  every 50 steps, 25 times: 16.0 % of the time lost (sec)\n" in text
    assert "\n  graph GeOp21_0  first run 11.6 s, then 9.51 ms each (764 runs)\n" in text
    assert text.endswith("\nNo findings in the 4 files that were read\n")


def test_it_speaks_chinese() -> None:
    text = render("text", RESULT, ReportView(lang="zh"))
    for line in (
        "训练运行",
        "  已读取  算子明细表（191 行）、日志 ×2（912 行）",
        "  无法判断  gpu.log：未见 NPU 相关内容",
        "  算子耗时：计算 4 ms，30 个算子任务  PROF/kernel_details.csv",
        "    █ 计算 40.0%   ▒ 未被掩盖的通信 50.0%   · 空闲 10.0%",
        "  慢步  每 50 步一次，共 25 次：损失 16.0% 的时间（sec）",
    ):
        assert f"{line}\n" in text


def test_terminals_without_blocks_get_plain_characters() -> None:
    text = render("text", RESULT, ReportView(plain=True))
    assert text.partition("\n\n")[0].isascii()
    assert "    MatMulV2   ########################  50.0 %     2 ms\n" in text
    assert "    # computing 40.0 %   + communication not overlapped 50.0 %   . free 10.0 %\n" in text
    assert "  loss scale  ##_  2^16 > 1, 5 values\n" in text


@pytest.mark.parametrize(("encoding", "there"), [("utf-8", True), ("ascii", False), ("latin-1", False), ("no", False)])
def test_the_encoding_tells_whether_there_are_blocks(encoding: str, there: bool) -> None:
    class Stream(io.StringIO):
        pass

    stream = Stream()
    stream.__class__.encoding = encoding
    assert has_blocks(stream) is there


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [1, 40, 60, 80, 200])
def test_lines_fit_the_terminal(width: int, lang: str) -> None:
    lines = render("text", RESULT, ReportView(width=width, lang=lang)).partition("\n\n")[0].split("\n")
    assert max(map(cells, lines)) <= max(width, 48)
    assert len(lines) <= (24 if width >= 80 else 36)


def test_what_has_no_room_is_counted() -> None:
    many = msgspec.structs.replace(RUN, curves=(LOSS,) * 3, stalls=RUN.stalls * 4, left_out=5)
    assert "  ... and 9 more tables, curves or stalls (--output html=FILE)\n" in render(
        "text", RunResult(runs=[many], summary=Summary(files=1, read=1)), ReportView()
    )


def test_of_several_comparisons_the_worst_is_told() -> None:
    good = msgspec.structs.replace(SIMILARITY, count=900, minimum=1.0, bad=0)
    several = msgspec.structs.replace(RUN, curves=(good, SIMILARITY))
    assert "lowest 0.9, 1 of 4 outputs" in render("text", msgspec.structs.replace(RESULT, runs=[several]), ReportView())


def test_a_change_tells_its_findings_alone() -> None:
    assert "Training run" not in render("text", RESULT, ReportView(change=True))


def test_runs_of_several_projects_are_told_together() -> None:
    other = RunSummary(files=(RunFile("b/op_statistic.csv", "op_statistic", 2021, 3),))
    text = render("text", msgspec.structs.replace(RESULT, runs=[RUN, other]), ReportView())
    assert text.count("Training run\n") == 1
    assert "  read  kernel table (191 rows), log ×2 (912 lines), operator totals (3 rows)\n" in text


@pytest.mark.parametrize("format_name", FORMATS)
def test_projects_without_artifacts_hear_nothing_of_it(format_name: str) -> None:
    text = render(format_name, plain_result(), ReportView())
    assert not re.search(r"Training run|runs\.css|training runs; only", text)
    assert '"runs"' not in text or format_name == "sarif"


@pytest.mark.parametrize("format_name", sorted(set(MACHINE_FORMATS) - {"json", "jsonl"}))
def test_other_formats_of_machines_stay_as_they_are_but_for_the_verdict(format_name: str) -> None:
    result = msgspec.structs.replace(RESULT, verdict=verdict_of(RESULT))
    assert render(format_name, result, ReportView()) == render(
        format_name, msgspec.structs.replace(result, runs=[]), ReportView()
    )


def test_json_gives_the_numbers() -> None:
    (told,) = json.loads(render("json", RESULT, ReportView()))["runs"]
    assert told["files"][3] == {
        "path": "gpu.log",
        "form": "log",
        "generation": "console",
        "rows": 12,
        "malformed": 0,
        "first_malformed": 0,
        "missing": "",
        "note": "no-npu",
    }
    assert told["times"][1]["parts"][1] == {"name": "exposed", "us": 5000.0, "share": 50.0, "count": 0}
    assert told["curves"][2]["points"] == [1.0, 0.999, 0.9, None]
    assert (told["stalls"][0]["lost_seconds"], told["graphs"][0]["first_ms"], told["left_out"]) == (47.5, 11595.5, 0)
    rows = [json.loads(row) for row in render("jsonl", RESULT, ReportView()).splitlines()]
    assert rows[0] == {"kind": "run", **told}


def test_the_documentation_names_every_key() -> None:
    for lang in ("en", "zh"):
        page = (Path(__file__).parent.parent / f"docs/{lang}/output-formats.md").read_text(encoding="utf-8")
        part = page.partition("{ #runs }")[2].partition("\n## ")[0]
        for struct in (RunSummary, RunFile, RunTimes, RunPart, RunCurve, RunStall, RunGraph):
            missing = [field for field in struct.__struct_fields__ if f"`{field}`" not in part]
            assert (lang, struct.__name__, missing) == (lang, struct.__name__, [])


def test_markdown_has_one_table() -> None:
    text = render("markdown", RESULT, ReportView())
    assert text.count("## Training run\n\n| Figure | Value |\n") == 1
    assert "| Parts of a step | 10 ms, mean of 4 steps; computing 40.0 % (4 ms), communication not" in text
    assert "| loss scale (scaler 0) | 2^16 → 1, 5 values `train.log:7` |" in text


def test_the_page_has_a_picture_and_a_table_of_every_curve() -> None:
    page = render("html", RESULT, ReportView())
    root = tree(page)
    part = by_id(root, "runs")
    assert '<a href="#runs">Training run</a>' in page
    assert len(with_class(part, "plot")) == len(RUN.curves)
    for figure in with_class(part, "plot"):
        (field,) = with_class(figure, "field")
        named = str(field.get("aria-labelledby")).split()
        assert all(text_of(by_id(root, name)) for name in named) and len(named) == 2
    rows = [len(list(one.iter("tr"))) - 1 for one in with_class(part, "values")]
    assert rows == [len(one.points) for one in (SIMILARITY, SCALE, LOSS)]
    assert [one.get("width") for one in part.iter() if one.get("class") == "exposed"] == ["50%", "16%"]


def test_pages_without_runs_carry_no_style_for_them() -> None:
    assert len(render("html", RESULT, ReportView()).partition("</style>")[0]) > len(
        render("html", plain_result(), ReportView()).partition("</style>")[0]
    )


def test_names_of_a_run_do_no_harm() -> None:
    curve = RunCurve(EVIL, 1, "loss", EVIL, 2, (1.0, 2.0))
    evil = RunSummary(
        files=(RunFile(EVIL, EVIL, EVIL, 1, 1, 1, EVIL, EVIL), RunFile("b", "log", missing=EVIL, note="header")),
        times=(RunTimes(EVIL, 1, "operators", 1.0, 1, (RunPart(EVIL, 1.0, 100.0),)),),
        curves=(
            curve,
            msgspec.structs.replace(curve, what="similarity"),
            RunCurve(EVIL, 1, "loss_scale", EVIL, 1, (1.0,)),
        ),
        stalls=(RunStall(EVIL, 1, EVIL, 2, 0, 5, 1.0),),
        graphs=(RunGraph(EVIL, 1, EVIL, 2, 1.0, 1.0, 1.0),),
    )
    result = RunResult(runs=[evil], summary=Summary(files=1, read=1))
    for format_name in ("text", "markdown", "html", "json", "jsonl"):
        text = render(format_name, result, ReportView())
        assert "\x1b" not in text
        assert "\u202e" not in text or format_name in ("json", "jsonl")
    root = tree(render("html", result, ReportView()))
    assert [one for one in root.iter() if one.tag == "img"] == []
    assert len([one for one in root.iter() if one.tag == "script"]) == 1


@pytest.mark.parametrize("word", sorted(fact_kinds()["run_source"].attributes["note"] - {""}))
def test_every_note_has_its_words(word: str) -> None:
    assert f"runs.note.{word}" in table("runs")


FIGURES = st.floats(allow_nan=False, allow_infinity=False, width=32)
POINTS = st.lists(st.none() | FIGURES, min_size=2, max_size=128).map(tuple)


@given(POINTS, st.integers(0, 150), st.booleans())
def test_a_curve_of_characters_fits(points: tuple[float | None, ...], width: int, plain: bool) -> None:
    for values in (points, powers(points)):
        drawn = spark(values, width, plain)
        assert len(drawn) == (min(width, len(points)) if any(one is not None for one in values) else 0)
        assert drawn.isascii() or not plain


@given(st.lists(st.floats(0, 1), max_size=4), st.integers(4, 80), st.booleans())
def test_bars_fit(shares: list[float], width: int, plain: bool) -> None:
    assert len(stacked(shares, width, plain)) <= max(width, len(shares))
    assert all(cells(bar(one, width, plain)) == width for one in shares)


@given(st.text(max_size=40).map(lambda text: text.replace("\n", "")), st.integers(4, 30))
def test_names_are_padded_to_their_width(text: str, width: int) -> None:
    assert cells(padded(text, width)) in (width, width - 1) or any(not one.isprintable() for one in text)


@given(POINTS, st.sampled_from(["loss", "accuracy", "loss_scale", "similarity"]), st.integers(2, 10**6))
def test_every_curve_can_be_drawn(points: tuple[float | None, ...], what: str, number: int) -> None:
    if what == "similarity":
        points = tuple(None if one is None else max(-1.0, min(1.0, one)) for one in points)
    curve = RunCurve("a", 1, what, "", number, points, points[0], points[-1], None, None)
    scale = axis(curve)
    assert scale.low < scale.high and len(scale.labels) == 5
    for one in points:
        assert one is None or 0 <= scale.down(one) <= 1
    drawn = plot(curve, "x", "", "en")
    numbers = re.findall(
        r'[ MLHV"](-?[\d.e+-]+|nan|inf)(?=[%"LHVMZ ])', "".join(re.findall(r'(?: d| c?[xy]\d?)="[^"]*"', drawn))
    )
    assert all(math.isfinite(float(one)) and -1e-6 <= float(one) <= 1000.001 for one in numbers)


def curve_of(what: str, *points: float) -> RunCurve:
    return RunCurve("a", 1, what, "", len(points), points, points[0], points[-1])


@pytest.mark.parametrize(
    ("curve", "kind", "labels"),
    [
        (curve_of("loss", 0.0, 7.9), "linear", ("8", "6", "4", "2", "0")),
        (curve_of("loss", 5.0, 5.0), "linear", None),
        (curve_of("loss", 1.0, 1e7), "log10", None),
        (curve_of("similarity", 1.0, 0.999), "linear", ("1", "0.99", "0.98", "0.97", "0.96")),
        (curve_of("loss_scale", 65536.0, 1.0), "log2", None),
    ],
)
def test_axes_are_easily_read(curve: RunCurve, kind: str, labels: tuple[str, ...] | None) -> None:
    found = axis(curve)
    assert found.kind == kind
    assert labels is None or found.labels == labels


def test_the_middle_of_a_band_is_calm() -> None:
    assert words.is_band(LOSS) and not words.is_band(SCALE)
    assert set(words.middle(LOSS.points)[2:-2]) == {5.0}


KERNELS = """Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types
MatMul_1,MatMulV2,AI_CORE,3000,24,"256,256",DT_FLOAT16
MatMul_2,MatMulV2,AI_CORE,broken,24,"256,256",DT_FLOAT16
Sum_1,ReduceSumD,AI_CORE,1000,1,"1,256,256,3",DT_FLOAT16
"""
TOTALS = """OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
Cast,AI_VECTOR_CORE,2,600,100,300,500,50
Cast,AI_CPU,1,200,200,200,200,20
hcom_allReduce_,HCCL,1,900,900,900,900,0
Mul,AI_VECTOR_CORE,1,200,200,200,200,20
"""
STEPS = """Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble
1,60.0,30.0,0.0,30.0,10.0,100.0,0.0
"""
LOG = "import torch_npu\n" + "".join(
    f"step {n}, loss {9 - n / 20:.3f}, loss_scale: {2 ** (16 - n // 20)}\n" for n in range(100)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    texts = {
        "one/op_summary_20240601120000.csv": KERNELS,
        "one/op_statistic_20240601120000.csv": TOTALS,
        "two/op_statistic_20240601120000.csv": TOTALS,
        "two/step_trace_time.csv": STEPS,
        "train.log": LOG,
        "gpu.log": "2024-01-01 00:00:00.123456: I NVIDIA A100-SXM4-80GB\n",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def summary_of(*paths: str, **settings: Any) -> RunSummary:
    return words.merged_runs(run(Settings(paths=paths, **settings)).runs)


FILES = (
    "one/op_summary_20240601120000.csv",
    "one/op_statistic_20240601120000.csv",
    "two/op_statistic_20240601120000.csv",
    "two/step_trace_time.csv",
    "train.log",
    "gpu.log",
)


def test_a_run_is_summed_up_from_its_files(folder: Path) -> None:
    found = summary_of(*FILES, cache=False)
    files = {one.path: one for one in found.files}
    assert sorted(files) == sorted(FILES)
    table = files[FILES[0]]
    assert (table.form, table.rows, table.malformed, table.first_malformed) == ("kernel_table", 2, 1, 3)
    assert files["gpu.log"].note == "gpu"
    times = {one.path: one for one in found.times}
    assert FILES[1] not in times  # the kernel table beside it says the same
    assert [(one.name, one.us, one.share, one.count) for one in times[FILES[0]].parts] == [
        ("MatMulV2", 3000.0, 75.0, 1),
        ("ReduceSumD", 1000.0, 25.0, 1),
    ]
    assert [(one.name, one.us, one.count) for one in times[FILES[2]].parts] == [("Cast", 800.0, 3), ("Mul", 200.0, 1)]
    assert [(one.name, one.share) for one in times[FILES[3]].parts] == [
        ("computing", 60.0),
        ("exposed", 30.0),
        ("free", 10.0),
    ]
    curves = {one.what: one for one in found.curves}
    assert (curves["loss"].count, curves["loss"].first, curves["loss_scale"].first) == (100, 9.0, 65536.0)
    assert curves["loss_scale"].points[-1] == 4096.0


@pytest.mark.slow
def test_types_beyond_the_first_are_taken_together(folder: Path) -> None:
    rows = "".join(f"n{n},Type{n},AI_CORE,{100 - n},1,1,DT_FLOAT\n" for n in range(12))
    (folder / FILES[0]).write_text(KERNELS.split("\n")[0] + "\n" + rows)
    (table,) = summary_of(FILES[0], cache=False).times
    assert [one.name for one in table.parts] == [f"Type{n}" for n in range(8)]
    assert (table.more, table.rest_us, table.us) == (4, 362.0, 1134.0)


def test_a_remembered_run_has_its_summary(folder: Path) -> None:
    first, second = (summary_of(*FILES) for _ in range(2))
    assert first == second != RunSummary()


@pytest.mark.slow
def test_projects_without_artifacts_import_nothing_of_it(folder: Path) -> None:
    (folder / "train.py").write_text("import tensorflow as tf\n")
    asked = [
        "check",
        "train.py",
        "--exit-zero",
        *(f"--output={name}=report.{name}" for name in ("html", "json", "markdown")),
    ]
    code = f"import sys; from npulint.hosts.cli.main import main; main({asked}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "npulint.report.html" in loaded
    assert sorted(one for one in loaded if re.search(r"(?:report|html|evaluate|texts)\.runs\b|html\.plots", one)) == []


def test_a_real_profile_is_summed_up() -> None:
    folder = sample("Ascend+msinsight/test/data/pytorch/text/level1/rank0_ascend_pt")
    found = summary_of(str(folder), cache=False)
    operators, step = sorted(found.times, key=lambda one: one.what)
    assert [(one.name, one.share) for one in operators.parts[:2]] == [("ForeachAddList", 22.1), ("TransData", 16.0)]
    assert [(one.name, one.share) for one in step.parts] == [("computing", 6.5), ("exposed", 74.7), ("free", 18.8)]
    assert (operators.count, operators.more, step.count) == (187, 25, 1)


def test_a_profile_without_operators_has_no_verdict() -> None:
    folder = sample("Ascend+msinsight/test/data/pytorch/text/level0/rank0_ascend_pt")
    notes = {Path(one.path).name: one.note for one in summary_of(str(folder), cache=False).files}
    assert notes["kernel_details.csv"] == "no-operators"


def test_a_real_log_has_its_curve_and_its_stalls() -> None:
    path = "Ascend+ModelZoo-TensorFlow/TensorFlow/contrib/cv/InsightFace_TF/figures/if_npu.log"
    found = summary_of(str(sample(path)), cache=False)
    assert [(one.period, one.count) for one in found.stalls] == [(300, 946), (2000, 141)]
    (loss,) = [one for one in found.curves if one.what == "loss"]
    assert (loss.count, loss.first, loss.last, len(loss.points)) == (14_199, 58.0, 12.13, 120)
