"""What is no difference: other names of variables, and what people add who move a program to the NPU."""

from __future__ import annotations

import re

import pytest

from tests.compare_support import differences, short_differences

_PARSED = """\
import argparse

import torch
from apex import amp


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opt_level", default="O0")
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    return args


def main():
    args = parse()
    torch.multiprocessing.spawn(worker, nprocs=8, args=(8, args))


def worker(rank, ranks, args):
    if args.resume and args.opt_level == "O2":
        args.opt_level = "O1"
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    amp.initialize(model, optimizer, opt_level=args.opt_level)
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    main()
"""
_FORMULA = """\
import torch

def build(cfg, rounds, batch, part):
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.rate * rounds)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.epoch * rounds, eta_min=batch[part, 0])
    loss.backward()
    optimizer.step()
"""


def _renamed(text: str, *names: str) -> str:
    for name in names:
        text = re.sub(rf"\b{name}\b(?!=\()", f"{name}_own", text)
    return text


def test_parsed_options_are_followed_into_functions_under_other_names() -> None:
    start = "python train.py --opt_level O2\n"
    migrated = {"train.py": _renamed(_PARSED, "args"), "run.sh": start}
    assert migrated["train.py"] != _PARSED
    assert short_differences({"train.py": _PARSED, "run.sh": start}, migrated) == []
    other = {**migrated, "run.sh": start.replace("O2", "O3")}
    changed = [
        one for one in short_differences({"train.py": _PARSED, "run.sh": start}, other) if one[3:] == ("O2", "O3")
    ]
    assert changed


@pytest.mark.parametrize("names", [("cfg",), ("rounds", "batch"), ("cfg", "rounds", "batch", "part")])
def test_what_is_calculated_alike_from_other_names_is_no_difference(names: tuple[str, ...]) -> None:
    assert short_differences(_FORMULA, _renamed(_FORMULA, *names)) == []


@pytest.mark.parametrize(
    ("old", "new"), [("cfg.epoch * rounds", "cfg.epoch * rounds + 5"), ("cfg.epoch *", "cfg.warm *")]
)
def test_what_is_calculated_otherwise_is_told(old: str, new: str) -> None:
    found = differences(_FORMULA, _FORMULA.replace(old, new))
    assert [one.part for one in found if one.change == "changed"] == ["schedule"]


_ON_THE_GPU = """\
import argparse, torch
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float, default=0.1)
args = parser.parse_args()
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
loader = DataLoader(ds, batch_size=64, shuffle=True)
for epoch in range(90):
    for x, y in loader:
        x = x.cuda(); y = y.cuda()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), 'a.pth')
"""
_ON_THE_NPU = """\
import argparse, torch, time, os, logging
import torch_npu
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float, default=0.1)
parser.add_argument('--npu', type=int, default=0)
parser.add_argument('--profile_steps', type=int, default=20)
parser.add_argument('--log_interval', type=int, default=10)
args = parser.parse_args()
device = torch.device(f'npu:{args.npu}')
torch.npu.set_device(device)
logging.basicConfig(level=logging.INFO)
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
loader = DataLoader(ds, batch_size=64, shuffle=True, num_workers=8, pin_memory=True)
prof = torch_npu.profiler.profile(schedule=torch_npu.profiler.schedule(wait=1, warmup=1, active=2))
prof.start()
for epoch in range(90):
    begin = time.time()
    n = 0
    for i, (x, y) in enumerate(loader):
        t0 = time.time()
        x = x.to(device, non_blocking=True); y = y.to(device)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.npu.synchronize()
        n += x.size(0)
        if i % args.log_interval == 0:
            fps = x.size(0) / (time.time() - t0)
            print('fps %.2f' % fps, loss.item())
        prof.step()
    logging.info('epoch %d took %.1f, img/s %.1f', epoch, time.time() - begin, n / (time.time() - begin))
    if epoch % 10 == 0:
        torch.save({'model': model.state_dict(), 'opt': optimizer.state_dict()}, f'a{epoch}.pth')
prof.stop()
"""


def test_devices_clocks_logs_profiling_and_saving_are_no_difference() -> None:
    assert short_differences(_ON_THE_GPU, _ON_THE_NPU) == []
    assert short_differences(_ON_THE_GPU, _ON_THE_NPU.replace("momentum=0.9", "momentum=0.8")) == [
        ("momentum", "changed", "SGD(momentum)", "0.9", "0.8")
    ]
