"""Pitfalls of field reports that logs and profiles show, in the formats of usual scripts and the layouts of tools."""

from __future__ import annotations

from functools import cache

import pytest

from npulint.commands.examples import judge
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from tests.seed_rows.logs import FORMATS, LAYOUTS, Step, log, profile, steps
from tests.seed_rows.sources import Files

STEPS = 400
LOSSES = [2.3 / (1 + number / 50) + 0.1 for number in range(STEPS)]
SAME = [65536.0] * STEPS
TIMES = [0.2] * STEPS


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def spoken(files: Files, *names: str) -> list[str]:
    return [found.path for found in judge(files, {}, catalogue()) if found.name in names]


def falling(every: int, first: int = 20) -> list[float]:
    """A loss scale that is halved every so many steps, and doubled between."""
    scale, found = 65536.0, []
    for number in range(STEPS):
        scale = scale / 2 if number >= first and number % every == 0 else scale
        scale = scale * 2 if number > first and number % every == every // 2 else scale
        found.append(scale)
    return found


RUNS: dict[str, tuple[str, list[Step], list[Step]]] = {
    "row12: a stall every 50 steps": (
        "stall-every-few-steps",
        steps(LOSSES, SAME, [20.0 if number and number % 50 == 0 else 0.2 for number in range(STEPS)]),
        steps(LOSSES, SAME, TIMES),
    ),
    "row17: the loss scale falls to 1": (
        "loss-scale-collapsed",
        steps(LOSSES, [max(65536.0 / 2 ** max(0, number - 100), 1.0) for number in range(STEPS)], TIMES),
        steps(LOSSES, [65536.0 if number < 5 else 32768.0 for number in range(STEPS)], TIMES),
    ),
    "row17: overflows in two percent of the steps": (
        "loss-scale-keeps-falling",
        steps(LOSSES, falling(40), TIMES),
        steps(LOSSES, [65536.0 if number < 5 else 32768.0 for number in range(STEPS)], TIMES),
    ),
}


@pytest.mark.daily
@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("name", RUNS)
def test_what_a_log_shows_is_reported_in_every_format(name: str, style: str) -> None:
    check, bad, good = RUNS[name]
    assert spoken({"train.log": log(bad, style)}, check) == ["train.log"]
    assert spoken({"train.log": log(good, style)}, check) == []


APEX = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}"
DROPS = {
    "apex": APEX,
    "apex on NPU": "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to {}",
    "print": "loss_scale: {}",
    "print of numpy": "loss scale = [{}]",
    "logging": "2024-06-01 12:00:00,123 - train - INFO - loss_scale {}",
    "tf.logging": "INFO:tensorflow:loss_scale = {}",
    "ModelArts": "[ModelArts Service Log]2024-06-01 12:00:00,123 - INFO - loss scale: {}",
    "DeepSpeed": "[2024-06-01 12:00:00,123] [INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 "
    "Skipping step. Attempted loss scale: {}, reducing to {}",
}


@pytest.mark.parametrize("style", DROPS)
def test_a_collapse_is_reported_in_every_message(style: str) -> None:
    message = DROPS[style]
    lines = ["Using NPU device 0", *(f"step {number}: loss 2.5" for number in range(60))]
    falls = [message.format(*[2.0**power] * message.count("{}")) for power in range(15, -1, -1)]
    files = {"train.log": "\n".join([*lines, *falls]) + "\n"}
    assert spoken(files, "loss-scale-collapsed") == ["train.log"]
    one = {"train.log": "\n".join([*lines, falls[0], *lines[1:]]) + "\n"}
    assert spoken(one, "loss-scale-collapsed", "loss-scale-keeps-falling") == []


@pytest.mark.parametrize("style", FORMATS)
def test_a_run_that_is_worse_with_fusion_is_reported(style: str) -> None:
    with_fusion = steps([0.9 + 1.6 * 0.8**number for number in range(STEPS)], SAME, TIMES)
    without = steps([0.2 + 2.3 * 0.8**number for number in range(STEPS)], SAME, TIMES)
    passes = '{"SoftmaxFusionPass": {"match_times": "4", "effect_times": "4"}}'
    result = f'{{"graph_fusion": {passes}, "session_and_graph_id": "0_0"}}\n'
    none = '{"graph_fusion": {}, "session_and_graph_id": "0_0"}\n'
    switches = '{"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}\n'
    on = {"on/train.log": log(with_fusion, style), "on/fusion_result.json": result}
    off = {"off/fusion_switch.cfg": switches, "off/fusion_result.json": none}
    assert spoken({**on, **off, "off/train.log": log(without, style)}, "worse-with-fusion") == ["on/train.log"]
    assert spoken({**on, **off, "off/train.log": log(with_fusion, style)}, "worse-with-fusion") == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sum_on_one_core_is_reported_in_every_layout(layout: str) -> None:
    check = "half-precision-sum-on-one-core"
    assert len(spoken({**profile(layout, "DT_FLOAT16", 1)}, check)) == 1
    assert spoken({**profile(layout, "DT_FLOAT16", 24)}, check) == []
    assert spoken({**profile(layout, "DT_FLOAT", 1)}, check) == []


COMPARED = (
    "Index,OpSequence,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,OverFlow,CosineSimilarity,"
    "MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,KullbackLeiblerDivergence,StandardDeviation,"
    "MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,CompareFailReason"
)
PLACES = (
    "precision_data/temp/vector_compare/20240601120000/result_20240601120001.csv",
    "result_20240601120001.csv",
    "compare/result_20240601120001.csv",
    "precision_data/npu/debug_0/result_20240601120001.csv",
    "output/20240601/result_20240601120001.csv",
    "msaccucmp/result_20240601120001.csv",
    "dump_compare/20240601120000/result_20240601120001.csv",
    "vector_compare/result_20240601120001.csv",
)


def compared(cosine: str) -> str:
    """A comparison of dumps with the cosine of one operator."""
    rest = "0.1,0.02,0.03,0.001,(0.01;0.2),0.01,0.02,0.01,0.01,"
    rows = []
    for number, (kind, name, value) in enumerate(
        [("Conv2D", "conv", "0.99998"), ("RealDiv", "norm/truediv", cosine)], 1
    ):
        same = f"{number},{number},{kind},{name},float32,NaN,{name},float32,NaN"
        rows += [
            f"{same},{name}:input:0,[32;64],NO,0.99998,{rest}",
            f"{same},{name}:output:0,[32;64],NO,{value},{rest}",
        ]
    return "\n".join([COMPARED, *rows]) + "\n"


@pytest.mark.parametrize("place", PLACES)
def test_a_deviating_operator_is_reported_wherever_the_comparison_is(place: str) -> None:
    checks = ("operator-deviates-from-reference", "operator-deviates-under-mixed-precision")
    assert spoken({place: compared("0.9105")}, *checks) == [place]
    assert spoken({place: compared("0.99991")}, *checks) == []
