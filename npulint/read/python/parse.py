"""Parses source text to `Code`, or to a problem with an explanation."""

from __future__ import annotations

import ast
import re
import sys
import warnings

import msgspec

from npulint.core.budget import reserve
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Code
from npulint.facts.model import Problem, Span
from npulint.read.python.light import is_relevant, omits_nothing, read_lightly
from npulint.read.python.newer import older
from npulint.read.python.npu_names import names_npu
from npulint.read.python.python2 import ASYNC, modernised
from npulint.read.python.size import memory_of_tree
from npulint.read.python.walk import Walker

# Never valid in Python 3, anywhere ...
_PYTHON2 = lazy_compile(
    r"^[ \t]*(?:print[ \t]+[\"']|exec[ \t]+[\"']|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:|raise[ \t]+\w+[ \t]*,)",
    re.MULTILINE,
)
# ... and these only where the parser failed (elsewhere it may be prose or a date).
_PYTHON2_HERE = lazy_compile(
    r"^[ \t]*(?:print[ \t]+(?![=(,.\[]).|exec[ \t]+\w)|;[ \t]*print[ \t]|:[ \t]*print[ \t]"
    r"|<>|\b0[0-7]+\b|\b\d+[lL]\b|\bur[\"']|`[^`]+`"
)
# What Python 3.12 accepts and older ones do not, in the line where they fail; wrong code may look the same.
_NEWER_HERE = lazy_compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w+\[|^[ \t]*type[ \t]+\w+[ \t]*(?:\[.*\])?[ \t]*="
    r"|(?<!\w)(?:[fF][rR]?|[rR][fF])[\"'].*\{"
)
_NEWER_SINCE = (3, 12)


def read_python(text: str, path: str, whole: bool = False) -> tuple[Code, list[Problem]]:
    """Parse `text` to syntax facts; on failure an empty `Code` and one fatal `Problem`. Unless `whole` (for
    comparisons), functions of a source that names no framework, and spans of arguments, are omitted. Raises
    `BudgetError` if the syntax tree would take more memory than allowed."""
    reserve(memory_of_tree(text))
    try:
        text, tree = _parsed(text)
    except SyntaxError as error:
        problem = _syntax_problem(error, text, path)
        return _second_try(text, problem)
    except (RecursionError, MemoryError):
        return Code(), [Problem(path, "too-deep")]
    except ValueError as error:  # NUL characters, lone surrogates, huge numbers
        return Code(), [Problem(path, "syntax-error", str(error))]
    light = not whole and not is_relevant(text)
    code = read_lightly(text, tree) if light else Walker(text).walk(tree)
    light = light and not omits_nothing(tree)
    if whole:
        from npulint.read.python.close import read_closely

        code = read_closely(code, tree)
    return msgspec.structs.replace(
        code, devices="cuda" in text or "npu" in text, light=light, npu=names_npu(text, tree)
    ), []


def _parsed(text: str) -> tuple[str, ast.Module]:
    """The syntax tree of a source, and the text that it is of: that for this Python, if a newer one is needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return text, ast.parse(text)
        except SyntaxError:
            rewritten = older(text) if sys.version_info[:2] < _NEWER_SINCE else text
            if rewritten == text:
                raise
            try:
                return rewritten, ast.parse(rewritten)
            except SyntaxError:
                pass
            raise


def _second_try(text: str, problem: Problem) -> tuple[Code, list[Problem]]:
    """Read a source that may be Python 2 after converting it to Python 3."""
    newer = modernised(text)
    if newer == text:
        return Code(), [problem]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(newer)
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return Code(), [problem]
    if ASYNC in newer:
        _call_back(tree)
    return Walker(newer).walk(tree), [msgspec.structs.replace(problem, reason="python2-read", fatal=False)]


def _call_back(tree: ast.Module) -> None:
    """Restore the names of call keywords that the conversion renamed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == ASYNC:
            node.arg = "async"


def _syntax_problem(error: SyntaxError, text: str, path: str) -> Problem:
    line = max(1, error.lineno or 1)
    column = max(1, error.offset or 1)
    here = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[line - 1 : line]
    reason = "python2" if _PYTHON2.search(text) or any(map(_PYTHON2_HERE.search, here)) else "syntax-error"
    if "too many nested" in (error.msg or "") or "too many levels" in (error.msg or ""):
        reason = "too-deep"
    message = error.msg or ""
    if reason == "syntax-error" and any(may_be_newer(one, sys.version_info[:2]) for one in here):
        reason, message = "newer-python", f"{message} (Python {sys.version_info[0]}.{sys.version_info[1]})"
    return Problem(path, reason, message, Span(line, column, line, column + 1))


def may_be_newer(line: str, running: tuple[int, int]) -> bool:
    """Whether a line that this Python cannot parse may be written for a newer one."""
    return running < _NEWER_SINCE and _NEWER_HERE.search(line) is not None
