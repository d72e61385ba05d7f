"""A readiness list beside a reference: what the comparison tells is no longer left open."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.commands.compare.compare_command import add_comparison
from npulint.judge.settings import Settings
from tests.test_compare_steps import TORCH

_ASKED = ("dataset", "preprocessing", "training_procedure", "hyperparameters")


def _items(folder: Path, reference: str, migrated: str) -> dict[str, tuple[str, str]]:
    """Status and place of the items of train.py that ask for the reference, as a check beside it gives them."""
    for side, text in (("gpu", reference), ("npu", migrated)):
        (folder / side).mkdir()
        (folder / side / "train.py").write_text(text)
    settings = Settings(paths=(str(folder / "npu"),), reference=str(folder / "gpu"), cache=False)
    (program,) = add_comparison(run(settings), settings).programs
    return {
        one.item: (one.status, f"{Path(one.evidence.path).name}:{one.evidence.span.line}" if one.evidence else "")
        for one in program.checklist
        if one.item in _ASKED
    }


NPU = TORCH.replace("import torch\n", "import torch\nimport torch_npu\n", 1).replace("Net()", "Net().npu()")


def test_what_is_consistent_has_passed(tmp_path: Path) -> None:
    items = _items(tmp_path, TORCH, NPU)
    assert items["hyperparameters"][0] == "passed"
    assert items["dataset"][0] == "passed"


@pytest.mark.parametrize(
    ("old", "new", "item"),
    [
        ("lr=0.1", "lr=0.2", "hyperparameters"),
        ("shuffle=True", "shuffle=False", "dataset"),
        ("CrossEntropyLoss()", "NLLLoss()", "training_procedure"),
    ],
)
def test_what_differs_has_failed_where_it_is_written(old: str, new: str, item: str, tmp_path: Path) -> None:
    changed = NPU.replace(old, new)
    line = changed[: changed.index(new)].count("\n") + 1
    assert _items(tmp_path, TORCH, changed)[item] == ("failed", f"train.py:{line}")


def test_without_a_counterpart_it_stays_open(tmp_path: Path) -> None:
    items = _items(tmp_path, "print('no training')\n", NPU)
    assert {status for status, _ in items.values()} == {"unknown"}
