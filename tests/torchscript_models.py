"""Models that tests script and trace; importing this imports PyTorch."""

# mypy: ignore-errors

from collections.abc import Callable
from typing import Any, List, Tuple  # noqa: UP035  TorchScript asks for these

import torch
import torch.nn.functional as F
from torch import nn

from tests import torch_models  # noqa: F401  it registers operators


def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x.clamp_min(0) * factor


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm(self.conv(x)))


class Flow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()
        self.other = Block()
        self.head = nn.Linear(4, 2)
        self.limit = 3

    def forward(
        self, x: torch.Tensor, n: int, extra: torch.Tensor | None = None
    ) -> Tuple[torch.Tensor, List[torch.Tensor]]:  # noqa: UP006
        y = self.block(x) + self.other(x)
        kept: List[torch.Tensor] = []  # noqa: UP006
        for i in range(n):
            if y.sum() > 0 and i > 1:
                y = y * 2 + i
            elif bool((y < 0).all()):
                y = torch.sin(y)
            else:
                continue
            kept.append(y)
        while bool((y.abs() > self.limit).any()):
            y = y / 2.0
            if y.dim() == 1:
                break
        if extra is not None:
            y = y + extra
        z = self.head(y.mean([2, 3]))
        z[:, 0] = 1.0
        table = {"first": z}
        message = f"shapes = {z.shape}, (not closed"
        assert n > 0, 'needs "n" = 1: or more ('
        print(message)
        values, order = torch.topk(z, 1)
        return F.huber_loss(z, torch.zeros_like(z)) + table["first"] + values * order, kept

    @torch.jit.export
    def again(self, x: torch.Tensor) -> torch.Tensor:
        return scaled(x, 2.0).to(torch.float64)[..., None] @ x.double()


class Numbers(nn.Module):
    def forward(self, x: torch.Tensor, y: str) -> Tuple[torch.Tensor, float, bool, str, torch.Tensor]:  # noqa: UP006
        z = x + float("inf") + float("nan") - 3.0
        a = int(x.sum())
        b = float(x.max())
        c = x.sum().item()
        w = torch.zeros(2, dtype=torch.float64, device="cpu", layout=torch.strided)
        u = (z if a > 3 else z * 2) + -z
        v = "üé (" + y
        e = torch.complex(x, x) * (1 + 2j)
        parts = [x, e.abs()]
        first, second = parts
        first[1:2] = 5
        return u + second, a + b, not (a > 3) and isinstance(c, int), v, w.pow(2)


class Custom(nn.Module):
    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        kept = torch.ops.testvision.nms(boxes, scores, 0.5)
        return torch.ops.testlib.scaled(boxes[kept], 2.0, [1, 2])


class Deep(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(300):
            x = x.sin() + 1
        return x[int(x.shape[0]) // 2 :, torch.arange(3)]


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.LSTM(4, 4), nn.LSTM(4, 4)])
        self.tail = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Dropout(0.1)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            x, _ = part(x)
        for index, layer in enumerate(self.tail):
            if index < 2:
                x = layer(x)
        return x


@torch.jit.script
def helper(x: torch.Tensor, count: int) -> torch.Tensor:
    for _ in range(count):
        x = scaled(x, 0.5)
    return x


class Calls(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = helper(x, 3)
        future = torch.jit.fork(helper, y, 1)
        return torch.jit.wait(future).cumsum(0)


IMAGES = torch.randn(1, 3, 8, 8)
ROWS = torch.randn(4, 4)


def _trace(model: nn.Module, *inputs: Any) -> Any:
    return torch.jit.trace(model, inputs, check_trace=False)


SCRIPTED: dict[str, Callable[[], Any]] = {
    "block": lambda: torch.jit.script(Block()),
    "flow": lambda: torch.jit.script(Flow()),
    "numbers": lambda: torch.jit.script(Numbers()),
    "custom": lambda: torch.jit.script(Custom()),
    "recurrent": lambda: torch.jit.script(Recurrent()),
    "calls": lambda: torch.jit.script(Calls()),
    "traced": lambda: _trace(Block(), IMAGES),
    "traced_deep": lambda: _trace(Deep(), ROWS),
    "traced_custom": lambda: _trace(Custom(), ROWS, torch.randn(4)),
    "frozen": lambda: torch.jit.freeze(torch.jit.script(Flow().eval()), preserved_attrs=["again"]),
    "function": lambda: helper,
}
