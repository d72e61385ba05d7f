"""Programs with one fault each that an NPU would stop at, in the styles of real projects; ``# here`` marks the line."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A program, the checks that may report its line, and options of ``npulint try``."""

    program: str
    codes: frozenset[str]
    options: tuple[str, ...] = ()


_PLAIN = """
import torch
{imports}
from torch import nn

device = torch.device({device})
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_function = nn.MSELoss()
x, y = torch.randn(16, 4, device=device), torch.randn(16, 2, device=device)
{before}
for step in range(10):
    optimizer.zero_grad()
    loss = loss_function(model(x), y)
    loss.backward()
    optimizer.step()
    {after}
"""


def _plain(before: str = "", after: str = "pass", imports: str = "import torch_npu", device: str = '"npu:0"') -> str:
    """A loop of training with lines before it, and after each step."""
    return _PLAIN.format(before=before, after=after.replace("\n", "\n    "), imports=imports, device=device)


_TRAINER = """
import argparse
import torch
import torch_npu
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((8,), index / 64.0), index % 3


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(8, 16)
        self.head = torch.nn.Linear(16, 3)
        {attribute}

    def forward(self, x):
        x = F.relu(self.hidden(x))
        {forward}
        return self.head(x)


def train(args):
    model = Classifier().to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    {before}
    for step, (x, target) in enumerate(DataLoader(Points(), batch_size=8{loader})):
        x, target = x.to(args.device), target.to(args.device)
        loss = F.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        {backward}
        optimizer.step()
        scheduler.step()
        {after}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default={device})
    train(parser.parse_args())
"""


def _trainer(**parts: str) -> str:
    """A program with a class of data, one of a model and a function that trains."""
    given = {"attribute": "pass", "forward": "pass", "before": "pass", "backward": "pass", "after": "pass"}
    indents = {"attribute": 8, "forward": 8, "before": 4, "backward": 8, "after": 8}
    for name, text in parts.items():
        given[name] = text.replace("\n", "\n" + " " * indents.get(name, 0))
    return _TRAINER.format(**{"loader": "", "device": '"npu"', **given})


def _codes(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CUDA = "NPU41P2 NPU2101 NPU2102 NPU2401"
FAULTS = {
    "reached in the third step only": Fault(
        _plain(after="if step == 2:\n    loss = loss.cuda()  # here"), _codes(_CUDA)
    ),
    "gradients of a sparse product": Fault(
        _trainer(
            before="graph = torch.eye(8).to_sparse().to(args.device)",
            after="torch.sparse.mm(graph, x.t())  # here",
        ),
        _codes("NPU4151"),
    ),
    "norm of a sparse gradient": Fault(
        _plain(
            before="table = nn.Embedding(8, 4, sparse=True).to(device)\n",
            after="table(torch.tensor([1, 2], device=device)).sum().backward()\n"
            "nn.utils.clip_grad_norm_(table.parameters(), 1.0)  # here",
        ),
        _codes("NPU4151"),
    ),
    "sparse optimizer": Fault(
        _plain(
            before="table = nn.Embedding(8, 4, sparse=True).to(device)\n"
            "rows = torch.optim.SparseAdam(list(table.parameters()))",
            after="table(torch.tensor([1, 2], device=device)).sum().backward()\nrows.step()  # here",
        ),
        _codes("NPU4151"),
    ),
    "CUDA by default": Fault(
        _trainer(device='"cuda:0"').replace("Classifier().to(args.device)", "Classifier().to(args.device)  # here"),
        _codes(_CUDA),
    ),
    "pinned for CUDA": Fault(
        _trainer(after='torch.ones(4).pin_memory("cuda")  # here'),
        _codes(_CUDA),
    ),
    "checkpoint for CUDA": Fault(
        _plain(
            before='torch.save(model.state_dict(), "model.pt")',
            after='torch.load("model.pt", map_location="cuda")  # here',
        ),
        _codes(_CUDA),
    ),
    "tensors that were saved on CUDA": Fault(
        _plain(after='torch.serialization.default_restore_location(torch.UntypedStorage(4), "cuda:0")  # here'),
        _codes(_CUDA),
    ),
    "replicas on CUDA": Fault(
        _trainer(before="model = torch.nn.DataParallel(model, device_ids=[0]).cuda()  # here"), _codes(_CUDA)
    ),
    "stream of CUDA": Fault(_plain(before="stream = torch.cuda.Stream()  # here"), _codes(_CUDA)),
    "generator of CUDA": Fault(_plain(before='noise = torch.Generator(device="cuda")  # here'), _codes(_CUDA)),
    "seed of one GPU": Fault(_plain(before="torch.cuda.set_device(0)  # here"), _codes(_CUDA)),
    "type of CUDA": Fault(_plain(after="loss.detach().type(torch.cuda.FloatTensor)  # here"), _codes(_CUDA)),
    "made by a type of CUDA": Fault(_trainer(after="torch.cuda.FloatTensor(4).fill_(0)  # here"), _codes(_CUDA)),
    "properties of CUDA": Fault(_plain(after="torch.cuda.get_device_properties(0)  # here"), _codes(_CUDA)),
    "optimizer of apex for CUDA": Fault(
        _plain(
            imports="import torch_npu\nfrom apex.optimizers import FusedAdam",
            before="optimizer = FusedAdam(model.parameters())  # here",
        ),
        _codes(_CUDA),
    ),
    "class weights on the host": Fault(
        _trainer(
            attribute="self.scale = torch.ones(16) * 2",
            forward="x = x * self.scale  # here",
        ),
        _codes("NPU41P0"),
    ),
    "mask made on the host": Fault(
        _plain(after="torch.where(torch.ones(16, 4).bool(), x, torch.zeros_like(x))  # here"), _codes("NPU41P0")
    ),
    "metric in numpy": Fault(_trainer(after="import numpy\nnumpy.stack([target, target])  # here"), _codes("NPU41P1")),
    "list to numpy": Fault(
        _plain(imports="import torch_npu\nimport numpy as np", after="np.asarray(y)  # here"), _codes("NPU41P1")
    ),
    "double precision of a convolution": Fault(
        _plain(after="nn.functional.conv1d(x.double()[:, None], torch.ones(1, 1, 2, device=device).double())  # here"),
        _codes("NPU41P5 NPU2341"),
        ("--target", "soc=910A"),
    ),
    "second device": Fault(_plain(before="y = y.to('cuda:1')  # here"), _codes(_CUDA)),
}
