"""What a comparison of large projects may cost: work is done once for each project, not once for each program."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from npulint.commands.compare import compare_command
from npulint.commands.compare.compare_command import compare
from npulint.commands.training_config import program
from npulint.commands.training_config.steps.model import CodeStep
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.model.values.cursors import Scope
from tests.growth import assert_linear

pytestmark = pytest.mark.slow

_FILES = 40

_LAYERS = """\
import torch
from torch import nn


class Block{n}(nn.Module):
    def __init__(self, channels=64, drop=0.1):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels, eps=1e-5, momentum=0.1)
        self.drop = nn.Dropout(drop)
        self.line = nn.Linear(channels, {n} + 10)

    def forward(self, x, scale=0.5):
        x = torch.relu(self.norm(self.conv(x)))
        return self.line(self.drop(x).mean((2, 3)) * scale + 0.01)


def crop{n}(image, size=224):
    left = (image.shape[0] - size) // 2
    return (image[left : left + size] - 127.5) / 128.0
"""
_SCRIPT = """\
import argparse

import torch
from torch.utils.data import DataLoader

{imports}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default={lr})
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    model = torch.nn.Sequential({blocks})
    loader = DataLoader(dataset(), batch_size=args.batch_size, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(90):
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
"""


def _project(folder: Path, rate: float, files: int = _FILES, scripts: int = 10) -> str:
    """A project of `files` modules, all of which each of its training scripts uses."""
    modules = range(files - scripts)
    (folder / "net").mkdir(parents=True)
    (folder / ".git").mkdir()
    for n in modules:
        (folder / "net" / f"part{n}.py").write_text(_LAYERS.format(n=n))
    imports = "\n".join(f"from net.part{n} import Block{n}, crop{n}" for n in modules)
    blocks = ", ".join(f"Block{n}()" for n in modules)
    for n in range(scripts):
        text = _SCRIPT.format(imports=imports, blocks=blocks, lr=rate + n)
        (folder / f"train_{n}.py").write_text(text)
    return str(folder)


def _compared(reference: str, migrated: str) -> RunResult:
    return compare(Settings(paths=(migrated,), cache=False), reference)


def test_the_comparison_of_two_projects_takes_work_in_proportion_to_their_files(tmp_path: Path) -> None:
    def projects(files: int) -> tuple[str, str]:
        folder = tmp_path / str(files)
        return _project(folder / "gpu", 0.1, files, 2), _project(folder / "npu", 0.2, files, 2)

    assert_linear(projects, lambda pair: _compared(*pair), 24)


def test_each_script_of_two_projects_is_compared(tmp_path: Path) -> None:
    result = _compared(_project(tmp_path / "gpu", 0.1), _project(tmp_path / "npu", 0.2))
    assert [one.code for one in result.findings if one.code == "NPU6201"] == ["NPU6201"] * 10


def test_the_steps_of_a_module_are_collected_once_for_all_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: Counter[str] = Counter()
    steps = program.module_steps

    def counted(module: Scope, framework: str) -> list[CodeStep]:
        collected[module.path] += 1
        return steps(module, framework)

    monkeypatch.setattr(program, "module_steps", counted)
    _compared(_project(tmp_path / "gpu", 0.1, 20, 6), _project(tmp_path / "npu", 0.2, 20, 6))
    assert len(collected) == 40 and set(collected.values()) == {1}


def test_a_run_ends_in_time_and_says_what_it_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_command, "_MODULES", 70)  # a program of 20 files with 6 scripts has 15 modules
    result = _compared(_project(tmp_path / "gpu", 0.1, 20, 6), _project(tmp_path / "npu", 0.2, 20, 6))
    assert result.comparison is not None
    states = [{item.status for item in pair.items} for pair in result.comparison.pairs]
    assert len(states) == 6 and all("differs" in one for one in states[:2])
    assert states[2:] == [{"unknown"}] * 4
    assert result.notices == [
        "Pairs of programs compared: 2. The project is too large for more; to compare others, specify two scripts"
    ]
