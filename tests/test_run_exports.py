"""Several exports of one profile: the newest set speaks; slices of a table say what the whole table says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.commands.check.pipeline import run
from npulint.facts.model import Fact
from npulint.judge.settings import Settings
from npulint.runs.facts.exports import newest
from npulint.runs.facts.run_program import with_covered
from npulint.runs.read import read_artifact
from tests.fact_support import attrs_of, check_declared

HEADER = (
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes,"
    "Input Data Types\n"
)
OLD, NEW = "20240601120000", "20240602093000"
EXACT = ("run_kernels", "run_op", "run_family")
NEAR = frozenset(("steps", "node", "dynamic_repeated", "table"))


def row(number: int, type_: str, core: str, duration: float, block: int, dtype: str) -> str:
    return f'1,{type_}_{number},{type_},{core},{number},{duration},0.5,{block},"64,{number % 3}",{dtype}\n'


def facts_of(text: str, path: str) -> list[Fact]:
    facts = read_artifact("", path, text.encode())
    assert isinstance(facts, list)
    return facts


def figures(facts: list[Fact]) -> dict[object, dict[str, object]]:
    return {
        (one.kind, one.name, *(one.get(key) for key in ("core", "dtype", "single"))): {
            key: pytest.approx(value, abs=0.11) if isinstance(value, float) else value
            for key, value in attrs_of(one).items()
            if key not in NEAR
        }
        for one in facts
        if one.kind in EXACT
    }


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["Add", "MatMulV2", "ReduceSum", "TransData", "hcom_allReduce_"]),
        st.sampled_from(["AI_VECTOR_CORE", "AI_CORE", "AI_CPU"]),
        st.integers(1, 900),
        st.sampled_from([1, 20, 24, 40]),
        st.sampled_from(["FLOAT", "FLOAT16", "INT64"]),
    ),
    min_size=3,
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.data())
def test_slices_say_what_the_whole_table_says(
    given_rows: list[tuple[str, str, int, int, str]], data: st.DataObject
) -> None:
    # every duration is another one, so that one kernel alone is the longest of its sort
    lines = [
        row(place, type_, core, duration + place / 1000, block, dtype)
        for place, (type_, core, duration, block, dtype) in enumerate(given_rows)
    ]
    cuts = sorted({0, len(lines), *data.draw(st.lists(st.integers(1, len(lines) - 1), max_size=3))})
    parts = [
        facts_of(HEADER + "".join(lines[start:end]), f"p/op_summary_slice_{place}_{OLD}.csv")
        for place, (start, end) in enumerate(pairwise(cuts))
    ]
    merged = newest([fact for part in parts for fact in part])
    whole = facts_of(HEADER + "".join(lines), f"p/op_summary_{OLD}.csv")
    assert figures(merged) == figures(whole)
    assert sum(one.kind == "run_kernels" for one in merged) == 1
    assert sum(one.kind == "run_source" for one in merged) == len(parts)
    check_declared(merged)


def test_what_is_told_of_slices_stands_where_the_longest_kernel_is() -> None:
    texts = [HEADER + row(1, "Add", "AI_CORE", 10, 20, "FLOAT"), HEADER + row(2, "Add", "AI_CORE", 70, 20, "FLOAT")]
    parts = [facts_of(text, f"p/op_summary_slice_{place}_{OLD}.csv") for place, text in enumerate(texts)]
    (add,) = [one for one in newest([*parts[0], *parts[1]]) if one.kind == "run_op"]
    assert (add.path, add.span.line, add.get("node"), add.get("count")) == (
        f"p/op_summary_slice_1_{OLD}.csv",
        2,
        "Add_2",
        2,
    )


def test_the_picture_of_slices_is_that_of_the_whole_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place, type_ in enumerate(("Add", "Mul", "Sub")):
        text = HEADER + row(1, type_, "AI_CORE", 10 * place + 10, 20, "FLOAT")
        (tmp_path / f"op_summary_slice_{place}_{OLD}.csv").write_text(text, encoding="utf-8")
    (told,) = run(Settings(paths=(".",), cache=False)).runs
    (times,) = told.times
    assert [(part.name, part.share) for part in times.parts] == [("Sub", 50.0), ("Mul", 33.3), ("Add", 16.7)]


def test_families_of_slices_are_no_totals_beside_the_table() -> None:
    parts = [
        facts_of(
            HEADER + row(1, "TransData", "AI_CORE", 10 * place + 10, 20, "FLOAT"), f"op_summary_slice_{place}_{OLD}.csv"
        )
        for place in range(2)
    ]
    (family,) = [one for one in with_covered(newest([*parts[0], *parts[1]])) if one.kind == "run_family"]
    assert (family.name, family.get("types"), family.get("covered")) == ("layout", "TransData 2 ×", "no")
    assert (family.path, family.span.line) == (f"op_summary_slice_1_{OLD}.csv", 2)


def test_small_and_repeated_kernels_of_slices_are_taken_together() -> None:
    text = HEADER + "".join(row(0, "Mul", "AI_VECTOR_CORE", 4, 20, "FLOAT") for _ in range(30))
    parts = [facts_of(text, f"p/op_summary_slice_{place}_{OLD}.csv") for place in range(2)]
    merged = newest([*parts[0], *parts[1]])
    (repeated,) = [one for one in merged if one.kind == "run_repeated"]
    (small,) = [one for one in merged if one.kind == "run_small"]
    assert (repeated.get("count"), repeated.get("mean_us"), repeated.get("total_us")) == (60, 4.0, 240.0)
    assert repeated.get("cost_share") == round(100 + repeated.get("mean_wait_us") / 4.0 * 100, 1)
    assert (small.get("count"), small.get("median_us"), small.get("share")) == (60, 4.0, 100.0)


def names_of(facts: list[Fact]) -> list[tuple[str, str]]:
    return sorted({(one.path.rpartition("/")[2], str(one.get("note"))) for one in facts if one.kind == "run_source"})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"op_summary_{OLD}.csv", f"op_summary_{NEW}.csv"),
        (f"op_summary_0_1_1_{OLD}.csv", f"op_summary_0_1_1_{NEW}.csv"),  # device, model, iteration
        (f"op_summary_slice_0_{OLD}.csv", f"op_summary_{NEW}.csv"),
        (f"op_summary_{OLD}.csv", f"op_summary_slice_3_{NEW}.csv"),
    ],
)
def test_of_several_exports_the_newest_is_judged(old: str, new: str) -> None:
    text = HEADER + row(1, "Add", "AI_CORE", 10, 20, "FLOAT")
    facts = newest([*facts_of(text, f"p/{old}"), *facts_of(text, f"p/{new}")])
    assert names_of(facts) == sorted([(old, "older"), (new, "")])
    assert {one.path for one in facts if one.kind != "run_source"} == {f"p/{new}"}


@pytest.mark.parametrize(
    "other",
    [
        f"q/op_summary_{NEW}.csv",  # another folder
        f"p/op_summary_1_1_1_{NEW}.csv",  # another device
        "p/op_summary_0_2.csv",  # an iteration, without a stamp
    ],
)
def test_exports_of_other_runs_stay(other: str) -> None:
    text = HEADER + row(1, "Add", "AI_CORE", 10, 20, "FLOAT")
    first = f"p/op_summary_0_1_1_{OLD}.csv" if "_1_1_1_" in other else f"p/op_summary_{OLD}.csv"
    facts = [*facts_of(text, first), *facts_of(text, other)]
    assert newest(facts) == facts


def test_a_folder_with_two_exports_tells_each_thing_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "PROF_000001_20240601120000000_ABCDEFGH/mindstudio_profiler_output"
    folder.mkdir(parents=True)
    text = HEADER + row(1, "Add", "AI_CORE", 10, 20, "FLOAT") + "1,broken\n"
    (folder / f"op_summary_{OLD}.csv").write_text(text, encoding="utf-8")
    (folder / f"op_summary_{NEW}.csv").write_text(text, encoding="utf-8")
    (one,) = run(Settings(paths=(".",), cache=False, select=("NPU5401",))).findings
    assert one.path.endswith(f"op_summary_{NEW}.csv")
    assert one.span.line == 3
    assert "1 (read: 1)" in one.message
