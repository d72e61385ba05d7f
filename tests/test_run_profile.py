"""Profiles beside the kernel tables: steps, interfaces, collectives, environment, lines of the user's code."""

from __future__ import annotations

import io
import json
import statistics as plain_statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.discover.artifacts import form_of_text
from npulint.facts.model import Fact, Span
from npulint.runs.facts.run_program import with_step_shares
from npulint.runs.read import communication, environment, interfaces, python_lines, statistics, steps
from npulint.runs.read.frames import user_frame
from npulint.runs.read.quantities import Values, nanoseconds, number, share
from npulint.runs.read.rows import Seen
from tests.fact_support import check_declared


def table(read: Any, form: str, text: str) -> tuple[list[Fact], Seen]:
    """The facts of a table, all of them declared."""
    seen = Seen(form)
    facts = read(io.BytesIO(text.encode()), "run.csv", seen)
    check_declared(facts)
    return facts, seen


def document(read: Any, value: object) -> list[Fact]:
    facts: list[Fact] = read(io.BytesIO(json.dumps(value, indent=1).encode()), "run.json", Seen("json"))
    check_declared(facts)
    return facts


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300))
def test_values_know_their_middle(given_values: list[float]) -> None:
    values = Values()
    for place, value in enumerate(given_values):
        values.add(value, place)
    assert values.median == pytest.approx(plain_statistics.median(given_values))
    assert values.largest == max(given_values)
    assert given_values[values.largest_line] == values.largest


def test_many_values_take_little_and_keep_the_middle() -> None:
    values = Values()
    for value in range(300_000):
        values.add(float(value))
    assert len(values._kept) <= 1 << 16
    assert values.count == 300_000
    assert values.median == pytest.approx(150_000, rel=0.01)


def test_time_stamps_are_exact() -> None:
    assert nanoseconds("1736408883704643.212\t") == 1736408883704643212
    assert nanoseconds('"12.5"') == 12500
    assert nanoseconds("1.x") is None
    assert nanoseconds(-1) is None
    assert nanoseconds(7) == 7000


@pytest.mark.parametrize("bad", ["", "nan", "inf", "N/A", "1,2", None, [], "9" * 400])
def test_what_is_no_number(bad: object) -> None:
    assert number(bad) is None


def test_shares_have_one_decimal() -> None:
    assert share(1, 3) == 33.3
    assert share(1, 0) == 0.0


STACK = (
    "/usr/lib/python3.9/site-packages/torch/_ops.py(692): __call__;\r\n"
    "/home/ada/net/train.py(354): train;\r\n/home/ada/net/train.py(20): <module>"
)


def test_the_frame_of_the_user() -> None:
    frame = user_frame(STACK)
    assert frame is not None
    assert (frame.file, frame.line, frame.function) == ("~/net/train.py", 354, "train")
    assert frame.place == "~/net/train.py:354"
    assert user_frame("<string>(1): <module>;\r\n/opt/miniconda3/lib/python3.9/runpy.py(8): run") is None
    windows = user_frame(r"C:\Users\ada\net\a b.py(3): f")
    assert windows is not None
    assert windows.file == r"~\net\a b.py"


@given(st.text(max_size=300))
def test_any_text_may_be_a_stack(text: str) -> None:
    frame = user_frame(text)
    assert frame is None or frame.line >= 0


TOTALS = """OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
TransData,AI_VECTOR_CORE,57,300.0,6.5,24.9,70.8,16.0
MatMulV2,AI_CORE,8,700.0,16.5,115.1,346.5,10.3
hcom_allReduce_,HCCL,4,9000.0,1,2,3000.0,0
broken,AI_CORE,x,1,1,1,1,1
"""


def test_totals_leave_communication_out_of_shares() -> None:
    facts, seen = table(statistics.read_op_statistic, "op_statistic", TOTALS)
    found = {fact.name: fact for fact in facts}
    families = [
        (one.name, one.get("share"), one.get("rank"), one.span.line) for one in facts if one.kind == "run_family"
    ]
    assert families == [("layout", 30.0, 2, found["TransData"].span.line), ("matrix", 70.0, 1, 3)]
    assert found["TransData"].get("share") == 30.0
    assert found["MatMulV2"].get("share") == 70.0
    assert found["hcom_allReduce_"].get("share") is None
    assert (found["MatMulV2"].span.line, found["MatMulV2"].get("rank")) == (3, 2)
    assert (seen.rows, seen.malformed, seen.first_malformed) == (3, 1, 5)


def test_nodes_of_the_ai_cpu_are_added_up() -> None:
    text = (
        "Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us)\n"
        "1,GetNext_1,1,1,90,5,100\n2,Where_2,1,1,20,3,30\n3,GetNext_1,1,1,190,5,200\n"
    )
    facts, _ = table(statistics.read_aicpu, "aicpu", text)
    assert [(fact.name, fact.get("total_us"), fact.get("max_us"), fact.span.line) for fact in facts] == [
        ("GetNext_1", 300.0, 200.0, 4),
        ("Where_2", 30.0, 30.0, 3),
    ]


STEP = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing\n"


def test_the_time_of_steps() -> None:
    (step,), _ = table(
        steps.read_step_trace_time, "step_trace_time", STEP + "1,50,30,1,31,20,100,0,7\n,50,130,1,1,20,1,0,7\n"
    )
    assert step.span.line == 3
    assert (step.get("steps"), step.get("step_us")) == (2, 150.0)
    assert (step.get("computing_share"), step.get("exposed_share"), step.get("free_share")) == (33.3, 53.3, 13.3)


def test_a_table_of_steps_without_time_says_nothing() -> None:
    assert table(steps.read_step_trace_time, "step_trace_time", STEP + "1,0,0,0,0,0,0,0,0\n")[0] == []
    assert table(steps.read_step_trace_time, "step_trace_time", STEP)[0] == []


def test_ranks_that_lie_apart() -> None:
    head = "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
    rows = '1,rank,0,100,500,1,1,50,1,0\n1,rank,1,130,100,1,1,60,1,0\n1,stage,"(0, 1)",900,900,1,1,900,1,0\n'
    facts, _ = table(steps.read_cluster_step_trace_time, "cluster_step_trace_time", head + rows)
    found = {fact.name: fact for fact in facts}
    assert found["communication"].get("spread") == 80.0
    assert found["communication"].get("suspect") == "1"
    assert found["communication"].span.line == 2
    assert (found["computing"].get("suspect"), found["computing"].get("spread")) == ("1", 23.1)


PIPELINE = (
    "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
    "1,rank,0,100,60,1,1,50,1,0\n1,rank,1,100,50,1,1,50,1,0\n"
    "1,rank,2,100,300,1,1,50,1,290\n1,rank,3,100,302,1,1,50,1,270\n"
)


def test_ranks_of_different_pipeline_stages_do_not_wait_for_one_another() -> None:
    stages = '1,stage,"(0, 1)",1,1,1,1,1,1,0\n1,stage,"(2, 3)",1,1,1,1,1,1,290\n'
    facts, _ = table(steps.read_cluster_step_trace_time, "cluster_step_trace_time", PIPELINE + stages)
    (found,) = [fact for fact in facts if fact.name == "communication"]
    assert [found.get(key) for key in ("most", "max_us", "least", "min_us")] == ["3", 32.0, "2", 10.0]


def test_bubbles_of_unknown_stages_are_not_compared() -> None:
    facts, _ = table(steps.read_cluster_step_trace_time, "cluster_step_trace_time", PIPELINE)
    assert [fact.name for fact in facts] == ["computing"]


def test_a_step_tells_bubbles_from_exchanged_data() -> None:
    (step,), _ = table(steps.read_step_trace_time, "step_trace_time", STEP + "1,50,40,1,31,10,100,30,7\n")
    assert (step.get("exposed_us"), step.get("exchange_us"), step.get("bubble_us")) == (40.0, 10.0, 30.0)
    assert (step.get("exchange_share"), step.get("bubble_share")) == (10.0, 30.0)


ITERATION = (
    "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
    "Iteration Refresh(us),Data Aug Bound(us),Model ID\n"
)


def test_iterations_of_a_graph_run_leave_out_the_first_and_the_init_model() -> None:
    rows = "1,1,2,3,90000,1,1,0,1\n1,1,2,3,80000,1,1,0,11\n2,1,2,3,100,70,10,20,11\n3,1,2,3,110,70,12,22,11\n"
    facts, _ = table(steps.read_step_trace, "step_trace", ITERATION + rows)
    assert [fact.get("iterations") for fact in facts] == [2]
    assert (facts[0].get("iteration_us"), facts[0].get("data_share"), facts[0].get("refresh_us")) == (105.0, 20.0, 11.0)
    assert facts[0].span.line == 5


def test_time_before_forward_comes_from_stamps_where_the_column_is_missing() -> None:
    head = "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),Model ID\n"
    rows = "1,1000.0,1050.0,1100.0,100,1\n2,1130.5,1190.0,1200.5,100,1\n"
    (fact,), _ = table(steps.read_step_trace, "step_trace", head + rows)
    assert (fact.get("data_us"), fact.get("data_share")) == (30.5, 30.5)


def test_the_trace_of_2020() -> None:
    lines = []
    for start in (0, 12_000_000, 24_500_000):
        for mark, tick in (("FP_stream", 66), ("FP_start", start), ("BP_end", start + 10_000_000)):
            lines.append(f"cp_add.{mark} ={tick}")
        lines.append(f"cp_add.iteration_end ={start + 11_000_000}")
    text = "\n".join(lines).encode()
    assert form_of_text("trace.txt", text) == "training_trace"
    (fact,) = steps.read_training_trace(io.BytesIO(text), "t", Seen("training_trace"))
    check_declared([fact])
    assert (fact.get("iterations"), fact.get("iteration_us")) == (2, 122500.0)
    assert (fact.get("data_us"), fact.get("compute_us"), fact.get("refresh_us")) == (12500.0, 100000.0, 10000.0)
    assert fact.span.line == 12
    assert form_of_text("trace.txt", b"no trace") == ""


CALLS = """Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance
acl,aclrtSynchronizeStreamWithTimeout,900.5,7,1,1,800,1
runtime,StreamSynchronize,890,7,1,1,790,1
acl,aclopCompileAndExecute,140,19,1,1,17,1
acl,aclrtMemcpyAsync,5,2,1,1,3,1
acl,aclrtMemcpy,24,5,1,1,7,1
runtime,DevMalloc,30,1,30,30,30,0
"""


def test_groups_count_a_call_and_what_it_calls_once() -> None:
    facts, _ = table(interfaces.read, "api_statistic", CALLS)
    host = {fact.name: fact for fact in facts if fact.kind == "run_host"}
    assert {name: (fact.get("total_us"), fact.get("calls"), fact.span.line) for name, fact in host.items()} == {
        "synchronize": (900.5, 7, 2),
        "compile": (140.0, 19, 4),
        "copy": (24.0, 5, 6),
        "allocation": (30.0, 1, 7),
    }


def test_lines_of_operators_by_their_own_time() -> None:
    head = (
        "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
        "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)\r\n"
    )
    rows = f'aten::conv,"1,2;\r\n3","{STACK}",5,20,0,60,0,0\r\nConv2D,,"{STACK}",4,4,60,60,0,0\r\n'
    rows += "aclnnMul,,,1,1,20,20,0,0\r\nhcom_allReduce_,,,1,1,7000,7000,0,0\r\n"
    facts, _ = table(python_lines.read, "operator_details", head + rows)
    (fact,) = facts
    assert fact.name == "~/net/train.py:354"
    assert (fact.get("device_us"), fact.get("share")) == (60.0, 75.0)
    assert fact.span.line == 6


def collective(wait: float, sizes: dict[str, list[float]]) -> dict[str, object]:
    return {
        "Communication Time Info": {"Elapse Time(ms)": 10.0, "Transit Time(ms)": 2.0, "Wait Time(ms)": wait},
        "Communication Bandwidth Info": {
            "HCCS": {"Transit Size(MB)": 4.0, "Transit Time(ms)": 2.0, "Size Distribution": sizes},
            "SDMA": {"Transit Size(MB)": 4.0, "Transit Time(ms)": 2.0, "Size Distribution": sizes},
        },
    }


def test_collectives_and_packets() -> None:
    operators = {
        "hcom_allReduce__1_0_1@7": collective(5.0, {"2.064384": [3, 1.0], "0.5": [1, 0.1]}),
        "Total Op Info": collective(99.0, {"1": [99, 1]}),
    }
    of_ranks = {"collective": {"step1": {name: {"0": info} for name, info in operators.items()}}}
    for shape in ({"step1": {"p2p": {}, "collective": operators}}, of_ranks):
        facts = document(communication.read, shape)
        link, collective_ = facts
        assert (collective_.kind, collective_.get("operator")) == ("run_collective", "hcom_allReduce__1_0_1")
        assert (link.name, link.get("engine"), link.get("packets"), link.get("bandwidth")) == ("HCCS", "sdma", 4, 2.0)
        assert (link.get("below_1_mb"), link.get("below_16_mb"), link.get("unaligned")) == (25.0, 100.0, 25.0)


def test_environment_variables_that_are_set() -> None:
    given_variables = {
        "ASCEND_LAUNCH_BLOCKING": "1",
        "HCCL_ALGO": "",
        "bad name": "1",
        "PYTORCH_NPU_ALLOC_CONF": "a:\n1",
    }
    facts = document(environment.read, {"ENV_VARIABLES": given_variables})
    found = {fact.name: fact for fact in facts}
    assert set(found) == {"ASCEND_LAUNCH_BLOCKING", "PYTORCH_NPU_ALLOC_CONF"}
    blocking = found["ASCEND_LAUNCH_BLOCKING"]
    assert (blocking.get("value"), blocking.get("number"), blocking.span.line) == ("1", 1.0, 3)
    assert found["PYTORCH_NPU_ALLOC_CONF"].get("value") == "a:1"


@pytest.mark.parametrize("prefix", ["", "_"])
def test_how_a_profile_was_taken(prefix: str) -> None:
    config = {
        "common_config": {"schedule": {f"{prefix}active": 2, f"{prefix}skip_first": 40}, "with_stack": True},
        "experimental_config": {"_profiler_level": "Level_none", "_aic_metrics": "ACL_AICORE_NONE"},
    }
    (fact,) = document(environment.read, {"config": config, "rank_id": 3})
    assert fact.get("level") == "levelnone"
    assert (fact.get("steps"), fact.get("skipped"), fact.get("rank")) == (2, 40, 3)


def test_cores_of_devices() -> None:
    devices = [{"id": 0, "ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800"}, "odd"]
    (fact,) = document(environment.read, {"DeviceInfo": devices})
    assert (fact.name, fact.get("cores"), fact.get("vector_cores")) == ("0", 24, 48)


@pytest.mark.parametrize("read", [environment.read, communication.read])
@pytest.mark.parametrize("text", ["[]", "", "{", "[" * 100_000, "1"])
def test_what_is_no_object_is_an_error(read: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|object|deep"):
        read(io.BytesIO(text.encode()), "run.json", Seen("json"))


_KEYS = st.sampled_from(
    ["ENV_VARIABLES", "config", "common_config", "experimental_config", "schedule", "DeviceInfo", "distributed_args",
     "Communication Time Info", "Communication Bandwidth Info", "HCCS", "Size Distribution", "Elapse Time(ms)", "2.0",
     "hcom_send__1@2", "id", "world_size"]
)  # fmt: skip
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(_KEYS, _ANYTHING, max_size=5))
def test_no_document_breaks_a_reader(value: dict[str, object]) -> None:
    document(environment.read, value)
    document(communication.read, value)


def test_calls_become_shares_of_the_steps_in_their_folder() -> None:
    def host(path: str, share: float | None = None) -> Fact:
        figures: dict[str, Any] = {"calls": 38, "total_us": 30.0, "mean_us": 0.8, "max_us": 1.0}
        return interfaces.HostActivity("compile", path, Span(), example="", share=share, **figures)

    def step(path: str) -> Fact:
        parts = dict.fromkeys(("computing", "exposed", "exchange", "free"), 0.0)
        figures: dict[str, Any] = {
            f"{part}_{unit}": figure for part, figure in parts.items() for unit in ("us", "share")
        }
        return steps.StepBreakdown("step", path, Span(), steps=2, step_us=150.0, **figures)

    facts = [host("a/x.csv"), step("a/y.csv"), host("b/x.csv"), host("a/t.json", share=1.0)]
    joined = with_step_shares(facts)
    assert [fact.get("share") for fact in joined] == [10.0, None, None, 1.0]
    assert joined[0].get("per_step") == 19.0
    assert facts[0].get("share") is None
    assert with_step_shares([*facts, step("a/z.csv")])[0].get("share") is None
