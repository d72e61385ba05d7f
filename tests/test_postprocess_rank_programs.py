"""The order of programs: what the project is about first."""

from __future__ import annotations

import random

import pytest

from npulint.judge.findings import ProgramSummary
from npulint.judge.postprocess.passes import ranked
from npulint.read.console_scripts import console_scripts
from tests.project_support import Project

_TRAIN = """\
import torch
from torch.utils.data import DataLoader

def main():
    model = torch.nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in DataLoader(rows, 8, drop_last=True):
        model(x.cuda()).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
_SELF_TEST = """\
import torch

def test_kernel():
    x = torch.ones(3, requires_grad=True, device="cuda")
    optimizer = torch.optim.SGD([x], lr=0.1)
    for _ in range(3):
        x.sum().backward()
        optimizer.step()

if __name__ == "__main__":
    test_kernel()
"""


def _program(
    entry: str, roles: tuple[str, ...] = ("train",), role: str = "", by: str = "", launches: int = 0
) -> ProgramSummary:
    return ProgramSummary(entry, 1, "torch", "migrated", roles=roles, file_role=role, started_by=by, launches=launches)


@pytest.mark.parametrize(
    "programs",
    [
        pytest.param([_program("train.py"), _program("sample.py", ("evaluate",))], id="training first"),
        pytest.param([_program("z/train.py"), _program("bench.py", role="benchmark")], id="benchmarks last"),
        pytest.param([_program("b.py", ("export",)), _program("tests/a.py", role="test")], id="tests last of all"),
        pytest.param([_program("p/cli.py", by="console_script"), _program("train.py")], id="installed commands"),
        pytest.param([_program("train.py"), _program("legacy_train.py")], id="the script called train"),
        pytest.param([_program("a/train.py"), _program("tools/train.py")], id="tools after the rest"),
        pytest.param([_program("tools/train.py", launches=1), _program("net/vgg.py")], id="tools that are launched"),
        pytest.param([_program("cli/train_ppo.py", launches=3), _program("cli/train_dpo.py")], id="launched"),
        pytest.param(
            [_program("x/train_net.py"), _program("a/train_b.py"), _program("y/train_net_lora.py")], id="variants"
        ),
        pytest.param([_program("train.py"), _program("segment/train.py")], id="few folders"),
    ],
)
def test_the_main_program_comes_first(programs: list[ProgramSummary]) -> None:
    shuffled = random.Random(3).sample(programs, len(programs))
    assert ranked(shuffled) == ranked(programs)
    assert ranked(shuffled)[: len(programs)][0] == programs[0]
    assert ranked(programs)[1] == programs[1]


@pytest.mark.parametrize(
    ("path", "text", "modules"),
    [
        pytest.param("pyproject.toml", '[project.scripts]\ntrain-it = "pkg.cli:main"\n', ["pkg.cli"], id="pyproject"),
        pytest.param(
            "setup.cfg", "[options.entry_points]\nconsole_scripts =\n    x = a.b:run\n", ["a.b"], id="setup.cfg"
        ),
        pytest.param(
            "lib/setup.py",
            'setup(entry_points={"console_scripts": ["a=p.q:main", "b = p.r:main"]})',
            ["p.q", "p.r"],
            id="setup.py",
        ),
        pytest.param("config.toml", 'x = "a.b:c"\n', [], id="another file"),
        pytest.param(
            "pyproject.toml", 'requires = ["setuptools>=61"]\nurl = "https://x.y:8080"\n', [], id="no scripts"
        ),
    ],
)
def test_console_scripts_are_read(path: str, text: str, modules: list[str]) -> None:
    assert [one.module for one in console_scripts(text, path)] == modules


def test_the_report_begins_with_the_installed_command(project: Project) -> None:
    files = {
        "pyproject.toml": '[project.scripts]\nfit = "pkg.zebra:main"\n',
        "pkg/zebra.py": _TRAIN,
        "benchmarks/bench.py": _TRAIN,
        "run.sh": "python alone.py\n",
        "alone.py": _TRAIN,
        "kernels/other.py": _SELF_TEST,
    }
    answer = project.write(files).run("check", "--format", "json", "--no-cache")
    found = [(one["entry"], one["started_by"], one["file_role"]) for one in answer.document["programs"]]
    assert found == [
        ("pkg/zebra.py", "console_script", ""),
        ("alone.py", "launcher", ""),
        ("benchmarks/bench.py", "", "benchmark"),
        ("kernels/other.py", "", "test"),
    ]
    assert [bool(one["checklist"]) for one in answer.document["programs"]] == [True, True, True, False]
