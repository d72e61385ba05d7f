"""Lines and columns of facts: lines as Python counts them, columns in characters from 1."""

from __future__ import annotations

import pytest

from npulint.facts.code import Call, Code
from npulint.read.python import read_python

_HEAD = "import tensorflow as tf"


def _code(text: str) -> Code:
    code, problems = read_python(text, "m.py")
    assert problems == []
    return code


def _call(text: str, name: str = "f") -> tuple[int, int, int, int]:
    call: Call = next(c for c in _code(text).calls if getattr(c.callee, "name", "") == name)
    return call.line, call.column, call.end_line, call.end_column


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_lines_are_counted_for_every_newline(newline: str) -> None:
    text = newline.join([_HEAD, "x = '''a", "b'''", "y = 'é' + f(1)", ""])
    assert _call(text) == (4, 11, 4, 15)


def test_mixed_newlines_count_alike() -> None:
    assert _call(f"{_HEAD}\r\n\na = 1\rb = 2\nf(1)\n") == (5, 1, 5, 5)


@pytest.mark.parametrize("separator", ["\x0c", "\x85", "\u2028", "\x1c"], ids=["FF", "NEL", "LS", "FS"])
def test_other_separators_end_no_line(separator: str) -> None:
    assert _call(f"{_HEAD}\na = '{separator}'\nf(1)\n") == (3, 1, 3, 5)


_COLUMNS = {
    "ascii": ("a = f(1)", 5, 9),
    "accents before it": ("é = f(1)", 5, 9),
    "accents inside it": ("a = f('é')", 5, 11),
    "chinese": ("a = '损失缩放', f('混合精度')", 13, 22),
    "beyond the basic plane": ("a = '𝒳', f('𝒳')", 10, 16),
    "a combining mark counts as a character": ("a = 'e\u0301', f(1)", 11, 15),
    "a tab is one character": ("if a:\tf(1)", 7, 11),
}


@pytest.mark.parametrize(("line", "begin", "end"), _COLUMNS.values(), ids=_COLUMNS.keys())
def test_columns_count_characters(line: str, begin: int, end: int) -> None:
    assert _call(f"{_HEAD}\n{line}\n") == (2, begin, 2, end)


def test_call_over_several_lines() -> None:
    assert _call(f"{_HEAD}\nx = f(1,\n  'é')\n") == (2, 5, 3, 7)


@pytest.mark.parametrize(
    ("text", "place"),
    [("x = tf.float16\n", (2, 5, 15)), ("x = (tf\n  .float16)\n", (2, 6, 7))],
    ids=["on one line", "over two lines it stands for its first character"],
)
def test_place_of_a_mention(text: str, place: tuple[int, int, int]) -> None:
    mention = _code(f"{_HEAD}\n{text}").name_uses[0]
    assert (mention.line, mention.column, mention.end_column) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [("import a, b\n", (2, 1, 12)), ("if x:\n    from a import (\nb)\n", (3, 5, 6))],
    ids=["on one line", "over two lines it stands for its first character"],
)
def test_place_of_an_import(text: str, place: tuple[int, int, int]) -> None:
    record = _code(f"{_HEAD}\n{text}").imports[1]
    assert (record.line, record.column, record.end_column) == place


def test_definition_is_placed_at_its_keyword() -> None:
    code = _code(f"{_HEAD}\n@d\n@e\ndef f():\n    pass\n")
    assert (code.blocks[1].line, code.assignments[0].line, code.assignments[0].column) == (4, 4, 1)


def test_every_place_lies_within_its_line() -> None:
    text = f"{_HEAD}\ndef f(é, *à):\n    with é.ü(à) as ö, à:\n        return [tf.ß(ä)\n                for ä in ö]\n"
    rows = text.split("\n")
    code = _code(text)
    places = [(c.line, c.column, c.end_line, c.end_column) for c in code.calls]
    for line, column, end_line, end_column in places + [
        (b.line, b.column, b.end_line, b.end_column) for b in code.assignments
    ]:
        assert 1 <= column <= len(rows[line - 1])
        assert end_column - 1 <= len(rows[end_line - 1])
