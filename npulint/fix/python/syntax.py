"""The syntax tree of a source, also of one from before Python 3.7 that gives an argument called ``async``."""

from __future__ import annotations

import ast
import re
import warnings

_ASYNC = re.compile(r"\basync(?=\s*=[^=])")
_STAND_IN = "ASYNC"  # as long, so that nothing moves


def syntax(source: str) -> ast.Module:
    """The tree. Raises what `ast.parse` raises."""
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
