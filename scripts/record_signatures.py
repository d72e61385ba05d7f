"""Records the parameters of the framework calls that decide the numbers of a training.

python scripts/record_signatures.py [torch] [tensorflow]     (needs the framework; the installed release is recorded)

Writes ``npulint/data/signatures_<framework>.json``: canonical name → parameters as Python writes them, where ``...``
stands for a default that is no plain value. Methods leave out ``self``, classes show what their constructor takes.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "npulint" / "data"

Signatures = dict[str, str]

TORCH = (
    "torch",
    "torch.amp",
    "torch.cuda.amp",
    "torch.distributed",
    "torch.fft",
    "torch.linalg",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parallel",
    "torch.nn.utils",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.rnn",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.special",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.utils.data.distributed",
)


def plain(value: object) -> bool:
    """Whether a default can be written as a literal."""
    if isinstance(value, tuple | list):
        return all(map(plain, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and isfinite(value))


def written(parameters: list[inspect.Parameter]) -> str:
    """Parameters as Python writes them."""
    kept = [p.replace(annotation=p.empty) for p in parameters]
    kept = [p if p.default is p.empty or plain(p.default) else p.replace(default=...) for p in kept]
    text = str(inspect.Signature(kept))[1:-1].replace("Ellipsis", "...")
    return text.replace("/, ", "").removesuffix(", /")


def by_inspection(function: Callable[..., Any], method: bool = False) -> str | None:
    """What Python itself knows of the parameters; None where it knows nothing of use."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if method and parameters:
        del parameters[0]
    if not method and parameters and all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    return written(parameters)


def by_documentation(function: object, name: str) -> str | None:
    """The parameters that a docstring shows, in its first line or as further forms (``.. function::``): the most of
    them, as the forms of a reduction by dimension have more than that over everything, where such ones may be left
    out. None where it shows none."""
    lines = (inspect.getdoc(function) or "").split("\n")
    forms = [lines[0], *(line.partition("::")[2] for line in lines[1:] if line.startswith(".. function::"))]
    shown = [tree for form in forms if (tree := _shown(form.strip(), name)) is not None]
    if not shown:
        return None
    first = {one.arg for one in (*shown[0].args, *shown[0].kwonlyargs)}
    most = max(shown, key=lambda tree: len(tree.args) + len(tree.kwonlyargs))
    while len(most.defaults) < len(most.args) and most.args[-len(most.defaults) - 1].arg not in first:
        most.defaults.insert(0, ast.Constant(None))
    return _literals(most)


def _shown(line: str, name: str) -> ast.arguments | None:
    start, end = line.find("("), line.rfind(") ->") if ") ->" in line else line.rfind(")")
    if start < 0 or end < start or line[:start].rpartition(".")[2] != name:
        return None
    try:
        tree = ast.parse(f"def f({line[start + 1 : end]}): pass").body[0]
    except SyntaxError:
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    tree.args.args = tree.args.posonlyargs + tree.args.args
    tree.args.posonlyargs = []
    return tree.args


def _literals(arguments: ast.arguments) -> str:
    for one in (*arguments.args, *arguments.kwonlyargs):
        one.annotation = None
    arguments.defaults = [_literal(default) for default in arguments.defaults]
    arguments.kw_defaults = [default and _literal(default) for default in arguments.kw_defaults]
    return ast.unparse(arguments)


def _literal(default: ast.expr) -> ast.expr:
    try:
        plain_value = plain(ast.literal_eval(default))
    except ValueError:
        plain_value = False
    return default if plain_value else ast.Constant(...)


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The callables that a module offers, by name."""
    for name in sorted(set(getattr(module, "__all__", None) or dir(module))):
        found = getattr(module, name, None)
        if not name.startswith("_") and callable(found):
            yield name, found


def torch() -> Signatures:
    """The signatures of PyTorch: modules, functions, optimizers, loaders, and methods of tensors; only of calls that
    have a row without parameters in ``recipe_torch.csv``."""
    from npulint.data.names import canonical

    found: Signatures = {}
    for module in TORCH:
        for name, member in public(importlib.import_module(module)):
            spelling = canonical(f"{module}.{name}")
            text = _torch_signature(member, name) if _asked_for("torch", spelling) else None
            if text is not None:
                found.setdefault(spelling, text)
    tensor = importlib.import_module("torch").Tensor
    for name, member in public(tensor):
        text = by_documentation(member, name) or by_inspection(member, method=True)
        if text is not None and _asked_for("torch", f"?.{name}", f"torch.Tensor().{name}"):
            found[f"torch.Tensor.{name}"] = text
    return found


def _torch_signature(member: Any, name: str) -> str | None:
    if isinstance(member, type) and issubclass(member, (BaseException, int, str)):
        return None
    return by_inspection(member) or by_documentation(member, name)


TENSORFLOW = (
    "",
    "bitwise",
    "data",
    "data.experimental",
    "distributions",
    "feature_column",
    "image",
    "initializers",
    "io",
    "keras.activations",
    "keras.backend",
    "keras.callbacks",
    "keras.constraints",
    "keras.initializers",
    "keras.layers",
    "keras.losses",
    "keras.metrics",
    "keras.optimizers",
    "keras.optimizers.schedules",
    "keras.regularizers",
    "keras.utils",
    "linalg",
    "losses",
    "math",
    "metrics",
    "nn",
    "random",
    "signal",
    "sparse",
    "strings",
    "train",
    "train.experimental",
)


def tensorflow() -> Signatures:
    """The signatures of TensorFlow 1.x as the installed release still has them (``compat.v1``), and of its Keras; only
    of calls that have a row without parameters in ``recipe_tensorflow.csv``."""
    from npulint.data.names import canonical

    v1 = importlib.import_module("tensorflow").compat.v1
    found: Signatures = {}
    for module in TENSORFLOW:
        home = v1
        for part in module.split(".") if module else ():
            home = getattr(home, part)
        for name, member in public(home):
            spelling = canonical(".".join(filter(None, ("tensorflow", module, name))))
            if spelling not in found and _asked_for("tensorflow", spelling):
                text = by_inspection(member)
                if text is not None:
                    found[spelling] = text
    return found


def _asked_for(framework: str, *names: str) -> bool:
    """Whether one of these names has a row that says something of such calls, but not their parameters."""
    from npulint.data.recipe_tables import NOTHING, SPELLING, sheet

    for name in names:
        row, _ = sheet(framework).find(name) or (None, "")
        if row is None or row.signature not in ("", f"={name}", "=torch.Tensor.$"):
            continue
        if row.part not in (NOTHING, SPELLING) or "through=" in row.flags:
            return True
    return False


FRAMEWORKS: dict[str, Callable[[], Signatures]] = {"tensorflow": tensorflow, "torch": torch}


def text_of(signatures: Signatures) -> str:
    """The file as it is committed: one signature a line, sorted."""
    return json.dumps(signatures, indent=0, sort_keys=True, ensure_ascii=False) + "\n"


def main(frameworks: list[str]) -> None:
    warnings.simplefilter("ignore")
    for framework in frameworks or sorted(FRAMEWORKS):
        with suppress(ModuleNotFoundError):
            text = text_of(FRAMEWORKS[framework]())
            (DATA / f"signatures_{framework}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
