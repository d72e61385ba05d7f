"""Changes that mean nothing: a program prints the same after each of them, and they reach what they are for."""

from __future__ import annotations

import difflib
import zlib
from pathlib import Path

import pytest

from scripts.metamorphic_changes.source import Program, Variant
from scripts.metamorphic_changes.table import CHANGES
from tests.metamorphic_programs import PROGRAMS
from tests.metamorphic_runs import outputs

DAILY = 8  # variants of each change and program
PAIRS = [(change, name) for change in CHANGES for name in PROGRAMS]


def variants(change: str, name: str) -> list[Variant]:
    """The variants of a program, in an order that has nothing to do with their lines."""
    made = CHANGES[change](Program(PROGRAMS[name]))
    return sorted(made, key=lambda variant: (zlib.crc32(variant.location.encode()), len(variant.edits)))


def shown(name: str, variant: Variant) -> str:
    """The changed lines of a variant."""
    lines: list[str] = []
    for path, data in variant.changed_files(PROGRAMS[name]).items():
        before = PROGRAMS[name].get(path, b"").decode().splitlines()
        lines += difflib.unified_diff(before, data.decode().splitlines(), path, path, lineterm="")
    return "\n".join(lines)


def print_the_same(folder: Path, name: str, chosen: list[Variant]) -> None:
    files = PROGRAMS[name]
    expected, *printed = outputs(folder, files, [variant.changed_files(files) for variant in chosen])
    assert expected and "Error: " not in expected
    for variant, output in zip(chosen, printed, strict=True):
        assert output == expected, f"{variant.location}\n{shown(name, variant)}"


@pytest.mark.parametrize(("change", "name"), PAIRS)
def test_a_program_prints_the_same(change: str, name: str, tmp_path: Path) -> None:
    print_the_same(tmp_path, name, variants(change, name)[:DAILY])


@pytest.mark.nightly
@pytest.mark.parametrize(("change", "name"), PAIRS)
def test_a_program_prints_the_same_after_every_variant(change: str, name: str, tmp_path: Path) -> None:
    print_the_same(tmp_path, name, variants(change, name))


def test_each_change_reaches_a_program() -> None:
    reached = {change for change, name in PAIRS if variants(change, name)}
    assert reached == set(CHANGES) and len(CHANGES) == 20


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ("renamed_variable", "x = 1\nprint(x)\n", "other_variable = 1\nprint(other_variable)\n"),
        ("renamed_import", "import json as j\nj.dumps(1)\n", "import json as other_import\nother_import.dumps(1)\n"),
        (
            "renamed_option",
            'p.add_argument("--rate")\nargs = p.parse_args()\nf = args.rate\n',
            'p.add_argument("--renamed_option")\nargs = p.parse_args()\nf = args.renamed_option\n',
        ),
        ("moved_into_function", "x = f()\n", "def run_part():\n    x = f()\n    return x\nx = run_part()\n"),
        (
            "moved_into_method",
            "x = f()\n",
            "class Part:\n    def run_part(self):\n        x = f()\n        return x\nx = Part().run_part()\n",
        ),
        (
            "moved_into_method",
            "class A:\n    def f(self, x):\n        self.g(x)\n",
            "class A:\n    def run_part(self, x):\n        self.g(x)\n\n"
            "    def f(self, x):\n        self.run_part(x)\n",
        ),
        ("moved_into_module", "def f():\n    return 1\n", "from moved_part import f\n"),
        ("moved_into_package", "def f():\n    return 1\n", "from moved_part import f\n"),
        ("split_assignment", "x = f(g(1), 2)\n", "argument = g(1)\nx = f(argument, 2)\n"),
        ("inlined_variable", "x = g(1)\ny = f(x, 2)\n", "y = f((g(1)), 2)\n"),
        ("wrapped_in_if", "f(1)  # why\n", "if True:\n    f(1)  # why\n"),
        ("wrapped_in_try", "f(1)\n", "try:\n    f(1)\nfinally:\n    pass\n"),
        ("wrapped_in_with", "f(1)\n", "import contextlib\nwith contextlib.nullcontext():\n    f(1)\n"),
        ("reordered_imports", "import os\nimport torch\n", "import torch\nimport os\n"),
        ("imported_by_name", "import os\nos.getcwd()\n", "from os import getcwd\ngetcwd()\n"),
        ("imported_as_module", "from os import getcwd\ngetcwd()\n", "import os\nos.getcwd()\n"),
        ("other_arguments", "def f(a, b):\n    pass\nf(1, 2)\n", "def f(a, b):\n    pass\nf(a=1, b=2)\n"),
        ("other_arguments", "def f(a, b):\n    pass\nf(b=1, a=2)\n", "def f(a, b):\n    pass\nf(a=2, b=1)\n"),
    ],
)
def test_a_change_writes_this(change: str, before: str, after: str) -> None:
    files = {"main.py": before.encode()}
    first = next(iter(CHANGES[change](Program(files))))
    assert first.changed_files(files)["main.py"].decode() == after


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("renamed_variable", "x = 1\nprint(f'{x=}')\n"),
        ("renamed_variable", "def f():\n    x = 1\n    return locals()\n"),
        ("renamed_option", 'p.add_argument("--rate")\nargs = p.parse_args()\nprint(args)\n'),
        ("renamed_option", 'p.add_argument("--local_rank")\nargs = p.parse_args()\n'),
        ("moved_into_function", "def f():\n    global x\n    x = 1\n"),
        ("moved_into_function", "def f(y):\n    return y\n"),
        ("moved_into_function", "def f(y):\n    for x in y:\n        yield x\n"),
        ("moved_into_function", "import inspect\nx = inspect.stack()\n"),
        ("moved_into_function", "@jit\ndef f(y):\n    y.g()\n"),
        ("moved_into_module", "x = 1\ndef f():\n    return x\n"),
        ("moved_into_module", "def f():\n    return __file__\n"),
        ("moved_into_module", "@jit\ndef f():\n    return 1\n"),
        ("split_assignment", "x = f(*y, 2)\n"),
        ("split_assignment", "x = f()(1)\n"),
        ("inlined_variable", "x = g()\nf(h(), x)\n"),
        ("inlined_variable", "x = g()\nf(lambda: x)\n"),
        ("inlined_variable", "x = g()\nx.y = h()\n"),
        ("inlined_variable", "x = g()\nf(x)\nf(x)\n"),
        ("wrapped_in_if", "from __future__ import annotations\n"),
        ("wrapped_in_if", 'if __name__ == "__main__": f()\n'),
        ("reordered_imports", "import torch\nimport torch_npu\n"),
        ("imported_by_name", "import torch\nfrom torch_npu.contrib import transfer_to_npu\ntorch.ones(1)\n"),
        ("imported_by_name", "import os\nos.getcwd = f\nos.getcwd()\n"),
        ("imported_as_module", "from torch.utils import data\ndata.DataLoader(x)\n"),
        ("imported_as_module", "from PIL import Image\nImage.open(x)\n"),
        ("other_arguments", "def f(*a):\n    pass\nf(1)\n"),
        ("other_arguments", "def f(a):\n    pass\nf = g\nf(1)\n"),
    ],
)
def test_a_change_leaves_this_alone(change: str, text: str) -> None:
    assert list(CHANGES[change](Program({"main.py": text.encode()}))) == []


def test_comments_for_npulint_stay_at_their_lines() -> None:
    text = "# npulint: ignore\nx = f(g(1))\ny = h(x)  # npulint: ignore\n"
    for change in ("split_assignment", "inlined_variable", "dead_code", "documented"):
        changed = [variant.location for variant in CHANGES[change](Program({"main.py": text.encode()}))]
        assert changed == [], change


def test_launchers_pass_the_renamed_option() -> None:
    (variant, *_) = CHANGES["renamed_option"](Program(PROGRAMS["options"]))
    changed = variant.changed_files(PROGRAMS["options"])
    assert b"--renamed_option 3" in changed["run.sh"] and b"range(args.renamed_option)" in changed["main.py"]
    assert variant.names == {"renamed_option": "number_of_rounds"}


def test_strings_of_several_lines_are_not_indented() -> None:
    text = 'x = """a\nb"""\n'
    (variant,) = CHANGES["wrapped_in_if"](Program({"main.py": text.encode()}))
    assert variant.changed_files({"main.py": text.encode()})["main.py"] == b'if True:\n    x = """a\nb"""\n'
