"""The two ways of moving a PyTorch program to the NPU by fixes: NPU names everywhere, or transfer_to_npu."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest

from npulint.commands.check.fix_command import apply_fixes
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings

TRAIN = """\
\"\"\"Trains.\"\"\"
from __future__ import annotations

import argparse
import torch
from torch.cuda.amp import autocast
from net import Net

model = Net().cuda()
for x in loader:
    with autocast():
        loss = model(x.cuda())
    if loss.device.type == "cuda":
        loss = loss * 2
    loss.backward()
torch.distributed.init_process_group("nccl")
"""
NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(3, device="cuda")
"""
TOP = """\
\"\"\"Trains.\"\"\"
from __future__ import annotations

import torch
import torch_npu
from torch_npu.contrib import transfer_to_npu
import argparse
"""
Port = Literal["explicit", "transfer"]
CHECKS = ("device_cuda", "distribution", "mixed_precision")


def _port(
    folder: Path, port: Literal["explicit", "transfer"], files: dict[str, str]
) -> tuple[dict[str, str], list[Finding]]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    settings = Settings(paths=(str(folder),), select=CHECKS, torch_port=port, cache=False)
    mended = apply_fixes(settings, True)
    changed = {os.path.basename(one.path): one.after.decode() for one in mended.files}
    return {**files, **changed}, mended.result.findings


def test_transfer_only_puts_three_imports_at_the_top_of_the_script(tmp_path: Path) -> None:
    files, findings = _port(tmp_path, "transfer", {"train.py": TRAIN, "net.py": NET})
    assert files["net.py"] == NET
    assert files["train.py"].startswith(TOP)
    assert "from torch.cuda.amp import autocast\nfrom net import Net\n\nmodel = Net().cuda()" in files["train.py"]
    assert files["train.py"].count("import torch\n") == 1
    assert not [one for one in findings if one.name in ("imported-before-transfer", "cuda-not-migrated")]


def test_transfer_edits_what_it_does_not_cover(tmp_path: Path) -> None:
    files, _ = _port(tmp_path, "transfer", {"train.py": TRAIN, "net.py": NET})
    assert 'if loss.device.type == "npu":' in files["train.py"]
    assert 'init_process_group("nccl")' in files["train.py"]


def test_by_default_every_place_is_written_anew(tmp_path: Path) -> None:
    files, findings = _port(tmp_path, "explicit", {"train.py": TRAIN, "net.py": NET})
    assert "cuda" not in files["train.py"] + files["net.py"]
    assert "transfer_to_npu" not in files["train.py"]
    assert 'init_process_group("hccl")' in files["train.py"]
    assert "import torch\nimport torch_npu\nfrom torch.npu.amp import autocast" in files["train.py"]
    assert not [one for one in findings if one.severity == "error"]


@pytest.mark.parametrize(
    "head",
    [
        "import torch\nimport numpy\nimport torch_npu\nfrom torch.cuda.amp import autocast\n"
        "from torch_npu.contrib import transfer_to_npu\n",
        "import os\nfrom torch.cuda.amp import autocast\nimport torch_npu\n"
        "from torch_npu.contrib import transfer_to_npu\nimport torch\n",
    ],
)
def test_a_transfer_that_comes_too_late_is_moved_to_the_top(tmp_path: Path, head: str) -> None:
    body = "\nmodel = torch.nn.Linear(3, 3).cuda()\nwith autocast():\n    model(x).backward()\n"
    files, findings = _port(tmp_path, "explicit", {"train.py": head + body})
    lines = files["train.py"].split("\n")
    assert lines[:3] == ["import torch", "import torch_npu", "from torch_npu.contrib import transfer_to_npu"]
    assert sorted(lines) == sorted((head + body).split("\n"))
    assert not [one for one in findings if one.name == "imported-before-transfer"]


def test_imports_of_the_standard_library_may_stand_before_it(tmp_path: Path) -> None:
    head = "import os\nimport torch\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"
    body = "\nmodel = torch.nn.Linear(3, 3).cuda()\nfor x in loader:\n    model(x).sum().backward()\n"
    files, _ = _port(tmp_path, "explicit", {"train.py": head + body})
    assert files["train.py"] == head + body


def test_what_a_parameter_is_compared_with_is_moved_with_what_is_passed_for_it(tmp_path: Path) -> None:
    text = (
        "import torch\n\ndef moved(data, device):\n    assert device in ['cpu', 'cuda']\n    return data.to(device)\n"
        "model = torch.nn.Linear(3, 3).cuda()\nfor x in loader:\n    model(moved(x, 'cuda')).sum().backward()\n"
    )
    files, _ = _port(tmp_path, "explicit", {"train.py": text})
    assert "assert device in ['cpu', 'npu']" in files["train.py"]
    assert "moved(x, 'npu')" in files["train.py"]
