"""Values of options, from the command line and from configuration."""

from __future__ import annotations

from typing import Any

import pytest

from npulint.commands.settings.options import OPTIONS, InvalidOption, from_table, from_words, soc_family

BY_NAME = {option.name: option for option in OPTIONS}


@pytest.mark.parametrize(
    ("name", "words", "value"),
    [
        pytest.param("select", ["NPU1,dropout", " topk "], ("NPU1", "dropout", "topk"), id="lists unite and split"),
        pytest.param("select", [","], (), id="a list of nothing is empty"),
        pytest.param("checks", ["a,b", "c"], ("a,b", "c"), id="folders may hold commas"),
        pytest.param("target", ["torch=2.7", "cann=8.0.RC3"], {"torch": "2.7", "cann": "8.0.RC3"}, id="a map"),
        pytest.param("target", ["cann=7.0.RC1.alpha003"], {"cann": "7.0.RC1.alpha003"}, id="a CANN alpha"),
        pytest.param("target", ["torch=2.1.0+cpu"], {"torch": "2.1.0+cpu"}, id="a local version"),
        pytest.param("target", ["torch=1.8", "torch=2.1"], {"torch": "2.1"}, id="the last version given counts"),
        pytest.param("output", ["json=a=b.json"], (("json", "a=b.json"),), id="a file name may hold ="),
        pytest.param("jobs", ["3", "4"], 4, id="the last number given counts"),
        pytest.param("lang", ["zh"], "zh", id="a choice"),
    ],
)
def test_words_become(name: str, words: list[str], value: object) -> None:
    assert from_words(BY_NAME[name], words, "en") == value


@pytest.mark.parametrize(
    ("name", "words", "complaint"),
    [
        pytest.param("min_severity", ["eror"], "did you mean `error`", id="misspelled choice"),
        pytest.param("min_severity", ["\u4e2d"], "is not one of note, warning, error", id="choice like nothing"),
        pytest.param("target", ["tensorflw=1.15"], "did you mean `tensorflow`", id="misspelled key"),
        pytest.param("target", ["torch"], "form KEY=VALUE", id="no value"),
        pytest.param("target", ["torch=two"], "does not look like a version", id="no version"),
        pytest.param("target", ["framework=pytorch"], "did you mean `torch`", id="unknown framework"),
        pytest.param("target", ["soc=../x"], "SoC name", id="no SoC name"),
        pytest.param("target", ["soc=910X"], "910B, A2, 910C, A3, 910A", id="a chip that does not exist"),
        pytest.param("target", ["soc=901B"], "did you mean `910B`", id="a misspelt chip"),
        pytest.param("target", ["soc=910X"], r"Atlas 800T A2$", id="a chip like several"),
        pytest.param("target", ["soc=atlas"], "910B, A2, 910C, A3, 910A", id="a product without its generation"),
        pytest.param("output", ["jsn=x"], "did you mean `json`", id="unknown format"),
        pytest.param("exclude", ["build,a/*a*a*a"], "too many wildcards", id="costly pattern"),
        pytest.param("jobs", ["-1"], "non-negative integer", id="negative number"),
        pytest.param("jobs", ["\u0663"], "non-negative integer", id="digits of another script"),
        pytest.param("config", [""], "is empty", id="empty text"),
        pytest.param("docs_url", ["javascript:alert(1)"], "not an http or https URL", id="a script for a link"),
        pytest.param("docs_url", ["https://host/ x"], "not an http or https URL", id="an address with a space"),
    ],
)
def test_words_are_refused(name: str, words: list[str], complaint: str) -> None:
    with pytest.raises(InvalidOption, match=complaint):
        from_words(BY_NAME[name], words, "en")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        pytest.param("select", "NPU1", "a list of strings", id="text for a list"),
        pytest.param("select", ["a", 1], "a list of strings", id="number in a list"),
        pytest.param("select", [""], "a list of strings", id="empty text in a list"),
        pytest.param("statistics", 1, "true or false", id="number for a flag"),
        pytest.param("jobs", True, "an integer", id="flag for a number"),
        pytest.param("jobs", -2, "non-negative integer", id="negative number"),
        pytest.param("lang", 3, "a string", id="number for a choice"),
        pytest.param("target", ["torch=2"], "a table", id="list for a table"),
        pytest.param("docs_url", "data:text/html,x", "not an http or https URL", id="data for a link"),
        pytest.param("docs_url", 3, "a string", id="number for a link"),
        pytest.param("target", {"tensorflow": 2.10}, 'must be quoted: tensorflow = "2.1"', id="a version as a float"),
        pytest.param("target", {"torch": "2.1", "tf": "2"}, "`tf` is not one of", id="unknown key of a table"),
    ],
)
def test_configured_values_of_a_wrong_kind_are_refused(name: str, value: Any, complaint: str) -> None:
    with pytest.raises(InvalidOption, match=complaint):
        from_table(BY_NAME[name], value, "en")


@pytest.mark.parametrize(
    ("soc", "family"),
    [
        pytest.param("Ascend910B1", "910B", id="a member of 910B"),
        pytest.param("910b", "910B", id="lower case"),
        pytest.param("Ascend310P3", "310P", id="a member of 310P"),
        pytest.param("ascend-910A", "910A", id="with a hyphen"),
        pytest.param("910", "910", id="plain 910 stays"),
        pytest.param("a2", "A2", id="a generation"),
        pytest.param("Atlas 800T A2", "A2", id="a product"),
        pytest.param("Ascend910_9391", "910_9391", id="a member of 910C"),
        pytest.param("Ascend310B4", "310B", id="a chip on which nobody trains"),
    ],
)
def test_a_soc_is_named_by_its_family(soc: str, family: str) -> None:
    assert soc_family(soc) == family
    assert from_words(BY_NAME["target"], [f"soc={soc}"], "en") == {"soc": family}
