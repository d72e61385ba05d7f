"""Codes of checks: their order, their room, and everything that reads them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Comment
from npulint.judge.catalogue.check import Check
from npulint.judge.catalogue.codes import LAST, PATTERN, code_of, distance, number_of
from npulint.judge.catalogue.collect import collect
from npulint.judge.catalogue.load import load_files
from npulint.judge.catalogue.sources import list_files
from npulint.judge.postprocess.comments import parse
from npulint.judge.postprocess.select import selected, specificity
from tests.catalogue_samples import parsed, sample, write

INTEGRATIONS = Path(__file__).parent.parent / "npulint" / "hosts" / "integrations"
ALL = [code_of("NPU11", number) for number in range(1, LAST + 1)]


def check_of(code: str) -> Check:
    return parsed(sample(code=code))


@given(st.integers(1, LAST))
def test_a_number_has_one_code(number: int) -> None:
    code = code_of("NPU11", number)
    assert number_of(code) == number
    assert re.fullmatch(PATTERN, code)


def test_codes_sort_as_they_were_given_out_and_none_begins_another() -> None:
    assert sorted(ALL) == ALL and len(set(map(len, ALL))) == 1
    assert ALL[98:101] == ["NPU1199", "NPU11A0", "NPU11A1"] and ALL[-1] == "NPU11Z9"
    assert ALL[-1] < "NPU1201"
    assert not re.fullmatch(PATTERN, "NPU11I0") and not re.fullmatch(PATTERN, "NPU11O0")


def test_near_codes_are_near() -> None:
    assert distance("NPU1109", "NPU1110") == distance("NPU1199", "NPU11A0") == distance("NPU1201", "NPU1202") == 1
    assert distance("NPU1199", "NPU1201") == 2


@pytest.mark.parametrize("code", ["NPU11A0", "NPU1110"])
def test_a_prefix_selects_a_category_and_a_code_one_check(code: str) -> None:
    check = check_of(code)
    for word in ("NPU", "npu1", "NPU11", code, code.lower()):
        assert selected(check, (word,), (), ())
    for other in ("NPU12", "NPU1111", "NPU11B", "NPU11A1", "NPU2"):
        assert not selected(check, (other,), (), ())
    assert specificity(code, check) == 100
    assert specificity("NPU111", check_of("NPU11A0")) == 0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# noqa: NPU11A0", ("NPU11A0",)),
        ("# noqa: E501,NPU1101, npu11a0", ("NPU1101", "npu11a0")),
        ("# noqa: NPU11012", ("NPU11012",)),
        ("# noqa: NPU1101E501", ("NPU1101",)),
        ("# npulint: ignore[NPU11A0]", ("NPU11A0",)),
        ("# npulint: ignore[NPU1101, NPU11A0]", ("NPU1101", "NPU11A0")),
    ],
)
def test_comments_name_codes_with_letters(text: str, names: tuple[str, ...]) -> None:
    assert [one.names for one in parse(Comment(3, False, text), 4)] == [names]


def test_files_examples_and_lists_of_retired_codes_take_them(tmp_path: Path) -> None:
    write(tmp_path, "tensorflow/own.yaml", sample(code="NPU11B7"))
    (check,) = load_files([str(tmp_path)]).checks
    assert check.code == "NPU11B7"
    write(tmp_path, "retired.txt", "NPU11C1 merged\n")
    assert [one.code for one in collect(list_files([str(tmp_path)]), alone=True).checks] == ["NPU11B7"]


@pytest.mark.parametrize("name", ["vscode-tasks.json", "github-matcher.json"])
def test_problem_matchers_take_them(name: str) -> None:
    found = re.findall(r'"regexp": ("\^.*\$")', (INTEGRATIONS / name).read_text(encoding="utf-8"))
    patterns = [re.compile(json.loads(text)) for text in found if "NPU" in text]
    severities = {"error", "warning", "note"}
    for code in ("NPU1101", "NPU11A0"):
        lines = [f"a.py:3:4: {severity}: it is bad [a-name] ({code})" for severity in sorted(severities)]
        assert all(any(pattern.search(line) for pattern in patterns) for line in lines), code
