"""Models exported by the installed torch: each finding lies at the line of the source that it is about."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from tests.live_support import framework, loaded, quiet

pytestmark = pytest.mark.slow

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn


"""

# name: (the module `Model` with the marks of what is expected in its lines, its inputs)
MODELS: dict[str, tuple[str, str]] = {
    "regression": (
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 2)

            def forward(self, x, y):
                return F.huber_loss(self.layer(x), y, delta=0.5)  # NPU4351
        """,
        "torch.randn(3, 4), torch.randn(3, 2)",
    ),
    "convolutions": (
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
                self.head = nn.Linear(8, 5)

            def forward(self, x, y):
                x = F.adaptive_avg_pool2d(self.net(x), 1).flatten(1)
                return F.cross_entropy(self.head(x), y)
        """,
        "torch.randn(2, 3, 16, 16), torch.tensor([1, 2])",
    ),
    "transformer": (
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)

            def forward(self, x):
                q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
                x = x + F.dropout(self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True)), 0.1)
                return F.mse_loss(x, torch.zeros_like(x))
        """,
        "torch.randn(2, 5, 8),",
    ),
    "recurrent": (
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.gru = nn.LSTM(4, 8, batch_first=True), nn.GRU(8, 4, batch_first=True)

            def forward(self, x, y):
                h, _ = self.lstm(x)
                h, _ = self.gru(h)
                return F.l1_loss(h, y)
        """,
        "torch.randn(2, 5, 4), torch.randn(2, 5, 4)",
    ),
    "whitening": (
        """
        class Model(nn.Module):
            def forward(self, x, y):
                covariance = x.mT @ x + torch.eye(4)
                values, vectors = torch.linalg.eigh(covariance)  # NPU4352
                whitened = x @ torch.linalg.inv(covariance)  # NPU4353
                other = torch.linalg.solve(covariance, x.mT)  # NPU4353
                u, s, v = torch.linalg.svd(covariance)
                return F.mse_loss(whitened, y) + values.sum() + other.sum() + s.sum()
        """,
        "torch.randn(6, 4), torch.randn(6, 4)",
    ),
    "recommendation": (
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.bag = nn.EmbeddingBag(20, 8, mode="sum")
                self.table = nn.Embedding(20, 8)

            def forward(self, ids, offsets, y):
                bags = self.bag(ids, offsets)  # NPU4354
                return F.mse_loss(bags + self.table(ids[:2]), y)
        """,
        "torch.randint(0, 20, (6,)), torch.tensor([0, 3]), torch.randn(2, 8)",
    ),
    "detection": (
        """
        class Model(nn.Module):
            def forward(self, scores, boxes, y):
                keep = scores > 0
                chosen = boxes[keep]  # NPU4360
                best = scores.masked_select(keep).sum()  # NPU4360
                which = torch.nonzero(keep)  # NPU4360
                return F.mse_loss(scores, y) + chosen.sum() + best + which.sum()
        """,
        "torch.randn(6), torch.randn(6, 4), torch.randn(6)",
    ),
    "counting": (
        """
        class Model(nn.Module):
            def forward(self, x, y):
                size = y.max().item()  # NPU4359
                torch._check(size < 50)
                torch._check(size > 0)
                table = x.new_zeros(size, 4)  # NPU4361
                same = torch.where(y > 2, x, -x)
                return F.mse_loss(same, x) + table.sum()
        """,
        "torch.randn(6), torch.tensor([3, 2, 5, 4, 3, 1])",
    ),
    "grouping": (
        """
        class Model(nn.Module):
            def forward(self, x, index, y):
                total = torch.zeros(3, 4).scatter(0, index, x, reduce="add")  # NPU4351
                most = torch.mode(x, 1).values  # NPU4352
                plain = torch.zeros(3, 4).scatter_add(0, index, x)
                return F.mse_loss(total + plain, y) + most.sum()
        """,
        "torch.randn(3, 4), torch.randint(0, 3, (3, 4)), torch.randn(3, 4)",
    ),
    "precise": (
        """
        class Model(nn.Module):
            def forward(self, x, y):
                difference = (x.double() - y).pow(2)  # NPU4362
                return F.mse_loss(x, y) + difference.mean().float()
        """,
        "torch.randn(6), torch.randn(6)",
    ),
    "spectrum": (
        """
        class Model(nn.Module):
            def forward(self, x, y):
                waves = torch.fft.rfft(x)  # NPU4363
                return F.mse_loss(waves.abs(), y)
        """,
        "torch.randn(8), torch.randn(5)",
    ),
    "special": (
        """
        class Model(nn.Module):
            def forward(self, rate, count):
                likelihood = count * rate.log() - rate - torch.lgamma(count + 1)  # NPU4352
                smooth = torch.logcumsumexp(rate, 0)  # NPU4353
                both = torch.hypot(rate, count) + torch.fmax(rate, count)  # NPU4351 NPU4351
                return F.mse_loss(likelihood + smooth, both)
        """,
        "torch.rand(6) + 1, torch.rand(6) + 1",
    ),
    "branches": (
        """
        class Model(nn.Module):
            def forward(self, x, y):
                def larger(a):
                    return torch.special.erfcx(a)

                def smaller(a):
                    return a.sin()

                return F.mse_loss(torch.cond(x.sum() > 0, larger, smaller, (x,)), y)  # NPU4352
        """,
        "torch.randn(6), torch.randn(6)",
    ),
    "inference": (
        """
        class Model(nn.Module):
            def forward(self, x):
                return torch.linalg.det(x @ x.mT + torch.eye(3)) + torch.special.i0e(x).sum()  # NPU4355 NPU4355
        """,
        "torch.randn(3, 3),",
    ),
}


@pytest.fixture(scope="module")
def torch() -> Any:
    module = framework("torch")
    if not hasattr(module, "export") or module.__version__ < "2.13":
        pytest.skip("written for torch 2.13 and newer")
    return module


def exported(torch: Any, folder: Path, source: str, inputs: str) -> Path:
    """The file of a model that was exported, in training mode, beside its source."""
    path = folder / "model.py"
    path.write_text(HEAD.lstrip() + dedent(source).strip() + "\n")
    model = loaded(path).Model()
    with quiet():
        given = eval(f"({inputs})", {"torch": torch})
        torch.export.save(torch.export.export(model, given), folder / "model.pt2")
    return path


def found(folder: Path, **more: Any) -> list[Finding]:
    """What is said of graphs alone: where the source says the same, the two would be one finding."""
    settings = Settings(paths=(str(folder),), cache=False, min_severity="note", ignore=("NPU2",), **more)
    return [one for one in run(settings).findings if one.subject]


@pytest.mark.parametrize("name", MODELS)
def test_findings_lie_at_the_lines_that_they_are_about(name: str, torch: Any, tmp_path: Path) -> None:
    source = exported(torch, tmp_path, *MODELS[name])
    wanted = [
        (number, code)
        for number, line in enumerate(source.read_text().split("\n"), 1)
        for code in line.split("  # ")[-1].split()
        if code.startswith("NPU")
    ]
    findings = found(tmp_path)
    assert {Path(one.path).name for one in findings} <= {"model.py"}
    assert sorted((one.span.line, one.code) for one in findings) == sorted(wanted)


def test_the_release_decides(torch: Any, tmp_path: Path) -> None:
    source = """
    class Model(nn.Module):
        def forward(self, x, y):
            return F.mse_loss(torch.linalg.cholesky(x @ x.mT + torch.eye(3)), y)
    """
    exported(torch, tmp_path, source, "torch.randn(3, 3), torch.randn(3, 3)")
    assert [one.code for one in found(tmp_path, target={"torch": "2.6.0"})] == ["NPU4353"]
    assert found(tmp_path, target={"torch": "2.7.1"}) == []


def test_without_its_source_the_findings_lie_at_the_graph(torch: Any, tmp_path: Path) -> None:
    source = exported(torch, tmp_path, *MODELS["special"])
    source.unlink()
    findings = found(tmp_path)
    assert {(Path(one.path).name, one.span.line) for one in findings} == {("model.pt2", 1)}
    assert sorted(one.subject for one in findings) == [
        "aten.fmax",
        "aten.hypot",
        "aten.lgamma",
        "aten.logcumsumexp",
    ]
    assert not any(str(tmp_path) in one.message for one in findings)
