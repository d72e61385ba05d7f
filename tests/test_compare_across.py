"""A program in TensorFlow held against one in PyTorch: what has a name without framework is compared, the rest is not
told."""

from __future__ import annotations

import pytest

from tests.compare_support import ShortDifference, differences, short_differences

KERAS = """
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--learning_rate', type=float, default={lr})
parser.add_argument('--batch_size', type=int, default={batch})
parser.add_argument('--num_epochs', type=int, default={epochs})
args = parser.parse_args()


def augment(image, label):
    return tf.image.random_flip_left_right(image), label


def main():
    tf.random.set_seed({seed})
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(60000).map(augment).batch(args.batch_size)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation='relu'),
        tf.keras.layers.Conv2D(64, 3, activation='relu'),
        tf.keras.layers.Dropout({rate}),
        tf.keras.layers.Dense(10),
    ])
    optimizer = tf.keras.optimizers.SGD(args.learning_rate, momentum={momentum})
    criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for epoch in range(args.num_epochs):
        for images, labels in data:
            with tf.GradientTape() as tape:
                loss = criterion(labels, model(images, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            gradients, _ = tf.clip_by_global_norm(gradients, {norm})
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))


main()
"""

TORCH = """
import argparse
import torch
import torch_npu
from torch import nn
from torchvision import datasets, transforms

parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float, default=0.01)
parser.add_argument('-b', '--batch-size', type=int, default=128)
parser.add_argument('--epochs', type=int, default=12)
args = parser.parse_args()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(9216, 10)

    def forward(self, x):
        x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        return self.fc(self.drop(torch.flatten(x, 1)))


def main():
    torch.manual_seed(7)
    flipped = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    data = datasets.MNIST('data', train=True, transform=flipped)
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = Net().npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(images.npu()), labels.npu())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()


main()
"""
SAME = {"lr": 0.01, "batch": 128, "epochs": 12, "seed": 7, "rate": 0.25, "momentum": 0.9, "norm": 1.0}


def _keras(**other: object) -> str:
    return KERAS.format(**{**SAME, **other})


def test_the_same_program_in_both_frameworks_differs_in_nothing() -> None:
    assert short_differences(_keras(), TORCH) == []
    assert short_differences(TORCH, _keras()) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"lr": 0.1}, ("learning_rate", "changed", "learning_rate", "0.1", "0.01")),
        ({"batch": 64}, ("batch_size", "changed", "batch_size", "64", "128")),
        ({"epochs": 20}, ("epochs", "changed", "epochs", "20", "12")),
        ({"seed": 3}, ("seed", "changed", "seed", "3", "7")),
        ({"momentum": 0.8}, ("momentum", "changed", "momentum", "0.8", "0.9")),
        ({"rate": 0.5}, ("dropout", "changed", "dropout(rate)", "0.5", "0.25")),
        ({"norm": 5.0}, ("clipping", "changed", "clip_by_norm(max_norm)", "5.0", "1.0")),
    ],
)
def test_each_named_number_is_compared(changed: dict[str, object], expected: ShortDifference) -> None:
    assert short_differences(_keras(**changed), TORCH) == [expected]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "tf.keras.optimizers.SGD(args.learning_rate, momentum=0.9)",
            "tf.keras.optimizers.Adam(args.learning_rate)",
            {("optimizer", "changed", "adam", "adam", "sgd")},
        ),
        (
            "tf.keras.layers.Conv2D(64, 3, activation='relu'),",
            "tf.keras.layers.Conv2D(64, 3, activation='relu'),\n        tf.keras.layers.Conv2D(64, 3),",
            {("layer", "changed", "conv2d(number)", "3", "2")},
        ),
        (
            "tf.keras.layers.Conv2D(64, 3, activation='relu'),",
            "tf.keras.layers.Conv2D(96, 3, activation='relu'),",
            {("layer", "changed", "conv2d(filters)", "32, 96", "32, 64")},
        ),
        (
            "tf.keras.layers.Dense(10),",
            "tf.keras.layers.BatchNormalization(),\n        tf.keras.layers.Dense(10),",
            {("layer", "removed", "batch_norm", "batch_norm", "-")},
        ),
        (
            "tf.image.random_flip_left_right(image)",
            "tf.image.random_flip_up_down(image)",
            {
                ("transform", "removed", "random_flip_up_down", "random_flip_up_down", "-"),
                ("transform", "added", "random_flip_left_right", "-", "random_flip_left_right"),
            },
        ),
    ],
)
def test_kinds_of_operations_are_compared(old: str, new: str, expected: set[ShortDifference]) -> None:
    text = _keras()
    assert old in text
    assert {
        one for one in short_differences(text.replace(old, new), TORCH) if one[0] == next(iter(expected))[0]
    } == expected


def test_what_only_one_framework_has_a_name_for_is_not_certain() -> None:
    text = _keras().replace(
        "tf.keras.layers.Dense(10),", "tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(10),"
    )
    found = [one for one in differences(text, TORCH) if one.change in ("removed", "added")]
    assert found
    assert not any(one.certain for one in found)


def test_layers_that_a_loop_makes_are_not_counted() -> None:
    text = _keras().replace(
        "model = tf.keras.Sequential([",
        "more = [tf.keras.layers.Conv2D(64, 3) for _ in range(4)]\n    model = tf.keras.Sequential([",
    )
    assert short_differences(text, TORCH) == []


def test_no_weight_decay_is_a_weight_decay_of_zero() -> None:
    assert not [one for one in short_differences(_keras(), TORCH) if one[0] == "weight_decay"]
    decayed = TORCH.replace("momentum=0.9)", "momentum=0.9, weight_decay=0.0001)")
    assert short_differences(_keras(), decayed) == [("weight_decay", "changed", "weight_decay", "None", "0.0001")]


def test_arguments_that_are_spread_have_no_defaults() -> None:
    spread = TORCH.replace("batch_size=args.batch_size, shuffle=True)", "**options)")
    spread = spread.replace("    loader =", "    options = read_options()\n    loader =")
    assert not [one for one in short_differences(_keras(batch=64), spread) if one[0] == "batch_size" and one[4] == "1"]


def test_decoupled_weight_decay_of_zero_is_none() -> None:
    keras = _keras().replace("SGD(args.learning_rate, momentum=0.9)", "Adam(args.learning_rate)")
    adamw = TORCH.replace("SGD(model.parameters(), lr=args.lr, momentum=0.9)", "AdamW(model.parameters(), lr=args.lr)")
    decayed = [one for one in short_differences(keras, adamw) if one[0] == "optimizer" and one[2] == "adam"]
    assert decayed == [("optimizer", "changed", "adam", "adam", "adamw")]  # 0.01 by default
    plain = adamw.replace("lr=args.lr)", "lr=args.lr, weight_decay=0)")
    assert not [one for one in short_differences(keras, plain) if one[0] == "optimizer" and one[2] == "adam"]


def test_a_schedule_that_one_side_lacks_is_told() -> None:
    text = (
        "    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)\n    for epoch in range(args.epochs):"
    )
    scheduled = TORCH.replace("    for epoch in range(args.epochs):", text)
    assert short_differences(_keras(), scheduled) == [
        ("schedule", "added", "exponential_decay", "-", "exponential_decay")
    ]
    assert short_differences(scheduled, _keras()) == [
        ("schedule", "removed", "exponential_decay", "exponential_decay", "-")
    ]


def test_places_are_those_of_the_options() -> None:
    one = next(d for d in differences(_keras(lr=0.1), TORCH) if d.part == "learning_rate")
    assert one.reference is not None
    assert one.migrated is not None
    assert (one.reference.span.line, one.migrated.span.line) == (6, 9)
