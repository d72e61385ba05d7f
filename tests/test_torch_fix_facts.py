"""What fixes of PyTorch checks ask of facts: the texts that they write."""

from __future__ import annotations

import pytest

from tests.support import facts

_CLIPS = {
    "a scaler and its optimizer": (
        "scaler.scale(loss).backward()\nclip_grad_norm_(p, 1)\nscaler.step(optimizer)\nscaler.update()\n",
        [("scaler", "optimizer")],
    ),
    "attributes": (
        "self.scaler.scale(loss).backward()\nclip_grad_norm_(p, 1)\nself.scaler.step(self.opt)\n",
        [("self.scaler", "self.opt")],
    ),
    "the second clipping of a step": (
        "scaler.scale(loss).backward()\nclip_grad_norm_(p, 1)\nclip_grad_norm_(q, 1)\nscaler.step(o)\n",
        [("scaler", "o"), ("unknown", "unknown")],
    ),
    "two optimizers behind one clipping": (
        "scaler.scale(loss).backward()\nclip_grad_norm_(p, 1)\nscaler.step(a)\nscaler.step(b)\n",
        [("unknown", "unknown")],
    ),
    "two optimizers in turn": (
        "scaler.scale(x).backward()\nclip_grad_norm_(p, 1)\nscaler.step(a)\n"
        "scaler.scale(y).backward()\nclip_grad_norm_(p, 1)\nscaler.step(b)\n",
        [("scaler", "a"), ("scaler", "b")],
    ),
    "an element of a list": (
        "scaler.scale(loss).backward()\nclip_grad_norm_(p, 1)\nscaler.step(optimizers[0])\n",
        [("unknown", "unknown")],
    ),
    "no scaler": ("loss.backward()\nclip_grad_norm_(p, 1)\noptimizer.step(closure)\n", [("unknown", "unknown")]),
    "apex's master weights": (
        "clip_grad_norm_(amp.master_params(self.optimizer), 1)\n",
        [("unknown", "self.optimizer")],
    ),
    "apex's block": (
        "with amp.scale_loss(loss, o) as s:\n    s.backward()\nclip_grad_norm_(net.parameters(), 1)\n",
        [("unknown", "o")],
    ),
    "apex's blocks of two optimizers": (
        "with amp.scale_loss(x, a) as s:\n    s.backward()\nwith amp.scale_loss(y, b) as s:\n    s.backward()\n"
        "clip_grad_norm_(net.parameters(), 1)\n",
        [("unknown", "unknown")],
    ),
}


@pytest.mark.parametrize(("text", "known"), _CLIPS.values(), ids=_CLIPS.keys())
def test_whose_gradients_are_clipped(text: str, known: list[tuple[str, str]]) -> None:
    head = "import torch\nfrom apex import amp\nfrom torch.nn.utils import clip_grad_norm_\n"
    found = facts(head + text, "grad_clip")
    assert [(f.get("scaler"), f.get("optimizer")) for f in found] == known


_FORMULAS = {
    "a returned formula": ("return x * torch.sigmoid(x)", "x"),
    "an attribute": ("return self.x * torch.sigmoid(self.x)", "self.x"),
    "an argument": ("return self.conv(x * F.relu6(x + 3) / 6)", "x"),
    "an assigned formula": ("y = x * x.sigmoid()\n        return y", "x"),
    "a part of a sum": ("return x + x * torch.sigmoid(x)", "unknown"),
    "a gate that has a name": ("g = torch.sigmoid(x)\n        return x * g", "unknown"),
    "a method": ("return x.mul(torch.sigmoid(x))", "unknown"),
}


@pytest.mark.parametrize(("text", "tensor"), _FORMULAS.values(), ids=_FORMULAS.keys())
def test_what_an_activation_is_computed_from_is_told_where_it_is_one_expression(text: str, tensor: str) -> None:
    head = "import torch\nimport torch.nn.functional as F\nclass Gate(torch.nn.Module):\n"
    head += "    def forward(self, x):\n        "
    (found,) = facts(head + text + "\n", "affinity", "activation")
    assert found.get("tensor") == tensor


def test_the_tensor_of_a_mask_is_told_where_it_has_a_name() -> None:
    text = (
        "import torch\na = scores.masked_fill(m, -1e9)\nb = mix(scores).masked_fill(m, -1e9)\nscores[m == 0] = -1e9\n"
    )
    assert [f.get("tensor") for f in facts(text, "mask_fill")] == ["scores", "unknown", "scores"]


def test_an_option_may_choose_the_loss_scale() -> None:
    text = """
        import argparse
        from apex import amp
        parser = argparse.ArgumentParser()
        parser.add_argument("--scale", type=float, default=65536.0)
        args = parser.parse_args()
        SCALE = 65536.0
        amp.initialize(a, b, loss_scale=args.scale)
        amp.initialize(a, b, loss_scale=SCALE)
        amp.initialize(a, b, loss_scale=65536.0)
        amp.initialize(a, b)
    """
    found = facts(text, "apex_amp")
    assert [f.get("scale_chosen") for f in found] == ["yes", "no", "no", "no"]


def test_an_argument_called_async_keeps_its_name_and_its_place() -> None:
    from npulint.read.python import read_python

    code, problems = read_python("import torch\ny = x.cuda(async=True), z\n", "m.py")
    assert [problem.fatal for problem in problems] == [False]
    assert [(call.keywords[0][0], call.column, call.end_column) for call in code.calls] == [("async", 5, 23)]
