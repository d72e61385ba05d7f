"""Fixes that claim to keep the numbers do: bad and mended text run against torch, and come to the same."""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import os
import subprocess
import sys
from textwrap import dedent
from typing import Any

import pytest

from npulint.commands.check.fix_command import fixed_example
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from tests.tools import missing

pytestmark = pytest.mark.slow

_RUNNER = os.path.join(os.path.dirname(__file__), "torch_numbers.py")

_ACTIVATION = """
import math
import torch
import torch.nn.functional as F


class Gate(torch.nn.Module):
    def forward(self, x):
        return {formula}


def answer():
    x = torch.linspace(-6, 6, 97, requires_grad=True)
    y = Gate()(x)
    y.sum().backward()
    return y, x.grad
"""
_TRAINED = """
import torch
import torch_npu
{imports}

model = torch.nn.Linear(4, 2).npu()
data = [torch.randn(8, 4).npu() for _ in range(5)]
optimizer = {made}
{before}for x in data:
    optimizer.zero_grad()
    model(x).square().mean().backward()
{inside}    optimizer.step()


def answer():
    return model.weight, model.bias
"""
_ATTENTION = """
import torch
import torch.nn.functional as F
import torch_npu
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(16, 16) for _ in range(3))
        self.attn_dropout = 0.25

    def forward(self, x, padding):
        q = self.to_q(x).view(2, 5, 4, 4).transpose(1, 2)
        k = self.to_k(x).view(2, 5, 4, 4).transpose(1, 2)
        v = self.to_v(x).view(2, 5, 4, 4).transpose(1, 2)
        {mask}
        {call}


def answer():
    return Attention().forward(torch.randn(2, 5, 16), torch.tensor([1.0, 1.0, 1.0, 0.0, 1.0]))
"""


def _activation(formula: str) -> str:
    return _ACTIVATION.format(formula=formula)


def _trained(made: str, imports: str = "", inside: str = "", before: str = "") -> str:
    return _TRAINED.format(made=made, imports=imports, inside=inside, before=before)


def _attention(call: str, mask: str = "") -> str:
    return _ATTENTION.format(call=call, mask=mask or "pass")


# What the mended text has to come to: the numbers of the bad one.
_EQUAL: dict[str, tuple[str, str]] = {
    "silu": ("activation-written-out", _activation("x * torch.sigmoid(x)")),
    "silu by a method": ("activation-written-out", _activation("x.sigmoid() * x")),
    "mish": ("activation-written-out", _activation("x * torch.tanh(F.softplus(x))")),
    "hardswish": ("activation-written-out", _activation("x * F.relu6(x + 3) / 6")),
    "hardswish from behind": ("activation-written-out", _activation("F.relu6(x + 3.0) / 6.0 * x")),
    "gelu by tanh": (
        "activation-written-out",
        _activation("0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))"),
    ),
    "quick gelu": (
        "quick-gelu-written-out",
        _activation("x * torch.sigmoid(1.702 * x)").replace("import torch\n", "import torch\nimport torch_npu\n"),
    ),
    "mask constant": (
        "mask-constant-for-mixed-precision",
        """
        import torch

        class Attention(torch.nn.Module):
            def forward(self, scores, mask):
                scores = scores.masked_fill(mask, -1e9)
                return scores.softmax(-1)

        attention = Attention()
        scores = torch.randn(4, 6, requires_grad=True)
        for step in range(1):
            result = attention(scores, torch.arange(6) > torch.arange(4)[:, None] + 1)
            result.square().sum().backward()

        def answer():
            return result, scores.grad
        """,
    ),
    "stochastic descent": (
        "unfused-optimizer",
        _trained("torch.optim.SGD(model.parameters(), 0.1, 0.9, weight_decay=1e-2, nesterov=True)"),
    ),
    "decoupled decay": (
        "unfused-optimizer",
        _trained("AdamW([{'params': [p]} for p in model.parameters()], lr=1e-2)", "from torch.optim import AdamW"),
    ),
    "gradients set to zero by the model": (
        "model-zero-grad-with-fused-optimizer",
        _trained(
            "torch_npu.optim.NpuFusedSGD(model.parameters(), lr=0.1)", inside="", before="model.zero_grad()\n"
        ).replace("    optimizer.zero_grad()\n", "    model.zero_grad()\n"),
    ),
    "losses kept": (
        "loss-graph-kept",
        """
        import torch

        model = torch.nn.Linear(4, 1)
        losses = []
        total = 0.0
        for x in torch.randn(5, 3, 4):
            loss = model(x).square().mean()
            loss.backward()
            total += loss
            losses.append(loss)

        def answer():
            return total, *losses, model.weight.grad
        """,
    ),
    "retired operators": (
        "retired-npu-operator",
        """
        import torch
        import torch_npu

        def answer():
            x = torch.randn(3, 4)
            yield torch_npu.npu_silu(x)
            yield torch_npu.npu_mish(x)
            yield torch_npu.npu_dtype_cast(x * 2, torch.float16)
            yield -torch_npu.npu_dtype_cast(-x, torch.float64)
            yield torch_npu.npu_reshape(x, (2, 6))
            yield torch_npu.npu_broadcast(x[:1], (5, 4))
            yield torch_npu.one_(x)
        """,
    ),
}

# What the bad text cannot do, and the mended one does; or what it computes otherwise, as `wanted` says.
_RIGHT: dict[str, tuple[str, str, str]] = {
    "attention is scaled": (
        "fused-attention-without-scale",
        _attention('out = torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD")[0]\n        return out'),
        _attention("return F.scaled_dot_product_attention(q, k, v)"),
    ),
    "attention takes the first of its results": (
        "fused-result-used-as-tensor",
        _attention(
            'out = torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", scale=0.5)\n        return out.transpose(1, 2)'
        ),
        _attention("return F.scaled_dot_product_attention(q, k, v).transpose(1, 2)"),
    ),
    "attention leaves out what a bias hides": (
        "fused-attention-mask-inverted",
        _attention(
            'return torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", scale=0.5, atten_mask=mask)[0]',
            "mask = (1.0 - padding) * -10000.0",
        ),
        _attention("return F.scaled_dot_product_attention(q, k, v, attn_mask=((1.0 - padding) * -10000.0)[None, :])"),
    ),
    "attention keeps what is not dropped": (
        "dropout-given-as-keep-probability",
        _attention('return torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", keep_prob=self.attn_dropout)[2:]'),
        "import torch\n\ndef answer():\n    return [torch.tensor(0.75)]\n",
    ),
    "gradients are unscaled before they are clipped": (
        "clip-before-unscale",
        """
        import torch

        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for x in torch.randn(5, 8, 4):
            optimizer.zero_grad()
            scaler.scale(model(x).square().mean()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            scaler.step(optimizer)
            scaler.update()

        def answer():
            return model.weight, model.bias
        """,
        """
        import torch

        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        for x in torch.randn(5, 8, 4):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            optimizer.step()

        def answer():
            return model.weight, model.bias
        """,
    ),
    "a mask in half precision": (
        "mask-constant-overflows-float16",
        """
        import torch

        def attention(scores, mask):
            scores = scores.half()
            scores = scores.masked_fill(mask, -1e9)
            return scores.softmax(-1)

        def answer():
            return attention(torch.arange(6.0), torch.arange(6) % 2 == 0)
        """,
        """
        import math
        import torch

        def answer():
            return torch.arange(6.0).half().masked_fill(torch.arange(6) % 2 == 0, -math.inf).softmax(-1)
        """,
    ),
    "a loader with a sampler": (
        "shuffle-beside-sampler",
        """
        import torch
        from torch.utils.data import DataLoader, SequentialSampler, TensorDataset

        rows = TensorDataset(torch.arange(6.0))
        loader = DataLoader(rows, 2, True, SequentialSampler(rows))

        def answer():
            return [x for (x,) in loader]
        """,
        "import torch\n\ndef answer():\n    return torch.arange(6.0)\n",
    ),
    "set_to_none of a fused optimizer": (
        "fused-optimizer-set-to-none",
        _trained("torch_npu.optim.NpuFusedSGD(model.parameters(), lr=0.1)").replace("grad()", "grad(set_to_none=True)"),
        _trained("torch.optim.SGD(model.parameters(), lr=0.1)"),
    ),
    "a hint that the fused optimizer does not know": (
        "fused-optimizer-keyword",
        _trained("torch_npu.optim.NpuFusedAdam(model.parameters(), lr=0.1, foreach=False)"),
        _trained("torch.optim.Adam(model.parameters(), lr=0.1)"),
    ),
    "whole batches": (
        "ragged-last-batch-to-migrate",
        """
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        train_loader = DataLoader(TensorDataset(torch.arange(7.0)[:, None]), 2)
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (x,) in train_loader:
            model(x).sum().backward()
            optimizer.step()

        def answer():
            return [x for (x,) in train_loader]
        """,
        "import torch\n\ndef answer():\n    return torch.arange(6.0)\n",
    ),
}


@functools.cache
def _catalogue() -> Catalogue:
    return load_catalogue()


def _mended(name: str, source: str) -> str:
    code = next(check.code for check in _catalogue().checks if check.name == name)
    made, refused = fixed_example({"train.py": source}, {}, code, _catalogue())
    assert made, refused
    return made["train.py"]


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """By the name of the case what its texts come to."""
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    jobs = {}
    for case, (name, source) in _EQUAL.items():
        jobs[case] = {"wanted": dedent(source), "fixed": _mended(name, dedent(source))}
    for case, (name, source, wanted) in _RIGHT.items():
        bad = dedent(source)
        jobs[case] = {"bad": bad, "fixed": _mended(name, bad), "wanted": dedent(wanted)}
    done = subprocess.run(
        [sys.executable, _RUNNER],
        input=json.dumps(list(jobs.values())),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(jobs, json.loads(done.stdout), strict=True))


def _same(one: list[float], other: list[float], tolerance: float = 2e-6) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("case", [*_EQUAL, *_RIGHT])
def test_the_mended_text_comes_to_the_numbers_that_are_wanted(case: str, answers: dict[str, Any]) -> None:
    wanted, fixed = answers[case]["wanted"], answers[case]["fixed"]
    assert (wanted["error"], fixed["error"]) == ("", "")
    assert wanted["numbers"] and _same(wanted["numbers"], fixed["numbers"])


@pytest.mark.parametrize("case", _RIGHT)
def test_the_bad_text_does_not(case: str, answers: dict[str, Any]) -> None:
    bad, wanted = answers[case]["bad"], answers[case]["wanted"]
    assert bad["error"] or not _same(bad["numbers"], wanted["numbers"])
