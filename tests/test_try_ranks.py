"""``npulint try`` with several ranks: real processes, on programs with one fault each."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.fakes.merging import desync, merged
from npulint.fakes.orders import RECORDING, Called, Ended
from npulint.fakes.ranks import Part
from npulint.graphs.read.torch.recorded import written
from npulint.hosts.cli.main import main
from tests.daily import parameters
from tests.live_support import installed, line_of

_DDP = """
import os
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

npu = os.environ.get("WHERE") != "cpu"
rank = int(os.environ["RANK"])
local = int(os.environ["LOCAL_RANK"])
if npu:
    torch.npu.set_device(local)
dist.init_process_group("hccl" if npu else "gloo")
device = torch.device("npu", local) if npu else torch.device("cpu")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
net = nn.parallel.DistributedDataParallel(net, device_ids=[local] if npu else None)
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 2))
opt = torch.optim.AdamW(net.parameters(), 0.1)
for step, (x, y) in enumerate(DataLoader(data, 4, sampler=DistributedSampler(data))):
    loss = nn.functional.mse_loss(net(x.to(device)), y.to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    weights = torch.cat([one.detach().cpu().flatten() for one in net.parameters()])
    figures = (total.item().hex(), weights.double().sum().item().hex())
    print(f"RESULT {rank} {step} {figures[0]} {figures[1]}\\n", end="", flush=True)
    if step == 2 and not npu:
        break
"""
_CHOSEN = "    torch.npu.set_device(local)\n"
_FAULTS = {  # what is replaced, by what, and the checks that may report the line with the mark
    "a collective on one rank": (
        "    dist.all_reduce(total)\n",
        "    if rank == 0:\n        dist.all_reduce(total)  # here\n",
        {"NPU41Q0", "NPU2176"},
    ),
    "no device chosen": (
        'torch.device("npu", local) if npu',
        'torch.device("npu") if npu',
        {"NPU41Q1"},
    ),
    "a tensor of the host": ("dist.all_reduce(total)", "dist.all_reduce(total.cpu())  # here", {"NPU41Q2"}),
    "NCCL": ('"hccl"', 'os.environ.get("BACKEND", "nccl")', {"NPU41P3"}),
    "one rank only": (
        "    total = loss",
        "    if rank == 1:\n        loss.numpy()  # here\n    total = loss",
        {"NPU41P1"},
    ),
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_LANG", "en")


def tried(text: str, capfd: pytest.CaptureFixture[str], *words: str, script: bool = True) -> tuple[int, Any, str]:
    """The exit code, the report as JSON and standard error of a program."""
    installed("torch")
    Path("train.py").write_text(text)
    code = main(["try", "--format", "json", "--isolated", *words, *(["train.py"] if script else [])])
    told = capfd.readouterr()
    return code, json.loads(told.out) if told.out else None, told.err


def errors(found: Any) -> list[dict[str, Any]]:
    return [one for one in found["findings"] if one["severity"] == "error"]


@pytest.mark.nightly
@pytest.mark.slow
def test_ranks_compute_what_gloo_on_the_cpu_computes(capfd: pytest.CaptureFixture[str]) -> None:
    code, found, said = tried(_DDP, capfd, "--nproc", "2")
    assert (code, errors(found)) == (0, []), said
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29641"]
    where = {**os.environ, "WHERE": "cpu", "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    plain = subprocess.run([*launch, "train.py"], capture_output=True, text=True, env=where, check=True)
    assert _results(said) == _results(plain.stdout) and len(_results(said)) == 6


def _results(text: str) -> list[str]:
    """The results that the ranks print; two may write into one line."""
    return sorted(re.findall(r"RESULT \d \d \S+ -?0x[\da-f.]+p[+-]\d+", text))


@pytest.mark.slow
@pytest.mark.parametrize("name", parameters(_FAULTS, str, per_group=1))
def test_what_stops_on_several_npus_is_an_error(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    before, after, codes = _FAULTS[name]
    text = _DDP.replace(before, after, 1)
    if name == "no device chosen":
        text = text.replace(_CHOSEN, "    pass\n")
    code, found, said = tried(text, capfd, "--nproc", "2")
    (one,) = errors(found)
    assert code == 1 and one["code"] in codes, said
    if "# here" in after:
        assert one["line"] == line_of(Path("train.py"), "# here")
    assert ("Only on rank 1." in one["message"]) == (name == "one rank only")


@pytest.mark.nightly
@pytest.mark.slow
def test_launchers_and_processes_of_the_program_are_recorded(capfd: pytest.CaptureFixture[str]) -> None:
    words = ("-m", "torch.distributed.run", "--", "--nproc_per_node", "2", "train.py")
    code, found, said = tried(_DDP, capfd, *words, script=False)
    assert (code, errors(found)) == (0, []) and len(_results(said)) == 6, said
    assert "Ended after 3 steps." in said
    work = "import torch\n\ndef work(rank):\n    torch.npu.set_device(rank)\n    x = torch.ones(2).to('npu')\n"
    work += "    assert x.device.index == rank\n    (x + x).numpy()  # here\n"
    code, found, said = tried(
        work + "\nif __name__ == '__main__':\n    torch.multiprocessing.spawn(work, nprocs=2)\n", capfd
    )
    assert code == 1 and [one["code"] for one in errors(found)] == ["NPU41P1"], said
    assert errors(found)[0]["line"] == line_of(Path("train.py"), "# here")


@pytest.mark.slow
def test_workers_load_data_but_may_not_use_the_npu(capfd: pytest.CaptureFixture[str]) -> None:
    text = """
import torch
from torch import nn

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        row = torch.randn(4)
        return row
net = nn.Linear(4, 2).npu()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.utils.data.DataLoader(Rows(), 4, num_workers=2, pin_memory=True):
    net(x.npu()).sum().backward()
    opt.step()
"""
    code, found, said = tried(text, capfd)
    assert (code, errors(found)) == (0, []) and "Ended after 3 steps." in said, said
    code, found, _ = tried(text.replace("torch.randn(4)", "torch.randn(4).npu()  # here"), capfd)
    assert code == 1 and "NPU41Q3" in {one["code"] for one in errors(found)}


def _rank(rank: int, how: str, *calls: str, line: int = 9) -> Part:
    """A rank that called collectives, each on a line of its own: ``all_reduce@4``."""
    called = []
    for call in calls:
        name, _, at = call.partition("@")
        called.append(Called("0", (0, 1), rank, name, 1, "float32", False, (NodeFrame("/w/train.py", int(at)),)))
    return Part("", Ended(how, rank=rank, world=2, standing=(NodeFrame("/w/train.py", line),)), called)


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        ((_rank(0, "steps", "allreduce@4"), _rank(1, "others", "allreduce@4")), 0),
        ((_rank(0, "stuck", "allreduce@4", "barrier@5"), _rank(1, "stuck", "allreduce@4")), 5),
        ((_rank(0, "time", "allreduce@4", "barrier@5"), _rank(1, "end", "allreduce@4")), 5),
        ((_rank(0, "others", "allreduce@4"), _rank(1, "error")), 0),  # the error is the cause
        ((_rank(0, "stuck", "allreduce@4"), _rank(1, "steps")), 0),  # it was ended after its steps
        ((_rank(0, "error", "allreduce@4", "barrier@6"), _rank(1, "others", "barrier@6")), 4),
    ],
)
def test_the_first_collective_that_ranks_do_not_share(parts: Sequence[Part], line: int) -> None:
    found = desync(parts)
    assert (found.frames[-1].line if found is not None else 0) == line


def test_an_operator_of_several_ranks_is_one(tmp_path: Path) -> None:
    def graph(*ops: tuple[str, int]) -> Graph:
        nodes = [Node(op, op, count=count, frames=(NodeFrame("/w/train.py", 3),)) for op, count in ops]
        return Graph("live_torch", [Body("", nodes)], "2.13.0")

    parts = []
    for rank, ops in enumerate(((("aten.add.Tensor", 3),), (("aten.add.Tensor", 5), ("aten.mul.Tensor", 1)))):
        (tmp_path / str(rank)).mkdir()
        (tmp_path / str(rank) / RECORDING).write_bytes(written(graph(*ops)))
        parts.append(Part(str(tmp_path / str(rank)), Ended("steps", 3, rank=rank, world=2)))
    found = merged(parts)
    nodes = found.graph.bodies[0].nodes
    assert [(node.op, node.count) for node in nodes] == [("aten.add.Tensor", 5), ("aten.mul.Tensor", 1)]
    assert found.ended.how == "steps" and [numbers for numbers, _ in found.differing] == [(0,), (1,)]
