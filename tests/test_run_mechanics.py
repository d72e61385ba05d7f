"""Runs of training and the machinery around findings: baselines, fingerprints, order, comments, the cache."""

from __future__ import annotations

import json
import random

from npulint.judge.postprocess.identity import unstamped
from tests.project_support import Project

HEADER = "Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim"
KERNELS = [("trans_TransData_1", "TransData", 40), ("MatMul_1", "MatMulV2", 60), ("trans_TransData_2", "TransData", 30)]
LOG = """\
[INFO] torch_npu started, process {pid}
[W compiler_depend.ts:{pid}] CAUTION: The operator 'aten::linalg_svd' is not currently supported on the NPU backend \
and will fall back to run on the CPU. This may have performance implications. (function npu_cpu_fallback)
"""
FALLBACK, LAYOUT = "operators-fell-back-to-cpu", "format-conversions-dominate"
OLD, NEW = "PROF_000001_20240101120000000_ABCDEFG", "PROF_000001_20250606130000000_QWERTYU"


def table(seed: int) -> str:
    chance = random.Random(seed)
    rows = [
        f"{name},{type_},dynamic,AI_CORE,{chance.randrange(10**9)},{usual * chance.uniform(0.98, 1.02):.3f},1,24"
        for name, type_, usual in KERNELS * 3
    ]
    return "\n".join([HEADER, *rows[: len(rows) - seed % 2]])


def record(project: Project, profile: str, log: str, seed: int) -> None:
    stamp = profile.split("_")[2][:14]
    place = f"run/{profile}/mindstudio_profiler_output/op_summary_{stamp}.csv"
    project.write({place: table(seed), f"run/{log}": "started\n" * seed + LOG.format(pid=4000 + seed)})


def found(project: Project, *words: str) -> list[str]:
    answer = project.run("check", "--format=json", "--no-cache", *words)
    return [one["name"] for one in answer.findings]


def accepted(project: Project) -> None:
    record(project, OLD, "train_20240101.log", 0)
    project.write({"README.md": "x"})
    assert sorted(set(found(project, "run")) & {FALLBACK, LAYOUT}) == sorted([FALLBACK, LAYOUT])
    assert project.run("check", "--write-baseline", "run").code == 0
    assert found(project, "run") == []


def test_a_baseline_knows_a_run_that_was_repeated_in_place(project: Project) -> None:
    accepted(project)
    record(project, OLD, "train_20240101.log", 1)
    assert found(project, "run") == []


def test_a_baseline_knows_a_run_that_was_repeated_beside_the_first(project: Project) -> None:
    accepted(project)
    record(project, NEW, "train_20250606.log", 1)
    assert found(project, f"run/{NEW}", "run/train_20250606.log") == []


def test_a_baseline_does_not_know_what_only_the_next_run_shows(project: Project) -> None:
    accepted(project)
    record(project, NEW, "train_20250606.log", 1)
    log = project.folder / "run/train_20250606.log"
    log.write_text(log.read_text().replace("aten::linalg_svd", "aten::nanmedian"))
    assert found(project, f"run/{NEW}", "run/train_20250606.log") == [FALLBACK]


def test_a_fingerprint_of_a_run_stays_when_it_is_repeated(project: Project) -> None:
    marks = []
    for seed, (profile, log) in enumerate([(OLD, "train_20240101.log"), (NEW, "train_20250606.log")]):
        record(project, profile, log, seed)
        answer = project.run("check", "--format=gitlab", "--no-cache", f"run/{profile}", f"run/{log}")
        marks.append({(one["check_name"], one["fingerprint"]) for one in json.loads(answer.out)})
    assert marks[0] == marks[1]
    assert len(marks[0]) > 1


def test_names_without_stamps() -> None:
    assert unstamped(f"run/{OLD}/op_summary_20240101120000.csv") == f"run/PROF_{'*'}/op_summary_*.csv"
    assert unstamped("node_17202_20250101_ascend_pt/rank_3/loss.csv") == "node_*_*_ascend_pt/rank_3/loss.csv"
    assert unstamped("train.log") == "train.log"


def test_neither_order_nor_cache_nor_jobs_change_what_is_said(project: Project) -> None:
    record(project, OLD, "train_20240101.log", 0)
    project.write({"src/train.py": "import torch\nimport torch_npu\ny = torch.linalg.svd(torch.ones(3, 3).npu())\n"})
    words = ("check", "--lang=en", "--min-severity=note")
    first = project.run(*words, "src", "run").out
    for more in (("src", "run"), ("run", "src"), ("run", "src", "--no-cache"), ("src", "run", "--jobs=2")):
        assert project.run(*words, *more).out == first
    record(project, OLD, "train_20240101.log", 1)
    changed = project.run(*words, "src", "run").out
    assert changed != first
    assert project.run(*words, "src", "run", "--no-cache").out == changed
