"""What checks of messages say of real logs, where a machine has them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.data.error_patterns import patterns
from npulint.facts.model import Fact
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from npulint.runs.read import read_artifact
from tests.samples import sample

ZOO = "Ascend+ModelZoo-TensorFlow"
CV = f"{ZOO}/TensorFlow/contrib/cv"
ACL = f"{ZOO}/ACL_TensorFlow/contrib/cv/MONODEPTH_ID2099_for_ACL/monodepth/test/output/2/train_2.log"
PWC = "Ascend+modelzoo/job{}-job-ma-pwcnet-11-26-14-5.0-0-0-4-5-0_default-stdout.log"
TROUBLE = "Ascend+pytorch/troubleshooting"
FAULTS = "Ascend+mind-cluster/component/ascend-faultdiag/test"
ATC = "Ascend+msit/msit/test/UT/resource/analyze/dataset/atc_err/atc_err_{}.txt"

GOLDEN = [
    (f"{CV}/InsightFace_TF/figures/if_npu.log", {"option-going-away": 1412, "device-memory-used-up": 18108}),
    (ACL, {"dataset-of-texts-on-host": 4674}),
    (f"{CV}/MONODEPTH_ID2099_for_TensorFlow/test/output/2/train_2.log", {}),
    (f"{CV}/META-SGD_ID1236_for_TensorFlow/loss_perf_gpu.txt", {"host-memory-used-up": 1395}),
    (f"{CV}/InsightFace_TF/figures/if_v100_perfermance.log", {}),
    (f"{CV}/MAML_ID0755_for_TensorFlow/gpu_log.log", {}),
    (f"{CV}/MAML_ID0755_for_TensorFlow/train_log_0804.log", {}),
    (f"{CV}/CPC_ID0921_for_TensorFlow/cpc_npu.log", {}),
    (f"{CV}/PCN_ID0997_for_TensorFlow/run.log", {}),
    ("Ascend+modelzoo/contrib/Research/speech/ds-cnn/ds-cnn_tf_hw81087854/train.log", {"session-ran-without-npu": 37}),
    ("Ascend+modelzoo/contrib/Research/cv/psenet/psenet_tf_hw81087854/npu_training.log", {}),
    (PWC.format("5c32ed15"), {"sizes-disagree": 432}),
    (PWC.format("f609c0c2"), {"kernel-not-built": 434, "sizes-disagree": 544}),
    (f"{TROUBLE}/HCCL_timeout.log", {"rank-waited-in-vain": 1}),
    (f"{TROUBLE}/communication_operator_transfers_Non-contiguous_tensors.log", {"tensor-not-contiguous": 10}),
    (f"{TROUBLE}/failed_verify_op_parameters.log", {"devices-mixed": 6}),
    (f"{TROUBLE}/initialization_error.log", {"internal-error-only": 7}),
    (f"{TROUBLE}/operator_called_error.log", {"releases-do-not-match": 11}),
    (f"{TROUBLE}/unsupported_op_called.log", {"operators-fell-back-to-cpu": 1, "internal-error-only": 6}),
    (f"{TROUBLE}/port_number_distributed_task_in_use.log", {"port-taken": 2}),
    (f"{FAULTS}/st_testcase", {"rank-waited-in-vain": 2}),
    (f"{FAULTS}/st_transport_timeout_testcase", {"rank-waited-in-vain": 1}),
    (f"{FAULTS}/st_transport_init_testcase", {"error-in-process-log": 1}),
    (f"{FAULTS}/st_cqe_testcase", {"error-in-process-log": 2}),
    (ATC.format("e19010"), {"model-operator-without-parser": 3}),
    (ATC.format("ez0501"), {"operator-without-kernel": 3}),
    (ATC.format("ez3002"), {"operator-without-kernel": 3}),
    (ATC.format("ez3003"), {"operator-without-kernel": 3}),
    (ATC.format("ez9010"), {"model-operator-without-parser": 3}),
    (ATC.format("unknown"), {"unexplained-error-code": 3}),
]


def told(path: Path) -> list[Finding]:
    codes = ("NPU510", "NPU511", "NPU512", "NPU513", "NPU514", "NPU51U", "NPU51Y", "NPU51Z", "NPU538", "NPU542")
    return run(Settings(paths=(str(path),), cache=False, select=codes)).findings


@pytest.mark.parametrize(("relative", "expected"), GOLDEN, ids=[one.rpartition("/")[2] for one, _ in GOLDEN])
def test_a_real_log_says_what_an_engineer_found(relative: str, expected: dict[str, int]) -> None:
    found = told(sample(relative))
    assert {one.name: one.span.line for one in found} == expected
    assert len(found) == len(expected)


def test_findings_of_real_logs_name_what_is_concerned() -> None:
    words = {
        f"{CV}/InsightFace_TF/figures/if_npu.log": ["optypelist_for_implmode", "×133", "size:6861537792"],
        PWC.format("f609c0c2"): ["pwcnet/corr_4/concat", "up_flow6/conv2d_transpose", "should either <= 64"],
        f"{TROUBLE}/unsupported_op_called.log": ["aten::linalg_lstsq.out", "copy with same size"],
        ATC.format("ez3002"): ["Convx"],
    }
    for relative, parts in words.items():
        messages = " ".join(one.message for one in told(sample(relative)))
        assert [part for part in parts if part not in messages] == []


def test_failures_in_real_logs_lie_at_the_line_that_met_them() -> None:
    places = {
        f"{CV}/InsightFace_TF/figures/if_npu.log": ("EL0004", "train_nets.py", 179),
        f"{TROUBLE}/failed_verify_op_parameters.log": ("PT-DEVICE-MIX", "npu/test_fault_mode.py", 114),
    }
    for relative, (name, file, line) in places.items():
        (one,) = [fact for fact in events(sample(relative)) if fact.name == name]
        assert (one.get("file"), one.get("source_line")) == (file, line)


def events(path: Path) -> list[Fact]:
    facts = read_artifact(str(path), path.name)
    assert isinstance(facts, list)
    return [fact for fact in facts if fact.kind == "run_event"]


@cache
def hits() -> list[dict[str, str]]:
    """What other regular expressions found in the same logs: sample, message, first line."""
    path = sample("../knowledge/data/pattern_hits.csv")
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def judged() -> Iterator[tuple[str, dict[str, int]]]:
    table: dict[str, dict[str, int]] = {}
    for row in hits():
        if row["pattern_id"] in patterns() and patterns()[row["pattern_id"]].kind != "series":
            table.setdefault(row["sample"], {})[row["pattern_id"]] = int(row["first_line"])
    yield from table.items()


def test_every_known_message_of_the_real_logs_is_seen() -> None:
    logs = 0
    for relative, expected in judged():
        seen: dict[str, int] = {}
        for fact in events(sample(relative)):
            seen.setdefault(fact.name, fact.span.line)
        if seen:
            logs += 1
            assert {name: seen.get(name) for name in expected} == expected, relative
    assert logs > 30
