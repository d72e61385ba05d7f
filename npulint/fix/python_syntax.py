"""Parses Python, including code from before 3.7 with arguments named ``async``."""

from __future__ import annotations

import ast
import re
import warnings

_ASYNC = re.compile(r"\basync(?=\s*=[^=])")
_STAND_IN = "ASYNC"  # of the same length, so that columns stay


def syntax(source: str) -> ast.Module:
    """The syntax tree of a source; raises what `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except SyntaxError:
            if "async" not in source or _STAND_IN in source:
                raise
            tree = ast.parse(_ASYNC.sub(_STAND_IN, source))
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == _STAND_IN:
            node.arg = "async"
        elif isinstance(node, ast.Name) and node.id == _STAND_IN:
            raise SyntaxError("async is a name")
    return tree
