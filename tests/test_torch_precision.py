"""Facts about mixed precision: how a loss is scaled, apex amp, scalers, autocast, half models, mask constants."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from tests.support import facts

_HEAD = "import torch\nimport torch_npu\nfrom apex import amp\n"
_BACK = "for x in data:\n    def back(value):\n        value.backward()\n"
_SCALED = {
    "plain": ("loss.backward()\n", "no"),
    "apex": ("with amp.scale_loss(loss, o) as s:\n    s.backward()\n", "apex"),
    "apex without a name": ("with amp.scale_loss(loss, o):\n    other.backward()\n", "apex"),
    "apex, its own name again": ("with amp.scale_loss(loss, o) as loss:\n    loss.backward()\n", "apex"),
    "the unscaled loss": ("with amp.scale_loss(loss, o) as s:\n    loss.backward()\n", "bypassed"),
    "scaler": ("scaler.scale(loss).backward()\n", "scaler"),
    "scaler in two lines": ("scaled = scaler.scale(loss)\nscaled.backward()\n", "scaler"),
    "scaler in the call of a function": ("def back(loss):\n    loss.backward()\nback(scaler.scale(loss))\n", "scaler"),
    "apex around the call of a function in a loop": (
        _BACK + "    with amp.scale_loss(loss, o) as s:\n        back(s)\n",
        "apex",
    ),
    "the unscaled loss for such a function": (
        _BACK + "    with amp.scale_loss(loss, o) as s:\n        back(loss)\n",
        "bypassed",
    ),
    "accelerate": ("accelerator.backward(loss)\n", "engine"),
    "deepspeed": ("model_engine.backward(loss)\n", "engine"),
    "own engine": ("optimizer.backward(loss)\n", "engine"),
    "gradient passed": ("out.backward(torch.ones(3))\n", "no"),
    "gradient by name": ("out.backward(grad_output)\n", "no"),
    "another branch scales": ("if s is not None:\n    loss_scaler(loss, o)\nelse:\n    loss.backward()\n", "unknown"),
    "another branch does something else": ("if s:\n    log(loss)\nelse:\n    loss.backward()\n", "no"),
}


@pytest.mark.parametrize(("text", "scaled"), _SCALED.values(), ids=_SCALED.keys())
def test_how_a_loss_is_scaled(text: str, scaled: str) -> None:
    (fact,) = facts(_HEAD + text, "train_step", "backward")
    assert fact.get("scaled") == scaled


_STEPPED = {
    "in the function": ("loss.backward()\no.step()\n", "yes"),
    "around it": ("for x in data:\n    def back():\n        loss.backward()\n    back()\n    o.step()\n", "yes"),
    "inside it": (
        "for x in data:\n    class C:\n        def f(self):\n            o.step()\n    loss.backward()\n    C().f()\n",
        "yes",
    ),
    "around it, but uncalled": ("for x in data:\n    def back():\n        loss.backward()\n    o.step()\n", "no"),
    "in a function that others may call": ("def back():\n    loss.backward()\nback()\no.step()\n", "no"),
}


@pytest.mark.parametrize(("text", "stepped"), _STEPPED.values(), ids=_STEPPED.keys())
def test_functions_inside_others_step_with_these(text: str, stepped: str) -> None:
    (fact,) = facts(_HEAD + text, "train_step", "backward")
    assert fact.get("stepped") == stepped


_LEVELS: dict[str, tuple[str, dict[str, Any]]] = {
    "defaults": ("m, o", {"level": "O1", "combine_grad": "missing", "scale": "missing"}),
    "all said": (
        "m, o, opt_level='O2', loss_scale=128.0, combine_grad=True",
        {"level": "O2", "combine_grad": "yes", "scale": "static"},
    ),
    "text": ("m, o, opt_level='O2', loss_scale='1024'", {"scale": "static"}),
    "dynamic": ("m, o, loss_scale='dynamic'", {"scale": "dynamic"}),
    "off": ("m, o, loss_scale='1.0'", {"scale": "off"}),
    "beyond": ("m, o, loss_scale=2**16", {"scale": "extreme"}),
    "computed": (
        "m, o, opt_level=level, loss_scale=f(), combine_grad=g",
        {"level": "unknown", "combine_grad": "unknown"},
    ),
    "starred": ("m, o, **kwargs", {"level": "unknown", "combine_grad": "unknown"}),
    "no optimizer": ("m, opt_level='O1'", {"optimizer": "missing"}),
}


@pytest.mark.parametrize(("given", "wanted"), _LEVELS.values(), ids=_LEVELS.keys())
def test_what_amp_is_initialised_with(given: str, wanted: dict[str, Any]) -> None:
    (fact,) = facts(f"{_HEAD}x = amp.initialize({given})\n", "apex_amp")
    assert {name: fact.get(name) for name in wanted} == wanted


def test_level_that_is_set_only_when_there_was_none_is_unknown() -> None:
    text = """
        def {name}(m, o, cfg):
            if cfg.level is None:
                cfg.level = 'O0'
            amp.initialize(m, o, opt_level=cfg.level)
        """
    two = _HEAD + dedent(text).format(name="f") + dedent(text).format(name="g")
    assert [f.get("level") for f in facts(two, "apex_amp")] == ["unknown", "unknown"]


_WRAPPED = {
    "before": ("m = torch.nn.DataParallel(net)\nm, o = amp.initialize(m, o)\n", "yes"),
    "after": ("m, o = amp.initialize(net, o)\nm = torch.nn.DataParallel(m)\n", "no"),
    "in one branch": (
        "m = net()\nif many:\n    m = torch.nn.DataParallel(m)\nm, o = amp.initialize(m, o)\n",
        "sometimes",
    ),
}


@pytest.mark.parametrize(("text", "wrapped"), _WRAPPED.values(), ids=_WRAPPED.keys())
def test_model_wrapped_before_amp(text: str, wrapped: str) -> None:
    (fact,) = facts(_HEAD + text, "apex_amp")
    assert fact.get("wrapped") == wrapped


_DEVICES = {
    "cuda": ("torch.cuda.amp.GradScaler()", "cuda"),
    "default": ("torch.amp.GradScaler()", "cuda"),
    "named": ("torch.amp.GradScaler('npu')", "npu"),
    "torch_npu": ("torch_npu.npu.amp.GradScaler()", "npu"),
    "computed": ("torch.amp.GradScaler(device)", "unknown"),
    "starred": ("torch.amp.GradScaler(**kwargs)", "unknown"),
}


@pytest.mark.parametrize(("made", "device"), _DEVICES.values(), ids=_DEVICES.keys())
def test_device_of_a_scaler(made: str, device: str) -> None:
    (fact,) = facts(f"{_HEAD}s = {made}\n", "grad_scaler")
    assert fact.get("device") == device


_CAST = {
    "cuda": ("torch.cuda.amp.autocast()", "cuda", "default", "yes"),
    "with a type": ("torch.autocast('npu', dtype=torch.bfloat16)", "npu", "bfloat16", "yes"),
    "by keyword": ("torch.autocast(device_type='cuda:0', dtype=torch.half)", "cuda", "float16", "yes"),
    "off": ("torch.npu.amp.autocast(enabled=False)", "npu", "default", "no"),
    "computed": ("torch.autocast(device.type, dtype=d, enabled=e)", "unknown", "unknown", "unknown"),
}


@pytest.mark.parametrize(("made", "device", "dtype", "enabled"), _CAST.values(), ids=_CAST.keys())
def test_autocast(made: str, device: str, dtype: str, enabled: str) -> None:
    (fact,) = facts(f"{_HEAD}with {made}:\n    pass\n", "autocast")
    assert (fact.get("device"), fact.get("dtype"), fact.get("enabled")) == (device, dtype, enabled)


def test_scaler_that_the_npu_has_as_well_is_an_alternative() -> None:
    text = """
    import torch
    if gpu:
        from torch.cuda.amp import GradScaler
    else:
        from torch_npu.npu.amp import GradScaler
    s = GradScaler()
    """
    assert [f.get("alternative") for f in facts(text, "grad_scaler")] == ["yes"]


_HALVES = {
    "module": ("net = torch.nn.Linear(4, 2)\nnet.half()\n", ["half"]),
    "own module": ("class N(torch.nn.Module):\n    pass\nn = N()\nn.bfloat16()\n", ["bfloat16"]),
    "by name": ("def f(model):\n    model.to(torch.float16)\n", ["half"]),
    "keyword": ("def f(model):\n    model.to('npu', dtype=torch.bfloat16)\n", ["bfloat16"]),
    "device only": ("def f(model):\n    model.to('npu')\n", []),
    "input": ("def f(images):\n    images.half()\n", []),
    "output of a model": ("net = torch.nn.Linear(4, 2)\ny = net(x).half()\n", []),
    "integer half": ("half = n.half_size()\n", []),
}


@pytest.mark.parametrize(("text", "kinds"), _HALVES.values(), ids=_HALVES.keys())
def test_model_made_half(text: str, kinds: list[str]) -> None:
    assert [f.name for f in facts(_HEAD + text, "half_model")] == kinds


_FILLS = {
    "minus infinity of numpy": ("import numpy as np\nx = x.masked_fill(m, -np.inf)\n", ["-inf"]),
    "by float": ("x.masked_fill_(m, float('-inf'))\n", ["-inf"]),
    "minus float": ("x.masked_fill_(m, -float('inf'))\n", ["-inf"]),
    "of torch": ("x = torch.where(m, x, -torch.inf)\n", ["-inf"]),
    "large": ("x = x.masked_fill(mask=m, value=-1e9)\n", ["-1e+09"]),
    "by a name": ("BIG = -1e30\nx = x.masked_fill(m, BIG)\n", ["-1e+30"]),
    "assigned": ("x[m == 0] = -1e12\n", ["-1e+12"]),
    "multiplied": ("x = (1 - m) * -65536.0\n", ["-65536"]),
    "within float16": ("x = x.masked_fill(m, -65504.0)\nx = (1 - m) * -10000.0\n", []),
    "smallest of the type": ("x = x.masked_fill(m, torch.finfo(x.dtype).min)\n", []),
    "zero": ("x = x.masked_fill(m, 0)\n", []),
    "best value so far": ("best = float('inf')\nworst['loss'] = -1e9\n", []),
    "large and positive": ("x = x.masked_fill(m, 1e9)\ny = x * 1e6\n", []),
}


@pytest.mark.parametrize(("text", "fills"), _FILLS.values(), ids=_FILLS.keys())
def test_mask_constants_beyond_float16(text: str, fills: list[str]) -> None:
    assert [f.get("fill") for f in facts(_HEAD + text, "mask_fill")] == fills


_IN_HALF = {
    "made half": ("def f(x, m):\n    s = x.half()\n    s = s * (-65536.0)\n", "yes"),
    "through shapes": ("def f(x, m):\n    s = x.half().view(1, -1)\n    s = s.masked_fill(m, -1e9)\n", "yes"),
    "back to float32": ("def f(x, m):\n    s = x.half().float()\n    s = s.masked_fill(m, -1e9)\n", "unknown"),
    "of any type": ("def f(x, m):\n    s = x.masked_fill(m, -1e9)\n", "unknown"),
}


@pytest.mark.parametrize(("text", "half"), _IN_HALF.values(), ids=_IN_HALF.keys())
def test_tensor_that_is_certainly_half(text: str, half: str) -> None:
    (fact,) = facts(_HEAD + text, "mask_fill")
    assert fact.get("half") == half


_CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
_CLIPPED = {
    "scaled": (f"scaler.scale(loss).backward()\n{_CLIP}\n", "scaler"),
    "unscaled": (f"scaler.scale(loss).backward()\nscaler.unscale_(o)\n{_CLIP}\n", "unscaled"),
    "inside": (f"with amp.scale_loss(loss, o) as s:\n    s.backward()\n    {_CLIP}\n", "inside"),
    "behind": (f"with amp.scale_loss(loss, o) as s:\n    s.backward()\n{_CLIP}\n", "no"),
    "another branch": (f"if s:\n    scaler.scale(loss).backward()\nelse:\n    loss.backward()\n    {_CLIP}\n", "no"),
}


@pytest.mark.parametrize(("text", "scaled"), _CLIPPED.values(), ids=_CLIPPED.keys())
def test_gradients_when_they_are_clipped(text: str, scaled: str) -> None:
    (fact,) = facts(_HEAD + text, "grad_clip")
    assert (fact.get("scaled"), fact.get("params")) == (scaled, "model")
