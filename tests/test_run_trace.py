"""Traces: events in small memory, and the way from a kernel or a wait to the line of code."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Fact
from npulint.runs.read import trace
from npulint.runs.read.rows import Seen
from npulint.runs.read.trace_state import Calls
from tests.fact_support import attrs_of, check_declared

FORWARD, BACKWARD, DEVICE = 10, 11, 2
LINE = "/usr/lib/python3.9/site-packages/torch/nn.py(1): f;\r\n/home/ada/net/train.py({line}): train"


def op(name: str, start: float, duration: float, tid: int = FORWARD, line: int = 0) -> dict[str, Any]:
    arguments = {"Call stack": LINE.format(line=line)} if line else {}
    stamp = f"{1736408883000000 + start:.3f}"
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": 1,
        "tid": tid,
        "ts": stamp,
        "dur": duration,
        "args": arguments,
    }


def flow(kind: str, number: int, start: float, tid: int, at: float, to: int, pid: int = 1) -> list[dict[str, Any]]:
    shared = {"cat": kind, "name": kind, "id": number}
    first = {"ph": "s", "pid": 1, "tid": tid, "ts": f"{1736408883000000 + start:.3f}"}
    second = {"ph": "f", "pid": pid, "tid": to, "ts": f"{1736408883000000 + at:.3f}"}
    return [shared | first, shared | second]


def kernel(name: str, start: float, duration: float) -> dict[str, Any]:
    event = op(name, start, duration, DEVICE)
    return event | {"pid": 9, "cat": None, "args": {"Task Type": "AI_CORE"}}


def interface(name: str, start: float, duration: float) -> dict[str, Any]:
    return op(f"AscendCL@{name}", start, duration) | {"pid": 5, "cat": None, "args": {"level": "acl"}}


def overlap(name: str, duration: float) -> dict[str, Any]:
    event = op(name, 0, duration) | {"pid": 7, "cat": None}
    del event["args"]
    return event


def process(pid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


EVENTS: list[dict[str, Any]] = [
    kernel("Conv2D", 500, 30),
    *flow("async_npu", 1, 12, FORWARD, 500, DEVICE, pid=9),
    op("ProfilerStep#5", 0, 1000, line=1),
    op("aten::conv2d", 10, 20, line=354),
    op("aclnnConv", 12, 3),
    *flow("fwdbwd", 1, 10, FORWARD, 210, BACKWARD),
    op("autograd::engine::evaluate_function: ConvBackward0", 200, 60, BACKWARD),
    op("ConvBackward0", 210, 20, BACKWARD),
    op("aten::sum", 240, 10, BACKWARD),
    *flow("async_npu", 2, 215, BACKWARD, 600, DEVICE, pid=9),
    kernel("Conv2DBackpropFilter", 600, 50),
    *flow("async_npu", 3, 245, BACKWARD, 700, DEVICE, pid=9),
    kernel("ReduceSum", 700, 5),
    *flow("async_npu", 4, 5000, BACKWARD, 800, DEVICE, pid=9),
    kernel("Orphan", 800, 15),
    kernel("EVENT_WAIT", 900, 90000),
    op("aten::item", 300, 100, line=485),
    interface("aclrtSynchronizeStreamWithTimeout", 310, 80),
    interface("aclopCompileAndExecute", 20, 10),
    op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 900, 50, line=345),
    overlap("Computing", 85),
    overlap("Free", 15),
    overlap("Communication(Not Overlapped)", 100),
    overlap("Communication", 110),
    process(7, "Overlap Analysis"),
    *({"ph": "C", "name": "AI Core Freq", "pid": 8, "ts": "1", "args": {"MHz": mhz}} for mhz in (1800, 1500, 1800)),
]


def read(text: str) -> tuple[list[Fact], Seen]:
    seen = Seen("trace")
    facts = trace.read(io.BytesIO(text.encode()), "trace_view.json", seen)
    check_declared(facts)
    return facts, seen


def by_kind(facts: list[Fact], kind: str) -> dict[str, Fact]:
    return {fact.name: fact for fact in facts if fact.kind == kind}


def test_kernels_lead_to_lines_forward_and_backward() -> None:
    facts, _ = read(json.dumps(EVENTS))
    lines = by_kind(facts, "run_line")
    assert list(lines) == ["~/net/train.py:354"]
    line = lines["~/net/train.py:354"]
    assert (line.get("device_us"), line.get("share")) == (85.0, 85.0)
    (summary,) = by_kind(facts, "run_trace").values()
    assert summary.get("cut") == "no"


def test_waits_lead_to_lines() -> None:
    facts, _ = read(json.dumps(EVENTS))
    (wait,) = by_kind(facts, "run_wait").values()
    assert (wait.get("source_line"), wait.get("op"), wait.get("total_us"), wait.get("share")) == (
        485,
        "aten::item",
        80.0,
        40.0,
    )
    host = by_kind(facts, "run_host")
    assert set(host) == {"synchronize", "compile", "dataloader", "idle"}
    assert (host["dataloader"].get("source_line"), host["dataloader"].get("per_step")) == (345, 1.0)
    assert (host["idle"].get("share"), host["idle"].get("working")) == (7.5, "yes")
    (step,) = by_kind(facts, "run_step").values()
    assert (step.get("traced"), step.get("step_us"), step.get("free_share")) == ("yes", 200.0, 7.5)


@pytest.mark.parametrize(("start", "working"), [(4000, "no"), (895, "yes"), (901, "no")])
def test_a_gap_in_which_the_host_works_is_told_apart(start: float, working: str) -> None:
    gap = op("Free", start, 40) | {"pid": 7, "cat": None, "args": {}}
    facts, _ = read(json.dumps([*EVENTS, gap]))
    assert by_kind(facts, "run_host")["idle"].get("working") == working


def test_the_clock() -> None:
    facts, _ = read(json.dumps(EVENTS))
    (clock,) = by_kind(facts, "run_clock").values()
    assert (clock.get("max"), clock.get("min"), clock.get("drop")) == (1800.0, 1500.0, 16.7)


def told(facts: list[Fact]) -> list[tuple[object, ...]]:
    return [(fact.kind, fact.name, attrs_of(fact)) for fact in facts]


@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 20])
def test_the_form_of_the_file_does_not_matter(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = told(read(json.dumps(EVENTS))[0])
    monkeypatch.setattr(trace, "_CHUNK", chunk)
    others = {"otherData": {"é": [1, 2]}, "traceEvents": EVENTS, "displayTimeUnit": "ms"}
    for text in (json.dumps(EVENTS), "\ufeff" + json.dumps(EVENTS, indent=2), json.dumps(others, ensure_ascii=False)):
        assert told(read(text)[0]) == expected


def test_facts_stand_at_the_line_of_their_event() -> None:
    text = "[\n" + ",\n".join(json.dumps(event) for event in EVENTS) + "\n]"
    facts, _ = read(text)
    line = by_kind(facts, "run_line")["~/net/train.py:354"].span.line
    assert "Conv2DBackpropFilter" in text.split("\n")[line - 1]


def test_what_is_cut_off_is_counted_and_the_rest_is_told() -> None:
    text = json.dumps(EVENTS)
    facts, seen = read(text[: len(text) // 2])
    assert seen.malformed == 1
    assert seen.rows > 5
    assert by_kind(facts, "run_trace")
    facts, seen = read('{"a": 1}')
    assert (facts, seen.malformed) == ([], 1)


def test_a_large_trace_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "LIMIT", 3000)
    facts, seen = read(json.dumps(EVENTS))
    assert 0 < seen.rows < len(EVENTS)
    assert seen.malformed == 0
    assert by_kind(facts, "run_trace")["trace"].get("cut") == "yes"


_EVENT = st.fixed_dictionaries(
    {"ph": st.sampled_from("XMsfC")},
    optional={
        "name": st.sampled_from(["Free", "AI Core Freq", "process_name", "aten::add", "AscendCL@aclrtMemcpy"])
        | st.none(),
        "cat": st.sampled_from(["cpu_op", "async_npu", "fwdbwd"]) | st.lists(st.none()),
        "ts": st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["1.5", "2"]),
        "dur": st.integers() | st.floats() | st.text(max_size=4),
        "pid": st.integers() | st.text(max_size=2) | st.dictionaries(st.text(), st.none(), max_size=1),
        "tid": st.integers() | st.text(max_size=2) | st.none(),
        "id": st.integers() | st.none() | st.text(max_size=2),
        "args": st.none()
        | st.dictionaries(
            st.sampled_from(["Task Type", "MHz", "Call stack", "name"]), st.none() | st.floats() | st.text()
        ),
    },
)


@given(st.lists(_EVENT | st.none() | st.integers(), max_size=12))
def test_no_event_breaks_the_reader(given_events: list[Any]) -> None:
    _, seen = read(json.dumps(given_events))
    assert seen.rows == sum(isinstance(event, dict) for event in given_events)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=15), st.integers(0, 100))
def test_the_innermost_operator_is_found(spans: list[tuple[int, int]], time: int) -> None:
    """Operators of a thread lie within each other: each span is laid inside or after the one before."""
    calls = Calls()
    nested = [(sum(start for start, _ in spans[:place]), 1000 - place) for place in range(1, len(spans) + 1)]
    for place, (start, end) in enumerate(nested):
        calls.add(1, start, end, str(place), LINE.format(line=place + 1))
    calls.settle()
    frame, _ = calls.line_at(1, time)
    inside = [place for place, (start, end) in enumerate(nested) if start <= time <= end]
    assert (frame.line if frame else 0) == (max(inside) + 1 if inside else 0)
