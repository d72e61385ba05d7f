"""The port of trainings that configurations and launchers decide about."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.port.text import status
from tests.port_support import planned, texts

TRAIN = """import torch
import yaml

with open("config.yaml") as file:
    config = yaml.safe_load(file)
device = torch.device(config["device"])
model = torch.nn.Linear(3, 3).to(device)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for x in loader:
    model(x.to(device)).sum().backward()
    optimizer.step()
"""
SFT = "stage: sft\nmodel_name_or_path: Qwen/Qwen2.5-7B-Instruct\nfinetuning_type: lora\n"


@pytest.mark.parametrize("style", ["npu", "agnostic", "transfer"])
def test_a_launcher_of_a_framework_gets_one_for_the_npu(tmp_path: Path, style: str) -> None:
    launcher = "export CUDA_VISIBLE_DEVICES=0,1\nNCCL_DEBUG=INFO llamafactory-cli train sft.yaml\n"
    found = texts(planned(tmp_path, {"sft.yaml": SFT, "run.sh": launcher}, style))
    assert found["run_npu.sh"] == (
        "source /usr/local/Ascend/ascend-toolkit/set_env.sh\nexport ASCEND_RT_VISIBLE_DEVICES=0,1\n"
        "llamafactory-cli train sft.yaml\n"
    )
    assert "run.sh" not in found


def test_a_variable_that_npus_need_as_well_makes_no_launcher_one_for_gpus(tmp_path: Path) -> None:
    launcher = "export CUDA_DEVICE_MAX_CONNECTIONS=1\nllamafactory-cli train sft.yaml\n"
    assert "run_npu.sh" not in texts(planned(tmp_path, {"sft.yaml": SFT, "run.sh": launcher}, "npu"))


def test_the_device_in_a_configuration_brings_the_training_to_the_npu(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"train.py": TRAIN, "config.yaml": "device: cuda:1  # the second\nname: cuda\n"}, "npu")
    assert texts(plan)["config.yaml"] == "device: npu:1  # the second\nname: cuda\n"
    assert [one.status for one in plan.programs] == ["trains"]


def test_with_transfer_the_device_in_a_configuration_stays(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"train.py": TRAIN, "config.yaml": "device: cuda\n"}, "transfer")
    assert set(texts(plan)) == {"train.py"} and "transfer_to_npu" in texts(plan)["train.py"]
    assert {one.finding.topic for one in plan.left} == {"mixed_precision"}  # no statement computes the loss alone


def test_for_gpus_and_npus_the_device_in_a_configuration_is_left(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"train.py": TRAIN, "config.yaml": "device: cuda\n"}, "agnostic")
    assert "config.yaml" not in texts(plan)
    assert "cuda-device-in-project-configuration" in {one.finding.name for one in plan.left}


def test_the_helper_module_is_in_a_project_at_an_absolute_path(tmp_path: Path) -> None:
    code = TRAIN.replace('torch.device(config["device"])', '"cuda"')
    plan = planned(tmp_path, {"train.py": code}, "agnostic")
    assert str(tmp_path / "torch_device.py") in {one.path for one in plan.files}


def test_a_script_that_does_not_import_the_package_has_the_helper_module_beside_it(tmp_path: Path) -> None:
    code = TRAIN.replace('torch.device(config["device"])', '"cuda"')
    files = {
        "pyproject.toml": "[project]\nname = 'parts'\n",
        "parts/__init__.py": "",
        "parts/move.py": "import torch\n\n\ndef moved(x):\n    return x.cuda()\n",
        "runs/alone.py": code,
        "runs/other.py": "from parts.move import moved\n" + code,
    }
    plan = planned(tmp_path, files, "agnostic")
    found = {one.path.removeprefix(f"{tmp_path}/"): one.after.decode() for one in plan.files}
    assert "from torch_device import DEVICE_TYPE" in found["runs/alone.py"]
    assert "from parts.torch_device import DEVICE_TYPE" in found["runs/other.py"]
    assert found["runs/torch_device.py"] == found["parts/torch_device.py"]


def test_the_module_of_an_empty_package_of_the_same_name_is_found(tmp_path: Path) -> None:
    code = TRAIN.replace('torch.device(config["device"])', '"cuda"').partition("for x in loader")[0]
    files = {
        "bin/train.py": code + "\nfrom fitting import fit\n\nfit(model, optimizer, loader)\n",
        "fitting/__init__.py": "",
        "fitting/fitting.py": "def fit(model, optimizer, loader):\n    for x in loader:\n"
        "        model(x.cuda()).sum().backward()\n        optimizer.step()\n",
    }
    plan = planned(tmp_path, files, "npu")
    assert "x.npu()" in texts(plan)["fitting.py"]
    assert [one.status for one in plan.programs] == ["trains"]


def test_a_script_whose_training_step_is_not_found_is_not_said_to_train(tmp_path: Path) -> None:
    step = "def fit(model, optimizer, x):\n    model(x.cuda()).sum().backward()\n    optimizer.step()\n"
    files = {
        "bin/train.py": "import torch\nfrom fitting import fit\n\nfit(torch.nn.Linear(3, 3).cuda(), 0, 0)\n",
        "fitting/__init__.py": "",
        "fitting/steps.py": step,
    }
    plan = planned(tmp_path, files, "npu")
    told = [status(one, "en") for one in plan.programs if one.entry.endswith("train.py")]
    assert told == ["ported: it runs on the NPU"]
