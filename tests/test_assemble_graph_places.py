"""From frames of another machine to lines of the project: certain, or no place at all."""

from __future__ import annotations

import pytest

from npulint.facts.graph import Node, NodeFrame
from npulint.facts.model import FileFacts, Span
from npulint.graphs.facts.source_mapping import chain, place_of
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from npulint.read.python import read_python

MODEL = """import torch


def forward(x):
    y = torch.sin(x)
    return y


def other(x):
    return torch.cos(x)
"""
TRAIN = "import torch\nfrom model import forward\n\nfor step in range(3):\n    loss = forward(torch.ones(3))\n"
GRAPH = "graphs/net.pt2"


def context(*paths: str, root: str = ".", text: str = MODEL) -> Context:
    files = []
    for path in paths:
        code, problems = read_python(TRAIN if path.endswith("train.py") else text, path)
        assert not problems
        files.append(FileFacts(path, "python", code))
    return Context(Project(root, files))


def node(*frames: tuple[str, int] | tuple[str, int, str]) -> Node:
    return Node("sin", "aten.sin.default", frames=tuple(NodeFrame(*frame) for frame in frames))


def place(project: Context, *frames: tuple[str, int] | tuple[str, int, str]) -> tuple[str, int]:
    path, span = place_of(node(*frames), project, GRAPH)
    assert span == Span(span.line, 1, span.line, 1)
    return path, span.line


NOWHERE = (GRAPH, 1)


def test_the_innermost_frame_of_the_project_is_the_place() -> None:
    project = context("src/model.py", "train.py")
    frames = (
        ("/home/a/job/train.py", 5),
        ("/home/a/job/src/model.py", 5, "forward"),
        ("/opt/venv/lib/python3.11/site-packages/timm/model.py", 5, "forward"),
        ("/usr/lib/python3.11/train.py", 4, "inner"),
        ("<string>", 1, "f"),
    )
    assert place(project, *frames) == ("src/model.py", 5)
    assert chain(node(*frames), project) == [("train.py", Span(5, 1, 5, 1))]
    assert chain(node(), project) == []
    assert place(project) == NOWHERE


def test_a_line_comes_once() -> None:
    project = context("model.py", "train.py")
    frames = (("/a/train.py", 5), ("/a/model.py", 5), ("/a/model.py", 6), ("/a/model.py", 5))
    assert [(path, span.line) for path, span in chain(node(*frames), project)] == [("model.py", 6), ("train.py", 5)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/x/src/model.py", ("src/model.py", 5)),
        ("C:\\Users\\a\\src\\model.py", ("src/model.py", 5)),
        ("src/model.py", ("src/model.py", 5)),
        ("./src/./model.py", ("src/model.py", 5)),
        ("/x/tools/model.py", ("tools/model.py", 5)),
        ("/x/deep/tools/model.py", ("deep/tools/model.py", 5)),
        ("/x/elsewhere/model.py", NOWHERE),
        ("/x/src/models.py", NOWHERE),
        ("", NOWHERE),
        ("///", NOWHERE),
    ],
)
def test_the_longest_end_of_the_path_decides(path: str, expected: tuple[str, int]) -> None:
    paths = ("src/model.py", "tools/model.py", "deep/tools/model.py")
    assert place(context(*paths), (path, 5, "step")) == expected


def test_of_files_that_fit_alike_the_one_with_the_function_counts() -> None:
    paths = ("one/model.py", "two/model.py")
    assert place(context(*paths), ("/x/model.py", 5, "forward")) == NOWHERE
    project = context("one/model.py", "train.py")
    assert place(project, ("/workspace/model.py", 5, "forward")) == ("one/model.py", 5)
    assert place(project, ("/workspace/model.py", 5, "Net.forward")) == ("one/model.py", 5)
    assert place(project, ("/workspace/model.py", 5, "other")) == NOWHERE
    assert place(project, ("/workspace/model.py", 5)) == NOWHERE


def test_a_file_at_the_root_is_certain() -> None:
    assert place(context("model.py", "old/model.py"), ("/x/y/model.py", 5)) == ("model.py", 5)
    assert place(context("/home/b/job/model.py", root="/home/b/job"), ("/x/model.py", 5)) == (
        "/home/b/job/model.py",
        5,
    )


@pytest.mark.parametrize(("line", "found"), [(0, False), (1, True), (10, True), (11, False), (999_999_999, False)])
def test_a_line_that_the_file_does_not_have_is_no_place(line: int, found: bool) -> None:
    assert place(context("model.py"), ("/x/model.py", line)) == (("model.py", line) if found else NOWHERE)


def test_what_is_left_out_of_a_light_reading_may_have_any_line() -> None:
    project = context("scale.py", text="import math\n\n\ndef scale(x):\n    return x * 2\n")
    assert place(project, ("/x/scale.py", 5, "scale")) == ("scale.py", 5)
