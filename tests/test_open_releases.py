"""Checks that find nothing because a release or the chip is not known are named, with what to declare or pin."""

from __future__ import annotations

import json
from typing import Any

import pytest

from npulint.data.version_matrix import has_adapter
from tests.project_support import Project

_LLAMA = """stage: sft
model_name_or_path: Qwen/Qwen2.5-7B-Instruct-AWQ
finetuning_type: lora
enable_liger_kernel: true
dataset: alpaca
output_dir: out
bf16: true
"""
_ESTIMATOR = """import tensorflow as tf
from npu_bridge.npu_init import *

config = NPURunConfig(model_dir="m", precision_mode="allow_mix_precision_bf16", oo_level="O3")
NPUEstimator(model_fn=f, config=config).train(input_fn=g, max_steps=3)
"""
_TRAINER = """from transformers import Trainer, TrainingArguments

args = TrainingArguments(output_dir="o", use_liger_kernel=True)
Trainer(args=args, model=m, train_dataset=d).train()
"""
_PRETRAIN = "python pretrain_gpt.py --moe-permute-fusion --moe-token-dispatcher-type alltoall\n"
_MEGATRON = "import mindspeed.megatron_adaptor\nfrom megatron.training import pretrain\n\npretrain(a, b, c)\n"


def opened(project: Project, *words: str) -> set[tuple[str, str, str]]:
    """What is not known, for which releases, and which check would find something."""
    answer = project.run("check", "--no-cache", "--isolated", "--format", "json", *words)
    return {(one["key"], one["releases"], one["name"]) for one in record(answer.out)}


def record(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text).get("open_releases", [])
    return found


def test_an_argument_whose_meaning_depends_on_an_unpinned_package_is_named(project: Project) -> None:
    project.write({"train.yaml": _LLAMA})
    assert opened(project) == {
        ("gptqmodel", "<7.0.0", "quantised-checkpoint-configured"),
        ("liger-kernel", "<0.7.0", "old-liger-kernel-configured"),
        ("transformers", "<5", "quantised-checkpoint-configured"),
    }
    (first, *_) = record(project.run("check", "--no-cache", "--isolated", "--format", "json").out)
    assert first == {
        "key": "gptqmodel",
        "releases": "<7.0.0",
        "name": "quantised-checkpoint-configured",
        "code": "NPU7110",
        "path": "train.yaml",
        "line": 2,
    }
    lines = project.run("check", "--no-cache", "--isolated", "--format", "jsonl").out.splitlines()
    assert sum(json.loads(line)["kind"] == "open_release" for line in lines) == 3


def test_a_pin_decides(project: Project) -> None:
    pins = "gptqmodel==7.1.0\nliger-kernel>=0.7\ntransformers==5.0\n"
    project.write({"train.yaml": _LLAMA, "requirements.txt": pins})
    assert opened(project) == set()
    project.write({"train.yaml": _LLAMA, "requirements.txt": pins.replace("7.1", "6.1")})
    assert opened(project) == set()
    assert "quantised-checkpoint-configured" in project.run("check", "--no-cache", "--isolated").out


def test_an_argument_in_code_is_named_too(project: Project) -> None:
    project.write({"train.py": _TRAINER})
    assert ("liger-kernel", "<0.6.5", "old-liger-kernel-configured") in opened(project)
    project.write({"tests/test_train.py": _TRAINER, "train.py": "import torch\n"})
    assert opened(project) == set()


def test_a_setting_depends_on_adapter_and_chip_until_they_are_declared(project: Project) -> None:
    project.write({"train.py": _ESTIMATOR})
    adapter, chip = ("adapter", "", "option-not-in-release"), ("soc", "", "option-for-another-chip")
    assert opened(project) == {adapter, chip}
    assert opened(project, "--target", "soc=910B") == {adapter}
    assert opened(project, "--target", "soc=910B", "--target", "adapter=1.15") == set()
    assert opened(project, "--target", "soc=910B", "--target", "cann=9.0") == set()
    project.write({"start.sh": "export SOC=Ascend910B\npython train.py\n"})
    assert opened(project) == {adapter}


def test_an_option_that_the_assumed_adapter_has_needs_no_declaration(project: Project) -> None:
    project.write({"train.py": _ESTIMATOR.replace(', oo_level="O3"', "").replace("_bf16", "")})
    assert opened(project) == set()


def test_only_selected_checks_in_named_files_are_named(project: Project) -> None:
    project.write({"train.yaml": _LLAMA})
    assert opened(project, "--ignore", "dependency") == set()
    assert {name for *_, name in opened(project, "--ignore", "NPU7110")} == {"old-liger-kernel-configured"}


def test_text_says_what_to_declare_and_what_to_pin(project: Project) -> None:
    project.write({"train.py": _ESTIMATOR, "train.yaml": _LLAMA})
    text = project.run("check", "--no-cache", "--isolated").out
    assert (
        "Not decided: 4 checks need versions or a chip that the project does not state: declare `--target adapter=…` "
        "(option-not-in-release), `--target soc=…` (option-for-another-chip); pin `gptqmodel` "
        "(quantised-checkpoint-configured), `liger-kernel` (old-liger-kernel-configured), 1 more"
    ) in text
    assert (
        "4 项检查需要的版本或芯片在工程中没有给出"
        in project.run("check", "--no-cache", "--isolated", "--lang", "zh").out
    )
    project.write({"train.py": "import torch\n", "train.yaml": "a: 1\n"})
    assert "Not decided" not in project.run("check", "--no-cache", "--isolated").out


@pytest.mark.parametrize(("release", "ignored"), [("8.2", True), ("8.5", False)])
def test_the_declared_cann_decides_about_arguments(project: Project, release: str, ignored: bool) -> None:
    project.write({"run.sh": _PRETRAIN, "pretrain_gpt.py": _MEGATRON})
    text = project.run("check", "--no-cache", "--isolated", "--format", "json", "--target", f"cann={release}").out
    assert ("moe_permute_fusion" in text) is ignored


def test_tensorflow_is_matched_strictly() -> None:
    assert has_adapter("tensorflow", ">=2.10,<2.16") is False
    assert has_adapter("tensorflow", "==2.6.*") is True
