"""What differs between two small programs, and what does not."""

from __future__ import annotations

import pytest

from tests.compare_support import ShortDifference, places, short_differences

TORCH = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.conv2(x))
        x = self.drop(x.mean((2, 3)))
        return self.head(x)


def main(data):
    torch.manual_seed(1)
    model = Net()
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(90):
        for images, target in loader:
            loss = criterion(model(images), target)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        scheduler.step()


if __name__ == "__main__":
    main(None)
"""

TENSORFLOW = """\
import tensorflow as tf


def parse(record):
    image = tf.image.decode_jpeg(record, channels=3)
    image = tf.image.random_flip_left_right(image)
    image = tf.image.resize_images(image, [224, 224])
    return image / 127.5 - 1.0


def network(x, training):
    x = tf.layers.conv2d(x, 32, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.conv2d(x, 64, 3, padding="same", activation=tf.nn.relu)
    x = tf.layers.dropout(x, rate=0.4, training=training)
    return tf.layers.dense(tf.layers.flatten(x), 10)


def main():
    tf.set_random_seed(7)
    data = tf.data.TFRecordDataset(["a.tfrecord"]).map(parse).shuffle(1000).repeat(20).batch(32)
    images, labels = data.make_one_shot_iterator().get_next()
    logits = network(images, True)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    loss = loss + 0.0005 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    rate = tf.train.exponential_decay(0.01, tf.train.get_or_create_global_step(), 1000, 0.9)
    step = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(5000):
            sess.run(step)


main()
"""

CHANGED = [
    ("lr=0.1", "lr=0.05", ("learning_rate", "changed", "SGD(lr)", "0.1", "0.05")),
    ("momentum=0.9", "momentum=0.8", ("momentum", "changed", "SGD(momentum)", "0.9", "0.8")),
    (", weight_decay=1e-4", "", ("weight_decay", "changed", "SGD(weight_decay)", "0.0001", "0")),
    ("batch_size=64", "batch_size=32", ("batch_size", "changed", "DataLoader(batch_size)", "64", "32")),
    ("shuffle=True", "shuffle=False", ("shuffle", "changed", "DataLoader(shuffle)", "True", "False")),
    ("Dropout(0.5)", "Dropout(0.1)", ("dropout", "changed", "Dropout(p)", "0.5", "0.1")),
    ("step_size=30", "step_size=20", ("schedule", "changed", "StepLR(step_size)", "30", "20")),
    ("range(90)", "range(100)", ("epochs", "changed", "range", "90", "100")),
    ("manual_seed(1)", "manual_seed(2)", ("seed", "changed", "torch.manual_seed(seed)", "1", "2")),
    ("5.0)", "1.0)", ("clipping", "changed", "utils.clip_grad_norm_(max_norm)", "5.0", "1.0")),
    ("classes=10", "classes=100", ("layer", "changed", "classes", "10", "100")),
    ("optim.SGD", "optim.RMSprop", ("optimizer", "changed", "SGD", "SGD", "RMSprop")),
    ("CrossEntropyLoss()", "NLLLoss()", ("loss", "changed", "CrossEntropyLoss", "CrossEntropyLoss", "NLLLoss")),
]


@pytest.mark.parametrize(("old", "new", "wanted"), CHANGED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_changed_argument_is_told_once(old: str, new: str, wanted: ShortDifference) -> None:
    assert old in TORCH
    assert short_differences(TORCH, TORCH.replace(old, new)) == [wanted]


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("x, 64, 3", "x, 128, 3", ("layer", "changed", "conv2d(filters)", "64", "128")),
        ("rate=0.4", "rate=0.5", ("dropout", "changed", "dropout(rate)", "0.4", "0.5")),
        ("0.0005 *", "0.001 *", ("loss", "changed", "loss(0)", "0.0005", "0.001")),
        ("127.5", "255.0", ("arithmetic", "changed", "return(0)", "127.5", "255.0")),
        ("[224, 224]", "[192, 192]", ("transform", "changed", "image.resize_images(size)", "[224, 224]", "[192, 192]")),
        (
            "decay(0.01",
            "decay(0.1",
            ("learning_rate", "changed", "train.exponential_decay(learning_rate)", "0.01", "0.1"),
        ),
        ("shuffle(1000)", "shuffle(10)", ("shuffle", "changed", "shuffle(buffer_size)", "1000", "10")),
        ("repeat(20)", "repeat(1)", ("repeat", "changed", "repeat(count)", "20", "1")),
        ("batch(32)", "batch(64)", ("batch_size", "changed", "batch(batch_size)", "32", "64")),
        ("seed(7)", "seed(8)", ("seed", "changed", "random.set_seed(seed)", "7", "8")),
        ("range(5000)", "range(50)", ("steps", "changed", "range", "5000", "50")),
    ],
)
def test_the_same_of_tensorflow(old: str, new: str, wanted: ShortDifference) -> None:
    assert old in TENSORFLOW
    part, change, _, reference, migrated = wanted
    found = short_differences(TENSORFLOW, TENSORFLOW.replace(old, new))
    assert [(one[0], one[1], one[3], one[4]) for one in found] == [(part, change, reference, migrated)]


@pytest.mark.parametrize(
    ("program", "line", "part"),
    [
        (TORCH, "        self.bn1 = nn.BatchNorm2d(16)\n", "layer"),
        (TORCH, "    torch.manual_seed(1)\n", "seed"),
        (TORCH, "            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)\n", "clipping"),
        (TORCH, "            optimizer.zero_grad()\n", "update"),
        (TENSORFLOW, "    image = tf.image.random_flip_left_right(image)\n", "transform"),
        (TENSORFLOW, "    x = tf.layers.dropout(x, rate=0.4, training=training)\n", "dropout"),
        (
            TENSORFLOW,
            "    loss = loss + 0.0005 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])\n",
            "loss",
        ),
    ],
)
def test_a_line_that_is_gone_or_new_is_told(program: str, line: str, part: str) -> None:
    assert line in program
    shorter = program.replace(line, "")
    assert part in {one[0] for one in short_differences(program, shorter) if one[1] == "removed"}
    assert part in {one[0] for one in short_differences(shorter, program) if one[1] == "added"}


def test_a_removed_step_stands_where_it_would_be_put() -> None:
    line = "    image = tf.image.random_flip_left_right(image)\n"
    at = TENSORFLOW[: TENSORFLOW.index(line)].count("\n")
    assert places(TENSORFLOW, TENSORFLOW.replace(line, "")) == [f"migrated/train.py:{at}"]


def test_transformations_in_another_order_are_told() -> None:
    lines = TENSORFLOW.split("\n")
    at = next(i for i, line in enumerate(lines) if "random_flip" in line)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    assert [one[:2] for one in short_differences(TENSORFLOW, "\n".join(lines))] == [("transform", "reordered")]


def test_a_layer_taken_from_the_middle_changes_no_other() -> None:
    layers = [f"    x = tf.layers.conv2d(x, {2**n}, 3)\n" for n in range(3, 9)]
    program = TENSORFLOW.replace("    x = tf.layers.dropout", "".join(layers) + "    x = tf.layers.dropout")
    assert [one[:2] for one in short_differences(program, program.replace(layers[2], ""))] == [("layer", "removed")]


SAME = [
    (
        "keyword",
        "nn.Conv2d(3, 16, 3, padding=1)",
        "nn.Conv2d(in_channels=3, out_channels=16, kernel_size=3, padding=1)",
    ),
    ("default given", "nn.BatchNorm2d(16)", "nn.BatchNorm2d(16, eps=1e-5)"),
    ("another notation", "1e-4", "0.0001"),
    ("other name", "optimizer", "opt"),
    ("other class", "Net", "Network"),
    ("workers", "shuffle=True", "shuffle=True, num_workers=8, pin_memory=True"),
    ("device", "model = Net()", "model = Net().cuda()"),
    ("npu", "model = Net()", "model = Net().npu()"),
    ("logging", "        scheduler.step()", "        print(epoch, loss.item())\n        scheduler.step()"),
    ("timing", "    for epoch", "    import time\n    begin = time.time()\n    for epoch"),
    ("saving", "        scheduler.step()", "        scheduler.step()\n        torch.save(model, f'{epoch}.pt')"),
    ("constant", "def main(data):", "RATE = 0.1\n\n\ndef main(data):"),
]


@pytest.mark.parametrize(("old", "new"), [case[1:] for case in SAME], ids=[case[0] for case in SAME])
def test_what_changes_no_number_is_not_told(old: str, new: str) -> None:
    assert old in TORCH
    assert short_differences(TORCH, TORCH.replace(old, new)) == []
    assert short_differences(TORCH.replace(old, new), TORCH) == []


def test_a_value_that_moved_to_a_constant_is_the_same() -> None:
    moved = TORCH.replace("def main(data):", "RATE = 0.1\n\n\ndef main(data):").replace("lr=0.1", "lr=RATE")
    assert short_differences(TORCH, moved) == []
    assert short_differences(TORCH, moved.replace("RATE = 0.1", "RATE = 0.2")) == [
        ("learning_rate", "changed", "SGD(lr)", "0.1", "0.2")
    ]


def test_a_changed_constant_is_told_where_it_is_written() -> None:
    program = TORCH.replace("def main(data):", "RATE = 0.1\n\n\ndef main(data):").replace("lr=0.1", "lr=RATE")
    line = program[: program.index("RATE = ")].count("\n") + 1
    changed = program.replace("RATE = 0.1", "RATE = 0.3")
    assert [one[:2] for one in short_differences(program, changed)] == [("learning_rate", "changed")]
    assert places(program, changed) == [f"migrated/train.py:{line}"]


def test_code_that_moved_to_another_file_is_the_same() -> None:
    head, rest = TORCH.split("def main", 1)
    split = {
        "net.py": head,
        "train.py": "import torch\nimport torch.nn as nn\nfrom net import Net\n\n\ndef main" + rest,
    }
    assert short_differences(TORCH, split) == []
    assert short_differences(split, TORCH) == []


def test_a_place_in_a_long_call_is_that_of_the_argument() -> None:
    call = "torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)"
    long = TORCH.replace(
        call,
        "torch.optim.SGD(\n        model.parameters(),\n        lr=0.1,\n"
        "        momentum=0.9,\n        weight_decay=1e-4,\n    )",
    )
    changed = long.replace("weight_decay=1e-4", "weight_decay=1e-5")
    line = changed[: changed.index("weight_decay")].count("\n") + 1
    assert places(long, changed) == [f"migrated/train.py:{line}"]
