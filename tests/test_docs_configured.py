"""The pages for configured training: their samples, and their tables of arguments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from npulint.data.training_arguments import argument_rules
from scripts.docsite.arguments import FRAMEWORKS, arguments, starts
from tests.test_examples_sample import check

ROOT = Path(__file__).parent.parent
SAMPLES = ("llamafactory", "swift", "verl", "trainer", "lightning", "megatron")
PAGES = ("configured-training", *(f"run-{page}" for page in FRAMEWORKS))
_CODE = re.compile(r"<!-- (?:file|table): \S+ -->|^## .*(\{ #[\w-]+ \})$", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_for_gpus_is_reported_and_its_counterpart_is_not(sample: str) -> None:
    assert any(one["severity"] in ("error", "warning") for one in check(f"configured/{sample}"))
    finished = check(f"configured/{sample}_npu", "--min-severity", "note")
    assert [one for one in finished if one["severity"] != "note"] == []
    assert {one["name"] for one in finished} <= {"unfused-optimizer"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_same_parts_in_both_languages(page: str) -> None:
    texts = [(ROOT / "docs" / lang / f"{page}.md").read_text(encoding="utf-8") for lang in ("en", "zh")]
    english, chinese = ([match[1] or match[0] for match in _CODE.finditer(text)] for text in texts)
    assert english == chinese
    assert len(english) > 3


@pytest.mark.parametrize("page", FRAMEWORKS)
def test_the_table_of_a_page_has_every_argument_that_means_something(page: str) -> None:
    for lang in ("en", "zh"):
        text = arguments(page, lang)
        for framework in FRAMEWORKS[page]:
            named = {rule.argument for rule in argument_rules(framework) if rule.effect != "fine"}
            assert {name for name in named if f"| `{name}` |" not in text} == set()


def test_rows_of_the_tables_lead_to_the_check_that_reports_them() -> None:
    rows = arguments("trainer", "en").split("\n")
    leading = {row.split(" | ")[0]: row for row in rows if row.startswith("| `tf32`") or row.startswith("| `optim`")}
    assert "../checks/tf32-configured.md" in leading["| `tf32`"]
    assert any("../checks/bitsandbytes-optimizer-configured.md" in row for row in rows if row.startswith("| `optim`"))
    assert any("../checks/quantised-by-bitsandbytes.md" in row for row in rows if "load_in_4bit" in row)


def test_the_table_of_starts_names_commands_and_keys() -> None:
    text = starts("en")
    assert "`swift sft`" in text and "`actor_rollout_ref`" in text and "`accelerate`" in text
