"""Sources that do not parse: one clear problem, never an exception."""

from __future__ import annotations

import pytest

from npulint.facts.code import Code
from npulint.facts.model import Problem
from npulint.read.python import read_python


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
    "an earlier error in a file with print statements": "def f((a, b)):\n    print 'a'\n",
    "carriage returns only": "x = 1\rprint x\r",
}


@pytest.mark.parametrize("text", _PYTHON2.values(), ids=_PYTHON2.keys())
def test_python_2_is_named_as_such(text: str) -> None:
    assert _problem(text).reason == "python2"


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
    assert (problems, code.calls, code.binds, len(code.blocks)) == ([], [], [], 1)
