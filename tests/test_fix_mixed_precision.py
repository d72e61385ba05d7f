"""Mixed precision is added where the whole step is known, and nowhere else."""

from __future__ import annotations

import pytest

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.plan import planned
from npulint.fix.source import edited_text
from npulint.judge.findings import FixEdit, FixStep

_HEAD = "import torch\nmodel = make()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"


def _plan(text: str, kind: str = "float16", callers: str = "", others: dict[str, str] | None = None) -> Plan:
    files = {"train.py": text, **(others or {})}
    line = next(number for number, one in enumerate(text.split("\n"), 1) if ".backward(" in one)
    content = text.split("\n")[line - 1]
    span = Span(line, len(content) - len(content.lstrip()) + 1, line, len(content) + 1)
    step = FixStep("mixed_precision", "train.py", span, {"type": kind, "callers": callers})
    return planned(FixEdit("unsafe", (step,)), lambda path: Text(path, "python", files[path]))


def _fixed(text: str, kind: str = "float16") -> str:
    return edited_text(text, [edit for edit in _plan(text, kind).edits if edit.path == "train.py"])


_STEPS = {
    "a plain loop": (
        "for x in loader:\n    y = model(x)\n    loss = y.sum()\n    loss.backward()\n    optimizer.step()\n",
        "scaler = torch.npu.amp.GradScaler()\nfor x in loader:\n"
        "    with torch.npu.amp.autocast():\n        y = model(x)\n"
        "        loss = y.sum()\n    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n",
    ),
    "what only moves data stays outside": (
        "for x in loader:\n    x = x.npu()\n    loss = model(x)\n    (loss / 2).backward()\n    optimizer.step()\n",
        "scaler = torch.npu.amp.GradScaler()\nfor x in loader:\n    x = x.npu()\n    with torch.npu.amp.autocast():\n"
        "        loss = model(x)\n    scaler.scale(loss / 2).backward()\n"
        "    scaler.step(optimizer)\n    scaler.update()\n",
    ),
    "gradients that are clipped under a condition": (
        "for i, x in enumerate(loader):\n    loss = model(x)\n    loss.backward()\n    if i % 2:\n"
        "        if args.clip:\n            clip_(model)\n        optimizer.step()\n",
        "scaler = torch.npu.amp.GradScaler()\nfor i, x in enumerate(loader):\n    with torch.npu.amp.autocast():\n"
        "        loss = model(x)\n    scaler.scale(loss).backward()\n    if i % 2:\n"
        "        scaler.unscale_(optimizer)\n"
        "        if args.clip:\n            clip_(model)\n        scaler.step(optimizer)\n        scaler.update()\n",
    ),
    "the forward in a block around the backward call": (
        "for x in loader:\n    with torch.set_grad_enabled(training):\n        loss = model(x)\n        if training:\n"
        "            loss.backward()\n            optimizer.step()\n",
        "scaler = torch.npu.amp.GradScaler()\nfor x in loader:\n    with torch.set_grad_enabled(training):\n"
        "        with torch.npu.amp.autocast():\n            loss = model(x)\n        if training:\n"
        "            scaler.scale(loss).backward()\n            scaler.step(optimizer)\n            scaler.update()\n",
    ),
    "gradients that are shown after the step": (
        "for x in loader:\n    loss = model(x)\n    loss.backward()\n    optimizer.step()\n    show(weight.grad)\n",
        "scaler = torch.npu.amp.GradScaler()\nfor x in loader:\n"
        "    with torch.npu.amp.autocast():\n        loss = model(x)\n"
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n    show(weight.grad)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), _STEPS.values(), ids=_STEPS)
def test_a_step_gets_autocast_and_scaler(before: str, after: str) -> None:
    assert _fixed(_HEAD + before) == _HEAD + after


def test_bfloat16_needs_no_scaler() -> None:
    before, _ = _STEPS["a plain loop"]
    fixed = _fixed(_HEAD + before, "bfloat16")
    assert "with torch.npu.amp.autocast(dtype=torch.bfloat16):" in fixed
    assert "scale" not in fixed


def test_a_scaler_of_a_function_is_made_where_the_script_makes_its_optimizer() -> None:
    text = (
        "import torch\ndef train():\n    for x in loader:\n        loss = model(x)\n        loss.backward()\n"
        '        optimizer.step()\nif __name__ == "__main__":\n    optimizer = make(model)\n    train()\n'
    )
    assert "    optimizer = make(model)\n    scaler = torch.npu.amp.GradScaler()\n    train()\n" in _fixed(text)


def test_callers_in_other_files_pass_the_scaler() -> None:
    text = (
        "import torch\ndef train(model, optimizer, x):\n    loss = model(x)\n    loss.backward()\n"
        "    optimizer.step()\n"
    )
    main = "import torch\nfrom train import train\noptimizer = make()\ntrain(model, optimizer=optimizer, x=1)\n"
    plan = _plan(text, callers="main.py:4:1", others={"main.py": main})
    fixed = edited_text(main, [edit for edit in plan.edits if edit.path == "main.py"])
    assert fixed.endswith(
        "scaler = torch.npu.amp.GradScaler()\ntrain(model, optimizer=optimizer, scaler=scaler, x=1)\n"
    )
    assert {request.path for request in plan.imports} == {"train.py", "main.py"}


_REFUSED = {
    "step-apart": "for x in loader:\n    loss = model(x)\n    loss.backward()\n    update()\n",
    "own-gradients": "for x in loader:\n    loss = model(x)\n    loss.backward()\n    weight.grad *= 2\n    log()\n"
    "    if ready:\n        optimizer.step()\n",
    "forward-apart": "for x in loader:\n    model(x).sum().backward()\n    optimizer.step()\n",
    "string-lines": "for x in loader:\n    loss = model(x, '''a\nb''')\n    loss.backward()\n    optimizer.step()\n",
    "callers": "def train(optimizer):\n    loss = model(x)\n    loss.backward()\n    optimizer.step()\n",
    "one-line": "for x in loader:\n    loss = model(x)\n    loss.backward()\n    optimizer.step(); log()\n",
}


@pytest.mark.parametrize(("reason", "text"), _REFUSED.items(), ids=_REFUSED)
def test_a_step_that_is_not_known_stays(reason: str, text: str) -> None:
    with pytest.raises(FixRefused) as refused:
        _plan(_HEAD + text)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "text",
    [
        "for x in loader:\n    loss = model(x)\n    loss.backward(create_graph=True)\n    optimizer.step()\n",
        "for x in loader:\n    loss = model(x)\n    torch.autograd.grad(loss, x)\n"
        "    loss.backward()\n    optimizer.step()\n",
        "for x in loader:\n    loss = model(x)\n    loss.backward()\n    optimizer.step(closure)\n",
    ],
    ids=["second derivatives", "gradients of its own", "a closure"],
)
def test_other_uses_of_gradients_are_left_alone(text: str) -> None:
    with pytest.raises(FixRefused):
        _plan(_HEAD + text)
