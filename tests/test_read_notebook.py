"""Notebooks: code cells as Python, every line at its line of the file."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from npulint.read.notebook import Notebook, at_file_lines, read_notebook
from npulint.read.python import read_python


def cell(*lines: str, kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": [line + "\n" for line in lines[:-1]] + list(lines[-1:])}


def raw(*cells: dict[str, Any], **more: Any) -> str:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, **more}, indent=1)


def read(*cells: dict[str, Any], **more: Any) -> Notebook:
    return read_notebook(raw(*cells, **more), "x.ipynb")


def test_only_code_cells_count_and_lines_map_to_the_file() -> None:
    text = raw(cell("# title", kind="markdown"), cell("import torch", "", "torch.topk(x, 3)"), cell("y = 1"))
    notebook = read_notebook(text, "x.ipynb")
    assert notebook.text == "import torch\n\ntorch.topk(x, 3)\ny = 1\n"
    raw_lines = text.split("\n")
    for line, place in zip(notebook.text.split("\n")[:-1], notebook.lines, strict=True):
        assert json.dumps(line)[1:-1] in raw_lines[place - 1]


def test_facts_of_a_notebook_are_at_the_lines_of_the_file() -> None:
    text = raw(cell("import torch as t"), cell("def f(x):", "    return t.topk(", "        x, 3)"))
    notebook = read_notebook(text, "x.ipynb")
    code, problems = read_python(notebook.text, "x.ipynb")
    assert not problems
    moved = at_file_lines(code, notebook.lines)
    (call,) = moved.calls
    raw_lines = text.split("\n")
    assert "t.topk(" in raw_lines[call.line - 1]
    assert "x, 3)" in raw_lines[call.end_line - 1]
    assert "import torch as t" in raw_lines[moved.imports[0].line - 1]
    assert "def f" in raw_lines[moved.blocks[1].line - 1]


def test_keywords_of_a_configuration_in_a_notebook_are_at_the_lines_of_the_file() -> None:
    text = raw(cell("run = NPURunConfig(", "    model_dir=out,", "    jit_compile='auto')"))
    notebook = read_notebook(text, "x.ipynb")
    code, _ = read_python(notebook.text, "x.ipynb")
    (call,) = at_file_lines(code, notebook.lines).calls
    raw_lines = text.split("\n")
    assert "model_dir" in raw_lines[call.keyword_spans[0][0] - 1]
    assert "jit_compile" in raw_lines[call.keyword_spans[1][2] - 1]


def test_a_cell_given_as_one_string_has_one_place() -> None:
    notebook = read({"cell_type": "code", "source": "a = 1\nb = 2\n"})
    assert notebook.text == "a = 1\nb = 2\n"
    assert len(set(notebook.lines)) == 1


def test_a_notebook_on_one_line_is_read() -> None:
    notebook = read_notebook(json.dumps({"cells": [cell("a = 1", "b = 2")]}), "x.ipynb")
    assert (notebook.text, notebook.lines) == ("a = 1\nb = 2\n", [1, 1])


def test_the_old_format_is_read() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}], "nbformat": 3}
    assert read_notebook(json.dumps(old), "x.ipynb").text == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("source", "python"),
    [
        (["%matplotlib inline", "x = 1"], ["pass", "x = 1"]),
        (["!pip install torch_npu", "x = 1"], ["pass", "x = 1"]),
        (["!pip install a \\", "  b", "x = 1"], ["pass", "", "x = 1"]),
        (["!pip install a \\ ", "  b", "x = 1"], ["pass", "", "x = 1"]),
        (["out = !ls \\", "  -l", "x = 1"], ["out = None", "", "x = 1"]),
        (["", " x = {", "    'a': 1,", " }", "y = 2"], ["", "x = {", "   'a': 1,", "}", "y = 2"]),
        (["  # note", "  %time f()", "  x = 1"], ["# note", "pass", "x = 1"]),
        (["%timeit?", "np.*load*?", "x.y?;"], ["pass", "pass", "pass"]),
        (["if a:", "    !ls", "x = 1"], ["if a:", "    pass", "x = 1"]),
        (["files = !ls", "t = %timeit -o f()"], ["files = None", "t = None"]),
        (["?torch.topk", "torch.topk??"], ["pass", "pass"]),
        (["%%time", "x = f()"], ["", "x = f()"]),
        (["%%bash", "rm -rf /tmp/x", "echo )"], ["", "", ""]),
        (["%%writefile a.py", "x = 1"], ["", ""]),
        (["x = (a", "% b)"], ["x = (a", "% b)"]),
        (['s = """', "%d", "!x", '"""'], ['s = """', "%d", "!x", '"""']),
        (["await f()"], ["await f()"]),
    ],
    ids=[
        "line magic",
        "shell line",
        "continued shell line",
        "continued with blanks behind the backslash",
        "continued and assigned",
        "indent of the first line",
        "indent of a comment and a magic",
        "help of magics and patterns",
        "inside a block",
        "assigned",
        "help",
        "cell magic around python",
        "cell of another language",
        "file cell",
        "modulo is no magic",
        "string is no magic",
        "top-level await",
    ],
)
def test_magics_are_harmless_and_lines_stay(source: list[str], python: list[str]) -> None:
    notebook = read(cell(*source))
    assert notebook.text.split("\n")[:-1] == python
    assert notebook.problems == []
    ast.parse(notebook.text)


def test_a_cell_that_does_not_parse_is_left_out_alone() -> None:
    text = raw(cell("a = 1"), cell("x = 1", "print 'old'"), cell("b = 2"))
    notebook = read_notebook(text, "x.ipynb")
    assert notebook.text == "a = 1\n\n\nb = 2\n"
    (problem,) = notebook.problems
    assert (problem.reason, problem.fatal) == ("syntax-error", False)
    assert "print 'old'" in text.split("\n")[problem.span.line - 1]


@pytest.mark.parametrize(
    "metadata",
    [{"kernelspec": {"language": "R"}}, {"language_info": {"name": "julia"}}],
)
def test_a_notebook_in_another_language_has_no_python(metadata: dict[str, Any]) -> None:
    assert read(cell("x <- 1"), metadata=metadata) == Notebook("", [], [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"cells": 3',
        '{"a": 1}',
        "[" * 100_000,
        '{"cells":' * 50_000,
        '{"cells": [' + '{"cell_type": "code"} ' * 3 + "]}",
        "\x00",
        "nul",
    ],
    ids=["empty", "open", "list", "cut", "other", "deep list", "deep object", "commas", "nul", "word"],
)
def test_hostile_json_is_one_fatal_problem(text: str) -> None:
    notebook = read_notebook(text, "x.ipynb")
    assert notebook.text == ""
    (problem,) = notebook.problems
    assert (problem.reason, problem.fatal) == ("json", True)


@pytest.mark.parametrize(
    "cells",
    [None, 3, [3], [{"cell_type": 3}], [{"cell_type": "code"}], [{"cell_type": "code", "source": {"a": [1]}}]],
)
def test_cells_of_a_wrong_shape_are_passed_over(cells: Any) -> None:
    notebook = read_notebook(json.dumps({"cells": cells}), "x.ipynb")
    assert (notebook.text, notebook.problems) == ("", [])


def test_a_cell_in_the_language_of_a_shell_is_no_python() -> None:
    shell = cell("git clone x", "cd x")
    shell["metadata"] = {"vscode": {"languageId": "shellscript"}}
    notebook = read(cell("import torch"), shell, cell("y = 1"))
    assert not notebook.problems
    assert notebook.text.split() == ["import", "torch", "y", "=", "1"]
