"""The recorded step in every format: tables, JSON keys, SARIF properties, and the picture."""

from __future__ import annotations

import json
from typing import Any

import pytest

from npulint.judge.findings import RunResult
from npulint.judge.summaries.step_summary import StepMemory, StepPicture, StepStretch, StepSummary
from npulint.report.step import words
from npulint.report.view import ReportView, render
from tests.html_support import by_id, text_of, tree, with_class
from tests.step_support import GIB, RESULT


def rendered(format_name: str, lang: str = "en", result: RunResult = RESULT) -> str:
    return render(format_name, result, ReportView(lang=lang))


def test_json_has_the_documented_keys() -> None:
    record = json.loads(rendered("json"))["step"]
    assert set(record) == {
        *("name", "steps", "ended", "counts", "runs", "operators", "waits", "waits_per_step", "shapes", "memory"),
        *("static", "differences", "notes", "picture"),
    }
    assert record["runs"] == {"cpu": 3, "npu": 4, "decomposed": 2} and record["waits_per_step"] == 2.5
    assert record["memory"]["classes"]["parameters"] == GIB and record["memory"]["fits"] == "yes"
    assert sum(record["memory"]["classes"].values()) == record["memory"]["peak"]
    assert record["waits"][0]["cause"] == "bool" and record["shapes"][0]["shapes"] == [[8, 128], [8, 97]]
    assert {one["status"] for one in record["static"]} == {"confirmed", "contradicted", "missed", "open"}
    (line,) = [one for one in map(json.loads, rendered("jsonl").splitlines()) if one["kind"] == "step"]
    assert line["picture"]["operators"] == 8
    of_run = json.loads(rendered("sarif"))["runs"][0]["properties"]["step"]
    assert of_run["memory"]["peak"] == 3 * GIB and "picture" not in of_run


@pytest.mark.parametrize("format_name", ["json", "jsonl", "sarif", "text", "markdown", "html"])
def test_without_a_step_nothing_of_it_is_shown(format_name: str) -> None:
    text = rendered(format_name, result=RunResult())
    assert "stepped" not in text and '"step"' not in text and "The recorded step" not in text


WORDS: dict[str, list[str]] = {
    "en": [
        "NPU 4, decomposes 2",
        "torchvision/ops/boxes.py:41 in nms",
        "waits for the device 2.5 times",
        "if, bool()",
        "(8, 128) → (8, 97)",
        "3 GiB of the 64 GiB of a 910B (assumed; a 910B4 has 32 GiB)",
        "confirmed",
        "contradicted",
        "not reached",
        "Ended after 2 steps.",
        "It waits.",
        "train.py:30",
    ],
    "zh": ["每步 Host 等待 Device 2.5 次", "优化器状态", "已证实", "与运行不符", "峰值 3 GiB", "未覆盖：shapes"],
}


@pytest.mark.parametrize("lang", WORDS)
@pytest.mark.parametrize("format_name", ["text", "markdown", "html"])
def test_formats_for_people_have_all_tables(format_name: str, lang: str) -> None:
    text = rendered(format_name, lang)
    if format_name == "html":
        text = text_of(tree(text))
    plain = text.replace("`", "").replace("[", "").replace("\\", "")
    assert [word for word in WORDS[lang] if word not in plain] == []
    assert "unfused-optimizer" not in plain, "the run does not decide it"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_picture_has_a_row_for_each_place_and_links_to_findings(lang: str) -> None:
    root = tree(rendered("html", lang))
    section = by_id(root, "step")
    strips = [one for one in section.iter() if one.get("class") == "strip"]
    assert len(strips) == 3 and all(one.get("role") == "img" and one.get("aria-label") for one in strips)
    assert [one.get("class") for one in strips[0] if str(one.tag).endswith("rect")] == ["run-npu", "run-decomposed"]
    assert [str(one.tag).rpartition("}")[2] for one in strips[1] if one.get("class") == "wait"] == ["line", "circle"]
    areas = [one.get("class") for one in section.iter() if str(one.tag).endswith("}path") or one.tag == "path"]
    assert areas == ["mem-other", "mem-activations", "mem-optimizer", "mem-gradients", "mem-parameters"]
    links = {one.get("href"): text_of(one) for one in section.iter() if one.tag == "a"}
    assert set(links.values()) == {"train.py:20"} and all(href and href.startswith("#f-") for href in links)
    assert with_class(root, "legend")


def test_a_long_step_is_cut() -> None:
    stretches = tuple(
        StepStretch("train.py", number, f"f{number}", "forward", number, number + 1, {"npu": 1})
        for number in range(300)
    )
    step = StepSummary("x", picture=StepPicture(300, stretches))
    root = tree(rendered("html", result=RunResult(step=step)))
    strips = [one for one in by_id(root, "step").iter() if one.get("class") == "strip"]
    assert len(strips) == 25 and "276 other places" in text_of(by_id(root, "step"))


def test_sizes_and_fits() -> None:
    assert [words.size(one) for one in (0, 1023, 1024, 1536, 5 << 30)] == ["0 B", "1023 B", "1 KiB", "1.5 KiB", "5 GiB"]
    tight: Any = StepMemory(60 * GIB, chip="910B", capacity=64 * GIB, fits="tight")
    assert "workspaces" in words.fits(tight, "en") and "没有 950 的内存数据" in words.fits(
        StepMemory(1, chip="950"), "zh"
    )
