"""The light reading of modules that concern no framework: their imports and their constants."""

from __future__ import annotations

import ast

from npulint.facts.code import Code
from npulint.later import regex
from npulint.read.python.walk import Walker

_WORDS = (
    *(
        "tensorflow",
        "torch",
        "npu",
        "keras",
        "horovod",
        "hvd",
        "argparse",
        "add_argument",
        "DEFINE_",
        "HParams",
        "apex",
        "cuda",
        "CUDA",
    ),
    *("environ", "tenv(", "import_module", "__import__", "tf.", "slim", "cupy", "sess", "Sess", "ataset", "optimizer"),
    *("subprocess", "os.system", "minimize", "apply_gradients", "parameter_map", "precision_mode"),
)
_KEPT = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Try, ast.If, ast.ClassDef)


_INNER_IMPORT = regex(r"[ \t;:](?:from|import)[ \t]")


def is_relevant(text: str) -> bool:
    """Whether a source mentions anything that the vocabulary of facts is about."""
    return any(word in text for word in _WORDS)


def read_lightly(text: str, tree: ast.Module) -> Code:
    """Imports, and at module level assignments and classes; enough to keep the import graph and constants whole."""
    inner = _INNER_IMPORT.search(text) is not None
    slim = ast.Module([node for node in tree.body if isinstance(node, _KEPT) or (inner and _imports(node))], [])
    return Walker(text).walk(slim)


def _imports(node: ast.stmt) -> bool:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, functions) and any(isinstance(n, ast.Import | ast.ImportFrom) for n in ast.walk(node))
