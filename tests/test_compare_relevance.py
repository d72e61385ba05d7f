"""Each difference is told once, with its effect on the loss, and what has none is not told."""

from __future__ import annotations

import pytest

from npulint.facts.comparison.difference import EFFECTS, PARTS, WEAK, Difference, effect_of, rank
from npulint.facts.recipe import ITEM_OF
from tests.compare_support import differences, short_differences

HEAD = "import time\nimport torch\nimport torch_npu\n"


def text(body: str, model: str = "", rate: float = 0.1) -> str:
    """A training program whose step is `body` and whose model has the layers `model`."""
    layers = "".join(f"        {line}\n" for line in model.splitlines())
    steps = "".join(f"    {line}\n" for line in body.splitlines())
    return (
        f"{HEAD}class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.fc = torch.nn.Linear(8, 3)\n{layers}"
        "    def forward(self, x):\n        return self.fc(x)\n"
        "net = Net()\ncriterion = torch.nn.CrossEntropyLoss()\n"
        f"optimizer = torch.optim.SGD(net.parameters(), lr={rate})\n"
        "running = 0.0\n"
        "for step, (images, labels) in enumerate(loader):\n"
        f"    optimizer.zero_grad()\n    loss = criterion(net(images), labels)\n{steps}"
        "    loss.backward()\n    optimizer.step()\n"
    )


PLAIN = text("running += loss.item()")


@pytest.mark.parametrize(
    ("body", "model"),
    [
        ("running += loss.item()", "self.pass_on = torch.nn.Identity()"),
        ("running += loss.item()\nstart = time.time()\nlater = time.time()\nprint(100 / (later - start))", ""),
    ],
    ids=["identity", "clock"],
)
def test_what_changes_no_number_is_no_difference(body: str, model: str) -> None:
    assert short_differences(PLAIN, text(body, model)) == []


OPTIONS = """\
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--schedule", default="{chosen}")
parser.add_argument("--t_max", type=int, default={t_max})
args = parser.parse_args()
model = torch.nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.schedule == "cosine":
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.t_max)
else:
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
for inputs in torch.utils.data.DataLoader(torch.load("train.pt"), batch_size=4):
    optimizer.zero_grad()
    model(inputs).sum().backward()
    optimizer.step()
    schedule.step()
"""


@pytest.mark.parametrize(("chosen", "effect"), [("step", "idle"), ("cosine", "later")])
def test_an_option_counts_where_the_start_reads_it(chosen: str, effect: str) -> None:
    first, second = (OPTIONS.format(chosen=chosen, t_max=t_max) for t_max in (50, 60))
    changed = [one for one in differences(first, second) if one.change == "changed"]
    assert {(one.what, one.effect) for one in changed} == {("--t_max", effect)}


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("torch.zeros(0, 6)", "torch.zeros([0, 6])", []),
        ("torch.zeros(6)", "torch.zeros((6,))", []),
        ("torch.zeros(n, 6)", "torch.zeros([n, 6])", []),
        ("torch.zeros(1, 6)", "torch.zeros([0, 6])", ["(1, 6)", "(0, 6)"]),
    ],
)
def test_sizes_are_the_same_one_by_one_and_as_a_list(first: str, second: str, told: list[str]) -> None:
    found = short_differences(text(f"loss = loss + {first}"), text(f"loss = loss + {second}"))
    assert [side.strip("[]()") for one in found for side in one[3:]] == [side.strip("[]()") for side in told]


def test_long_formulas_are_shown_where_they_differ() -> None:
    long = "if step % args.steps_between_two_validations == 0 or step == args.number_of_steps - {}:\n    validate(net)"
    first, second = (text(long.format(end)) for end in ("1", "last - 1"))
    (one,) = short_differences(first, second)
    assert one[3] != one[4]
    assert one[3].startswith("…")


def test_what_a_setting_is_divided_by_is_compared() -> None:
    def divided(by: str) -> str:
        return (
            f"import os\naccumulation_steps = 40\nprocesses = int(os.environ['WORLD_SIZE'])\n"
            f"accumulation_steps //= {by}\n{PLAIN}"
        )

    (one,) = differences_of(divided("torch.cuda.device_count()"), divided("processes"))
    assert (one.what, one.certain) == ("accumulation_steps", False)
    assert differences_of(divided("torch.cuda.device_count()"), divided("torch.npu.device_count()")) == []


def differences_of(first: str, second: str) -> list[Difference]:
    """What differs."""
    return [one for one in differences(first, second) if one.change not in ("none", "unknown")]


def test_a_removed_calculation_is_told_although_a_clock_is_near() -> None:
    body = "start = time.time()\nloss = loss - 0.5 * penalty"
    assert short_differences(text(body), text("start = time.time()"))


def test_an_average_for_the_log_is_said_to_change_the_log_only() -> None:
    shown = "average_loss = loss.item() / {}\nprint(average_loss)"
    (one,) = _differing(text(shown.format("(step + 1)")), text(shown.format("100 * step")))
    assert (one.effect, one.certain) == ("shown", False)


def test_an_average_that_is_trained_with_is_not_said_to_be_for_the_log() -> None:
    used = "mean_loss = loss / {}\nprint(mean_loss)\nmean_loss.backward()"
    found = _differing(text(used.format("(step + 1)")), text(used.format("100 * step")))
    assert found
    assert "shown" not in {one.effect for one in found}


TYPED = "labels = torch.zeros(3{0}){1}\nloss = loss + criterion(net(images), labels)"


def test_a_cast_of_the_result_is_the_type_of_the_call() -> None:
    cast, given = text(TYPED.format("", ".long()")), text(TYPED.format(", dtype=torch.long", ""))
    assert _differing(cast, given) == []
    assert _differing(text(TYPED.format("", "")), text(TYPED.format(", dtype=torch.float16", "")))


REPEATED = "images = torch.nn.functional.dropout(images)\n"


def test_the_same_difference_at_several_places_is_one_row() -> None:
    body = "def {0}(images):\n    return torch.nn.functional.relu(images)\n"
    two = (
        HEAD
        + body.format("first")
        + body.format("second")
        + PLAIN.removeprefix(HEAD).replace("net(images)", "net(second(first(images)))")
    )
    (one,) = _differing(two, two.replace("functional.relu", "functional.gelu"))
    assert one.count == len(one.also) + 1 == 2


def test_a_loss_that_is_replaced_is_one_row() -> None:
    own = "class Smooth(torch.nn.Module):\n    def forward(self, logits, labels):\n"
    own += "        return -torch.log_softmax(logits, 1)[:, labels].mean()\n"
    replaced = PLAIN.replace("net = Net()", f"{own}net = Net()").replace(
        "torch.nn.CrossEntropyLoss()", "Smooth().npu()"
    )
    found = [one for one in _differing(PLAIN, replaced) if one.part == "loss" and one.certain]
    assert [(one.change, one.what) for one in found] == [("changed", "CrossEntropyLoss")]


def test_a_loader_with_a_sampler_does_not_differ_in_its_shuffling_too() -> None:
    shuffled = "loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)\n"
    sampled = (
        "sampler = torch.utils.data.distributed.DistributedSampler(data)\n"
        "loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=False, sampler=sampler)\n"
    )
    left, right = (PLAIN.replace("net = Net()\n", f"{one}net = Net()\n") for one in (shuffled, sampled))
    assert {one.part for one in _differing(left, right)} == {"sampler"}
    assert {one.part for one in _differing(left, left.replace("shuffle=True", "shuffle=False"))} == {"shuffle"}


TRAINER = (
    "import torch_npu\nfrom transformers import Trainer, TrainingArguments, set_seed\n{0}"
    "args = TrainingArguments('out', learning_rate=1e-4{1})\n"
    "trainer = Trainer(model=model, args=args, train_dataset=data)\ntrainer.train()\n"
)


def test_the_seed_of_the_trainer_is_no_difference_and_another_one_is() -> None:
    assert _differing(TRAINER.format("", ""), TRAINER.format("set_seed(42)\n", "")) == []
    assert _differing(TRAINER.format("", ""), TRAINER.format("set_seed(7)\n", ""))
    assert _differing(TRAINER.format("", ", seed=7"), TRAINER.format("set_seed(42)\n", ", seed=7"))


def test_a_reordered_creation_of_a_scheduler_is_no_difference() -> None:
    made = "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)\n"
    clip = "clip = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
    one, other = (PLAIN.replace("running = 0.0\n", f"{body}running = 0.0\n") for body in (made + clip, clip + made))
    assert _differing(one, other) == []


def test_every_part_has_an_effect_and_weak_effects_come_last() -> None:
    assert PARTS.keys() == ITEM_OF.keys()
    assert set(PARTS.values()) <= set(EFFECTS)
    strong = max(rank(effect) for effect in EFFECTS if effect not in WEAK)
    assert all(rank(effect) > strong for effect in WEAK)


@pytest.mark.parametrize(
    ("one", "effect"),
    [
        (Difference("learning_rate", "changed", "--lr"), "update"),
        (Difference("layer", "added", "Linear"), "model"),
        (Difference("batch_size", "changed", "predict", "batch_size"), "measured"),
        (Difference("dropout", "changed", "Dropout", evaluates=True), "measured"),
        (Difference("half_cast", "added", "?.float"), "none"),
        (Difference("half_cast", "removed", "?.float"), "rounding"),
        (Difference("drop_remainder", "changed", "DataLoader"), "rest"),
    ],
)
def test_effects(one: Difference, effect: str) -> None:
    assert effect_of(one) == effect


def _differing(left: str, right: str) -> list[Difference]:
    return [one for one in differences(left, right) if one.change not in ("none", "unknown")]
