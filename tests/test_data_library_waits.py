"""The tables of libraries that make the host wait, and of the memory of chips."""

from __future__ import annotations

import re

import pytest

from npulint.data.chips import CHIPS, MEMORIES, chip_memory
from npulint.data.library_waits import library_wait, library_waits

_NORMAL = "torch/distributions/normal.py:57 in Normal.__init__"


@pytest.mark.parametrize("row", library_waits(), ids=lambda row: f"{row.frame} {row.function}")
def test_every_row_has_both_languages_and_a_source(row: object) -> None:
    texts = [getattr(row, name) for name in ("why_en", "why_zh", "remedy_en", "remedy_zh")]
    assert all(text[-1] in ".。" for text in texts)
    assert all(re.search("[\u4e00-\u9fff]", text) for text in texts[1::2])
    assert not any(re.search("[\u4e00-\u9fff]", text) for text in texts[::2])
    assert all(text.count("`") % 2 == 0 for text in texts)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+:[\w./-]+\.py", str(getattr(row, "source")))  # noqa: B009
    re.compile(str(getattr(row, "frame")))  # noqa: B009


@pytest.mark.parametrize(
    ("frames", "cause", "says"),
    [
        (["torch/amp/grad_scaler.py:371 in GradScaler._maybe_opt_step"], "found_inf", "bfloat16"),
        (["torch/distributions/distribution.py:76 in Distribution.__init__", _NORMAL], "bool", "validate_args=False"),
        (["torch/nn/utils/clip_grad.py:109 in _get_total_norm"], "bool", "error_if_nonfinite"),
        (
            ["torch/optim/optimizer.py:99 in _get_value", "torch/optim/adam.py:528 in _single_tensor_adam"],
            "item",
            "capturable",
        ),
        (["torch/optim/lbfgs.py:400 in LBFGS.step"], "float", "max_iter"),
        (["transformers/trainer.py:1919 in Trainer._run_epoch"], "bool", "logging_nan_inf_filter=False"),
        (["transformers/trainer.py:2257 in Trainer._maybe_log_save_evaluate"], "item", "logging_steps=100"),
        (["transformers/trainer.py:2257 in _maybe_log_save_evaluate"], "item", "logging_steps=100"),
        (["pytorch_lightning/loops/utilities.py:46 in check_finite_loss"], "bool", "detect_anomaly=False"),
        (["lightning/pytorch/loops/utilities.py:46 in check_finite_loss"], "bool", "detect_anomaly=False"),
        (["lightning_fabric/utilities/apply_func.py:134 in convert_tensors_to_scalars.to_item"], "item", "prog_bar"),
        (["accelerate/utils/operations.py:468 in pad_across_processes"], "item", "Gather metrics"),
        (["torchvision/models/detection/generalized_rcnn.py:104 in GeneralizedRCNN.forward"], "bool", "data set"),
        (
            ["torchvision/models/detection/roi_heads.py:620 in RoIHeads.subsample"],
            "nonzero",
            "rpn_post_nms_top_n_train",
        ),
        (["mylib/inner.py:4 in f", "torchmetrics/functional/x.py:3 in g"], "bool", "validate_args=False"),
    ],
)
def test_known_libraries(frames: list[str], cause: str, says: str) -> None:
    found = library_wait(frames, cause)
    assert found is not None and says in found.remedy("en") and found.remedy("zh") != found.remedy("en")


def test_other_frames_are_not_known() -> None:
    assert library_wait(["mylib/trainer.py:4 in train"], "bool") is None
    assert library_wait(["mytransformers/trainer.py:4 in train"], "bool") is None
    assert library_wait([], "item") is None and library_wait(["no frame"], "item") is None


def test_chips_have_memory_from_a_source() -> None:
    assert all(one.source and one.capacity == one.gib << 30 for one in MEMORIES)
    known = {chip.name: chip_memory(chip.name) for chip in CHIPS}
    assert {name: found.gib for name, found in known.items() if found} == {
        "910B": 64,
        "910C": 64,
        "910A": 32,
        "310P": 24,
    }
    assert chip_memory("Ascend910B4") == MEMORIES[1] and chip_memory("") is None and chip_memory("950") is None
