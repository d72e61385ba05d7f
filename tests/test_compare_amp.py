"""PyTorch's own mixed precision against apex: how the loss is scaled, and by which opt level."""

from __future__ import annotations

import pytest

from tests.compare_support import ShortDifference, differences, short_differences

NATIVE = """
import torch

model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for x, y in torch.load('data.pt'):
    optimizer.zero_grad()
    with torch.cuda.amp.autocast():
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""
APEX = """
import torch
import torch_npu
from apex import amp

model = torch.nn.Linear(4, 2).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, {})
for x, y in torch.load('data.pt'):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.npu()), y.npu())
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
O1 = ("autocast", "changed", "amp.initialize", "torch.autocast", "amp.initialize(opt_level=O1)")
O2 = ("autocast", "changed", "amp.initialize", "torch.autocast", "amp.initialize(opt_level=O2)")


def _scaled(migrated: str) -> ShortDifference:
    return ("loss_scale", "changed", "loss_scale", "dynamic, 65536.0", migrated)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("opt_level='O1'", {O1}),
        ("opt_level='O1', loss_scale='dynamic'", {O1}),
        ("opt_level='O2'", {O2}),
        ("opt_level='O1', loss_scale=128.0", {O1, _scaled("static, 128.0")}),
        ("opt_level='O2', loss_scale=32", {O2, _scaled("static, 32")}),
    ],
)
def test_apex_is_said_once_for_the_scale_and_once_for_the_level(arguments: str, expected: set[ShortDifference]) -> None:
    assert {
        (*one[:4], one[4].replace("'", "")) for one in short_differences(NATIVE, APEX.format(arguments))
    } == expected


def test_only_a_level_that_casts_as_autocast_does_is_a_change_for_the_npu() -> None:
    for level, adapter in (("O1", True), ("O2", False)):
        found = differences(NATIVE, APEX.format(f"opt_level='{level}'"))
        assert [one.adapter for one in found if one.part == "autocast" and one.change == "changed"] == [adapter]


def test_the_same_holds_the_other_way_round() -> None:
    found = short_differences(APEX.format("opt_level='O2', loss_scale=128.0"), NATIVE)
    assert {one[0] for one in found} == {"autocast", "loss_scale"}


def test_a_program_without_mixed_precision_still_lacks_it() -> None:
    plain = NATIVE.replace("scaler.scale(loss).backward()", "loss.backward()").replace(
        "scaler.step(optimizer)", "optimizer.step()"
    )
    plain = plain.replace("    scaler.update()\n", "").replace("scaler = torch.cuda.amp.GradScaler()\n", "")
    plain = plain.replace("    with torch.cuda.amp.autocast():\n        loss", "    loss")
    assert {one[:2] for one in short_differences(NATIVE, plain)} >= {("autocast", "removed"), ("loss_scale", "removed")}


def test_another_level_of_apex_is_told_as_before() -> None:
    found = short_differences(
        APEX.format("opt_level='O1', loss_scale=128.0"), APEX.format("opt_level='O2', loss_scale=128.0")
    )
    assert [one[3:] for one in found] == [("O1", "O2")]
