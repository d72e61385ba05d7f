"""Two profiles of one training: what is slower, new or elsewhere, in findings, text, HTML and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.hosts.cli.main import main
from npulint.judge.settings import Settings

HEAD = (
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
    "Input Shapes,Input Data Types\n"
)
STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"

Kernel = tuple[str, str, float, str]
MATMUL: Kernel = ("MatMulV2", "AI_CORE", 900, "FLOAT16")
ADD: Kernel = ("Add", "AI_VECTOR_CORE", 50, "FLOAT16")


def profile(folder: Path, *kernels: Kernel, steps: int = 1, free: float = 100, step: float = 1000) -> Path:
    folder.mkdir(parents=True)
    rows = [
        f'{number},a,{type_},{core},{number * 10_000 + place * 100},{duration},0,40,"64,64",{dtype}\n'
        for number in range(1, steps + 1)
        for place, (type_, core, duration, dtype) in enumerate(kernels)
    ]
    (folder / "kernel_details.csv").write_text(HEAD + "".join(rows), encoding="utf-8")
    table = STEPS + "".join(f"{n},{step},0,0,0,{free},{step + free},0\n" for n in range(1, steps + 1))
    (folder / "step_trace_time.csv").write_text(table, encoding="utf-8")
    return folder


def compared(now: Path, then: Path) -> dict[str, str]:
    settings = Settings(paths=(str(now),), against=str(then), select=("NPU53Y",))
    return {one.name: one.message for one in run(settings).findings}


def test_what_is_slower_new_or_elsewhere_is_told(tmp_path: Path) -> None:
    then = profile(tmp_path / "a" / "ASCEND_PROFILER_OUTPUT", MATMUL, ADD, ("Cast", "AI_VECTOR_CORE", 5, "INT32"))
    slower: Kernel = ("Add", "AI_VECTOR_CORE", 150, "FLOAT")
    cast, new = ("Cast", "AI_CPU", 70, "INT64"), ("TransData", "AI_VECTOR_CORE", 60, "FLOAT16")
    now = profile(tmp_path / "b" / "ASCEND_PROFILER_OUTPUT", MATMUL, slower, cast, new, free=400)
    found = compared(now, then)
    assert set(found) == {
        "step-slower-than-in-other-profile",
        "operator-slower-than-in-other-profile",
        "operator-moved-to-ai-cpu",
        "operator-not-in-other-profile",
    }
    assert "1.4 ms instead of 1.1 ms (27.3 % more)" in found["step-slower-than-in-other-profile"]
    assert "`Add` takes 150 µs per step instead of 50 µs" in found["operator-slower-than-in-other-profile"]
    assert compared(then, now) == {}


def test_steps_of_different_number_are_compared_by_step(tmp_path: Path) -> None:
    then, now = profile(tmp_path / "a", MATMUL, ADD), profile(tmp_path / "b", MATMUL, ADD, steps=5)
    assert compared(now, then) == {}


def test_slower_kernels_are_found_between_databases_and_tables(tmp_path: Path) -> None:
    from tests.test_run_databases import NAME
    from tests.test_run_databases import profile as database

    (tmp_path / "a").mkdir()
    database(tmp_path / "a" / NAME)
    now = profile(tmp_path / "b", ("Add", "AI_VECTOR_CORE", 1300, "FLOAT"), steps=2)
    assert "operator-slower-than-in-other-profile" in compared(now, tmp_path / "a" / NAME)


def test_profiles_of_several_ranks_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    then = profile(tmp_path / "a", MATMUL)
    for rank in range(2):
        profile(tmp_path / "b" / str(rank), MATMUL, ADD, ADD)
    assert compared(tmp_path / "b", then) == {}
    main(["check", str(tmp_path / "b"), "--against", str(then), "--isolated", "--lang", "en", "--exit-zero"])
    assert "nothing to compare" in capsys.readouterr().err


def test_a_missing_profile_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = profile(tmp_path / "b", MATMUL)
    assert main(["check", str(now), "--against", str(tmp_path / "no"), "--isolated", "--lang", "en"]) == 2
    assert "no" in capsys.readouterr().err


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_report_shows_both_times(tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str) -> None:
    then, now = profile(tmp_path / "a", MATMUL), profile(tmp_path / "b", MATMUL, ADD, free=500)
    page = tmp_path / "page.html"
    options = ["--isolated", "--lang", lang, "--exit-zero", "--output", f"html={page}"]
    main(["check", str(now), "--against", str(then), *options])
    text = capsys.readouterr().out
    assert {"en": "Compared with the other profile", "zh": "与另一个 profile 对比"}[lang] in text
    assert "+36.4" in text
    assert "Add" in page.read_text(encoding="utf-8")


def test_json_has_the_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    then, now = profile(tmp_path / "a", MATMUL, ADD), profile(tmp_path / "b", MATMUL)
    main(["check", str(now), "--against", str(then), "--isolated", "--format", "json", "--exit-zero"])
    (one,) = json.loads(capsys.readouterr().out)["runs"]
    changes = {(change["what"], change["name"]): change for change in one["changes"]}
    assert changes["step", "step"]["trend"] == "alike"
    assert changes["operator", "computing"]["change"] == -5.3
    gone = changes["operator", "Add"]
    assert (gone["trend"], gone["us"], gone["before_us"], gone["per"]) == ("gone", 0.0, 50.0, "step")
