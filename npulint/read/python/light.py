"""The light reading of modules that concern no framework: their imports and their constants."""

from __future__ import annotations

import ast
import re

from npulint.facts.code import Code
from npulint.read.python.walk import Walker

_RELEVANT = re.compile(
    r"tensorflow|torch|npu|keras|horovod|argparse|DEFINE_|HParams|apex|[cC][uU][dD][aA]|environ|import_module|__import__"
    r"|\btf\b|\bhvd\b|\bslim\b|cupy|session|Session|dataset|Dataset|optimizer|subprocess|os\.system"
)
_KEPT = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Try, ast.If)


def is_relevant(text: str) -> bool:
    """Whether a source mentions anything that the vocabulary of facts is about."""
    return _RELEVANT.search(text) is not None


def read_lightly(text: str, tree: ast.Module) -> Code:
    """Module-level imports and assignments only; enough to keep the import graph and constants whole."""
    slim = ast.Module([node for node in tree.body if isinstance(node, _KEPT)], [])
    return Walker(text).walk(slim)
