"""From operators of the device to the interfaces that build them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.data.op_apis import api_words, apis_of, plain
from npulint.data.ops import near_op

SOURCES = Path(__file__).parent.parent / "data-src"
NEWER = {"AdamW", "Gelu"}  # of TensorFlow 2 alone
ROWS = list(csv.DictReader((SOURCES / "op_apis.csv").read_text(encoding="utf-8").splitlines()))


def test_every_interface_of_tensorflow_has_a_public_name() -> None:
    with (SOURCES / "tf115_api.csv").open(encoding="utf-8", newline="") as stream:
        public = [f".{plain(row['api'])}" for row in csv.DictReader(stream)]
    ends = {name for row in ROWS for name in row["tensorflow"].split() if plain(name) not in map(plain, NEWER)}
    assert [end for end in sorted(ends) if not any(name.endswith(f".{plain(end)}") for name in public)] == []


def test_every_type_is_one_of_the_device_or_of_tensorflow() -> None:
    types = [op for row in ROWS for op in row["types"].split()]
    assert len(types) == len(set(types))
    others = {op: near_op(op) for op in types}
    renamed = {op for op, meant in others.items() if meant is not None}
    assert renamed <= {
        *("All", "Any", "LogSoftmax", "Max", "Mean", "Min", "Prod", "ResizeBilinear", "ResizeNearestNeighbor"),
        *("Softmax", "Sum"),
    }


@pytest.mark.parametrize(
    ("op", "tensorflow", "torch"),
    [
        ("ReduceSumD", "reduce_sum", "sum"),
        ("Sum", "reduce_sum", "sum"),
        ("ResizeBilinearV2Grad", "resize_bilinear", "interpolate"),
        ("ResizeBilinearV2Grad", "image.resize", "Upsample"),
        ("TopKV2", "top_k", "topk"),
        ("Conv2DBackpropFilterD", "conv2d", "conv2d"),
        ("MaxPoolGradWithArgmax", "max_pool", "max_pool2d"),
        ("PyFunc", "py_func", ""),
        ("PyFunc", "numpy_function", ""),
        ("UniqueWithCounts", "unique_with_counts", "unique"),
        ("aten::huber_loss", "", "huber_loss"),
        ("aten::index_fill_.int_Scalar", "", "index_fill"),
        ("aten::linalg_lstsq.out", "", "linalg.lstsq"),
        ("DecodeJpeg", "image.decode_jpeg", ""),  # of the table of operators that stay on the host
    ],
)
def test_types_lead_to_interfaces(op: str, tensorflow: str, torch: str) -> None:
    of_tensorflow, of_torch = apis_of(op)
    assert tensorflow in of_tensorflow or not tensorflow
    assert torch in of_torch or not torch
    assert bool(tensorflow) == bool(of_tensorflow)
    assert bool(torch) == bool(of_torch)


def test_what_the_device_adds_has_no_interface() -> None:
    assert apis_of("TransData") == apis_of("AtomicAddrClean") == apis_of("") == ((), ())


@given(st.text(max_size=400))
def test_any_text_has_an_answer(op: str) -> None:
    for names in apis_of(op):
        assert all(names)


def test_the_words_of_interfaces() -> None:
    assert {"reducesum", "topk", "pyfunc", "interpolate"} <= api_words()
    assert "precisionmode" not in api_words()
