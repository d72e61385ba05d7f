"""From source text to `Code`, with a clear problem when the text does not parse."""

from __future__ import annotations

import ast
import re
import warnings

from npulint.facts.code import Code
from npulint.facts.model import Problem, Span
from npulint.read.python.light import is_relevant, read_lightly
from npulint.read.python.walk import Walker

_PYTHON2 = re.compile(
    r"^[ \t]*(?:print[ \t]+(?![=(,.\[]).|exec[ \t]+[\"'\w]|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:|raise[ \t]+\w+[ \t]*,)"
    r"|<>|\b0[0-7]+\b|\bur[\"']",
    re.MULTILINE,
)


def read_python(text: str, path: str) -> tuple[Code, list[Problem]]:
    """Parse `text` and return its syntax facts; on failure an empty `Code` and one fatal `Problem`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return Code(), [_syntax_problem(error, text, path)]
    except (RecursionError, MemoryError, ValueError) as error:
        return Code(), [Problem(path, "too-deep", type(error).__name__)]
    return (Walker(text).walk(tree) if is_relevant(text) else read_lightly(text, tree)), []


def _syntax_problem(error: SyntaxError, text: str, path: str) -> Problem:
    line = max(1, error.lineno or 1)
    column = max(1, error.offset or 1)
    reason = "python2" if _PYTHON2.search(text) else "syntax-error"
    if "too many nested" in (error.msg or "") or "too many levels" in (error.msg or ""):
        reason = "too-deep"
    return Problem(path, reason, error.msg or "", Span(line, column, line, column + 1))
