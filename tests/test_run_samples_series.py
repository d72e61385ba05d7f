"""What checks of series say of real logs, where a machine has them."""

from __future__ import annotations

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from tests.samples import sample

ZOO = "Ascend+ModelZoo-TensorFlow/TensorFlow/contrib/cv"
OLD = "Ascend+modelzoo"
HRNET = f"{OLD}/built-in/TensorFlow/Research/cv/image_classification/HRNet_for_TensorFlow/logs"


def series_of(path: str) -> list[Finding]:
    findings = run(Settings(paths=(str(sample(path)),), cache=False, select=("NPU5",))).findings
    return [one for one in findings if one.code[:6] in ("NPU518", "NPU523", "NPU536")]


@pytest.mark.parametrize(
    ("path", "code", "line", "words"),
    [
        (f"{ZOO}/InsightFace_TF/figures/if_npu.log", "NPU5361", 1546, ("Every 300 steps", "946 times", "49.2 %")),
        (f"{ZOO}/CPC_ID0921_for_TensorFlow/cpc_npu.log", "NPU5360", 128, ("31 graphs", "21 within 5 seconds")),
        (
            f"{OLD}/contrib/Research/speech/ds-cnn/ds-cnn_tf_hw81087854/train.log",
            "NPU5362",
            393,
            ("764 times", "9.51 ms", "15,680 bytes"),
        ),
        (f"{ZOO}/META-SGD_ID1236_for_TensorFlow/loss_perf_gpu.txt", "NPU5361", 688, ("1,000 steps", "25.7 %")),
        (f"{HRNET}/events.out.tfevents.1607400264.localhost.localdomain", "NPU5238", 1, ("acc_top1", "0.040625")),
    ],
)
def test_what_is_found(path: str, code: str, line: int, words: tuple[str, ...]) -> None:
    (one,) = series_of(path)
    assert (one.code, one.span.line) == (code, line)
    assert [word for word in words if word not in one.message] == []


@pytest.mark.parametrize(
    "path",
    [
        f"{ZOO}/InsightFace_TF/figures/if_v100_perfermance.log",
        f"{ZOO}/MAML_ID0755_for_TensorFlow/gpu_log.log",
        f"{ZOO}/MAML_ID0755_for_TensorFlow/train_log_0804.log",
        f"{ZOO}/MONODEPTH_ID2099_for_TensorFlow/test/output/2/train_2.log",
        f"{ZOO}/PCN_ID0997_for_TensorFlow/run.log",
        f"{ZOO}/Slot-Attention_ID2028_for_TensorFlow/train_log/npulog.out",
        f"{ZOO}/IEG_ID2049_for_TensorFlow/log/evalieg.txt",
        f"{ZOO}/IEG_ID2049_for_TensorFlow/log/perflog.txt",
        "Ascend+ModelZoo-TensorFlow/ACL_TensorFlow/contrib/cv/MONODEPTH_ID2099_for_ACL/monodepth/test/output/2/train_2.log",
        f"{OLD}/contrib/Research/cv/psenet/psenet_tf_hw81087854/npu_training.log",
        f"{OLD}/job5c32ed15-job-ma-pwcnet-11-26-14-5.0-0-0-4-5-0_default-stdout.log",
        f"{OLD}/jobf609c0c2-job-ma-pwcnet-11-26-14-5.0-0-0-4-5-0_default-stdout.log",
    ],
)
def test_what_is_left_alone(path: str) -> None:
    assert series_of(path) == []
