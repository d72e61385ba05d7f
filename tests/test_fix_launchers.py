"""Launchers for the NPU that fixes write beside those for GPUs."""

from __future__ import annotations

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.fix_results import FixResult

CONFIGURATION = {"a.yaml": "stage: sft\ndo_train: true\nmodel_name_or_path: x\nfinetuning_type: lora\n"}
FRAMEWORK = "framework-launcher-for-gpus"
SOURCED = "source /usr/local/Ascend/ascend-toolkit/set_env.sh\n"
FOR_NPU = f"{SOURCED}ASCEND_RT_VISIBLE_DEVICES=0 llamafactory-cli train a.yaml\n"


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


def test_a_launcher_beside_one_for_the_npu_is_left_alone() -> None:
    gpu = {"run.sh": "CUDA_VISIBLE_DEVICES=0 llamafactory-cli train a.yaml\n"}
    after = fixed({**CONFIGURATION, **gpu, "run_npu.sh": FOR_NPU})
    assert (after.files, after.refused) == ([], [])
    assert (FRAMEWORK, "run.sh") not in names(after)
    elsewhere = fixed({**CONFIGURATION, **gpu, "scripts/run_npu.sh": FOR_NPU.replace("a.yaml", "../a.yaml")})
    assert elsewhere.files == []
    other = {
        **CONFIGURATION,
        **gpu,
        "b.yaml": CONFIGURATION["a.yaml"].replace("path: x", "path: other/B"),
    }
    another = fixed({**other, "scripts/run_npu.sh": FOR_NPU.replace("a.yaml", "../b.yaml")})
    assert [one.path for one in another.files] == ["run_npu.sh"]
