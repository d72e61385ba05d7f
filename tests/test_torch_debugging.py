"""Left-overs of debugging in PyTorch programs: what is found, and what around it says that it is wanted."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.support import facts

_HEAD = """\
import argparse
import torch
import torch_npu
parser = argparse.ArgumentParser()
parser.add_argument("--prof", action="store_true")
args = parser.parse_args()
model = torch.nn.Linear(3, 3).npu()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
"""


def _program(inside: str, before: str = "", name: str = "train") -> str:
    """A training loop with `inside` in it."""
    body = indent(inside, " " * 8)
    loop = f"    for step in range(100):\n{body}\n        model(step).backward()\n"
    return f"{_HEAD}{before}\ndef {name}():\n{loop}{name}()\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("torch.autograd.set_detect_anomaly(True)\n", "anomaly"),
        ("with torch.autograd.detect_anomaly():\n    pass\n", "anomaly"),
        ("from torch.autograd import gradcheck\ngradcheck(model, 1)\n", "gradcheck"),
        ("from torch.profiler import profile\nwith profile():\n    pass\n", "profiler"),
        ("from torch.autograd import profiler\nwith profiler.profile(use_npu=True):\n    pass\n", "profiler"),
        ("with torch_npu.profiler.profile():\n    pass\n", "profiler"),
        ("with torch.npu.profile('out'):\n    pass\n", "profiler"),
        ("torch_npu.npu.init_dump()\n", "dump"),
        ("import pdb\npdb.set_trace()\n", "stop"),
        ("from ipdb import set_trace\nset_trace()\n", "stop"),
        ("breakpoint()\n", "stop"),
        ("from msprobe.pytorch import seed_all\nseed_all()\n", "tool"),
        ("from msprobe.pytorch import PrecisionDebugger as PD\nPD(config_path='c')\n", "tool"),
        ("model.register_forward_hook(print)\n", "hook"),
        ("torch.autograd.backward(model)\n", None),
        ("torch.profiler.record_function('x')\n", None),
    ],
)
def test_aids_are_recognised(text: str, what: str | None) -> None:
    assert [fact.get("what") for fact in facts(_HEAD + text, "debug_aid")] == ([what] if what else [])


_PROFILE = "with torch.autograd.profiler.profile(use_npu=True) as p:\n    model(step).backward()\n"


@pytest.mark.parametrize(
    ("inside", "limited", "optional"),
    [
        pytest.param(_PROFILE, "no", "no", id="in every step"),
        pytest.param("if step == 5:\n" + indent(_PROFILE, "    "), "steps", "no", id="in one step"),
        pytest.param("if world == 1 and step <= 5:\n" + indent(_PROFILE, "    "), "steps", "no", id="in a few steps"),
        pytest.param("if step in (3, 4):\n" + indent(_PROFILE, "    "), "steps", "no", id="in the steps of a list"),
        pytest.param("if step % 100 == 0:\n" + indent(_PROFILE, "    "), "steps", "no", id="now and then"),
        pytest.param("if world == 0:\n" + indent(_PROFILE, "    "), "no", "no", id="under another condition"),
        pytest.param("if args.prof:\n" + indent(_PROFILE, "    "), "no", "yes", id="behind an option"),
        pytest.param("if PROFILE and world:\n" + indent(_PROFILE, "    "), "no", "yes", id="behind a constant"),
        pytest.param(
            "with torch_npu.profiler.profile(schedule=plan) as p:\n    p.step()\n", "schedule", "no", id="by a schedule"
        ),
        pytest.param(
            "with torch_npu.profiler.profile(schedule=None) as p:\n    p.step()\n", "no", "no", id="without a schedule"
        ),
        pytest.param(
            "with torch.autograd.profiler.profile(enabled=args.prof):\n    pass\n",
            "no", "yes", id="enabled by an option",
        ),
        pytest.param(
            "with torch.autograd.profiler.profile(args.prof, record_shapes=True):\n    pass\n",
            "no", "yes", id="enabled by position",
        ),
        pytest.param(
            "from contextlib import nullcontext\nwith torch.npu.profile('o') if world else nullcontext():\n    pass\n",
            "no", "yes", id="chosen in an expression",
        ),
    ],
)  # fmt: skip
def test_profilers_are_limited_or_wanted(inside: str, limited: str, optional: str) -> None:
    (fact,) = facts(_program(inside, "world = len(str(model))\n"), "debug_aid")
    assert (fact.get("limited"), fact.get("optional")) == (limited, optional)


@pytest.mark.parametrize(
    ("text", "covers"),
    [
        pytest.param(_program(_PROFILE), "step", id="in the loop"),
        pytest.param(
            _HEAD + "with torch_npu.profiler.profile():\n    for step in range(9):\n        model(step).backward()\n",
            "training", id="around the loop",
        ),
        pytest.param(
            _program("pass").replace("\ntrain()\n", "\nwith torch_npu.profiler.profile():\n    train()\n"),
            "training", id="around the call of the loop's function",
        ),
        pytest.param(
            _program("pass") + "with torch_npu.profiler.profile():\n    model(1)\n", "no", id="beside the training",
        ),
        pytest.param(
            _program("if step == 3:\n    p.start()", "p = torch_npu.profiler.profile()\n"),
            "step", id="started in the loop",
        ),
    ],
)  # fmt: skip
def test_what_a_profiler_covers(text: str, covers: str) -> None:
    (fact,) = facts(text, "debug_aid")
    assert fact.get("covers") == covers


@pytest.mark.parametrize(
    ("path", "name", "optional"),
    [("train.py", "train", "no"), ("train.py", "run_prof", "yes"), ("tools/profile_model.py", "train", "yes")],
)
def test_names_of_functions_and_files_speak(path: str, name: str, optional: str) -> None:
    (fact,) = facts({path: _program(_PROFILE, name=name)}, "debug_aid")
    assert fact.get("optional") == optional


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("print(output)", "yes"),
        ("KEPT.append(output.cpu())", "yes"),
        ("torch.save(output, 'x.pt')", "yes"),
        ("KEPT.append(output)", "no"),
        ("return output * 2", "no"),
    ],
)
def test_hooks_that_fetch(body: str, reads: str) -> None:
    text = f"{_HEAD}KEPT = []\ndef hook(module, inputs, output):\n    {body}\nmodel.register_forward_hook(hook)\n"
    assert [fact.get("reads") for fact in facts(text, "debug_aid")] == [reads]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("option = {'ACL_OP_DEBUG_LEVEL': 1}\ntorch.npu.set_option(option)", {"ACL_OP_DEBUG_LEVEL": 1}),
        ("option = {}\noption['MM_BMM_ND_ENABLE'] = 'enable'\ntorch.npu.set_option(option)",
         {"MM_BMM_ND_ENABLE": "enable"}),
        ("torch_npu.npu.set_option({'A': 'x', 'B': 2})", {"A": "x", "B": 2}),
        ("option = {'A': 1}\nprint(option)", {}),
        ("torch.npu.set_option(read_options())", {}),
    ],
)  # fmt: skip
def test_options_of_the_device(text: str, expected: dict[str, object]) -> None:
    assert {f.name: f.get("value").single for f in facts(_HEAD + text + "\n", "device_option")} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.backends.cudnn.deterministic = True", "torch.backends.cudnn.deterministic"),
        ("import torch.backends.cudnn as c\nc.deterministic = True", "torch.backends.cudnn.deterministic"),
        ("torch_npu.npu.conv.allow_hf32 = False", "torch.npu.conv.allow_hf32"),
        ("torch.npu.matmul.allow_hf32 = True", "torch.npu.matmul.allow_hf32"),
        ("torch.npu.config.allow_internal_format = True", "torch.npu.config.allow_internal_format"),
        ("torch.backends.cuda.matmul.allow_tf32 = True", "torch.backends.cuda.matmul.allow_tf32"),
        ("args.deterministic = True", None),
        ("torch.backends.cudnn.benchmark = True", None),
    ],
)
def test_switches_of_precision(text: str, expected: str | None) -> None:
    assert [fact.name for fact in facts(_HEAD + text + "\n", "switch")] == ([expected] if expected else [])
