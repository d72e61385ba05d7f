"""What a comparison says of code that is no call of a table: conditions, slices, order, formulas, callbacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from npulint.commands.compare.compare_command import compare_folders
from npulint.facts.recipe import ITEM_OF
from npulint.judge.findings import RunResult
from tests.compare_support import differences, short_differences
from tests.daily import parameters
from tests.mutations.table import Case, Files, Place, changed_places, code_equalities, code_mutations, sources
from tests.project_support import Project

LOOP = """
import math
import torch

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def helper(value):
    return value


def factor(epoch):
    if epoch < 5:
        return (epoch + 1) / 5
    return 0.5 * (1 + math.cos(math.pi * (epoch - 5) / 95))


schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
for epoch in range(10):
    for x, y in torch.load('data.pt'):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    schedule.step()
"""
"""A training whose schedule is a function of its own."""

WARMUP = "    if epoch < 5:\n        return (epoch + 1) / 5\n"
COSINE = "0.5 * (1 + math.cos(math.pi * (epoch - 5) / 95))"

CHANGED: dict[str, tuple[str, str, str]] = {
    "warm-up gone": (WARMUP, "", "schedule"),
    "warm-up halved": ("(epoch + 1) / 5", "(epoch + 1) / 10", "schedule"),
    "a line in place of a cosine": (COSINE, "1 - (epoch - 5) / 95", "schedule"),
    "condition turned around": ("if epoch < 5", "if epoch > 5", "schedule"),
    "channels reversed": ("model(x), y)", "model(x[..., ::-1]), y)", "layer"),
    "half of the loss": ("mse_loss(model(x), y)", "mse_loss(model(x), y) / 2", "loss"),
    "schedule in every step": ("    schedule.step()\n", "        schedule.step()\n", "schedule"),
    "stops early": (
        "        optimizer.step()\n",
        "        optimizer.step()\n        if epoch > 3:\n            break\n",
        "steps",
    ),
}
"""What is replaced by what, and the part that is told."""

ALIKE: dict[str, tuple[str, str]] = {
    "values with names": (
        f"    return {COSINE}\n",
        "    t = (epoch - 5) / 95\n    return 0.5 * (1 + math.cos(math.pi * t))\n",
    ),
    "another order": (COSINE, "(math.cos(math.pi * (epoch - 5) / 95) + 1) / 2"),
    "comparison turned around": ("if epoch < 5", "if 5 > epoch"),
    "lines that only show": (
        "        optimizer.step()\n",
        "        optimizer.step()\n        print(f'{epoch} {loss}')\n",
    ),
    "a helper that gives what it gets": (
        "def helper(value):\n    return value\n",
        "def helper(value):\n    return value + 1\n",
    ),
    "a loop without a name": ("(model(x), y)\n", "(model(x), y)  # the loss\n"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_code_that_no_step_describes_is_told_where_it_feeds(name: str) -> None:
    old, new, part = CHANGED[name]
    assert LOOP.count(old) == 1
    for pair in ((LOOP, LOOP.replace(old, new)), (LOOP.replace(old, new), LOOP)):
        told = [one for one in differences(*pair) if one.change != "none"]
        assert (part, True) in {(one.part, one.certain) for one in told}, told


@pytest.mark.parametrize("name", ALIKE)
def test_code_that_is_written_in_another_way_is_the_same(name: str) -> None:
    old, new = ALIKE[name]
    assert LOOP.count(old) == 1
    assert short_differences(LOOP, LOOP.replace(old, new)) == []
    assert short_differences(LOOP.replace(old, new), LOOP) == []


def test_a_factor_on_one_side_is_told_with_both_expressions() -> None:
    text = (
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\n\ndef model_fn(features, labels, mode, params):\n"
        "    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))\n"
        "    step = tf.train.MomentumOptimizer(params['lr'], 0.9).minimize(loss, tf.train.get_global_step())\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)\n\n\n"
        "estimator = tf.estimator.Estimator(model_fn, params={'lr': 0.1SIZE})\n"
        "estimator.train(lambda: tf.data.Dataset.range(4), max_steps=10)\n"
    )
    rows = short_differences(text.replace("SIZE", " * hvd.size()"), text.replace("SIZE", ""))
    assert ("learning_rate", "{'lr': 0.1 * hvd.size()}", "{'lr': 0.1}") in [(one[0], *one[3:]) for one in rows]
    env = text.replace("import horovod.tensorflow as hvd", "import os").replace(
        "SIZE", " * int(os.environ['RANK_SIZE'])"
    )
    assert [one for one in short_differences(text.replace("SIZE", " * hvd.size()"), env) if one[0] != "ranks"] == []


def test_a_loss_scale_that_is_made_and_not_used_hides_nothing() -> None:
    text = (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n\n\ndef main():\n"
        "    loss = tf.losses.mean_squared_error(tf.zeros([4, 1]), tf.layers.dense(tf.ones([4, 2]), 1))\n"
        "    manager = ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000)\n"
        "    opt = NPULossScaleOptimizer(tf.train.AdamOptimizer(0.1), SCALE)\n"
        "    return opt.minimize(loss)\n\n\nmain()\n"
    )
    rows = differences(text.replace("SCALE", "manager"), text.replace("SCALE", "FixedLossScaleManager(1)"))
    assert [(one.change, one.certain) for one in rows if one.part == "loss_scale" and one.change != "none"] == [
        ("changed", True)
    ]


def test_a_missing_unscale_is_no_missing_loss_scale() -> None:
    text = (
        "import torch\nmodel = torch.nn.Linear(4, 2).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "scaler = torch.cuda.amp.GradScaler()\nfor x in torch.load('data.pt'):\n    optimizer.zero_grad()\n"
        "    with torch.cuda.amp.autocast():\n        loss = model(x.cuda()).sum()\n    scaler.scale(loss).backward()\n"
        "    scaler.unscale_(optimizer)\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
        "    scaler.step(optimizer)\n    scaler.update()\n"
    )
    assert [one[0] for one in short_differences(text, text.replace("    scaler.unscale_(optimizer)\n", ""))] == [
        "clipping"
    ]


# -- programs of several modules


def compared(before: Files, after: Files, folder: Path) -> RunResult:
    """What a comparison of two projects says."""
    for side, files in (("reference", before), ("migrated", after)):
        Project(folder).write({f"{side}/{path}": text.encode() for path, text in files.items()})
    return compare_folders(str(folder / "reference"), str(folder / "migrated"))


def statuses(result: RunResult) -> dict[str, str]:
    """The status of each item of the checklist."""
    assert result.comparison is not None and result.comparison.pairs
    return {item.item: item.status for pair in result.comparison.pairs for item in pair.items}


def near(result: RunResult, left: list[Place], right: list[Place]) -> list[str]:
    """The findings about the changed places, with their severities."""
    return [
        f"{finding.severity} {finding.name}"
        for finding in result.findings
        if any(place.near(finding.path, finding.span.line) for place in (*left, *right))
    ]


def named(case: Case) -> str:
    return f"{case.program}: {case.name}"


_POSSIBLE = {
    "tf_keras: skips from the front": "what `pop` of an unknown object takes by default is not known",
    "torch_imagenet: rank of the sampler": "the rank may be 0 in all starts",
    "torch_transformer: norm behind": "what an element of a list of modules does is not known",
}
"""Changes that are told as possible differences, and why."""
_ELSEWHERE = {
    "torch_transformer: average of the first weights": "the value is told where the rate of the average is defined",
    "tf_estimator: shards exchanged": "the value is told where the number of workers is defined",
}
"""Changes that are told at another place, and which one."""


@pytest.mark.slow
@pytest.mark.parametrize("case", parameters(code_mutations(), named, lambda case: case.program))
def test_no_change_of_code_leaves_its_item_consistent(case: Case, tmp_path: Path) -> None:
    before, after = case.sides()
    result = compared(before, after, tmp_path)
    wanted = {ITEM_OF[part] for part in case.parts}
    assert {statuses(result).get(item) for item in wanted} - {"consistent", "unused"}, result.findings
    told = near(result, *changed_places(before, after))
    assert any(one.startswith(("warning", "error")) for one in told) or named(case) in {**_POSSIBLE, **_ELSEWHERE}


@pytest.mark.slow
@pytest.mark.parametrize("case", parameters(code_equalities(), named, lambda case: case.program))
def test_code_that_is_rewritten_makes_no_item_differ(
    case: Case, tmp_path: Path, alone: Callable[[str], set[tuple[str, str]]]
) -> None:
    result = compared(*case.sides(), tmp_path)
    more = {(finding.name, finding.message) for finding in result.findings if finding.severity != "note"}
    assert {name for name, _ in more} <= alone(case.program)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], set[str]]:
    """The names of the findings that a program has beside itself."""

    def names(program: str) -> set[str]:
        files = sources(program)
        return {one.name for one in compared(files, files, tmp_path_factory.mktemp("alone")).findings}

    return names


@pytest.mark.slow
@pytest.mark.parametrize("case", parameters(code_mutations()[::9], named, lambda case: case.program, per_group=1))
def test_both_directions_give_the_same_statuses(case: Case, tmp_path: Path) -> None:
    before, after = case.sides()
    forth, back = (compared(*pair, tmp_path / name) for name, pair in (("a", (before, after)), ("b", (after, before))))
    ours = {item: status for item, status in statuses(forth).items() if not item.startswith("reference")}
    assert ours == {item: status for item, status in statuses(back).items() if item in ours}
