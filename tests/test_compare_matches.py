"""Which file, class and function stands for which."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.commands.compare.matching.features import Unit
from npulint.commands.compare.matching.matches import Matches, Side, counterparts
from npulint.commands.compare.matching.pairing import FileOverlap
from npulint.facts.model import FileFacts
from npulint.model.code.names import Names
from npulint.model.code.project import Project
from npulint.read.python import read_python


def side(files: dict[str, str]) -> Side:
    facts = [FileFacts(path, "python", read_python(dedent(text), path, True)[0]) for path, text in files.items()]
    return Side(Names(Project(".", facts)), list(files))


def spots(one: Side) -> dict[tuple[str, str], tuple[str, int]]:
    """The blocks of functions and classes by path and name; modules have the empty name."""
    modules = one.names.project.modules
    named = (
        (path, block, record.name)
        for path in one.paths
        for block, record in enumerate(modules[path].blocks)
        if block == 0 or record.kind in ("function", "class")
    )
    return {(path, name): (path, block) for path, block, name in named}


def compared(reference: dict[str, str], migrated: dict[str, str]) -> dict[str, str]:
    """``path:name`` of everything in the reference that has a counterpart, and of that."""
    left, right = side(reference), side(migrated)
    found = counterparts(left, right)
    names = {spot: f"{path}:{name}" for (path, name), spot in spots(right).items()}
    return {
        f"{path}:{name}": names[found.blocks[spot]]
        for (path, name), spot in spots(left).items()
        if spot in found.blocks
    }


MODEL = """
    import tensorflow as tf

    def conv_block(x, filters, training):
        x = tf.layers.conv2d(x, filters, 3, padding='same', use_bias=False)
        x = tf.layers.batch_normalization(x, momentum=0.9, training=training)
        return tf.nn.relu(x)

    def head(x, classes):
        x = tf.reduce_mean(x, [1, 2])
        x = tf.layers.dense(x, 1024, activation=tf.nn.tanh)
        return tf.layers.dense(x, classes)

    class Net:
        def __init__(self, classes, width=64):
            self.classes = classes
            self.width = width

        def logits(self, images, training):
            x = conv_block(images, self.width, training)
            x = tf.layers.max_pooling2d(x, 2, 2)
            x = conv_block(x, self.width * 2, training)
            x = tf.layers.dropout(x, 0.4, training=training)
            return head(x, self.classes)

        def loss(self, logits, labels):
            entropy = tf.losses.sparse_softmax_cross_entropy(labels, logits)
            decay = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
            return entropy + 0.0001 * decay
"""
TRAIN = """
    import tensorflow as tf
    from model import Net

    flags = tf.app.flags
    flags.DEFINE_float('lr', 0.1, 'learning rate')
    FLAGS = flags.FLAGS

    def parse(record):
        features = tf.parse_single_example(record, {'image': tf.FixedLenFeature([], tf.string)})
        image = tf.image.decode_jpeg(features['image'], channels=3)
        image = tf.image.resize_images(image, [224, 224])
        return tf.cast(image, tf.float32) / 255.0

    def input_fn(files, batch):
        data = tf.data.TFRecordDataset(files)
        data = data.shuffle(10000).repeat().map(parse)
        return data.batch(batch).make_one_shot_iterator().get_next()

    def train():
        images, labels = input_fn('train.tfrecord', 32)
        net = Net(10)
        loss = net.loss(net.logits(images, True), labels)
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(FLAGS.lr, step, 1000, 0.94)
        op = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(10000):
                sess.run(op)

    if __name__ == '__main__':
        train()
"""
REFERENCE = {"train.py": TRAIN, "model.py": MODEL}
ALL = {
    *("train.py:", "train.py:parse", "train.py:input_fn", "train.py:train", "model.py:", "model.py:conv_block"),
    *("model.py:head", "model.py:Net", "model.py:Net.__init__", "model.py:Net.logits", "model.py:Net.loss"),
}


def renamed(text: str, names: dict[str, str]) -> str:
    pattern = r"\b(" + "|".join(names) + r")\b"
    return re.sub(pattern, lambda match: names[match[1]], text)


def cut(text: str, start: str, end: str) -> tuple[str, str]:
    """A text without the part from `start` to `end`, and that part."""
    begin = text.index(start)
    stop = text.index(end, begin) if end else len(text)
    return text[:begin] + text[stop:], text[begin:stop]


def test_a_program_is_its_own_counterpart() -> None:
    assert compared(REFERENCE, REFERENCE) == {name: name for name in ALL}


def test_folders_in_front_of_all_files_do_not_matter() -> None:
    moved = {f"migrated/deep/{path}": text for path, text in REFERENCE.items()}
    assert compared(REFERENCE, moved) == {name: f"migrated/deep/{name}" for name in ALL}


def test_everything_may_be_renamed() -> None:
    names = {
        **{"conv_block": "unit", "head": "top", "Net": "Backbone", "logits": "outputs", "loss": "objective"},
        **{"parse": "decode", "input_fn": "pipeline", "train": "fit", "images": "x0", "labels": "y0", "width": "w"},
    }
    text = renamed(TRAIN.replace("tf.train", "tf.TRAIN"), {**names, "model": "backbone"}).replace(
        "tf.TRAIN", "tf.train"
    )
    migrated = {
        "main_npu.py": text,
        "nets/backbone.py": renamed(MODEL.replace("tf.losses", "tf.LOSSES"), names).replace("tf.LOSSES", "tf.losses"),
    }
    found = compared(REFERENCE, migrated)
    assert set(found) == ALL
    assert found["model.py:Net.loss"] == "nets/backbone.py:Backbone.objective"
    assert found["model.py:conv_block"] == "nets/backbone.py:unit"
    assert found["train.py:train"] == "main_npu.py:fit"
    assert found["train.py:parse"] == "main_npu.py:decode"
    assert found["train.py:"] == "main_npu.py:"


def test_migration_edits_leave_the_counterparts() -> None:
    train = TRAIN.replace(
        "import tensorflow as tf", "import tensorflow as tf\n    from npu_bridge.npu_init import *", 1
    )
    train = train.replace("tf.Session()", "tf.Session(config=npu_config_proto())").replace(
        "batch(batch)", "batch(batch, True)"
    )
    model = MODEL.replace("tf.layers.dropout(x, 0.4, training=training)", "npu_ops.dropout(x, 0.6)")
    assert compared(REFERENCE, {"train.py": train, "model.py": model}) == {name: name for name in ALL}


def test_a_split_file_keeps_its_functions() -> None:
    rest, head = cut(MODEL, "    def head", "    class Net")
    rest, blocks = cut(rest, "    def conv_block", "    class Net")
    layers = "    import tensorflow as tf\n\n" + blocks + head
    migrated = {"train.py": TRAIN, "model.py": "    from layers import *\n" + rest, "layers.py": layers}
    found = compared(REFERENCE, migrated)
    assert found["model.py:conv_block"] == "layers.py:conv_block" and found["model.py:head"] == "layers.py:head"
    assert found["model.py:Net.logits"] == "model.py:Net.logits"


def test_merged_files_keep_their_functions() -> None:
    both = MODEL + TRAIN.replace("    from model import Net\n", "")
    found = compared(REFERENCE, {"all.py": both})
    assert {name.partition(":")[2] for name in found.values()} == {name.partition(":")[2] for name in ALL}
    merged = counterparts(side(REFERENCE), side({"all.py": both}))
    assert len(merged.modules) == 1


def test_a_method_may_become_a_function_and_a_function_a_method() -> None:
    rest, loss = cut(MODEL, "        def loss", "")
    rest, head = cut(rest, "    def head", "    class Net")
    method = (
        head.replace("def head(x", "def head(self, x")
        .replace("\n    ", "\n        ")
        .replace("    def", "        def", 1)
    )
    function = dedent(loss).replace("self, ", "")
    text = dedent(rest) + dedent(method).replace("\n", "\n    ").replace("def", "    def", 1) + "\n\n" + function
    found = compared(REFERENCE, {"train.py": TRAIN, "model.py": text})
    assert found["model.py:Net.loss"] == "model.py:loss"
    assert found["model.py:head"] == "model.py:Net.head"


def test_a_script_may_become_a_function_and_the_other_way() -> None:
    body = dedent(cut(TRAIN, "    def train", "    if __name__")[1]).split("\n", 1)[1]
    script = {"train.py": dedent(TRAIN).split("def train")[0] + dedent(body), "model.py": MODEL}
    left, right = side(script), side(REFERENCE)
    at = counterparts(left, right).blocks[("train.py", 0)]
    assert at == spots(right)[("train.py", "train")]
    back = counterparts(right, left).blocks
    assert back[spots(right)[("train.py", "train")]] == ("train.py", 0)


def test_a_rewritten_function_keeps_its_counterpart() -> None:
    rest, _ = cut(TRAIN, "    def train", "    if __name__")
    new = """
    def train(resume=None):
        config = tf.estimator.RunConfig(save_summary_steps=100)
        estimator = tf.estimator.Estimator(make_model, config=config)
        estimator.train(lambda: input_fn('train.tfrecord', 64), max_steps=20000)
"""
    found = compared(
        REFERENCE, {"train.py": rest.replace("    if __name__", new + "\n    if __name__"), "model.py": MODEL}
    )
    assert found["train.py:train"] == "train.py:train"


def test_twins_are_told_apart_by_what_they_call() -> None:
    text = """
    import torch.nn as nn

    class {a}(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.layer = nn.Conv2d(n, n, 3, padding=1, bias=False)

    class {b}(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.layer = nn.ConvTranspose2d(n, n, 4, stride=2, padding=1)

    def {f}(n, depth):
        return nn.Sequential(*[{a}(n) for _ in range(depth)])

    def {g}(n, depth):
        return nn.Sequential(*[{b}(n) for _ in range(depth)])
    """
    first, second = text.format(a="Down", b="Up", f="encode", g="decode"), text.format(a="A", b="B", f="p", g="q")
    head, _, rest = second.partition("    def p")
    swapped = head + "    def q" + rest.partition("    def q")[2] + "\n    def p" + rest.partition("    def q")[0]
    found = compared({"net.py": first}, {"other.py": swapped})
    assert found["net.py:encode"] == "other.py:p" and found["net.py:decode"] == "other.py:q"
    assert found["net.py:Down"] == "other.py:A" and found["net.py:Up"] == "other.py:B"


def test_a_function_that_changed_and_was_renamed_is_found_by_its_callers() -> None:
    rest, old = cut(TRAIN, "    def input_fn", "    def train")
    new = """    def build_pipeline(paths, size, workers=8):
        data = tf.data.Dataset.list_files(paths)
        data = data.interleave(tf.data.TFRecordDataset, cycle_length=workers)
        return data.shuffle(10000).repeat().map(parse).batch(size).make_one_shot_iterator().get_next()

"""
    text = TRAIN.replace(old, new).replace("input_fn(", "build_pipeline(")
    assert rest in TRAIN.replace(old, "")
    found = compared(REFERENCE, {"train.py": text, "model.py": MODEL})
    assert found["train.py:input_fn"] == "train.py:build_pipeline"


def test_names_alone_pair_nothing() -> None:
    one = """
    import torch

    def main():
        model = torch.load('model.pt')
        model.eval()
        print(torch.jit.trace(model, torch.rand(1, 3, 224, 224)))

    if __name__ == '__main__':
        main()
    """
    other = """
    import json, requests

    def main():
        answer = requests.get('http://localhost:8080/status', timeout=5)
        for row in answer.json()['rows']:
            with open(row['name'], 'w') as out:
                json.dump(row, out, indent=2)

    if __name__ == '__main__':
        main()
    """
    assert "tools/export.py:main" not in compared({"tools/export.py": one}, {"client/main.py": other})


def test_an_unrelated_program_has_no_counterparts() -> None:
    other = """
    import argparse, csv

    def rows(path):
        with open(path) as source:
            yield from csv.DictReader(source)

    class Ledger:
        def __init__(self, rows):
            self.sums = {}
            for row in rows:
                self.sums[row['account']] = self.sums.get(row['account'], 0) + int(row['amount'])

        def report(self):
            for account, total in sorted(self.sums.items()):
                print(f'{account:20} {total:10d}')

    if __name__ == '__main__':
        parser = argparse.ArgumentParser()
        parser.add_argument('path')
        Ledger(rows(parser.parse_args().path)).report()
    """
    assert compared(REFERENCE, {"ledger.py": other}) == {}


def test_lambdas_belong_together_where_they_are_equally_many() -> None:
    text = "import tensorflow as tf\n\ndef f(d):\n    return d.map(lambda x: x * 2).filter(lambda x: x > 1).batch(4)\n"
    one = side({"a.py": text})
    found = counterparts(one, side({"b.py": "\n\n" + text.replace("x", "y")}))
    lambdas = [i for i, b in enumerate(one.names.project.modules["a.py"].blocks) if b.kind == "lambda"]
    assert [found.blocks[("a.py", i)] for i in lambdas] == [("b.py", i) for i in lambdas]
    fewer = counterparts(one, side({"b.py": text.replace(".filter(lambda x: x > 1)", "")}))
    assert not {("a.py", i) for i in lambdas} & set(fewer.blocks)


def test_modules_that_are_not_compared_have_no_part_in_it() -> None:
    left, right = side(REFERENCE), side(REFERENCE)
    found = counterparts(Side(left.names, ["train.py"]), Side(right.names, ["model.py", "train.py"]))
    assert found.modules == {"train.py": "train.py"}
    assert {path for path, _ in found.blocks} == {"train.py"}


def test_nothing_has_no_counterparts() -> None:
    assert counterparts(side({}), side(REFERENCE)).blocks == {}
    assert counterparts(side(REFERENCE), side({})).modules == {}


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "+".join(["a.b"] * 3000),
        "x = [" + "1, " * 50_000 + "]",
        "def f():\n    return f()\n" * 400,
        "class A(A):\n    def f(self):\n        return self.f()\n" * 200,
    ],
)
def test_odd_sources_do_no_harm(text: str) -> None:
    one = side({"odd.py": text, "train.py": TRAIN})
    found = counterparts(one, one)
    assert found.modules["train.py"] == "train.py" and found.modules.get("odd.py", "odd.py") == "odd.py"
    assert all(spot == other for spot, other in found.blocks.items() if spot[0] == "train.py")


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_seed_of_hashes() -> None:
    code = "import tests.test_compare_matches as t; print(list(t.shuffled(7).blocks.items()))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1


# -- a project against a copy in which everything has another name and another place

CALLS = (
    *("tf.nn.relu({})", "tf.layers.dense({}, {})", "tf.reduce_mean({}, axis={})", "tf.layers.conv2d({}, {}, 3)"),
    *("tf.image.resize_images({}, [{}, {}])", "tf.cast({}, tf.float32) / {}", "tf.concat([{}, {}], {})"),
    *("tf.transpose({}, [0, {}, 1])", "tf.layers.batch_normalization({}, momentum=0.{})", "tf.nn.dropout({}, 0.{})"),
    *("np.random.uniform(-{0}, {1})", "cv2.resize({}, ({}, {}))", "tf.losses.huber_loss({}, delta={}.5)"),
)


def body(rng: random.Random, called: list[str], names: list[str]) -> list[str]:
    """Some statements of a function, of which the first parameter is ``a0``."""
    lines = []
    for number in range(rng.randint(3, 9)):
        call = rng.choice(CALLS).format("a0", *(rng.randint(1, 999) for _ in range(3)))
        if called and rng.random() < 0.3:
            call = f"{rng.choice(called)}({call})"
        lines.append(f"a{number + 1} = {call}")
        names.append(f"a{number + 1}")
        if rng.random() < 0.2:
            lines.append(f"for a0 in range({rng.randint(2, 90)}):\n    a0 += {call}")
    return [*lines, f"return a{number + 1}"]


def program(rng: random.Random) -> list[tuple[str, str]]:
    """Functions of random statements, which call each other: their names and texts."""
    found: list[tuple[str, str]] = []
    for number in range(rng.randint(2, 14)):
        lines = body(rng, [name for name, _ in found], [])
        text = "\n".join(lines).replace("\n", "\n    ")
        found.append((f"fn{number}", f"def fn{number}(a0):\n    {text}\n"))
    return found


def laid_out(functions: list[tuple[str, str]], files: int, rng: random.Random, names: str) -> dict[str, str]:
    """The functions in some files that import each other."""
    paths = [f"{names}{number}" for number in range(files)]
    texts = dict.fromkeys(paths, "import tensorflow as tf\nimport numpy as np\nimport cv2\n")
    for path in paths:
        texts[path] += "".join(f"from {other} import *\n" for other in paths if other != path)
    for _, text in functions:
        texts[rng.choice(paths)] += "\n" + text
    return {f"{path}.py": text for path, text in texts.items()}


def pair_of_programs(seed: int) -> tuple[Side, Side]:
    """A program, and the same with functions in another order, in other files, all under other names."""
    rng = random.Random(seed)
    functions = program(rng)
    order = functions[:]
    rng.shuffle(order)
    left = laid_out(functions, rng.randint(1, 3), rng, "part")
    right = laid_out(order, rng.randint(1, 3), rng, "piece")
    swap = {path: re.sub(r"\bfn(\d+)", r"job_\1_renamed", text) for path, text in right.items()}
    return side(left), side({path: re.sub(r"\ba(\d)", r"value_\1", text) for path, text in swap.items()})


def shuffled(seed: int) -> Matches:
    return counterparts(*pair_of_programs(seed))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_all_functions_of_a_shuffled_and_renamed_copy_are_found(seed: int) -> None:
    left, right = pair_of_programs(seed)
    found = counterparts(left, right)
    names = {spot: name for (_, name), spot in spots(right).items()}
    pairs = {
        name: names[found.blocks[spot]] for (_, name), spot in spots(left).items() if name and spot in found.blocks
    }
    assert pairs == {name: name.replace("fn", "job_") + "_renamed" for _, name in spots(left) if name}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_no_block_is_the_counterpart_of_two(one: int, other: int) -> None:
    found = counterparts(pair_of_programs(one)[0], pair_of_programs(other)[1])
    assert len(set(found.blocks.values())) == len(found.blocks)
    assert len(set(found.modules.values())) == len(found.modules)
    assert {b: a for a, b in found.blocks.items()} == found.reference_blocks
    assert {b: a for a, b in found.modules.items()} == found.reference_modules
    if one == other:
        return
    functions = [spot for spot in found.blocks if spot[1]]
    assert len(functions) <= 2


@pytest.mark.parametrize(
    ("left", "right", "similarity"),
    [
        ("p/x.py", "p/x.py", 1.0),
        ("q/y.py", "r/y.py", 0.75),
        ("q/y.py", "s/t/y.py", 0.5 + 0.5 / 3),
        ("p/x.py", "r/y.py", 0.0),
    ],
)
def test_paths_are_as_similar_as_their_last_parts(left: str, right: str, similarity: float) -> None:
    ours = [Unit((path, 0), "module", "", -1, 0) for path in ("p/x.py", "q/y.py")]
    theirs = [Unit((path, 0), "module", "", -1, 0) for path in ("p/x.py", "r/y.py", "s/t/y.py")]
    assert FileOverlap(ours, theirs).paths(left, right) == pytest.approx(similarity)
