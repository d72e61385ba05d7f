"""The pitfalls of real migrations: each bad program is reported at its line, its repaired twin is not.

All programs are one correct, migrated training script with a few lines replaced, so that a finding can
only come from what was replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent

import msgspec
import pytest

from tests.project_support import Project

CORRECT = """\
import tensorflow as tf
from npu_bridge.npu_init import *
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
<imports>
FEATURES = {"image": tf.FixedLenFeature([784], tf.float32), "label": tf.FixedLenFeature([], tf.int64)}


def parse(record):
    example = tf.parse_single_example(record, FEATURES)
    image, label = example["image"], example["label"]
    <parse>
    return image, label


def batches(path):
    dataset = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=8).shuffle(1000).repeat()
    return dataset.batch(32, drop_remainder=True).prefetch(2).make_initializable_iterator()


def network(images):
    hidden = tf.layers.dense(images, 128, activation=tf.nn.relu)
    <model>
    return tf.layers.dense(hidden, 10)


def loss_of(images, labels):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=network(images))
    <loss>
    return tf.reduce_mean(loss)


def train(loss):
    <optimizer>
    return optimizer.minimize(loss)


def settings():
    config = tf.ConfigProto()
    npu = config.graph_options.rewrite_options.custom_optimizers.add()
    npu.name = "NpuOptimizer"
    npu.parameter_map["use_off_line"].b = True
    <precision>
    <sinking>
    <switches>
    return config


def main():
    iterator = batches("train.tfrecord")
    images, labels = iterator.get_next()
    step = train(loss_of(images, labels))
    with tf.Session(config=settings()) as sess:
        <session>
        sess.run(tf.global_variables_initializer())
        sess.run(iterator.initializer)
        <loop>
        for _ in range(1000):
            sess.run(step)


if __name__ == "__main__":
    main()
"""
MIXED_MODE = 'npu.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")'
PARTS = {
    "imports": "",
    "parse": "",
    "model": "hidden = npu_ops.dropout(hidden, 0.5)",
    "loss": "",
    "optimizer": """
        manager = ExponentialUpdateLossScaleManager(2**15, 1000, 2, decr_ratio=0.5)
        optimizer = NPULossScaleOptimizer(tf.train.AdamOptimizer(1e-3), manager)
        """,
    "precision": MIXED_MODE,
    "sinking": """
        npu.parameter_map["enable_data_pre_proc"].b = True
        npu.parameter_map["iterations_per_loop"].i = 10
        """,
    "switches": """
        config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
        config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
        """,
    "session": "",
    "loop": "step = util.set_iteration_per_loop(sess, step, 10)",
}
MARK = "# here"


def script(parts: Mapping[str, str]) -> str:
    """The correct script with some parts replaced."""
    assert parts.keys() <= PARTS.keys()
    text = CORRECT
    for name, part in {**PARTS, **parts}.items():
        line = next(line for line in text.split("\n") if line.strip() == f"<{name}>")
        margin = line[: len(line) - len(line.lstrip())]
        text = text.replace(line, indent(dedent(part).strip(), margin))
    return text


class Pitfall(msgspec.Struct, frozen=True):
    """What is replaced to fall into it and to be safe from it, the topic and the checks that may speak."""

    topic: str
    checks: tuple[str, ...]
    bad: dict[str, str]
    good: dict[str, str] = {}
    target: str = ""
    files: dict[str, str] = {}  # beside the repaired twin


NO_SINKING = {"sinking": "", "loop": ""}
MIXED = {"sinking": 'npu.parameter_map["mix_compile_mode"].b = True', "loop": ""}
TABLE = "label = tf.contrib.lookup.index_table_from_file('words.txt').lookup(example['image'])  # here"
GUARDED = """
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    args = parser.parse_args()
    """
MIXLIST = 'npu.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("/code/ops_info.json")'
WORDS = "table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1], [2]), 0)"
V2 = "tf.enable_control_flow_v2()\ntf.enable_resource_variables()"
PICKED = "loss = tf.boolean_mask(tf.cond(tf.reduce_sum(loss) > 0.0, lambda: loss, lambda: 2.0 * loss), loss > 0.1)"
K = "k = tf.minimum(3 * tf.reduce_sum(tf.to_int32(loss > 0.5)), 32)"
IMAGE = "K, ONES = [1, 3, 3, 1], [1, 1, 1, 1]\nimage = tf.reshape(images, [32, 28, 28, 1])"
HIDDEN = "hidden = tf.layers.dense(tf.reshape(image, [32, -1]), 128)"
TFDBG = "from tensorflow.python import debug as tf_debug"
TOOL = "import precision_tool.tf_config as npu_tf_config"
SECOND = "tf.data.TFRecordDataset(['b'])"
LSTM = "from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN"
ADAM = "optimizer = tf.train.AdamOptimizer(1e-3)"

PITFALLS = {
    "lookup table in the pipeline without mixed computing": Pitfall(
        "mix_compile",
        ("lookup-table-in-input-pipeline",),
        {"parse": TABLE, **NO_SINKING},
        {"parse": TABLE, **MIXED},
    ),
    "lookup table in the model without mixed computing": Pitfall(
        "mix_compile",
        ("lookup-table-in-graph",),
        {"loss": f"{WORDS}  # here", **NO_SINKING},
        {"loss": WORDS, **MIXED},
    ),
    "no loss scale": Pitfall("loss_scale", ("mixed-precision-without-loss-scale",), {"optimizer": f"{ADAM}  # here"}),
    "no mixed precision": Pitfall("mixed_precision", ("no-mixed-precision",), {"precision": ""}),
    "k of top_k from a tensor": Pitfall(
        "topk",
        ("dynamic-top-k",),
        {"loss": f"{K}\nloss, _ = tf.nn.top_k(loss, k)  # here"},
        {"loss": "loss, _ = tf.nn.top_k(loss, 16)"},
    ),
    "V1 control flow with a dynamic shape": Pitfall(
        "control_flow_v2",
        ("v1-control-flow-with-dynamic-shape",),
        {"loss": f"{PICKED}  # here"},
        {"imports": V2, "loss": PICKED},
    ),
    "extract_image_patches": Pitfall(
        "unsupported_op",
        ("extract-image-patches",),
        {"model": f"{IMAGE}\nimage = tf.extract_image_patches(image, K, ONES, ONES, 'SAME')  # here\n{HIDDEN}"},
        {"model": f"{IMAGE}\nimage = tf.layers.conv2d(image, 9, 3, padding='same')\n{HIDDEN}"},
    ),
    "py_func in the model": Pitfall(
        "py_func",
        ("py-func-in-graph",),
        {"loss": "loss = tf.py_func(numpy_loss, [loss], tf.float32)  # here"},
        {"parse": "image = tf.py_func(augment, [image], tf.float32)\nimage.set_shape([784])"},
    ),
    "resize_bilinear in the model": Pitfall(
        "affinity_op",
        ("resize-bilinear-in-graph",),
        {"model": f"{IMAGE}\nimage = tf.image.resize_bilinear(image, [56, 56])  # here\n{HIDDEN}"},
        {"model": f"{IMAGE}\nimage = tf.image.resize_nearest_neighbor(image, [56, 56])\n{HIDDEN}"},
    ),
    "resize_bilinear is right in the pipeline": Pitfall(
        "affinity_op",
        ("resize-bilinear-in-graph",),
        {"model": f"{IMAGE}\nimage = tf.image.resize_images(image, [56, 56])  # here\n{HIDDEN}"},
        {"parse": "image = tf.image.resize_images(tf.reshape(image, [28, 28, 1]), [56, 56])"},
    ),
    "sum in float16": Pitfall(
        "affinity_op",
        ("half-precision-sum",),
        {"loss": "half = tf.cast(loss, tf.float16)\ntotal = tf.reduce_sum(half)  # here"},
        {"loss": "half = tf.cast(loss, tf.float16)\ntotal = tf.reduce_sum(tf.cast(half, tf.float32))"},
    ),
    "sums in float16 by mixed precision": Pitfall(
        "mixlist",
        ("reduce-sum-under-mixed-precision",),
        {"loss": "loss += 1e-4 * tf.reduce_sum(tf.square(loss))  # here"},
        {
            "loss": "loss += 1e-4 * tf.reduce_sum(tf.square(loss))",
            "precision": f"{MIXED_MODE}\n{MIXLIST}",
        },
        files={"ops_info.json": '{"black-list": {"to-add": ["ReduceSumD"]}}'},
    ),
    "slim, imported as a module": Pitfall(
        "deprecated_api", ("tf-slim",), {"imports": "import tensorflow.contrib.slim as slim  # here"}
    ),
    "slim, imported from its package": Pitfall(
        "deprecated_api", ("tf-slim",), {"imports": "from tensorflow.contrib import slim  # here"}
    ),
    "slim, the package of its own": Pitfall("deprecated_api", ("tf-slim",), {"imports": "import tf_slim  # here"}),
    "slim, through an attribute": Pitfall(
        "deprecated_api",
        ("tf-slim",),
        {"model": "slim = tf.contrib.slim\nhidden = slim.fully_connected(hidden, 64)  # here"},
        {"model": "hidden = tf.layers.dense(hidden, 64)"},
    ),
    "the TensorFlow debugger left in": Pitfall(
        "debug_leftover",
        ("tfdbg-left",),
        {"imports": TFDBG, "session": "sess = tf_debug.LocalCLIDebugWrapperSession(sess)  # here"},
        {
            "imports": f"{GUARDED}{TFDBG}",
            "session": "if args.debug:\n    sess = tf_debug.LocalCLIDebugWrapperSession(sess)",
        },
    ),
    "a variable made in the pipeline": Pitfall(
        "variable_in_input_fn",
        ("variable-in-dataset-map",),
        {"parse": "image = image * tf.Variable(0.5, trainable=False)  # here"},
        {"parse": "image = image * tf.constant(0.5)"},
    ),
    "a variable used in the pipeline": Pitfall(
        "variable_in_input_fn",
        ("variable-in-dataset-map",),
        {"imports": "SCALE = tf.Variable(0.5)  # here", "parse": "image = image * SCALE"},
        {"imports": "SCALE = tf.Variable(0.5)", "model": "hidden = hidden * SCALE"},
    ),
    "no iterations_per_loop": Pitfall("iterations_per_loop", ("no-iterations-per-loop",), NO_SINKING),
    "the option of iterations_per_loop without its call": Pitfall(
        "setting", ("iterations-per-loop-mismatch",), {"loop": ""}
    ),
    "native dropout": Pitfall(
        "dropout", ("native-dropout",), {"model": "hidden = tf.nn.dropout(hidden, keep_prob=0.5)  # here"}
    ),
    "dropout layer": Pitfall(
        "dropout",
        ("layer-dropout",),
        {"model": "hidden = tf.layers.dropout(hidden, 0.5, training=True)  # here"},
        {
            "imports": "from npu_bridge.estimator.npu import npu_convert_dropout",
            "model": "hidden = tf.layers.dropout(hidden, 0.5, training=True)",
        },
    ),
    "remapping not switched off": Pitfall(
        "session_config",
        ("npu-optimizer-remapping-on",),
        {"switches": "config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF"},
        target="adapter=1.7",
    ),
    "remapping switched on": Pitfall(
        "session_config",
        ("npu-optimizer-remapping-on",),
        {"switches": "config.graph_options.rewrite_options.remapping = RewriterConfig.ON"},
        {"switches": "config = npu_config_proto(config_proto=config)"},
        target="adapter=1.7",
    ),
    "memory_optimization not switched off": Pitfall(
        "session_config",
        ("npu-optimizer-memory-optimization-on",),
        {"switches": "config.graph_options.rewrite_options.remapping = RewriterConfig.OFF"},
    ),
    "XLA left on": Pitfall(
        "device_cuda",
        ("xla-left-on",),
        {"precision": "config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1  # here"},
        {"precision": "config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF"},
        target="adapter=1.7",
    ),
    "precision_tool imported": Pitfall(
        "debug_leftover",
        ("precision-tool-import-left", "precision-tool-dump-left"),
        {"imports": f"{TOOL}  # here"},
        {"imports": f"# {TOOL}"},
    ),
    "a one-shot iterator with sunk iterations": Pitfall(
        "iterations_per_loop",
        ("one-shot-iterator-with-sinking",),
        {"session": f"extra = {SECOND}.make_one_shot_iterator().get_next()  # here"},
        {"session": f"extra = {SECOND}.make_initializable_iterator().get_next()"},
    ),
    "sunk iterations while GetNext stays on the host": Pitfall(
        "iterations_per_loop",
        ("sinking-without-device-input",),
        {"sinking": 'npu.parameter_map["iterations_per_loop"].i = 10  # here'},
    ),
    "a fused LSTM with another forget bias": Pitfall(
        "affinity_op",
        ("forget-bias-left-out",),
        {"imports": LSTM, "model": "hidden = DynamicRNN(128, tf.float32)(hidden)[0]  # here"},
        {"imports": LSTM, "model": "hidden = DynamicRNN(128, tf.float32, forget_bias=1.0)(hidden)[0]"},
    ),
    "a fused LSTM on batch-first data": Pitfall(
        "affinity_op",
        ("recurrent-option-not-supported",),
        {"imports": LSTM, "model": "cell = DynamicRNN(128, tf.float32, forget_bias=1.0, time_major=False)  # here"},
        {"imports": LSTM, "model": "cell = DynamicRNN(128, tf.float32, forget_bias=1.0, time_major=True)"},
    ),
    "a layer of cuDNN": Pitfall(
        "device_cuda",
        ("cudnn-recurrent-layer",),
        {"model": "hidden, _ = tf.contrib.cudnn_rnn.CudnnGRU(1, 128)(hidden)  # here"},
    ),
    "samples decoded one after the other": Pitfall(
        "dataloader_perf",
        ("sequential-decoding",),
        {"session": "more = tf.data.TFRecordDataset(['b']).map(parse).prefetch(2)  # here"},
        {"session": "more = tf.data.TFRecordDataset(['b']).map(parse, num_parallel_calls=4).prefetch(2)"},
    ),
    "a shuffle of very many records": Pitfall(
        "dataloader_perf",
        ("large-shuffle-buffer",),
        {"session": "more = tf.data.TFRecordDataset(['b']).shuffle(1000000)  # here"},
        {"session": "more = tf.data.Dataset.from_tensor_slices(names).shuffle(1000000)"},
    ),
    "NaN checks of all tensors": Pitfall(
        "debug_leftover",
        ("numeric-checks-left",),
        {"session": "checks = tf.add_check_numerics_ops()  # here"},
        {"imports": GUARDED, "session": "if args.debug:\n    checks = tf.add_check_numerics_ops()"},
    ),
    "data divided by the device's number": Pitfall(
        "distribution",
        ("shard-by-device-id",),
        {"imports": "import os", "session": f"part = {SECOND}.shard(8, int(os.environ['DEVICE_ID']))  # here"},
        {"imports": "import os", "session": f"part = {SECOND}.shard(8, int(os.environ['RANK_ID']))"},
    ),
    "files divided after each rank has shuffled them": Pitfall(
        "distribution",
        ("shard-of-shuffled-data",),
        {"session": "part = tf.data.Dataset.list_files('*.tfrecord').shard(size, rank)  # here"},
        {"session": "part = tf.data.Dataset.list_files('*.tfrecord', shuffle=False).shard(size, rank)"},
    ),
    "precision_tool configures the session": Pitfall(
        "debug_leftover",
        ("precision-tool-dump-left",),
        {"imports": TOOL, "switches": "config = npu_tf_config.session_dump_config(config, action='dump')  # here"},
        {
            "imports": GUARDED,
            "switches": f"if args.debug:\n    {TOOL}\n"
            "    config = npu_tf_config.session_dump_config(config, action='dump')",
        },
    ),
}
BESIDE = {  # where the check speaks of the whole configuration, its first line
    "no mixed precision": "custom_optimizers.add()",
    "no iterations_per_loop": "custom_optimizers.add()",
    "the option of iterations_per_loop without its call": '"iterations_per_loop"',
    "remapping not switched off": "custom_optimizers.add()",
    "remapping switched on": "custom_optimizers.add()",
    "memory_optimization not switched off": "custom_optimizers.add()",
}


def spoken(project: Project, files: Mapping[str, str], pitfall: Pitfall) -> list[tuple[str, str, int]]:
    target = (f"--target={pitfall.target}",) if pitfall.target else ()
    answer = project.write(files).check(*target)
    assert answer.err == "" and answer.document["unread"] == []
    return [(f["topic"], f["name"], f["line"]) for f in answer.findings if f["name"] in pitfall.checks]


def test_the_correct_script_is_clean(project: Project) -> None:
    answer = project.write({"train.py": script({})}).check()
    assert [(f["name"], f["line"]) for f in answer.findings] == []
    programs = answer.document["programs"]
    assert [(p["entry"], p["state"]) for p in programs] == [("train.py", "migrated")]
    answers = {item["item"]: item["status"] for item in programs[0]["checklist"]}
    assert "failed" not in answers.values()
    assert [answers[item] for item in ("device", "mixed_precision", "loss_scale", "static_shapes")] == ["passed"] * 4


@pytest.mark.parametrize("name", PITFALLS)
def test_the_pitfall_is_reported_at_its_line(project: Project, name: str) -> None:
    pitfall = PITFALLS[name]
    text = script(pitfall.bad)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if BESIDE.get(name, MARK) in line]
    assert len(lines) == 1
    found = spoken(project, {"train.py": text}, pitfall)
    assert {(topic, line) for topic, _, line in found} == {(pitfall.topic, lines[0])}
    assert len(found) == len({check for _, check, _ in found})


@pytest.mark.parametrize("name", PITFALLS)
def test_the_repaired_twin_is_not(project: Project, name: str) -> None:
    pitfall = PITFALLS[name]
    assert spoken(project, {"train.py": script(pitfall.good), **pitfall.files}, pitfall) == []


GPU = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [32, 784])
loss = tf.reduce_mean(tf.layers.dense(x, 10))
step = tf.train.AdamOptimizer(1e-3).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for batch in batches:
        sess.run(step, {x: batch})
"""


def test_the_gpu_script_gets_its_list_of_things_to_do(project: Project) -> None:
    answer = project.write({"train.py": GPU}).check("--min-severity=warning")
    assert answer.places("session-without-npu-config") == ["train.py:6"]
    assert answer.places("no-loss-scale") == []  # a note until something computes in float16
    (session,) = [one for one in answer.findings if one["name"] == "session-without-npu-config"]
    assert "No mixed precision mode is set for the NPU" in session["message"]


LOADER = """\
import argparse
import torch
import torch_npu
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

parser = argparse.ArgumentParser()
parser.add_argument("--pin", action="store_true")
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
rows = ImageFolder("train")
train_loader = DataLoader(rows, 8, shuffle=True, drop_last=True, <given>)
model = torch.nn.Linear(3, 3).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in train_loader:
    model(x.npu(non_blocking=True)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("num_workers=8", "loader-without-pinned-memory"),
        ("num_workers=8, pin_memory=False", "loader-without-pinned-memory"),
        ("pin_memory=True", "loader-without-workers"),
        ("pin_memory=True, num_workers=0", "loader-without-workers"),
    ],
)
def test_a_slow_training_loader_is_noted(project: Project, given: str, name: str) -> None:
    files = {"train.py": LOADER.replace("<given>", given)}
    assert project.write(files).check().places(name) == ["train.py:12"]


@pytest.mark.parametrize("given", ["num_workers=8, pin_memory=True", "num_workers=args.workers, pin_memory=args.pin"])
def test_a_loader_whose_options_decide_is_not(project: Project, given: str) -> None:
    found = project.write({"train.py": LOADER.replace("<given>", given)}).check().names
    assert {"loader-without-pinned-memory", "loader-without-workers"}.isdisjoint(found)


TOPK = """\
import torch
import torch_npu


def hardest(loss, positive, k):
    wrong = (1 - positive) * loss
    <pick>
    return best.sum()


def train(loader, model, optimizer):
    for images, positive in loader:
        count = positive.sum()
        loss = hardest(model(images), positive, <k>)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train(loader, model, optimizer)
"""


@pytest.mark.parametrize(
    ("pick", "k"),
    [
        ("best, _ = torch.topk(wrong.view(-1), k)", "3 * int(count)"),
        ("best = wrong.topk(k=k, dim=1)[0]", "count.item()"),
        ("best, _ = torch.topk(wrong, min(k, 100))", "int(torch.clamp(count, min=1))"),
    ],
)
def test_a_k_of_topk_out_of_the_data_is_reported(project: Project, pick: str, k: str) -> None:
    files = {"train.py": TOPK.replace("<pick>", pick).replace("<k>", k)}
    assert project.write(files).check().places("data-dependent-top-k") == ["train.py:7"]


@pytest.mark.parametrize(
    ("pick", "k"),
    [
        ("best, _ = torch.topk(wrong.view(-1), k)", "300"),
        ("best, _ = torch.topk(wrong, min(k, wrong.size(1)))", "300"),
        ("best = wrong.sort(descending=True)[0] * (torch.arange(wrong.shape[1]) < k)", "3 * count"),
    ],
)
def test_a_constant_k_of_topk_is_not(project: Project, pick: str, k: str) -> None:
    files = {"train.py": TOPK.replace("<pick>", pick).replace("<k>", k)}
    assert project.write(files).check().places("data-dependent-top-k") == []


MIXED_TRAINING = """\
import torch
import torch_npu
import torch_npu.optim
from apex import amp, optimizers

model = torch.nn.Linear(4, 2).npu()
<optimizer>
<amp>
for batch in batches:
    loss = model(batch).sum()
    optimizer.zero_grad()
    <backward>
    optimizer.step()
"""
APEX = {
    "optimizer": "optimizer = optimizers.NpuFusedSGD(model.parameters(), lr=0.1)",
    "amp": "model, optimizer = amp.initialize(model, optimizer, opt_level='O1', combine_grad=True)",
    "backward": "with amp.scale_loss(loss, optimizer) as scaled_loss:\n        scaled_loss.backward()",
}
FUSED = "optimizer = torch_npu.optim.NpuFusedSGD(model.parameters(), lr=0.1)"
TORCH_AMP = {
    "optimizer": FUSED,
    "amp": "scaler = torch.npu.amp.GradScaler()",
    "backward": "scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()",
}
NO_AMP = {"optimizer": FUSED, "amp": "", "backward": "loss.backward()"}
TRAINED = {
    "plain SGD": (
        "unfused-optimizer",
        NO_AMP | {"optimizer": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"},
        TORCH_AMP,
        7,
    ),
    "plain Adam": (
        "unfused-optimizer",
        NO_AMP | {"optimizer": "optimizer = torch.optim.Adam(model.parameters())"},
        TORCH_AMP,
        7,
    ),
    "plain SGD under apex amp": (
        "unfused-optimizer-under-apex-amp",
        APEX | {"optimizer": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"},
        APEX,
        7,
    ),
    "apex amp without combine_grad": (
        "apex-amp-without-combine-grad",
        APEX | {"amp": "model, optimizer = amp.initialize(\n    model, optimizer, opt_level='O1')"},
        APEX,
        8,
    ),
    "fused optimizer of torch_npu under apex amp": (
        "torch-npu-fused-optimizer-under-apex-amp",
        APEX | {"optimizer": FUSED},
        APEX,
        7,
    ),
    "fused optimizer of apex without apex amp": (
        "apex-fused-optimizer-without-amp",
        NO_AMP | {"optimizer": APEX["optimizer"]},
        NO_AMP,
        7,
    ),
    "no mixed precision": ("no-mixed-precision-in-torch", NO_AMP, TORCH_AMP, 12),
    "loss scale of 1": (
        "loss-scale-switched-off",
        APEX | {"amp": "model, optimizer = amp.initialize(model, optimizer, loss_scale=1, combine_grad=True)"},
        APEX,
        8,
    ),
    "no scale_loss": ("apex-amp-without-scale-loss", APEX | {"backward": "loss.backward()"}, APEX, 12),
}


def trained(parts: Mapping[str, str]) -> str:
    """The PyTorch script with these parts."""
    text = MIXED_TRAINING
    for name, part in parts.items():
        text = text.replace(f"<{name}>", part)
    return text


@pytest.mark.parametrize(("name", "bad", "good", "line"), TRAINED.values(), ids=TRAINED.keys())
def test_optimizer_and_mixed_precision_pitfalls_of_torch(
    project: Project, name: str, bad: dict[str, str], good: dict[str, str], line: int
) -> None:
    assert project.write({"train.py": trained(bad)}).check().places(name) == [f"train.py:{line}"]
    assert project.write({"train.py": trained(good)}).check().places(name) == []
