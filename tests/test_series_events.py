"""Scalars of TensorBoard event files, read without TensorFlow."""

from __future__ import annotations

import io
import struct
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.facts.model import Fact
from npulint.runs.read.series import read_events
from tests.fact_support import attrs_of


def part(number: int, data: bytes) -> bytes:
    size, length = len(data), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def event(step: int, tag: str, value: float, tensor: bool = False) -> bytes:
    number = struct.pack("<f", value)
    held = part(8, b"\x08\x01" + part(4, number)) if tensor else b"\x15" + number
    data = b"\x09" + bytes(8) + b"\x10" + bytes([step]) + part(5, part(1, part(1, tag.encode()) + held))
    return struct.pack("<QI", len(data), 0) + data + bytes(4)


def read(data: bytes) -> dict[str, dict[str, Any]]:
    facts: list[Fact] = read_events(io.BytesIO(data), "events.out")
    return {fact.name: attrs_of(fact) for fact in facts}


def test_scale_and_loss() -> None:
    data = b"".join(event(n, "train/loss_scale", 1024.0 / 2 ** max(0, n - 40)) for n in range(50))
    data += b"".join(event(n, "loss", float("nan") if n > 6 else 2.0, tensor=True) for n in range(10))
    told = read(data)
    assert (told["events"]["rows"], told["events"]["malformed"]) == (60, 0)
    scale, loss = told["loss_scale"], told["loss"]
    assert (scale["points"], scale["late_drops"], scale["last"]) == (50, 9, 2)
    assert (loss["bad"], loss["numbers_before"], loss["label"], loss["scale_before"]) == (3, 7, "loss", 2)


def test_other_scalars_make_no_series() -> None:
    data = b"".join(event(n, "loss_scale_normal_steps", n) + event(n, "learning_rate", 0.1) for n in range(20))
    assert set(read(data)) == {"events"}


def test_tags_of_accuracies() -> None:
    def labels(tag: str) -> str:
        told = read(b"".join(event(n, tag, 0.5) for n in range(5)))
        return str(told.get("accuracy", {}).get("label", ""))

    tags = ("HRNET/acc_top1", "val_acc", "train/acc", "top5", "accuracy_1")
    assert [labels(tag) for tag in tags] == list(tags)
    others = ("accumulated", "stop1", "acceleration", "top10x", "accuracy_baseline", "best/acc")
    assert not any(labels(tag) for tag in others)


def test_a_part_of_the_loss_that_is_switched_off_is_not_told() -> None:
    box = [event(n, "val/box_loss", 3 - n / 10) for n in range(5)]
    none = [event(n, "val/cls_loss", 0.0) for n in range(5)]
    assert read(b"".join(box + none))["loss"]["label"] == "val/box_loss", "of facts of one name the last stays"
    assert read(b"".join(none))["loss"]["maximum"] == 0, "the only one is told"


def test_long_records_are_passed_over_and_a_cut_file_is_read() -> None:
    long = struct.pack("<QI", 3_000_000, 0) + bytes(3_000_004)
    told = read(
        event(1, "loss", 1.0) + long + event(2, "loss", 2.0) + event(3, "loss", 3.0) + event(4, "loss", 4.0)[:-9]
    )
    assert (told["loss"]["points"], told["events"]["rows"], told["events"]["malformed"]) == (3, 4, 0)


def test_damage_is_counted() -> None:
    bad = struct.pack("<QI", 3, 0) + b"\xff\xff\xff" + bytes(4)
    told = read(event(1, "loss", 1.0) + bad + struct.pack("<QI", 1 << 60, 0))
    assert (told["events"]["malformed"], told["events"]["first_malformed"]) == (2, 2)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(data: bytes) -> None:
    read(data)
    read(struct.pack("<QI", len(data), 0) + data + bytes(4))
