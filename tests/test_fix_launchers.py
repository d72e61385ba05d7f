"""Launchers for the NPU that fixes write beside those for GPUs."""

from __future__ import annotations

import pytest

from npulint.catalogue.load import load_catalogue
from npulint.fix.model import FixResult
from npulint.fix_command import fix_texts

CONFIGURATION = {"a.yaml": "stage: sft\ndo_train: true\nmodel_name_or_path: x\nfinetuning_type: lora\n"}
FRAMEWORK = "framework-launcher-for-gpus"
FOR_NPU = "source /usr/local/Ascend/ascend-toolkit/set_env.sh\nASCEND_RT_VISIBLE_DEVICES=0 llamafactory-cli train a.yaml\n"


def fixed(files: dict[str, str]) -> FixResult:
    return fix_texts(files, {}, load_catalogue(whole=False))


def names(result: FixResult) -> set[tuple[str, str]]:
    return {(one.name, one.path) for one in result.result.findings}


@pytest.mark.parametrize(
    "text",
    [
        "CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train a.yaml\n",
        "export CUDA_VISIBLE_DEVICES=0,1\nllamafactory-cli train a.yaml\n",
        "export NCCL_DEBUG=INFO\nllamafactory-cli train a.yaml\nllamafactory-cli train a.yaml --seed 2\n",
    ],
)
def test_a_launcher_of_a_framework_gets_one_for_the_npu_and_no_complaint(text: str) -> None:
    after = fixed({**CONFIGURATION, "run.sh": text})
    assert [(one.path, one.new) for one in after.files] == [("run_npu.sh", True)]
    assert after.refused == []
    assert (FRAMEWORK, "run.sh") not in names(after)


def test_a_launcher_that_exists_is_not_written_again() -> None:
    other = FOR_NPU.replace("a.yaml", "a.yaml --learning_rate 1e-5")
    after = fixed(
        {**CONFIGURATION, "run.sh": "CUDA_VISIBLE_DEVICES=0 llamafactory-cli train a.yaml\n", "run_npu.sh": other}
    )
    assert [(one.name, one.path, one.reason) for one in after.refused] == [(FRAMEWORK, "run.sh", "exists")]
    assert (FRAMEWORK, "run.sh") in names(after)


def test_a_launcher_of_the_same_training_for_the_npu_answers_for_that_for_gpus() -> None:
    gpu = "CUDA_VISIBLE_DEVICES=0 llamafactory-cli train a.yaml\n"
    same = fixed({**CONFIGURATION, "gpu.sh": gpu, "start.sh": FOR_NPU})
    assert (same.files, same.refused) == ([], [])
    assert (FRAMEWORK, "gpu.sh") not in names(same)
    other = fixed({**CONFIGURATION, "gpu.sh": gpu.replace("a.yaml", "a.yaml --seed 7"), "start.sh": FOR_NPU})
    assert [one.path for one in other.files] == ["npu.sh"]
