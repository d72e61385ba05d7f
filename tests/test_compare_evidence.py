"""What a comparison saw of each part on both sides, and where it looks for the parts."""

from __future__ import annotations

from typing import Any

import pytest

from npulint.commands.compare.compare_command import compare_sources
from npulint.commands.compare.evidence import PartEvidence, evidence
from npulint.data.compare_parts import known_arguments, part_sources, parts_by_name
from npulint.data.recipe import setting_parts
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.model import Span
from npulint.facts.recipe import ITEM_OF, ITEMS
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import ComparedItem
from scripts.compare_parts import page, with_table

LEFT, RIGHT = SideValue("1", "a.py", Span()), SideValue("2", "b.py", Span())
SCRIPT = """\
import torch

loader = torch.utils.data.DataLoader(torch.load("train.pt"), batch_size=32, shuffle=True)
model = torch.nn.Linear(64, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, labels in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
"""


def of_part(part: str, *rows: Difference, left: bool = True, right: bool = True) -> PartEvidence:
    """The evidence of a part that the sides have or not."""
    sides = ({part: LEFT} if left else {}), ({part: RIGHT} if right else {})
    return next(one for one in evidence(rows, *sides) if one.part == part)


def row(part: str, change: str, **attrs: Any) -> Difference:
    return Difference(part, change, "x", "", LEFT, RIGHT, **attrs)


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        ((row("autocast", "none"),), "same"),
        ((row("autocast", "none"), row("autocast", "changed")), "differs"),
        ((row("autocast", "none"), row("autocast", "changed", certain=False)), "unknown"),
        ((row("autocast", "none"), row("autocast", "added", adapter=True)), "note"),
        ((), "found"),
    ],
)
def test_the_worst_row_decides(rows: tuple[Difference, ...], answer: str) -> None:
    one = of_part("autocast", *rows)
    assert (one.answer, one.reference, one.migrated) == (answer, LEFT, RIGHT)


def test_what_only_one_side_has_is_unknown_and_what_none_has_is_unused() -> None:
    assert of_part("loss_scale", right=False).answer == "unknown"
    assert of_part("loss_scale", left=False).answer == "unknown"
    assert of_part("loss_scale", left=False, right=False).answer == "unused"
    assert of_part("layer", left=False).answer == "found"  # code that has no counterpart is told as such


def test_both_sides_turn_it_off() -> None:
    off = Difference(
        "autocast", "none", "--amp", "", SideValue("False", "a.py", Span()), SideValue("False", "b.py", Span())
    )
    assert of_part("autocast", off, left=False, right=False).answer == "unused"


def test_every_part_has_a_place_where_it_is_looked_for() -> None:
    assert {(one.item, one.part) for one in part_sources()} == {(item, part) for part, item in ITEM_OF.items()}
    order: list[str] = list(ITEMS)
    assert [one.item for one in part_sources()] == sorted((one.item for one in part_sources()), key=order.index)


def test_settings_of_the_adapter_are_those_that_are_compared() -> None:
    parts = setting_parts()
    assert {name: parts.get(name) for name in parts_by_name("adapter")} == parts_by_name("adapter")


def test_defaults_are_plain_values() -> None:
    arguments = known_arguments()
    assert (arguments["bf16"].default, arguments["num_train_epochs"].default) == (False, 3.0)
    assert (arguments["learning_rate"].default, arguments["optim"].default) == (5e-5, "adamw_torch")
    assert not arguments["max_train_samples"].has_default


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_has_the_table(lang: str) -> None:
    text = page(lang).read_text(encoding="utf-8")
    assert with_table(text, lang) == text, "python -m scripts.compare_parts"
    assert "`ACL_PRECISION_MODE`" in text
    assert "`nproc_per_node`" in text


def items(reference: str, migrated: str) -> dict[str, ComparedItem]:
    sources = {"reference/train.py": reference, "migrated/train.py": migrated}
    comparison = compare_sources(sources, {}, load_catalogue((), whole=False)).comparison
    assert comparison is not None
    return {item.item: item for item in comparison.pairs[0].items}


def test_the_items_keep_what_was_seen() -> None:
    found = items(SCRIPT, SCRIPT)
    (size,) = [part for part in found["hyperparameters"].parts if part.part == "batch_size"]
    assert size.answer == "same"
    assert size.reference is not None
    assert size.migrated is not None
    assert (size.reference.path, size.reference.span.line) == ("reference/train.py", 3)
    assert (size.migrated.path, size.migrated.span.line) == ("migrated/train.py", 3)
    unused = {name for name, item in found.items() if item.status == "unused"}
    assert unused == {"reference_mixed_precision", "mixed_precision", "loss_scale", "sharding"}


def test_float16_on_one_side_is_not_unused() -> None:
    found = items(SCRIPT, SCRIPT.replace("Linear(64, 10)", "Linear(64, 10).half()"))
    assert found["mixed_precision"].status != "unused"
    assert found["reference_mixed_precision"].status == "unused"
