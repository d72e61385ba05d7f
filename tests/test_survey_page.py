"""The dashboard of a survey as HTML."""

from __future__ import annotations

import json
from typing import Any

import pytest

from npulint.survey.dashboard.page import page
from npulint.survey.model import Summed
from tests.html_support import EVIL, by_id, text_of, tree, with_class
from tests.survey_support import broken, large, row, summed

BLOCKED = {"verdict": "blocked", "errors": 3}


@pytest.fixture
def three() -> Summed:
    """Two blocked projects, of which one has two blockers, and one that is ready."""
    return summed(
        row("a", **BLOCKED, blockers=("NPU1", "NPU2"), effort_low=1.0, effort_mid=2.0, effort_high=4.0),
        row("b", **BLOCKED, blockers=("NPU2",)),
        row("c", verdict="ready"),
        broken("d", "clone", "no such repository"),
        names={"NPU1": "one", "NPU2": "two"},
    )


def _data(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text_of(by_id(tree(text), "data")))
    return found


def test_blockers_tell_what_their_fix_unblocks(three: Summed) -> None:
    found = [(one.code, one.projects, one.alone) for one in three.blockers()]
    assert found == [("NPU2", 2, 1), ("NPU1", 1, 0)]


def test_totals_are_those_of_checked_projects(three: Summed) -> None:
    totals = three.totals()
    assert (totals.projects, totals.failed, totals.errors) == (4, 1, 6)
    assert totals.verdicts == {"blocked": 2, "ready": 1}
    assert totals.effort == (1.0, 2.0, 4.0)


def test_without_effort_there_is_no_column_for_it() -> None:
    nothing = {"effort_low": None, "effort_mid": None, "effort_high": None}
    text = page(summed(row("a", verdict="unused", **nothing)), "en")
    assert [one.get("data-column") for one in tree(text).iter("th") if one.get("data-column") == "effort"] == []
    assert "mid" not in _data(text)["projects"][0]


def test_the_page_has_the_projects_as_data(three: Summed) -> None:
    data = _data(page(three, "en"))
    first, *_, last = data["projects"]
    assert (first["n"], first["b"], first["mid"]) == ("a", [0, 1], 2.0)
    assert data["verdicts"][last["v"]] == ["failed", "Could not be checked"]
    assert last["why"] == "git could not clone it (no such repository)"


def test_the_page_is_the_same_each_time_and_loads_nothing(three: Summed) -> None:
    text = page(three, "en")
    assert text == page(three, "en")
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text


def test_the_page_in_chinese(three: Summed) -> None:
    root = tree(page(three, "zh"))
    assert root.get("lang") == "zh-CN"
    assert text_of(root.find(".//h1")) == "工程 NPU 就绪情况总览"
    words = [text_of(one) for one in with_class(root, "chip")]
    assert [word.strip() for word in words] == ["已就绪 1", "有错误，或训练不会在 NPU 上运行 2", "未能检查 1"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_texts_stay_texts(lang: str) -> None:
    evil = row(EVIL, source=EVIL, commit="", frameworks=(EVIL,), blockers=(EVIL,), verdict="blocked")
    text = page(summed(evil, broken(EVIL + "2", "configuration", EVIL), names={EVIL: EVIL}), lang)
    root = tree(text)
    assert [one.tag for one in root.iter() if one.tag in ("img", "pre")] == []
    assert len(list(root.iter("script"))) == 2 and len(list(root.iter("title"))) == 1
    data = json.loads(text_of(by_id(root, "data")))
    assert "<img src=x onerror=alert(1)>" in data["projects"][0]["n"] and "\x1b" not in data["projects"][0]["n"]
    assert [("\x1b" in name, "\u202e" in name, "<img" in name) for name in data["checks"][0]] == [
        (False, False, True)
    ] * 2


def test_the_data_of_a_large_fleet_is_small() -> None:
    assert len(page(large(2000), "en")) < 900_000
