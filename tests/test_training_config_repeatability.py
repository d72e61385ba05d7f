"""What makes two runs of one program differ, as facts."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.build import assembled
from npulint.commands.check.temp_project import materialize
from npulint.commands.training_config.repeatability import random_facts
from npulint.facts.model import Fact
from npulint.read.files import load, read


def facts(files: dict[str, str]) -> list[Fact]:
    """The facts of all modules of a project."""
    with materialize({name: textwrap.dedent(text) for name, text in files.items()}) as (_, sources):
        project = assembled(".", [read(load(source), complete=True) for source in sources])
    return random_facts(project.context, sorted(project.context.project.modules))


def told(text: str, kind: str) -> list[tuple[str, str, str]]:
    """Name, source and seed of the facts of a script that are a draw, a seed or an order."""
    found = facts({"train.py": text})
    return [(one.name, one.get("source"), one.get("seeded")) for one in found if one.get("what") == kind]


_SEEDS = {
    "python": ("import random\nrandom.seed(0)", "python", "constant"),
    "numpy under another name": ("import numpy as np\nnp.random.seed(1)", "numpy", "constant"),
    "imported by itself": ("from numpy.random import seed\nseed(1)", "numpy", "constant"),
    "torch": ("import torch\ntorch.manual_seed(0)", "torch", "constant"),
    "all devices": ("import torch\ntorch.cuda.manual_seed_all(0)", "torch", "constant"),
    "tensorflow 1": ("import tensorflow as tf\ntf.set_random_seed(0)", "tensorflow", "constant"),
    "tensorflow 2": ("import tensorflow as tf\ntf.random.set_seed(0)", "tensorflow", "constant"),
    "keras seeds three": (
        "import tensorflow as tf\ntf.keras.utils.set_random_seed(0)",
        "python numpy tensorflow",
        "constant",
    ),
    "a library seeds all": (
        "from transformers import set_seed\nset_seed(0)",
        "python numpy torch tensorflow",
        "constant",
    ),
    "a named constant": ("import torch\nSEED = 7\ntorch.manual_seed(SEED)", "torch", "constant"),
    "an option": (
        """
        import argparse, torch
        parser = argparse.ArgumentParser()
        parser.add_argument('--seed', type=int, default=3)
        args = parser.parse_args()
        torch.manual_seed(args.seed)
        """,
        "torch",
        "constant",
    ),
    "a parameter": ("import torch\ndef seed(value):\n    torch.manual_seed(value)", "torch", "unknown"),
    "nothing": ("import numpy as np\nnp.random.seed()", "numpy", "nothing"),
    "none": ("import random\nrandom.seed(None)", "python", "nothing"),
    "the time": ("import random, time\nrandom.seed(time.time())", "python", "time"),
    "the time as a number": ("import torch, time\ntorch.manual_seed(int(time.time() * 1000) % 2**32)", "torch", "time"),
    "the time by a name": (
        "import torch\nfrom time import time\nnow = int(time())\ntorch.manual_seed(now)",
        "torch",
        "time",
    ),
    "the process": ("import os, random\nrandom.seed(os.getpid())", "python", "time"),
    "a generator of its own": ("import numpy as np\nnp.random.RandomState(3)", "numpy", "constant"),
    "a generator of its own without a seed": ("import numpy as np\nnp.random.default_rng()", "numpy", "nothing"),
}


@pytest.mark.parametrize(("text", "source", "seeded"), _SEEDS.values(), ids=_SEEDS.keys())
def test_a_seed_says_what_it_reaches_and_comes_from(text: str, source: str, seeded: str) -> None:
    assert [(one, by) for _, one, by in told(text, "seed")] == [(source, seeded)]


_DRAWS = {
    "python": ("import random\nrandom.shuffle([1])", ["random.shuffle"]),
    "numpy": (
        "import numpy as np\nnp.random.rand(3)\nnp.random.permutation(3)",
        ["numpy.random.rand", "numpy.random.permutation"],
    ),
    "own generators": ("import random\nr = random.Random(0)\nr.shuffle([1])", []),
    "state": ("import random\nrandom.getstate()\nrandom.setstate(1)", []),
    "another random": ("import tensorflow as tf\ntf.random.normal([2])", []),
    "the project's own": ("def shuffle(x):\n    return x\nshuffle([1])", []),
}


@pytest.mark.parametrize(("text", "names"), _DRAWS.values(), ids=_DRAWS.keys())
def test_draws_from_shared_generators(text: str, names: list[str]) -> None:
    assert [name for name, _, _ in told(text, "draw")] == names


_ORDERS = {
    "a listing": ("import os\nfiles = os.listdir('train')", ["listing"]),
    "a pattern": ("import glob\nfor name in glob.glob('train/*.jpg'):\n    use(name)", ["listing"]),
    "a path": ("from pathlib import Path\nfiles = list(Path('train').glob('*.jpg'))", ["listing"]),
    "sorted at once": ("import os\nfiles = sorted(os.listdir('train'))", []),
    "sorted in a comprehension": ("import os\nfiles = sorted([f for f in os.listdir('a') if f.endswith('.jpg')])", []),
    "sorted afterwards": ("import glob\nfiles = glob.glob('*.jpg')\nfiles.sort()", []),
    "sorted by the caller": (
        """
        import os

        def names(folder):
            return [name for name in os.listdir(folder)]

        files = sorted(names('train'))
        """,
        [],
    ),
    "only counted": ("import os\nprint(len(os.listdir('train')))", []),
    "checkpoints": ("import glob\nlatest = glob.glob('checkpoints/*.pt')", []),
    "files of a test": ("import glob\ndef infer():\n    for name in glob.glob('*.jpg'):\n        use(name)", []),
    "a set as a list": ("names = open('a').read().split()\nclasses = list(set(names))", ["set"]),
    "a loop over a set": ("for name in set(open('a')):\n    use(name)", ["set"]),
    "numbered": ("words = {w: i for i, w in enumerate(set(open('a')))}", ["set"]),
    "sorted set": ("classes = sorted(set(open('a')))", []),
    "membership": ("known = set(open('a'))\nprint('x' in known)", []),
    "hash": ("bucket = hash(open('a').read()) % 7", ["hash"]),
    "hash of a number": ("bucket = hash(12) % 7", []),
    "hash of a name": ("bucket = hash(file_name) % 7", ["hash"]),
    "hash in a text": ("folder = str(abs(hash(file_name)))", []),
    "hash of a user": ("port = 4096 + hash(os.getuid()) % 1024", []),
    "listing of an evaluation": ("def evaluate(p):\n    for one in os.listdir(p):\n        score(one)", []),
}


@pytest.mark.parametrize(("text", "sources"), _ORDERS.values(), ids=_ORDERS.keys())
def test_orders_that_nothing_fixes(text: str, sources: list[str]) -> None:
    assert [source for _, source, _ in told("import torch\n" + textwrap.dedent(text), "order")] == sources


def test_a_seed_behind_an_option_that_is_not_given_is_not_active() -> None:
    text = """
        import argparse, torch
        parser = argparse.ArgumentParser()
        parser.add_argument('--seed', type=int, default=None)
        args = parser.parse_args()
        if args.seed is not None:
            torch.manual_seed(args.seed)
        """
    (fact,) = facts({"train.py": text})
    assert fact.get("active") == "no"


def test_only_the_asked_modules_are_read() -> None:
    both = {"a.py": "import random\nrandom.seed(0)", "b.py": "import random\nrandom.seed(0)"}
    assert [one.path for one in facts(both)] == ["a.py", "b.py"]
    with materialize(both) as (_, sources):
        project = assembled(".", [read(load(source), complete=True) for source in sources])
    assert [one.path for one in random_facts(project.context, ["b.py", "missing.py"])] == ["b.py"]


_PIECES = st.sampled_from(
    ["set(x)", "list(set(x))", "hash(y)", "random.seed(z)", "sorted(os.listdir(p))", "os.listdir(p)", "glob.glob(q)"]
)


@given(st.lists(_PIECES, max_size=8), st.booleans())
def test_the_facts_are_the_same_whatever_the_layout(pieces: list[str], within: bool) -> None:
    body = [f"    a{number} = {piece}" if within else f"a{number} = {piece}" for number, piece in enumerate(pieces)]
    head = "import glob, os, random\n" + ("def load(x, y, z, p, q):\n" if within else "")
    text = head + "\n".join(body or ["    pass" if within else "pass"]) + "\n"
    one, spread = (
        facts({"train.py": text}),
        facts({"train.py": text.replace("(", "(\n        ").replace("def load(\n        ", "def load(")}),
    )
    assert [(f.name, f.get("source")) for f in one] == [(f.name, f.get("source")) for f in spread]
