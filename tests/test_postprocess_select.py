"""The decision between select, extend-select and ignore."""

from __future__ import annotations

import pytest

from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.select import selected, specificity, unknown
from tests.surface_support import finding

RULE = finding()  # NPU1301 native-dropout, topic dropout, category performance
OTHER = finding(code="NPU1102", name="fp16-without-loss-scale", topic="loss_scale", category="precision")


@pytest.mark.parametrize(
    ("select", "extend", "ignore", "speaks"),
    [
        pytest.param("", "", "", True, id="everything speaks by default"),
        pytest.param("NPU1301", "", "", True, id="by code"),
        pytest.param("npu1301", "", "", True, id="by code in lower case"),
        pytest.param("native-dropout", "", "", True, id="by name"),
        pytest.param("dropout", "", "", True, id="by topic"),
        pytest.param("performance", "", "", True, id="by category"),
        pytest.param("NPU13", "", "", True, id="by prefix"),
        pytest.param("all", "", "NPU2", True, id="by all"),
        pytest.param("NPU2", "", "", False, id="another family is not selected"),
        pytest.param("NPU2", "native-dropout", "", True, id="extended by name"),
        pytest.param("", "NPU2", "", True, id="extending the default takes nothing away"),
        pytest.param("", "", "NPU1", False, id="ignored by prefix"),
        pytest.param("", "", "performance", False, id="ignored by category"),
        pytest.param("", "", "all", False, id="all ignored"),
        pytest.param("NPU1", "", "NPU13", False, id="the longer prefix wins: ignore"),
        pytest.param("NPU130", "", "NPU13", True, id="the longer prefix wins: select"),
        pytest.param("NPU1301", "", "native-dropout", False, id="a tie is ignored"),
        pytest.param("dropout", "", "performance", True, id="a topic beats a category"),
        pytest.param("dropout", "", "NPU13", False, id="a prefix of two digits beats a topic"),
        pytest.param("performance", "", "NPU1", True, id="a category beats a family"),
        pytest.param("", "NPU1301", "NPU1", True, id="extension revives one of an ignored family"),
        pytest.param("NPU", "", "all", True, id="NPU beats all"),
    ],
)
def test_decision(select: str, extend: str, ignore: str, speaks: bool) -> None:
    assert selected(RULE, select.split(), extend.split(), ignore.split()) is speaks


@pytest.mark.parametrize("word", ["NP", "1301", "NPU13011", "drop", "", "native", "x"])
def test_what_names_nothing(word: str) -> None:
    assert specificity(word, RULE) == 0


def test_a_topic_may_be_written_with_hyphens() -> None:
    assert specificity("loss-scale", OTHER) == specificity("loss_scale", OTHER) > 0


def test_unknown_words_come_with_the_nearest_known_one() -> None:
    words = ["all", "NPU1", "native-dropuot", "qqqqqqq", "native-dropuot"]
    assert unknown(words, [RULE, OTHER, *ENGINE_RULES]) == [("native-dropuot", "native-dropout"), ("qqqqqqq", "")]
