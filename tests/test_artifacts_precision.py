"""Overflow records, fusion results, recorded statistics, and what precision_tool prints."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.runs.read import fusion, fusion_switches, overflow, precision_console, read_artifact, statistics_dump
from npulint.runs.read.json_objects import Members, NotJsonError
from npulint.runs.read.op_names import DumpName, dump_name
from tests.fact_support import attrs_of, check_declared

RECORD = "dump/Opdebug.Node_OpDebug.327.5.1619347786532995.output.0.json"


def stream(value: object) -> io.BytesIO:
    return io.BytesIO((value if isinstance(value, str) else json.dumps(value, indent=1)).encode())


def unit(status: object, task: object = 327, **more: object) -> dict[str, object]:
    return {"model_id": 1, "stream_id": 5, "task_id": task, "pc_start": "0x10", "status": status, **more}


def test_the_first_form_of_an_overflow_record() -> None:
    record = {"DHA Atomic Add": unit(1), "L2 Atomic Add": unit(0), "AI Core": unit("0x120", block_idx=0)}
    first, second = overflow.read(stream(record), RECORD)
    assert (first.name, first.get("unit"), first.get("status")) == ("ai_core", "ai_core", 0x120)
    assert first.get("bits") == "float, to_float16"
    assert (first.get("float"), first.get("to_float16"), first.get("cube_accumulation")) == ("yes", "yes", "no")
    assert (first.get("task"), first.get("timestamp"), first.get("rank")) == (327, 1619347786532995, 1)
    assert first.span.line == 16
    assert (second.get("unit"), second.get("bits"), second.get("rank")) == ("dha_atomic", "-", 2)


@pytest.mark.parametrize(("kind", "name"), [("AIC", "ai_core"), ("AIV", "ai_vector"), ("SDMA", "sdma"), ("X", "other")])
def test_the_second_form_of_an_overflow_record(kind: str, name: str) -> None:
    entry = {"valid": 1, "acc_type": kind, "data_len": 1, "data": unit(1024, context_id=0, thread_id=0)}
    (fact,) = overflow.read(stream({"magic": "0x5a5a5a5a", "version": 1, "acc_list": entry}), RECORD)
    assert (fact.get("unit"), fact.get("status")) == (name, 1024)
    assert (fact.get("cube_accumulation") == "yes") == name.startswith("ai_")


def test_a_record_without_overflow() -> None:
    assert overflow.read(stream({"AI Core": unit(0), "L2 Atomic Add": unit(0)}), RECORD) == []
    with pytest.raises(NotJsonError):
        overflow.read(stream({"something": 1}), RECORD)


def test_records_of_many_files_are_put_in_order() -> None:
    def record(key: str, task: int, stamp: int) -> list[overflow.Overflow]:
        return overflow.read(stream({key: unit(32, task)}), f"Opdebug.Node_OpDebug.1.{stamp}.output.0.json")

    late, early = record("AI Core", 9, 1619347786532999), record("AI Core", 7, 1619347786532996)
    atomic = record("L2 Atomic Add", 1, 1619347786532990)
    ordered = overflow.ranked([*late, *atomic, *early])
    assert [(fact.get("task"), fact.get("rank"), fact.get("count")) for fact in ordered] == [
        (7, 1, 3),
        (9, 2, 3),
        (1, 3, 3),
    ]
    names = ["x/TransData.trans_TransData_1170.7.1619347786532995.input.0.npy", "Cast.c.8.1619347786532995"]
    named = overflow.with_operators(ordered, names)
    assert [(fact.name, fact.get("type")) for fact in named][:2] == [
        ("trans_TransData_1170", "TransData"),
        ("ai_core", "-"),
    ]


def test_a_dump_that_was_never_parsed() -> None:
    (fact,) = overflow.of_name("a/Opdebug.Node_OpDebug.12.3.1619347786532995")
    assert (fact.get("unit"), fact.get("task"), fact.get("timestamp")) == ("unparsed", -1, 1619347786532995)
    assert overflow.of_name("a/Cast.c.8.1619347786532995") == overflow.of_name("Opdebug.txt") == []


def test_a_parsed_dump_is_not_told_twice() -> None:
    raw = "a/Opdebug.Node_OpDebug.12.3.1619347786532995"
    other = "a/Opdebug.Node_OpDebug.12.3.1619347786532999"
    facts = [*overflow.of_name(raw), *overflow.of_name(other)]
    assert [fact.path for fact in overflow.without_parsed(facts, [raw, other, f"{raw}.output.0.json"])] == [other]
    parsed = overflow.read(stream({"AI Core": unit(32)}), f"{raw}.output.0.json")
    assert overflow.without_parsed(parsed, [raw, f"{raw}.output.0.json"]) == parsed


def test_a_binary_dump_is_read_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "Opdebug.Node_OpDebug.12.3.1619347786532995").write_bytes(b"\0\1\2")
    location = str(tmp_path / "Opdebug.Node_OpDebug.12.3.1619347786532995")
    facts = read_artifact(location, location)
    assert isinstance(facts, list)
    assert [(fact.kind, fact.name) for fact in facts] == [("run_source", "overflow_dump"), ("run_overflow", "unparsed")]
    assert facts[0].get("note") == ""


def test_a_record_names_the_type_for_the_operator_list() -> None:
    records = overflow.read(stream({"AI Core": unit(256)}), RECORD)
    (known,) = overflow.ranked(overflow.with_operators(records, ["Exp.softmax_Exp.327.5.1619347786532990"]))
    assert json.loads(known.get("mixlist")) == {"black-list": {"to-add": ["Exp"]}}
    (unknown,) = overflow.ranked(overflow.with_operators(records, []))
    assert json.loads(unknown.get("mixlist")) == {"black-list": {"to-add": ["<OpType>"]}}


def test_names_of_dumps() -> None:
    assert dump_name("TransData.trans_TransData_1170.327.1619347786532995.output.1.npy") == DumpName(
        "TransData", "trans_TransData_1170", 327, -1, 1619347786532995, "output", 1
    )
    assert dump_name("MatMulV2.a.b.c.5.0.1619347786532995") == DumpName(
        "MatMulV2", "a.b.c", 5, 0, 1619347786532995, "", 0
    )
    assert dump_name("mapping.csv") is None


@given(st.integers(0, 1 << 12))
def test_every_bit_has_a_name(status: int) -> None:
    names = overflow.bits(status)
    assert sum(bit for bit, name in overflow.BITS.items() if name in names) == status & sum(overflow.BITS)
    assert ("other" in names) == bool(status & ~sum(overflow.BITS))


def times(match: int, effect: int) -> dict[str, str]:
    return {"match_times": str(match), "effect_times": str(effect)}


def test_fusion_results_are_glued_together() -> None:
    graphs: list[dict[str, Any]] = [
        {"graph_fusion": {"MulAdd": times(5, 0)}, "session_and_graph_id": "0_1"},
        {"graphId": "11", "sessionId": "0", "ub_fusion": {"MulAdd": times(4, 3), "Auto": times(9, 9)}},
        {"graph_fusion": {"MulAdd": times(2, 0)}, "session_and_graph_id": "0_1"},  # the run was started again
        {"graph_fusion": {"MulAdd": times(1, 0), "Never": times(0, 0)}, "session_and_graph_id": "0_2"},
    ]
    text = "".join(json.dumps(graph, indent=1) for graph in graphs)
    found = fusion.read(stream(text), "fusion_result.json")
    told = [(f.name, f.get("effect")) for f in found]
    assert told == [("Auto", 9), ("MulAdd", 3), ("MulAdd", 0), ("Never", 0)]
    assert [text.split("\n")[f.span.line - 1].split('"')[1] for f in found] == ["Auto", "MulAdd", "MulAdd", "Never"]
    listed = fusion.read(stream(graphs), "fusion_result.json")
    assert [(f.name, attrs_of(f)) for f in listed] == [(f.name, attrs_of(f)) for f in found]


def test_a_fusion_result_that_is_cut_off_keeps_what_is_whole() -> None:
    whole = json.dumps({"graph_fusion": {"A": times(1, 1)}, "session_and_graph_id": "0_1"})
    assert [f.name for f in fusion.read(stream(whole + whole[:30]), "f.json")] == ["A"]
    assert fusion.read(stream({"graph_fusion": {}, "session_and_graph_id": "0_1"}), "f.json") == []
    for text in ("", "{", "[1, 2]"):
        with pytest.raises(NotJsonError):
            fusion.read(stream(text), "f.json")


def tensor(most: object = 1.0, least: object = -1.0, dtype: str = "torch.float16") -> dict[str, object]:
    return {"type": "torch.Tensor", "dtype": dtype, "shape": [2], "Max": most, "Min": least, "Mean": 0, "Norm": 1}


def dump(**ops: tuple[Any, Any]) -> dict[str, object]:
    data = {
        f"Functional.{name}.0.forward": {"input_args": taken, "input_kwargs": {}, "output": given}
        for name, (taken, given) in ops.items()
    }
    return {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None, "data": data}


def test_where_numbers_break_in_a_dump() -> None:
    nan, inf = float("nan"), float("inf")
    value = dump(
        linear=([tensor(), [tensor(), {"type": "int", "value": 1}]], [tensor(dtype="torch.float32")]),
        masked_fill=([tensor()], [tensor(1.0, -inf)]),
        exp=([tensor()], [tensor(), [tensor("inf", 0)]]),
        mul=([tensor(inf)], [tensor(nan, nan)]),
        matmul=([tensor()], [tensor(65504.0)]),
    )
    found = statistics_dump.read(stream(value), "dump.json")
    assert [(f.get("type"), f.get("what"), f.get("tensor")) for f in found] == [
        ("exp", "not_a_number", "output.1.0"),
        ("matmul", "saturated", "output.0"),
    ]
    lines = json.dumps(value, indent=1).split("\n")
    assert all(f.name in lines[f.span.line - 1] for f in found)


def test_a_dump_is_never_held_whole() -> None:
    class Drops(io.BytesIO):
        largest = 0

        def read(self, size: int | None = -1, /) -> bytes:
            assert size is not None and size > 0
            self.largest = max(self.largest, size)
            return super().read(min(size, 1000))

    names = [f"op{i}" for i in range(3000)]
    value = dump(**{name: ([tensor()], [tensor()]) for name in names})
    source = Drops(json.dumps(value).encode())
    members = Members(source, "data")
    assert [name for _, name, _ in members] == [f"Functional.{name}.0.forward" for name in names]
    assert not members.truncated
    assert source.largest < 3_000_000


@pytest.mark.slow
@given(
    st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8), max_size=6),
    st.integers(0, 200),
    st.booleans(),
)
def test_members_of_an_object(data: dict[str, object], cut: int, spaced: bool) -> None:
    text = json.dumps({"task": "x", "data": data}, indent=2 if spaced else None)
    members = list(Members(stream(text), "data"))
    assert {name: value for _, name, value in members} == data
    lines = text.split("\n")
    assert all(json.dumps(name) in lines[line - 1] for line, name, _ in members)
    part = Members(stream(text[:cut]), "data")
    try:
        some = list(part)
    except NotJsonError:
        assert '"data": {' not in text[:cut]
    else:
        assert some == members[: len(some)]
        assert part.truncated or len(some) == len(members)


def test_a_dump_that_is_cut_off() -> None:
    text = json.dumps(dump(exp=([tensor()], [tensor("nan")]), mul=([tensor()], [tensor()])))
    (first,) = statistics_dump.read(stream(text[:-100]), "dump.json")
    assert first.get("type") == "exp"
    with pytest.raises(NotJsonError):
        statistics_dump.read(stream("no json"), "dump.json")


def test_what_analyses_name() -> None:
    entry = {
        "op_name": "Functional.exp.0.forward",
        "data_info": {"input_args": [tensor()], "output": [tensor("nan", "nan")]},
        "construct_info": ["Module.net.Net.forward.0", "Functional.exp.0.forward"],
        "stack_info": [
            "File /x/site-packages/torch/f.py, line 3, in f, \n a",
            "File /me/net.py, line 8, in forward, \n b",
        ],
    }
    (fact,) = statistics_dump.read_anomalies(stream({"rank_3": [entry]}), "anomaly_analyze_1.json")
    assert (fact.name, fact.get("what")) == ("Functional.exp.0.forward", "not_a_number")
    assert (fact.get("file"), fact.get("source_line")) == ("/me/net.py", 8)
    assert (fact.get("tensor"), fact.span.line) == ("output.0", 4)
    told = {"0:net.fc_rank0_step7": {"rank": 1, "step": 7, "tag_name": "0:net.fc/output", "message": "turbulence"}}
    (fact,) = statistics_dump.read_anomalies(stream(told), "anomaly_detected.json")
    assert (fact.name, fact.get("what")) == ("0:net.fc/output", "monitor")


CONSOLE = """\
PrecisionTool > ac -c
 ╭───────────────────────────────────╮
 │ [TransData][12] trans_TransData_7 │
 │  - [AI Core][Status:256][TaskId:12] ['?'] │
 │  - First overflow file timestamp [1619347786532995] - │
 ╰───────────────────────────────────╯
PrecisionTool > vcs -c 0.98 -l 2
 ╭── [57] loss/TopKV2 ───╮
 │ Left:  ['loss/TopKV2'] │
 │ Right: ['loss/TopKV2', 'loss/Cast'] │
 │ Input:                 │
 │  - [0]1.0     - [1]nan │
 │ Output:                │
 │  - [0]0.9999  - [1]0.5 │
 ╰────────────────────────╯
 ╭── [60] loss/Sum ───╮
 │ Input:             │
 │  - [0]0.5          │
 │ Output:            │
 │  - [0]0.4          │
 ╰────────────────────╯
 ╭── [61] loss/Log ───╮
 │ Output:            │
 │  - [0]nan          │
 ╰────────────────────╯
 ╭── [62] open
"""


def test_panels_of_precision_tool() -> None:
    over, *compared = precision_console.read(stream(CONSOLE), "ac.log")
    assert (over.name, over.get("type"), over.get("bits"), over.span.line) == (
        "trans_TransData_7",
        "TransData",
        "to_float16",
        4,
    )
    assert (over.get("timestamp"), over.get("task")) == (1619347786532995, 12)
    assert [(f.name, f.get("what"), f.get("rank"), f.span.line) for f in compared] == [
        ("loss/TopKV2", "deviates", 1, 8),
        ("loss/Sum", "inherits", 1, 16),
        ("loss/Log", "not_a_number", 1, 22),
    ]
    first = attrs_of(compared[0])
    assert (first["cosine"], first["tensor"], first["inputs_min_cosine"]) == (0.5, "output:1", 1.0)
    assert (first["fused"], first["type"]) == ("yes", "TopKV2")


READERS = [
    overflow.read,
    fusion.read,
    fusion_switches.read_switches,
    statistics_dump.read,
    statistics_dump.read_anomalies,
    precision_console.read,
]
_SCALARS = (
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(["nan", "inf", "0x20", "on", "AIC"])
)
_KEYS = st.sampled_from(
    "AI Core,acc_list,acc_type,data,status,task_id,graph_fusion,match_times,Switch,GraphFusion,output,Max,Min,dtype,"
    "op_name,tag_name,rank,rank_0,step,stack_info,construct_info,data_info".split(",")
)
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4))


@pytest.mark.parametrize("reader", READERS)
@given(value=_VALUES | st.text(max_size=80))
def test_no_content_breaks_a_reader(reader: Any, value: object) -> None:
    try:
        found = reader(stream(value), "x.json")
    except NotJsonError:
        return
    check_declared(found)


def test_deep_nesting_is_no_crash() -> None:
    deep = '{"data": {"a": ' + "[" * 100_000
    for reader in READERS:
        try:
            reader(stream(deep), "x.json")
        except NotJsonError:
            continue
