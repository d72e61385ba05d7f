"""Reduced reading of modules that use no framework: only imports and what stands outside functions."""

from __future__ import annotations

import ast

from npulint.facts.code import Code
from npulint.read.python.walk import Walker

_WORDS = (  # most likely first
    *("torch", "tensorflow", "npu", "argparse", "environ", "cuda", "tf.", "ataset", "keras", "optimizer", "subprocess"),
    *("horovod", "hvd", "add_argument", "DEFINE_", "HParams", "apex", "CUDA", "tenv(", "import_module", "__import__"),
    *("import ray", "from ray", "from trl", "lightning", "accelerate", "deepspeed", "transformers", "vllm", "triton"),
    *("slim", "cupy", "sess", "Sess", "os.system", "minimize", "apply_gradients", "parameter_map", "precision_mode"),
    *("backward(", "regist", "Regist", "yaml.", "OmegaConf"),
)
_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_KEPT = (*_IMPORTS, ast.Assign, ast.AnnAssign, ast.Expr, ast.For, ast.If, ast.Try, ast.With, ast.ClassDef)
_BODIES = ("body", "handlers", "orelse", "finalbody", "cases")


def is_relevant(text: str) -> bool:
    """Whether a source contains any word that facts are about."""
    return any(map(text.__contains__, _WORDS))


def read_lightly(text: str, tree: ast.Module) -> Code:
    """The imports, and what stands outside functions; enough for the import graph, constants and what a script
    calls."""
    kept: list[ast.stmt] = [node for node in tree.body if isinstance(node, _KEPT)]
    if text.count("import") > sum(isinstance(node, _IMPORTS) for node in kept):  # some may be in functions
        kept = [n for n in tree.body if isinstance(n, _KEPT) or (isinstance(n, _FUNCTIONS) and _imports(n))]
    return Walker(text).walk(ast.Module(kept, []))


def omits_nothing(tree: ast.Module) -> bool:
    """Whether a reduced reading leaves nothing out: a package that only imports names, for instance."""
    return all(isinstance(node, _KEPT) for node in tree.body)


def _imports(function: ast.stmt) -> bool:
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _IMPORTS):
            return True
        fields = node.__dict__
        if "body" in fields or "cases" in fields:
            for name in _BODIES:
                waiting += fields.get(name, ())
    return False
