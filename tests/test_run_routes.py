"""Routes between cards, the L2 cache, advice on comparisons, and files of which only the size is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.check.pipeline import run
from npulint.facts.model import Fact, Problem
from npulint.judge.settings import Settings
from npulint.runs.read import communication, read_artifact
from tests.fact_support import check_declared
from tests.samples import sample

SERVER = "Ascend+msinsight/server/src/test/test_data"
LEVEL_1 = "Ascend+msinsight/test/data/pytorch/text/level1"
MATRIX = "communication_matrix.json"
SPEEDS = (17.5, 17.6, 17.1, 6.0, 17.4)


def link(kind: str, size: float, speed: float) -> dict[str, object]:
    """What a matrix tells of a route."""
    return {
        "Transport Type": kind,
        "Transit Size(MB)": size,
        "Transit Time(ms)": size / speed,
        "Bandwidth(GB/s)": speed,
        "Op Name": "hcom_allReduce__586_0_1",
    }


def links(speeds: tuple[float, ...] = SPEEDS, size: float = 32.0, kind: str = "HCCS") -> dict[str, object]:
    """Routes of card 0, and its copy to itself."""
    found: dict[str, object] = {"0-0": link("LOCAL", 60.0, 400.0)}
    return found | {f"0-{to}": link(kind, size, speed) for to, speed in enumerate(speeds, 1)}


def of_rank(**operators: object) -> dict[str, dict[str, dict[str, object]]]:
    """A matrix as torch_npu writes it for a rank."""
    return {"step5": {"p2p": {}, "collective": {f"{name}@175": routes for name, routes in operators.items()}}}


def read(name: str, content: object, indent: int | None = 1) -> list[Fact]:
    """The facts of a file, all of them declared."""
    text = content if isinstance(content, str) else json.dumps(content, indent=indent)
    facts = read_artifact(name, name, text.encode())
    assert isinstance(facts, list), facts
    check_declared(facts)
    return facts


def routes(content: object, name: str = MATRIX) -> dict[str, Fact]:
    """`run_route` by type of transport."""
    return {fact.name: fact for fact in read(name, content) if fact.kind == "run_route"}


def test_the_slowest_route_is_told_beside_the_middle() -> None:
    content = of_rank(allreduce=links())
    hccs = routes(content)["HCCS"]
    assert (hccs.get("routes"), hccs.get("megabytes"), hccs.get("bandwidth")) == (5, 160.0, 17.4)
    assert (hccs.get("slowest"), hccs.get("slowest_bandwidth"), hccs.get("slowest_mb")) == ("0-4", 6.0, 32.0)
    assert hccs.get("ratio") == 0.34
    lines = json.dumps(content, indent=1).split("\n")
    assert '"0-4"' in lines[hccs.span.line - 1]


def test_totals_and_excerpts_are_not_counted_twice() -> None:
    once = routes(of_rank(**{"allreduce-total": links()}))["HCCS"]
    parts = {f"allreduce-{part}": links() for part in ("top1", "middle", "bottom1", "bottom2", "total")}
    assert routes(of_rank(**parts))["HCCS"].get("megabytes") == once.get("megabytes")
    summed = of_rank(allreduce=links())
    summed["step5"]["collective"]["Total Op Info"] = links()
    assert routes(summed)["HCCS"].get("megabytes") == 160.0


def test_excerpts_speak_where_nothing_sums_them_up() -> None:
    assert routes(of_rank(**{"allreduce-top1": links()}))["HCCS"].get("routes") == 5


def test_transfers_of_other_sizes_are_not_compared() -> None:
    small = {"0-9": link("HCCS", 0.5, 0.2), "0-8": link("HCCS", 2.0, 3.0)}
    hccs = routes(of_rank(allreduce=links((17.5, 17.6, 17.1, 17.2)), broadcast=small))["HCCS"]
    assert (hccs.get("routes"), hccs.get("slowest"), hccs.get("ratio")) == (4, "0-3", 0.99)
    assert hccs.get("megabytes") == 128.0


def test_a_route_that_carries_little_is_not_compared() -> None:
    hccs = routes(of_rank(allreduce=links((17.5, 17.6, 17.1, 17.2), 64.0), send={"0-9": link("HCCS", 20.0, 2.0)}))
    assert (hccs["HCCS"].get("routes"), hccs["HCCS"].get("slowest")) == (4, "0-3")


def test_numbers_of_a_rank_count_within_their_group() -> None:
    both = {"allreduce@1": links(), "allreduce@2": links()}
    assert routes({"step5": {"collective": both}})["HCCS"].get("routes") == 10
    cluster = {"(0, 1, 2)": {"step5": {"allreduce@1": links()}}, "p2p": {"step5": {"send@2": links()}}}
    assert routes(cluster, "cluster_communication_matrix.json")["HCCS"].get("routes") == 5


@pytest.mark.parametrize(
    "odd",
    [
        {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 0, "Transit Time(ms)": 0}},
        {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": "N/A", "Transit Time(ms)": None}},
        {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 1e308, "Transit Time(ms)": 1e-300}},
        {"0-1": {"Transport Type": 7}, "x": {"Transport Type": "HCCS"}, "0-2": 5},
        {},
    ],
)
def test_a_matrix_without_figures_tells_nothing_and_is_no_failure(odd: object) -> None:
    (source,) = read(MATRIX, {"step5": {"p2p": {}, "collective": {"allreduce@1": odd}}})
    assert source.get("note") == ""


_NUMBERS = st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=5))
_LINKS = st.dictionaries(
    st.sampled_from(("0-0", "0-1", "1-0", "Total Op Info", "?")),
    st.fixed_dictionaries(
        {"Transport Type": st.sampled_from(("HCCS", "RDMA", "", None)), "Transit Size(MB)": _NUMBERS},
        optional={"Transit Time(ms)": _NUMBERS},
    ),
)


@given(st.dictionaries(st.text(max_size=8), st.dictionaries(st.text(max_size=8), _LINKS, max_size=4), max_size=3))
def test_odd_matrices_do_no_harm(content: object) -> None:
    for fact in read(MATRIX, content):
        if fact.kind == "run_route":
            assert 0 <= fact.get("ratio") <= 1


@pytest.mark.parametrize("text", ["[]", '{"step": {', '{"a": ' * 4000])
def test_a_damaged_matrix_is_named(text: str) -> None:
    found = read_artifact(MATRIX, MATRIX, text.encode())
    assert isinstance(found, Problem)
    assert found.reason == "artifact-damaged"


def test_a_matrix_beyond_the_limit_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.runs.read.routes.LIMIT", 50)
    (source,) = read(MATRIX, of_rank(allreduce=links()))
    assert source.get("note") == "unread"
    assert communication.LIMIT > 50


HEAD = "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n"


def test_rows_of_a_cache_table_are_counted() -> None:
    body = "".join(f"2,{n},0.9,0.1,MatMul\n" for n in range(6)) + "".join(f"2,{n},0.3,0.5,Cast\n" for n in range(6))
    (source,) = read("l2_cache_1.csv", HEAD + body + "2,99,0.01,0.2,Once\n2,98,N/A,0.2,Add\n")
    assert (source.get("rows"), source.get("note")) == (14, "")


@pytest.mark.parametrize("text", ["Line: 12\nSuspect Nodes: add\nExpert Advice: Look.\n", "\n", "x" * 200_000])
def test_advice_is_read_and_silent(text: str) -> None:
    (source,) = read("advisor.txt", text)
    assert source.get("note") == ""


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("communication_group.json", {"collective": [[0, 1], [2, 3]], "p2p": [[0, 2]]}, 3),
        ("communication_group.json", {"collective": [], "p2p": []}, 0),
        ("construct.json", {"Tensor.add.0.forward": "", "Module.a.0.forward": None}, 2),
        ("sample.json", {"ai_core_profiling": "on", "aicpuTrace": "on"}, 2),
    ],
)
def test_documents_are_counted(name: str, content: object, rows: int) -> None:
    (source,) = read(name, content)
    assert (source.get("rows"), source.get("note")) == (rows, "")


def test_lines_of_a_summary_are_counted() -> None:
    (source,) = read(
        "analysis_summary.txt", "total: 129.05 170.2 119.6 39.2 7.6 %\nFP_BP: 117.58 118.1 117.0 0.8 %\n\n"
    )
    assert (source.get("form"), source.get("rows"), source.get("note")) == ("trace_summary", 2, "")


def checked(*paths: Path) -> list[str]:
    """Messages about slow links."""
    given_paths = tuple(str(path) for path in paths)
    return [one.message for one in run(Settings(paths=given_paths, cache=False, select=("NPU5350",))).findings]


def test_a_slow_link_is_found(tmp_path: Path) -> None:
    path = tmp_path / MATRIX
    path.write_text(json.dumps(of_rank(allreduce=links())))
    (message,) = checked(path)
    assert "0-4 (HCCS) 32 MB were transferred at 6.0 GB/s" in message
    path.write_text(json.dumps(of_rank(allreduce=links((17.5, 17.6, 17.1, 9.0, 17.4)))))
    assert checked(path) == []


@pytest.mark.parametrize(
    ("relative", "kinds"),
    [
        (f"{LEVEL_1}/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/{MATRIX}", {"HCCS": 0.98, "LOCAL": 1.0}),
        (f"{SERVER}/test_rank_1/ASCEND_PROFILER_OUTPUT/{MATRIX}", {"HCCS": 0.93, "LOCAL": 0.11, "RDMA": 1.0}),
        (f"{SERVER}/cluster_analysis_output/cluster_{MATRIX}", {"HCCS": 1.0, "LOCAL": 0.99, "RDMA": 1.0}),
    ],
)
def test_healthy_links_of_real_runs(relative: str, kinds: dict[str, float]) -> None:
    path = sample(relative)
    facts = read_artifact(str(path), path.name)
    assert isinstance(facts, list)
    assert {fact.name: fact.get("ratio") for fact in facts if fact.kind == "run_route"} == kinds
    assert checked(path) == []


@pytest.mark.parametrize(
    ("relative", "rows", "facts"),
    [
        (f"{LEVEL_1}/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/l2_cache.csv", 179, 0),
        (f"{SERVER}/cluster_analysis_output/communication_group.json", 29, 0),
        ("Ascend+msprof/test/msprof_python/ut/testcase/msconfig/sample.json", 104, 0),
        ("Ascend+att/debug/accuracy_tools/ptdbg_ascend/test/resources/compare/advisor.txt", 3, 0),
    ],
)
def test_real_files_count_as_read(relative: str, rows: int, facts: int) -> None:
    path = sample(relative)
    found = read_artifact(str(path), path.name)
    assert isinstance(found, list)
    assert (found[0].get("rows"), found[0].get("note"), len(found) - 1) == (rows, "", facts)
