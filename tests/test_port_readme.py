"""The section of a README about the NPU: once, in its language, and only if the port brings a training there."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.port.model import PortPlan
from npulint.commands.port.plan import plan_port
from npulint.judge.settings import Settings

TRAIN = """import torch

model = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for x in loader:
    model(x.cuda()).sum().backward()
    optimizer.step()
"""


def planned(folder: Path, files: dict[str, str]) -> PortPlan:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return plan_port(Settings(paths=(str(folder),), cache=False), "npu", ())


def added(plan: PortPlan, name: str) -> str:
    return next((one.after[len(one.before) :].decode() for one in plan.files if one.path.endswith(name)), "")


def test_the_section_has_the_commands_that_start_the_training(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"train.py": TRAIN, "README.md": "# Net\n\nRun it.\n"})
    section = added(plan, "README.md")
    assert "## Training on Ascend NPUs" in section
    assert "source /usr/local/Ascend/ascend-toolkit/set_env.sh\npython train.py\n" in section
    assert [step.name for step in plan.steps][-1] == "documentation"
    assert plan.steps[-1].files[0].path.endswith("README.md")


@pytest.mark.parametrize(
    ("code", "starter"),
    [
        ('torch.distributed.init_process_group("nccl")\n', "torchrun --nproc_per_node=8"),
        ('import os\n\ntorch.cuda.set_device(int(os.environ["LOCAL_RANK"]))\n', "torchrun --nproc_per_node=8"),
        ('torch.distributed.init_process_group("nccl", rank=rank, world_size=4)\n', "python"),
        ('torch.distributed.init_process_group("nccl")\ntorch.multiprocessing.spawn(work)\n', "python"),
        ('from mpi4py import MPI\n\ntorch.distributed.init_process_group("nccl", init_method="env://")\n', "python"),
        ('import os\n\nos.environ["RANK"] = "0"\ntorch.distributed.init_process_group("nccl")\n', "python"),
    ],
)
def test_a_program_for_torchrun_is_started_by_it(tmp_path: Path, code: str, starter: str) -> None:
    text = TRAIN.replace("import torch\n", f"import torch\n\n{code}", 1)
    plan = planned(tmp_path, {"train.py": text, "README.md": "# Net\n"})
    assert f"\n{starter} train.py\n" in added(plan, "README.md")


def test_a_new_launcher_is_what_the_section_names(tmp_path: Path) -> None:
    launcher = "export CUDA_VISIBLE_DEVICES=0,1\ntorchrun --nproc_per_node=2 train.py\n"
    plan = planned(tmp_path, {"train.py": TRAIN, "run.sh": launcher, "README.md": "# Net\n"})
    assert "```sh\nbash run_npu.sh\n```" in added(plan, "README.md")


def test_each_readme_keeps_its_language_and_line_ends(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "README.md": "# Net\n", "README_zh.md": "# 网络\r\n\r\n这是训练代码。\r\n"}
    plan = planned(tmp_path, files)
    assert "在昇腾 NPU 上训练\r\n" in added(plan, "README_zh.md")
    assert "\n" not in added(plan, "README_zh.md").replace("\r\n", "")
    assert "Training on Ascend NPUs" in added(plan, "README.md")


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN},
        {"train.py": TRAIN, "README.md": "# Net\n\nIt trains on Ascend NPUs as well.\n"},
        {"train.py": TRAIN, "README.rst": "Net\n===\n"},
        {"train.py": TRAIN + "import nvidia.dali\n", "README.md": "# Net\n"},
        {"train.py": TRAIN.replace(".cuda()", ""), "README.md": "# Net\n"},
    ],
    ids=["no README", "it names the NPU", "another format", "the port is not finished", "nothing to port"],
)
def test_otherwise_no_file_is_documented(tmp_path: Path, files: dict[str, str]) -> None:
    plan = planned(tmp_path, files)
    assert all("README" not in one.path for one in plan.files)
    assert "documentation" not in [step.name for step in plan.steps]
