"""Kernel tables of real runs: what has to be found in them, and what must not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from tests.samples import sample

INSIGHT = "Ascend+msinsight"
LEVELS = f"{INSIGHT}/test/data/pytorch/text"
RANK_0 = f"{INSIGHT}/server/src/test/test_data/test_rank_0/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
SUMMARY = f"{INSIGHT}/server/src/test/test_data/test_kernel_parse/op_summary_1.csv"
LARGE = "Ascend+msprof-analyze/test/ut/advisor/advisor_backend/compute_advice/kernel_details.csv"
ATTENTION = "Ascend+msprof-analyze/test/ut/advisor/compute_advice/data/kernel_details.csv"
CODES = {f"NPU53{number:02}" for number in range(1, 30)}


def found(path: Path) -> dict[str, Finding]:
    """What the checks of kernels say, by code; each of them speaks once."""
    result = run(Settings(paths=(str(path),), cache=False, select=("NPU53",)))
    kernels = [one for one in result.findings if one.code in CODES]
    assert len({one.code for one in kernels}) == len(kernels)
    return {one.code: one for one in kernels}


def test_two_ranks_of_a_convolutional_network() -> None:
    said = found(sample(f"{LEVELS}/level1"))
    assert set(said) == {"NPU5303", "NPU5308", "NPU5310", "NPU5311", "NPU5317", "NPU5322"}
    assert all(one.path.endswith("rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv") for one in said.values())
    assert "17.4 % of compute time" in said["NPU5308"].message and "TransData 57 ×" in said["NPU5308"].message
    assert "ForeachAddList 3 ×" in said["NPU5322"].message
    assert "HF32" in said["NPU5317"].message


def test_totals_alone_tell_what_they_can(tmp_path: Path) -> None:
    shutil.copy(sample(f"{LEVELS}/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/op_statistic.csv"), tmp_path)
    said = found(tmp_path)
    assert set(said) == {"NPU5308", "NPU5322"}
    assert "17.4 % of compute time" in said["NPU5308"].message


def test_a_profile_of_level_0_has_no_finding_about_operators() -> None:
    assert found(sample(f"{LEVELS}/level0/rank0_ascend_pt")) == {}


@pytest.mark.parametrize("path", [RANK_0, SUMMARY])
def test_both_names_of_a_table_say_the_same(path: str) -> None:
    said = found(sample(path))
    assert set(said) == {"NPU5305"}
    assert "`Cast` from INT32 to UINT64" in said["NPU5305"].message and "145 µs" in said["NPU5305"].message
    assert said["NPU5305"].span.line == 12


def test_a_language_model_in_float16() -> None:
    said = found(sample(LARGE))
    assert set(said) == {"NPU5305", "NPU5314", "NPU5323"}
    assert "785 µs" in said["NPU5305"].message
    assert "11.7 % of compute time" in said["NPU5314"].message
    assert "StridedSliceD" in said["NPU5323"].message


def test_a_healthy_table_is_left_alone() -> None:
    assert found(sample(ATTENTION)) == {}
