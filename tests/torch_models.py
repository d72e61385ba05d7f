"""Models that tests export and script; importing this imports PyTorch. A comment at the end of a line names the
operators that the line makes, so that tests know where they are."""

# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, ExportedProgram, export

LIBRARY = torch.library.Library("testvision", "DEF")
LIBRARY.define("nms(Tensor boxes, Tensor scores, float iou) -> Tensor")


@torch.library.impl("testvision::nms", "CPU", lib=LIBRARY)
def _nms(boxes: torch.Tensor, scores: torch.Tensor, iou: float) -> torch.Tensor:
    return scores.argsort(descending=True)


@torch.library.register_fake("testvision::nms", lib=LIBRARY)
def _fake_nms(boxes: torch.Tensor, scores: torch.Tensor, iou: float) -> torch.Tensor:
    return scores.new_empty([torch.library.get_ctx().new_dynamic_size()], dtype=torch.int64)


@torch.library.custom_op("testlib::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float, names: list[int]) -> torch.Tensor:
    """An operator that is none of PyTorch's."""
    return x * factor


@scaled.register_fake
def _fake_scaled(x: torch.Tensor, factor: float, names: list[int]) -> torch.Tensor:
    return torch.empty_like(x)


class Convolutions(nn.Module):
    """A small network with batch normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.pool(self.stem(x))  # conv2d batch_norm max_pool2d
        y = y.mean([2, 3])  # mean
        return self.head(y).log_softmax(1)  # linear log_softmax


class Attention(nn.Module):
    """A layer of a transformer, and a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        return y.masked_fill(mask, 0.0)  # masked_fill


class Recurrent(nn.Module):
    """An LSTM and a GRU with embedded words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.gru = nn.GRU(8, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y, (h, _) = self.lstm(self.words(x))  # embedding lstm
        z, _ = self.gru(y)  # gru
        return z, h


class Conditional(nn.Module):
    """Branches within a branch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def inner(a: torch.Tensor) -> torch.Tensor:
            return torch.cond(a.max() > 1, lambda b: b.tan(), lambda b: b.exp(), (a,))

        def other(a: torch.Tensor) -> torch.Tensor:
            return a.cos() * 2

        return torch.cond(x.sum() > 0, inner, other, (x,))


class Looping(nn.Module):
    """A loop that the graph holds."""

    def forward(self, n: torch.Tensor, x: torch.Tensor) -> Any:
        return while_loop(lambda i, a: i > 0, lambda i, a: (i - 1, a.sin()), (n, x))


class Mapped(nn.Module):
    """A function over the rows."""

    def forward(self, xs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return map_over(lambda x, z: x * z + z.neg(), xs, y)


class Scanned(nn.Module):
    """A running product."""

    def forward(self, xs: torch.Tensor) -> torch.Tensor:
        return associative_scan(torch.mul, xs, 0, combine_mode="generic")


class Dynamic(nn.Module):
    """Sizes that are not known."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        rows = x.shape[0] * 2
        z = torch.cat([x, y]).view(rows, -1)  # cat view
        picked = z[z.sum(1) > 0]  # index
        return picked + picked.nonzero().sum().item()  # nonzero item


class Stateful(nn.Module):
    """A buffer that changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.register_buffer("scale", torch.ones(4), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(x.sum(0))  # add_
        with torch.no_grad():
            y = x * self.scale  # mul
        return y + self.seen + torch.tensor([1.0, 2.0, 3.0, 4.0])  # add


class Custom(nn.Module):
    """Operators of other libraries."""

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        kept = torch.ops.testvision.nms(boxes, scores, 0.5)  # nms
        return torch.ops.testlib.scaled(boxes[kept], 2.0, [1, 2])  # scaled index


class Typed(nn.Module):
    """Element types, layouts of memory, and losses."""

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a = x.to(torch.float64).contiguous(memory_format=torch.channels_last)  # to contiguous
        b = torch.fft.rfft(x.float())  # fft_rfft
        c, d = torch.topk(x, k=2, dim=-1)  # topk
        e = F.huber_loss(x, t, delta=0.5)  # huber_loss
        return a, b, c, d, e, x.half(), x.bfloat16(), x > 0, torch.zeros(2, dtype=torch.uint8)


class Training(nn.Module):
    """A step with its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(torch.tanh(self.layer(x)), t)  # cross_entropy_loss tanh linear


def _training() -> ExportedProgram:
    from torch.export.experimental import _export_forward_backward

    return _export_forward_backward(export(Training(), (torch.randn(2, 4), torch.tensor([0, 1]))))


def _dynamic() -> ExportedProgram:
    rows = Dim("rows", min=2, max=64)
    return export(Dynamic(), (torch.randn(6, 4), torch.randn(6, 4)), dynamic_shapes=({0: rows}, {0: rows}))


IMAGES = torch.randn(2, 3, 8, 8)
ROWS = torch.randn(4, 4)
EXPORTED: dict[str, Callable[[], ExportedProgram]] = {
    "convolutions": lambda: export(Convolutions(), (IMAGES,)),
    "convolutions_eval": lambda: export(Convolutions().eval(), (IMAGES,)),
    "convolutions_strict": lambda: export(Convolutions(), (IMAGES,), strict=True),
    "convolutions_decomposed": lambda: export(Convolutions(), (IMAGES,)).run_decompositions(),
    "attention": lambda: export(Attention(), (torch.randn(2, 5, 16), torch.zeros(2, 5, 16, dtype=torch.bool))),
    "recurrent": lambda: export(Recurrent(), (torch.zeros(2, 5, dtype=torch.int64),)),
    "conditional": lambda: export(Conditional(), (ROWS,)),
    "looping": lambda: export(Looping(), (torch.tensor(3), ROWS)),
    "mapped": lambda: export(Mapped(), (ROWS, torch.randn(4))),
    "scanned": lambda: export(Scanned(), (ROWS,)),
    "dynamic": _dynamic,
    "stateful": lambda: export(Stateful(), (ROWS,)),
    "stateful_functional": lambda: export(Stateful(), (ROWS,)).run_decompositions({}),
    "custom": lambda: export(Custom(), (ROWS, torch.randn(4))),
    "typed": lambda: export(Typed(), (IMAGES, IMAGES * 2)),
    "training": _training,
}
