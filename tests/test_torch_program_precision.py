"""The record of a PyTorch program's precision: what its code and the arguments of its framework say."""

from __future__ import annotations

import textwrap

import pytest

from npulint.commands.build import assemble
from npulint.commands.check.temp_project import materialize
from npulint.model.programs.program_fact import ProgramFact
from npulint.read.files import load, read

_HEAD = "import torch\nimport torch_npu\n"
_MODEL = "model = torch.nn.Linear(2, 2).npu(){cast}\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
_PLAIN = _MODEL.format(cast="")
_HALF = _MODEL.format(cast="") + "model.half()\n"
_LOOP = "for x in range(10):\n"
_STEP = "    loss.backward()\n    optimizer.step()\n"
_SCALED = "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n"
_FORWARD = "    loss = model(x).sum()\n"


def _autocast(context: str) -> str:
    return f"    with {context}:\n        loss = model(x).sum()\n"


def _manual(divided: str) -> str:
    return f"    (loss * scale).backward()\n    for p in model.parameters():\n        {divided}\n    optimizer.step()\n"


_NANO = """\
context = torch.amp.autocast(device_type="npu", dtype=torch.bfloat16)
for x in range(10):
    with context:
        loss = model(x).sum()
"""
_OPTION = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--mixed", action="store_true")
args = parser.parse_args()
"""


def _program(files: dict[str, str]) -> ProgramFact:
    with materialize({path: textwrap.dedent(text) for path, text in files.items()}) as (_, sources):
        return assemble(".", [read(load(source)) for source in sources])[0].fact


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(_PLAIN + _LOOP + _FORWARD + _STEP, "default chip float32 no", id="float32"),
        pytest.param(
            _PLAIN + _LOOP + _autocast("torch.npu.amp.autocast()") + _STEP, "mixed float16 unknown no", id="not scaled"
        ),
        pytest.param(
            "scaler = torch.GradScaler('npu')\n" + _PLAIN + _LOOP + _autocast("torch.autocast('npu')") + _SCALED,
            "mixed float16 unknown yes",
            id="the scaler of torch",
        ),
        pytest.param(
            "scaler = torch_npu.npu.amp.GradScaler()\n" + _PLAIN + _LOOP + _autocast("torch.autocast('npu')") + _SCALED,
            "mixed float16 unknown yes",
            id="the scaler of torch_npu",
        ),
        pytest.param(
            "scaler = torch.amp.GradScaler('npu', enabled=False)\n"
            + _PLAIN
            + _LOOP
            + _autocast("torch.autocast('npu', dtype=torch.bfloat16)")
            + _SCALED,
            "mixed bfloat16 unknown unknown",
            id="a scaler that is switched off",
        ),
        pytest.param(_PLAIN + _NANO + _STEP, "mixed bfloat16 unknown no", id="a context that is opened by its name"),
        pytest.param(
            _OPTION + _PLAIN + _LOOP + _autocast("torch.autocast('npu', enabled=args.mixed)") + _STEP,
            "unknown unknown unknown no",
            id="an option decides",
        ),
        pytest.param(
            _PLAIN + _LOOP + _autocast("torch.cuda.amp.autocast()") + _STEP,
            "unknown unknown unknown no",
            id="a context for CUDA that is left over",
        ),
        pytest.param(_HALF + _LOOP + _FORWARD + _STEP, "fp16 float16 float16 no", id="a cast model"),
        pytest.param(
            _PLAIN + "model.bfloat16()\n" + _LOOP + _FORWARD + _STEP, "fp16 bfloat16 bfloat16 no", id="a bfloat16 model"
        ),
        *(
            pytest.param(
                "scale = 1024.0\n" + _HALF + _LOOP + _FORWARD + _manual(text), "fp16 float16 float16 yes", id=text
            )
            for text in (
                "p.grad /= scale",
                "p.grad.data = p.grad.data / scale",
                "p.grad.data.div_(scale)",
                "p.grad.mul_(1.0 / scale)",
                "p.grad.data.copy_(p.grad.data / scale)",
            )
        ),
        pytest.param(
            "scale = 1024.0\n" + _HALF + _LOOP + _FORWARD + _manual("p.grad.clamp_(-1, 1)"),
            "fp16 float16 float16 no",
            id="a weight of the loss",
        ),
        pytest.param(
            "from apex import amp\n"
            + _PLAIN
            + "model, optimizer = amp.initialize(model, optimizer, opt_level='O2', combine_grad=True)\n"
            + _LOOP
            + _FORWARD
            + "    with amp.scale_loss(loss, optimizer) as scaled:\n        scaled.backward()\n    optimizer.step()\n",
            "mixed float16 float32 yes",
            id="apex",
        ),
        pytest.param(
            "import deepspeed\n" + _PLAIN + _LOOP + _FORWARD + _STEP, "unknown unknown unknown unknown", id="DeepSpeed"
        ),
        pytest.param(
            "from accelerate import Accelerator\naccelerator = Accelerator(mixed_precision='fp16')\n"
            + _PLAIN
            + _LOOP
            + _FORWARD
            + "    accelerator.backward(loss)\n    optimizer.step()\n",
            "mixed float16 unknown yes",
            id="Accelerate",
        ),
        pytest.param(
            "from accelerate import Accelerator\naccelerator = Accelerator(mixed_precision='bf16')\n"
            + _PLAIN
            + _LOOP
            + _FORWARD
            + "    accelerator.backward(loss)\n    optimizer.step()\n",
            "mixed bfloat16 unknown no",
            id="Accelerate in bfloat16",
        ),
        pytest.param(
            "from lightning import Trainer\nTrainer(precision='16-true').fit(None)\n",
            "fp16 float16 float16 no",
            id="Lightning in float16 alone",
        ),
        pytest.param(
            "from transformers import Trainer, TrainingArguments\n"
            "Trainer(args=TrainingArguments('out', fp16=True, optim='adafactor')).train()\n",
            "mixed float16 unknown yes",
            id="the Trainer",
        ),
    ],
)
def test_the_precision_of_a_program(source: str, expected: str) -> None:
    fact = _program({"train.py": _HEAD + source})
    assert f"{fact.precision} {fact.gradients} {fact.parameters} {fact.scaled}" == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("fp16: true\noptim: lion_32bit\n", "mixed float16 yes"),
        ("bf16: true\n", "mixed bfloat16 no"),
        ("pure_bf16: true\n", "fp16 bfloat16 no"),
        ("", "default chip unknown"),
    ],
)
def test_the_precision_of_a_configured_training(arguments: str, expected: str) -> None:
    start = "stage: sft\nmodel_name_or_path: Qwen/Qwen2.5-7B-Instruct\nfinetuning_type: lora\n"
    fact = _program({"train.yaml": start + arguments})
    assert f"{fact.precision} {fact.gradients} {fact.scaled}" == expected


def test_each_way_to_train_is_scaled() -> None:
    source = (
        "import os\nscaler = torch.npu.amp.GradScaler()\n"
        "def train_and_evaluate(model, loss, optimizer):\n"
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n"
        "if os.environ.get('RANK') == '0':\n    train_and_evaluate(model, loss, optimizer)\n"
        "else:\n    train_and_evaluate(model, loss, optimizer)\n"
    )
    assert _program({"train.py": _HEAD + source}).scaled == "yes"
