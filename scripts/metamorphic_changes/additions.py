"""Code, files, comments and documentation that no program uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.metamorphic_changes.scopes import finds_names_by_text, is_docstring, is_plain
from scripts.metamorphic_changes.source import INDENT, Program, Source, Variant

_DEAD_CODE = (
    "def {name}(values):\n    total = 0\n    for value in values:\n        total += value\n    return total\n",
    'def {name}(text, width=80):\n    return "\\n".join(text[i : i + width] for i in range(0, len(text), width))\n',
    "def {name}(path):\n    with open(path) as stream:\n        return [line.strip() for line in stream]\n",
)
_SMOKE_TESTS = (
    "def test_numbers_add_up():\n    assert sum([1, 2, 3]) == 6\n",
    "import unittest\n\n\nclass SmokeTest(unittest.TestCase):\n    def test_words(self):\n"
    '        self.assertEqual("a b".split(), ["a", "b"])\n\n\nif __name__ == "__main__":\n    unittest.main()\n',
    'import json\n\nimport pytest\n\n\n@pytest.mark.parametrize("value", [1, [2], {"a": 3}])\n'
    "def test_json_keeps_values(value, tmp_path):\n"
    '    path = tmp_path / "value.json"\n    path.write_text(json.dumps(value))\n'
    "    assert json.loads(path.read_text()) == value\n",
)
_SCRIPTS = (
    'import os\n\nfor name in sorted(os.listdir(".")):\n    print(name, os.path.getsize(name))\n',
    "import sys\n\n\ndef main():\n    for path in sys.argv[1:]:\n        with open(path) as stream:\n"
    '            print(path, sum(1 for _ in stream))\n\n\nif __name__ == "__main__":\n    main()\n',
    'import argparse\nimport csv\n\nparser = argparse.ArgumentParser()\nparser.add_argument("table")\n'
    'arguments = parser.parse_args()\nwith open(arguments.table, newline="") as stream:\n'
    "    for row in csv.reader(stream):\n        print(len(row))\n",
)
_COMMENT = "# see the notes of the last meeting"
_DOCSTRING = '"""Documented elsewhere."""'


def dead_code(program: Program) -> Iterator[Variant]:
    """A module defines a function or a class without side effects that nothing uses."""
    name = program.new_name("unused_part")
    for source in program.sources.values():
        for node in () if finds_names_by_text(source) else source.tree.body:
            line = source.lines_of(node, node)[0]
            if not _is_beginning(source, node) and source.is_alone(node, node) and not source.has_remark(line):
                text = _DEAD_CODE[line % len(_DEAD_CODE)].format(name=name)
                yield Variant(source.location(node), (source.insert(line, f"{text}\n\n"),))


def _is_beginning(source: Source, node: ast.stmt) -> bool:
    """Whether a statement must stand at the beginning of a module."""
    is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return is_future or (node is source.tree.body[0] and is_docstring(node))


def smoke_test(program: Program) -> Iterator[Variant]:
    """A test that has nothing to do with the program is in ``tests/test_smoke.py``."""
    yield from _new_file(program, "tests/test_smoke.py", _SMOKE_TESTS)


def unrelated_script(program: Program) -> Iterator[Variant]:
    """A script that has nothing to do with the program is next to its modules."""
    folders = sorted({path.rpartition("/")[0] for path in program.sources})
    for folder in folders:
        yield from _new_file(program, f"{folder}/list_sizes.py".lstrip("/"), _SCRIPTS)


def _new_file(program: Program, path: str, texts: tuple[str, ...]) -> Iterator[Variant]:
    if path not in program.files:
        yield from (Variant(f"{path}:1", (), {path: text}) for text in texts)


def documented(program: Program) -> Iterator[Variant]:
    """A function has a docstring, or a statement has comments and blank lines in front of it."""
    for source in program.sources.values():
        is_read = bool(source.words & {"__doc__", "getdoc", "getsource", "docopt"})
        for node in source.nodes:
            if not isinstance(node, ast.stmt) or not source.is_alone(node, node):
                continue
            line = source.lines_of(node, node)[0]
            if source.has_remark(line) or not is_plain(source, node):
                continue
            if isinstance(node, ast.FunctionDef) and not is_read and source.is_alone(node.body[0], node.body[0]):
                yield from _with_docstring(source, node)
            margin = source.margin(line)
            yield Variant(source.location(node), (source.insert(line, f"\n\n{margin}{_COMMENT}\n\n"),))


def _with_docstring(source: Source, function: ast.FunctionDef) -> Iterator[Variant]:
    first = function.body[0]
    line = source.lines_of(first, first)[0]
    if not is_docstring(first) and not source.has_remark(line):
        text = f"{source.margin(line) or INDENT}{_DOCSTRING}\n"
        yield Variant(source.location(function), (source.insert(line, text),))
