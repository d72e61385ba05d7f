"""What is said of real profiles: steps, host, communication, and profiles that say little. Skipped without samples."""

from __future__ import annotations

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from npulint.runs.read import read_artifact
from tests.samples import sample

PYTORCH = "Ascend+msinsight/test/data/pytorch/text"
SERVER = "Ascend+msinsight/server/src/test/test_data"
CODES = tuple(f"NPU53{number}" for number in range(30, 48)) + tuple(f"NPU54{number:02}" for number in range(1, 14))


def checked(*relatives: str) -> dict[str, Finding]:
    """The findings of these checks by code, none of them twice."""
    paths = tuple(str(sample(relative)) for relative in relatives)
    found = run(Settings(paths=paths, cache=False, select=CODES)).findings
    assert len({one.code for one in found}) == len(found)
    return {one.code: one for one in found}


def test_a_profile_of_two_ranks() -> None:
    found = checked(f"{PYTORCH}/level1")
    assert sorted(found) == ["NPU5330", "NPU5331", "NPU5333", "NPU5334", "NPU5345"]
    assert "14 ms, 10.3 % of the step time: 19 calls" in found["NPU5330"].message
    assert found["NPU5330"].path.endswith("trace_view.json")
    assert "main.py:485` makes the host wait 91.9 ms, 67.3 %" in found["NPU5331"].message
    assert "idle for 18.8 %" in found["NPU5333"].message
    assert "takes 74.7 % of a step" in found["NPU5334"].message
    assert [place.path.rpartition("text/")[2].split("/")[1] for place in found["NPU5334"].related] == [
        "rank1_ascend_pt"
    ]


def test_a_rank_without_a_trace_tells_no_line() -> None:
    found = checked(f"{PYTORCH}/level1/rank1_ascend_pt")
    assert sorted(found) == ["NPU5330", "NPU5332", "NPU5333", "NPU5334", "NPU5345"]
    assert "93.5 ms" in found["NPU5332"].message


def test_a_profile_of_level_0_only_asks_for_a_better_one() -> None:
    found = checked(f"{PYTORCH}/level0")
    assert list(found) == ["NPU5404"]
    assert found["NPU5404"].severity == "note"


def test_a_shifted_row_is_counted_and_named() -> None:
    for relative in ("test_rank_0/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "test_kernel_parse/op_summary_1.csv"):
        found = checked(f"{SERVER}/{relative}")
        assert [(code, one.span.line) for code, one in found.items()] == [("NPU5401", 17)]
        assert found["NPU5401"].message.startswith("Rows that could not be read: 1 (read: 20)")


def test_ranks_that_wait_for_one() -> None:
    found = checked("Ascend+msprof-analyze/test/resource/advisor/cluster_analysis_output/cluster_step_trace_time.csv")
    assert list(found) == ["NPU5336"]
    assert found["NPU5336"].message.startswith("Rank 5 spends ")
    assert "wait for rank 1, " in found["NPU5336"].message
    assert "idle for 87.4 %" in found["NPU5336"].message


def test_stages_of_a_pipeline_are_not_said_to_wait_in_collectives() -> None:
    assert checked(f"{SERVER}/cluster_analysis_output/cluster_step_trace_time.csv") == {}


def test_a_healthy_trace_of_2020_says_nothing() -> None:
    folder = "Ascend+modelzoo/contrib/TensorFlow/Research/nlp/bert/BERT_tf_Soapeggpain/script/e2e_func_node/tools"
    name = "training_trace.46.dev.profiler_default_tag.7.slice_0"
    place = sample(f"{folder}/performance/performanceAnalysis_1p/parsed_file/{name}")
    assert checked(str(place)) == {}
    facts = read_artifact(str(place), name)
    assert isinstance(facts, list)
    (iterations,) = [fact for fact in facts if fact.kind == "run_iteration"]
    assert (iterations.get("iterations"), round(float(str(iterations.get("iteration_us"))) / 1000)) == (887, 126)


def test_tables_of_other_levels_are_quiet_about_themselves() -> None:
    found = checked(f"{PYTORCH}/level2", "Ascend+msprof/test/msprof_python/ut/testcase/msconfig")
    assert sorted(found) == ["NPU5330", "NPU5332", "NPU5333", "NPU5334"]
