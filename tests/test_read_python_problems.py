"""Sources that do not parse: one clear problem, never an exception."""

from __future__ import annotations

import sys

import pytest

from npulint.facts.code import Code
from npulint.facts.model import Problem
from npulint.read.python import read_python
from npulint.read.python.parse import may_be_newer
from npulint.read.python.python2 import modernised


def _problem(text: str) -> Problem:
    code, problems = read_python(text, "m.py")
    assert code == Code()
    assert len(problems) == 1 and problems[0].fatal and problems[0].path == "m.py"
    return problems[0]


_PYTHON2 = {
    "a print statement": "x = 1\nprint 'a'\n",
    "a print statement of a name": "print x\n",
    "a print statement behind a colon": "if x: print x\n",
    "a print statement behind a semicolon": "x = 1; print x\n",
    "an except clause with a comma": "try:\n    pass\nexcept IOError, e:\n    pass\n",
    "raise with a comma": "raise ValueError, 'a'\n",
    "exec with a text": "exec 'a'\n",
    "exec of a name": "exec code in scope\n",
    "unequal signs": "if a <> b:\n    pass\n",
    "an old octal number": "x = 0777\n",
    "a long number": "x = 10L\n",
    "a raw unicode text": "x = ur'a'\n",
    "backticks": "x = `a`\n",
    "carriage returns only": "x = 1\rprint x\r",
}


@pytest.mark.parametrize("text", _PYTHON2.values(), ids=_PYTHON2.keys())
def test_python_2_is_read_and_named_as_such(text: str) -> None:
    _, problems = read_python("import tensorflow as tf\n" + text + "\ntf.Session()\n", "m.py")
    assert [(p.reason, p.fatal) for p in problems] == [("python2-read", False)]


def test_python_2_that_cannot_be_told_in_python_3_is_not_read() -> None:
    assert _problem("def f((a, b)):\n    print 'a'\n").reason == "python2"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("def first[T](items: list[T]) -> T:", True),
        ("class Box[T]:", True),
        ("type Row = list[int]", True),
        ("print(f\"{'a' if x else 'b\"", True),
        ('print(f"{d["x"]}")', True),
        ("def first(items:", False),
        ("kind = type x", False),
        ("print('{' x)", False),
    ],
)
def test_lines_that_a_newer_python_may_accept(line: str, expected: bool) -> None:
    assert may_be_newer(line, (3, 11)) is expected
    assert not may_be_newer(line, (3, 12))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python accepts it")
def test_syntax_of_a_newer_python_is_named_as_such() -> None:
    problem = _problem('x = 1\nprint(f"{d["x"]}")\n')
    assert (problem.reason, problem.span.line) == ("newer-python", 2)
    assert f"(Python 3.{sys.version_info[1]})" in problem.detail


_TOLD = {
    "print": ("print 'a', b\n", "print('a', b)\n"),
    "an empty print": ("print\n", "print()\n"),
    "a print in brackets with more behind": ("print ('a'), 3\n", "print(('a'), 3)\n"),
    "a print over two lines": ("print ('%d' %\n  3), x\n", "print(('%d' %\n  3), x)\n"),
    "a print behind a condition": ("if x: print y\n", "if x: print(y)\n"),
    "two prints on a line": ("print 'a'; print 'b'\n", "print('a'); print('b')\n"),
    "a call of print stays": ("print('a')\nprint('b', file=f)\n", "print('a')\nprint('b', file=f)\n"),
    "except": ("try:\n    f()\nexcept (A, B), e:\n    g()\n", "try:\n    f()\nexcept (A, B) as e:\n    g()\n"),
    "numbers": ("x = 0777 + 10L + 0xffL\n", "x = 0o777 + 10 + 0xff\n"),
    "tabs of eight columns": ("if a:\n\tf()\n        g()\n", "if a:\n        f()\n        g()\n"),
    "async as a name": ("f(async=True)\n", "f(ASYNC=True)\n"),
}


@pytest.mark.parametrize(("old", "new"), _TOLD.values(), ids=_TOLD.keys())
def test_python_2_is_told_in_python_3_line_by_line(old: str, new: str) -> None:
    assert modernised(old) == new


_PLAIN = {
    "a missing parenthesis": "x = f(1\n",
    "a date elsewhere": "# 2020-01-05\nx = = 1\n",
    "prose elsewhere": "'''\nprint the result\n'''\nx = = 1\n",
    "an arrow in a text elsewhere": "a = '<>'\nx = = 1\n",
    "a conflict marker": "<<<<<<< HEAD\nx = 1\n",
    "bad indentation": "if a:\nf()\n",
    "a text without an end": "x = 'a\n",
    "a NUL character": "x = 1\0\n",
    "a lone surrogate": "x = '\udc80'\n",
}


@pytest.mark.parametrize("text", _PLAIN.values(), ids=_PLAIN.keys())
def test_other_errors_are_syntax_errors(text: str) -> None:
    problem = _problem(text)
    assert problem.reason == "syntax-error"
    assert problem.detail


def test_problem_stands_at_the_error() -> None:
    span = _problem("a = 1\nx = = 1\n").span
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 5, 2, 6)


@pytest.mark.parametrize(
    "text",
    ["x = " + "(" * 300 + ")" * 300, "".join("\t" * i + "if a:\n" for i in range(150)) + "\t" * 150 + "f()\n"],
    ids=["parentheses", "indentation"],
)
def test_deeper_than_the_parser_goes(text: str) -> None:
    assert _problem(text).reason == "too-deep"


def test_warnings_of_the_parser_are_not_shown(recwarn: pytest.WarningsRecorder) -> None:
    read_python("import torch\nx = '\\d'\nif x is 'a': pass\n", "m.py")
    assert not recwarn.list


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "'''only a text'''", "pass\n\n"])
def test_sources_that_say_nothing(text: str) -> None:
    code, problems = read_python(text, "m.py")
    assert (problems, code.calls, code.assignments, len(code.blocks)) == ([], [], [], 1)
