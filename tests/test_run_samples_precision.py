"""Comparisons, dumps, fusion reports and the output of precision_tool as real runs left them."""

from __future__ import annotations

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.settings import Settings
from tests.samples import sample

ATT = "Ascend+att/debug/accuracy_tools/ptdbg_ascend/test/resources/compare"
PROBE = "Ascend+msprobe"
ZOO = "Ascend+ModelZoo-TensorFlow/TensorFlow"
QUIET = (
    f"{ATT}/compare_result_20230703104808.csv",
    f"{ATT}/compare_result_without_accuracy.csv",
    f"{PROBE}/examples/quick_start/gpu_dump/step0/proc2016/dump.json",
    f"{PROBE}/test/msprobe_test/mindspore_ut/compare/dump_file/pytorch_data/dump.json",
    f"{PROBE}/test/msprobe_test/pytorch_ut/api_accuracy_checker/run_ut/dump.json",
    *(
        f"{ZOO}{folder}/fusion_result.json"
        for folder in (
            "/built-in/cv/image_classification/SqueezeNext_ID0513_For_Tensorflow",
            "/built-in/cv/image_segmentation/ModelsGenesis_ID0902_for_TensorFlow",
            "/built-in/nlp/GNMT_for_TensorFlow",
            "/built-in/nlp/RetinaNet_for_TensorFlow",
            "/contrib/cv/IEG_ID2049_for_TensorFlow/code",
            "/contrib/cv/MAML_ID0755_for_TensorFlow",
            "/contrib/cv/Polygen_ID2061_for_TensorFlow",
            "/contrib/cv/tprnn_ID1297_for_TensorFlow/post_tprnn_npu_code_chun",
            "2/built-in/cv/image_classification/ResNet50_ID0360_for_TensorFlow2.X/tensorflow",
        )
    ),
)


def told(path: str) -> list[tuple[str, int, str]]:
    result = run(Settings(paths=(str(sample(path)),), cache=False))
    assert result.unreadable == []
    return [(one.code, one.span.line, one.message) for one in result.findings]


@pytest.mark.parametrize("path", QUIET)
def test_healthy_files_are_read_and_quiet(path: str) -> None:
    assert told(path) == []


def test_what_the_precision_tool_printed() -> None:
    overflow, deviates = told("Ascend+tools/precision_tool/readme_vcs_and_ac.log")
    assert overflow[:2] == ("NPU5213", 8)
    assert "`trans_TransData_1170`" in overflow[2]
    assert "status 32" in overflow[2]
    assert deviates[:2] == ("NPU5203", 28)
    assert "0.978459" in deviates[2]
