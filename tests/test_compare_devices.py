"""Programs for several devices, and launchers of scripts that import other scripts: what is no difference."""

from __future__ import annotations

import pytest

from tests.compare_support import short_differences

HOROVOD = """
import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf


def main():
    hvd.init()
    np.random.seed(7 + hvd.rank())
    tf.set_random_seed(7 + hvd.rank())
    if hvd.rank() == 0:
        print('training')
    save = 1000 if hvd.rank() == 0 else None
    print(save)
    x = tf.placeholder(tf.float32, [32, 64])
    loss = tf.reduce_mean(tf.layers.dense(x, 10))
    optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.001))
    step = optimizer.minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)


if __name__ == '__main__':
    main()
"""


def test_ranks_in_conditions_say_nothing() -> None:
    alone = HOROVOD.replace("    if hvd.rank() == 0:\n        print('training')\n", "    print('training')\n")
    alone = alone.replace("1000 if hvd.rank() == 0 else None", "1000")
    assert short_differences(HOROVOD, alone) == []


def test_a_number_of_devices_that_is_calculated_with_is_told() -> None:
    scaled = HOROVOD.replace("AdamOptimizer(0.001)", "AdamOptimizer(0.001 * hvd.size())")
    assert {one[0] for one in short_differences(scaled, HOROVOD)} & {"ranks", "learning_rate"}


SEVERAL = """
import os
import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
files = tf.data.Dataset.list_files('data/*').shard(hvd.size(), hvd.rank())
x = files.batch(32).make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.layers.dense(x, 10))
step = tf.train.AdamOptimizer(0.001).minimize(loss)
config = tf.ConfigProto()
config.gpu_options.visible_device_list = str(hvd.local_rank())
with tf.Session(config=config) as session:
    session.run(step)
"""


@pytest.mark.parametrize(
    ("size", "rank"),
    [
        ("int(os.environ['RANK_SIZE'])", "int(os.environ['RANK_ID'])"),
        ("int(os.getenv('RANK_SIZE', '1'))", "int(os.getenv('RANK_ID', '0'))"),
        ("int(os.environ.get('WORLD_SIZE', 1))", "int(os.environ.get('LOCAL_RANK', 0))"),
        ("int(os.environ['OMPI_COMM_WORLD_SIZE'])", "int(os.environ['OMPI_COMM_WORLD_RANK'])"),
    ],
)
def test_ranks_from_the_environment_are_those_of_horovod(size: str, rank: str) -> None:
    ported = SEVERAL.replace("hvd.size()", size).replace("hvd.rank()", rank).replace("hvd.init()\n", "")
    ported = ported.replace("config.gpu_options.visible_device_list = str(hvd.local_rank())\n", "")
    assert "ranks" not in {one[0] for one in short_differences(SEVERAL, ported)}
    assert "ranks" not in {one[0] for one in short_differences(ported, SEVERAL)}


@pytest.mark.parametrize("size", ["8", "int(os.environ['SIZE_OF_BATCH'])", "int(os.environ['RANK_ID'])"])
def test_a_number_of_devices_from_elsewhere_is_told(size: str) -> None:
    ported = SEVERAL.replace("hvd.size()", size).replace("hvd.init()\n", "")
    assert "ranks" in {one[0] for one in short_differences(SEVERAL, ported)}


def test_ranks_of_the_adapter_are_those_of_horovod() -> None:
    ported = HOROVOD.replace("import horovod.tensorflow as hvd", "from npu_bridge.npu_init import *")
    ported = ported.replace("    hvd.init()\n", "").replace("hvd.rank()", "get_npu_rank_id()")
    ported = ported.replace("hvd.DistributedOptimizer(", "npu_distributed_optimizer_wrapper(")
    assert short_differences(HOROVOD, ported) == []
    assert short_differences(HOROVOD, ported.replace("7 + get_npu_rank_id()", "8 + get_npu_rank_id()")) != []


ESTIMATOR = """
import horovod.tensorflow as hvd
import tensorflow as tf


def model_fn(features, labels, mode, params):
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(features, 10))
    step = tf.train.AdamOptimizer(0.001).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def main():
    hooks = [hvd.BroadcastGlobalVariablesHook(0)]
    estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(tf_random_seed=1))
    estimator.train(read, hooks=hooks, steps=100)


def read():
    return tf.data.Dataset.from_tensor_slices(([1.0], [1])).batch(1)


main()
"""


def test_the_estimator_of_the_npu_broadcasts_by_itself() -> None:
    ported = ESTIMATOR.replace("import horovod.tensorflow as hvd", "from npu_bridge.npu_init import *")
    ported = ported.replace("hvd.BroadcastGlobalVariablesHook(0)", "").replace(
        "tf.estimator.Estimator(", "NPUEstimator("
    )
    ported = ported.replace("tf.estimator.RunConfig(", "NPURunConfig(")
    assert not [one for one in short_differences(ESTIMATOR, ported) if one[0] == "reduction"]
    plain = ESTIMATOR.replace("hvd.BroadcastGlobalVariablesHook(0)", "")
    assert [one[:2] for one in short_differences(ESTIMATOR, plain) if one[0] == "reduction"] == [
        ("reduction", "removed")
    ]


TRAIN = """
import argparse
import torch
import evaluate

parser = argparse.ArgumentParser()
parser.add_argument('--batch-size', type=int, default=4)
options = parser.parse_args()
data = torch.utils.data.DataLoader(torch.load('x.pt'), batch_size=options.batch_size)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
evaluate.run(model)
"""
EVALUATE = """
import argparse
import torch


def run(model, batch_size=1):
    return [model(x) for x in torch.utils.data.DataLoader(torch.load('y.pt'), batch_size=batch_size)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', type=int, default=4)
    options = parser.parse_args()
    run(torch.load('m.pt'), batch_size=options.batch_size)


if __name__ == '__main__':
    main()
"""


def test_a_launcher_passes_options_to_the_script_that_it_starts() -> None:
    files = {"train.py": TRAIN, "evaluate.py": EVALUATE}
    launched = {**files, "train_full_1p.sh": "python3 train.py --batch-size 20\n"}
    assert short_differences(files, launched) == [("batch_size", "changed", "--batch_size", "4", "20")]


def test_how_far_a_training_is_is_no_setting() -> None:
    text = TRAIN.replace("evaluate.run(model)", "evaluate.run(model, epoch={})")
    files = {"evaluate.py": EVALUATE.replace("batch_size=1)", "batch_size=1, epoch=None)")}
    before = {"train.py": text.format("None"), **files}
    after = {"train.py": "epoch = 3\n" + text.format("epoch"), **files}
    assert short_differences(before, after) == []


def test_where_a_count_begins_is_no_setting() -> None:
    counted = TRAIN.replace("for x, y in data:\n", "epoch_iter = {}\nfor x, y in data:\n    epoch_iter += 1\n")
    files = {"evaluate.py": EVALUATE}
    assert short_differences({"train.py": counted.format(0), **files}, {"train.py": counted.format(1), **files}) == []
    assert (
        short_differences({"train.py": counted.format(100), **files}, {"train.py": counted.format(500), **files}) != []
    )


SHARDED = """
import horovod.tensorflow as hvd
import tensorflow as tf


def read(paths):
    data = tf.data.TextLineDataset(paths)
    data = data.shard(hvd.size(), hvd.rank())
    return data.shuffle(100).batch(8)


def main():
    x = read(['a.txt']).make_one_shot_iterator().get_next()
    loss = tf.reduce_mean(tf.layers.dense(tf.strings.to_number(x), 10))
    step = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as session:
        session.run(step)


main()
"""


def test_a_shard_that_is_gone_is_told_once() -> None:
    gone = SHARDED.replace("    data = data.shard(hvd.size(), hvd.rank())\n", "")
    assert [one[:3] for one in short_differences(SHARDED, gone)] == [("shard", "removed", "shard")]


def test_layers_that_are_gone_are_told_where_they_are_made() -> None:
    text = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.LSTMCell(4, 4)

    def forward(self, x):
        x = self.first(x)
        x, _ = self.second(x)
        return x


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.load('data.pt'):
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""
    gone = text.replace("        self.second = torch.nn.LSTMCell(4, 4)\n", "").replace(
        "        x, _ = self.second(x)\n", ""
    )
    assert [one[:3] for one in short_differences(text, gone)] == [("layer", "removed", "LSTMCell")]


def test_sums_and_products_may_be_turned_round() -> None:
    text = TRAIN.replace("lr=0.1", "lr=options.batch_size * 0.01 + 0.5")
    turned = TRAIN.replace("lr=0.1", "lr=0.5 + 0.01 * options.batch_size")
    files = {"evaluate.py": EVALUATE}
    assert short_differences({"train.py": text, **files}, {"train.py": turned, **files}) == []
    assert short_differences({"train.py": text, **files}, {"train.py": turned.replace("0.01", "0.02"), **files}) != []


def test_the_old_name_of_a_reduction_is_the_same() -> None:
    text = TRAIN.replace(
        "    optimizer.step()",
        "    torch.distributed.all_reduce(x, op=torch.distributed.ReduceOp.SUM)\n    optimizer.step()",
    )
    files = {"evaluate.py": EVALUATE}
    assert (
        short_differences({"train.py": text, **files}, {"train.py": text.replace("ReduceOp", "reduce_op"), **files})
        == []
    )
    other = [
        one[0]
        for one in short_differences({"train.py": text, **files}, {"train.py": text.replace("SUM", "MAX"), **files})
    ]
    assert other == ["reduction"]


def test_a_call_that_moved_to_another_function_is_the_same() -> None:
    text = """
import torch


def load():
    return torch.utils.data.DataLoader(torch.load('data.pt'), batch_size=8, shuffle=True)


def train(model, optimizer, data):
    for x, y in data:
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def build():
    model = torch.nn.Linear(4, 4)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def main():
    model, optimizer = build()
    train(model, optimizer, load())


main()
"""
    moved = text.replace(
        "    train(model, optimizer, load())\n", "    data = load()\n    run(model, optimizer, data)\n"
    )
    moved = moved.replace(
        "def main():", "def run(model, optimizer, data):\n    train(model, optimizer, data)\n\n\ndef main():"
    )
    assert short_differences(text, moved) == []
