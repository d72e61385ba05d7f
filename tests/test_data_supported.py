"""The recorded list of operators that the adapter takes to the NPU."""

from __future__ import annotations

import subprocess
import sys

import pytest

from npulint.data.supported import RecordedOperator, recorded, snapshot


def test_the_snapshot_is_the_published_list() -> None:
    known = snapshot()
    assert (len(known.ops), len(known.gray), known.source, known.release) == (692, 162, "", "2022-03")
    assert known.gray < known.ops
    assert {"MatMul", "VariableV2", "While", "TopKV2"} <= known.ops - known.gray
    assert {"Where", "Unique", "HashTableV2", "TensorArrayV3"} <= known.gray
    assert not known.ops & {"PyFunc", "IteratorGetNext", "ScalarSummary", "Einsum", "Roll"}


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        ("MatMul", RecordedOperator()),
        ("Roll", RecordedOperator(newer="plugin")),
        ("Einsum", RecordedOperator(newer="proto")),
        ("TopKV2", RecordedOperator()),
        ("Svd", RecordedOperator(aicpu=True)),
        ("TensorArrayReadV3", RecordedOperator(aicpu=True)),
        ("PyFunc", RecordedOperator()),
        ("BatchDatasetV2", RecordedOperator(rule=True)),
        ("HcomGatherAllToAllV", RecordedOperator(adapter=True)),
        ("SomebodysOperator", RecordedOperator(known=False)),
    ],
)
def test_what_is_recorded_of_an_operator(op: str, wanted: RecordedOperator) -> None:
    assert recorded(op) == wanted


def test_newer_operators_are_not_listed() -> None:
    assert [op for op in snapshot().ops if recorded(op).newer or not recorded(op).known] == []


def test_the_table_is_read_when_it_is_needed_only() -> None:
    code = "import npulint.graphs.facts.target, npulint.data.supported as s; print(s._table.cache_info().misses)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
