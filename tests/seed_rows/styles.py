"""Spellings of a program: the same statements, organised as different people organise them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from textwrap import indent

from tests.seed_rows.sources import (
    ENTRY,
    DoesNotApplyError,
    Files,
    assigned,
    defined,
    function,
    module,
    parts,
    renamed,
    replaced,
    statements,
    unmarked,
)

Style = Callable[[str], Files]
"""Takes a program whose value may be marked."""
_TENSORFLOW = re.compile(r"^import tensorflow as tf\b", re.M)
GUARD = 'if __name__ == "__main__":\n    '
ALIASES = {"tf": "tensors", "torch": "pt", "nn": "layers", "np": "numbers", "tf_debug": "debugger", "slim": "thin"}


def as_it_is(text: str) -> Files:
    """As in the table."""
    return {ENTRY: unmarked(text)}


def aliases(text: str) -> Files:
    """Modules under other names."""
    text = unmarked(text)
    found = {
        alias.asname or alias.name: alias
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    names = {name: new for name, new in ALIASES.items() if name in found}
    if not names:
        raise DoesNotApplyError("no module has an alias")
    for name in names:
        text = re.sub(rf"^((?:from \S+ )?import .*?\b)as {name}$", rf"\1as {name}", text, flags=re.M)
    changed = renamed(text, names)
    for name, new in names.items():
        changed = re.sub(rf"^(\s*(?:from \S+ )?import \S+) as {name}\b", rf"\1 as {new}", changed, flags=re.M)
        changed = re.sub(rf"^(\s*(?:from \S+ )?import {name})$", rf"\1 as {new}", changed, flags=re.M)
    return {ENTRY: changed}


def compat_module(text: str) -> Files:
    """TensorFlow 1 through its module of TensorFlow 2."""
    text = unmarked(text)
    _only_compat(text)
    return {ENTRY: _TENSORFLOW.sub("import tensorflow.compat.v1 as tf", text, count=1)}


def compat_names(text: str) -> Files:
    """TensorFlow 1 by the names that TensorFlow 2 also has."""
    text = unmarked(text)
    _only_compat(text)
    return {ENTRY: re.sub(r"\btf\.(?!compat\b|test\b)", "tf.compat.v1.", text)}


def _only_compat(text: str) -> None:
    if not _TENSORFLOW.search(text):
        raise DoesNotApplyError("not TensorFlow")
    if re.search(r"\btf\.contrib\b|tensorflow\.contrib\b", text):
        raise DoesNotApplyError("tf.contrib exists in TensorFlow 1 only")


def star_import(text: str) -> Files:
    """All imports in a helper module."""
    imports, definitions, body = parts(unmarked(text))
    return {"common.py": module(imports), ENTRY: module("from common import *", definitions, body)}


def bound_function(text: str) -> Files:
    """The function that the marked line calls has a short name."""
    text = unmarked(text)
    line = next((n for n, one in enumerate(text.split("\n"), 1) if one.endswith("# here")), 0)
    if not line:
        return {ENTRY: text}  # the correct form
    roots = {"tf", "torch", "nn", "npu_ops", "torch_npu", "amp", "apex", "tf_debug", "slim", "optimizers"}
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and node.lineno == line and isinstance(node.func, ast.Attribute)):
            continue
        name = ast.unparse(node.func)
        if name.split(".")[0] in roots:
            imports, definitions, body = parts(replaced(text, [(node.func, "shortcut")]))
            return {ENTRY: module(imports, f"shortcut = {name}", definitions, body)}
    raise DoesNotApplyError("the marked line calls no function of a library")


def in_functions(text: str) -> Files:
    """What runs is in a function that the module calls."""
    imports, definitions, body = parts(unmarked(text))
    return {ENTRY: module(imports, definitions, function("def run():", body), "run()")}


def main_guard(text: str) -> Files:
    """What runs is in a main function behind the guard."""
    imports, definitions, body = parts(unmarked(text))
    return {ENTRY: module(imports, definitions, function("def main():", body), GUARD + "main()")}


def under_guard(text: str) -> Files:
    """What runs is below the guard itself."""
    imports, definitions, body = parts(unmarked(text))
    return {ENTRY: module(imports, definitions, 'if __name__ == "__main__":\n' + indent(body, "    "))}


def app_run(text: str) -> Files:
    """The main function is run by TensorFlow."""
    imports, definitions, body = parts(unmarked(text))
    if not _TENSORFLOW.search(imports):
        raise DoesNotApplyError("not TensorFlow")
    return {ENTRY: module(imports, definitions, function("def main(_):", body), GUARD + "tf.app.run(main)")}


def one_method(text: str) -> Files:
    """A method runs everything; what it makes are attributes of the object."""
    imports, definitions, body = parts(unmarked(text))
    own = renamed(body, {name: f"self.{name}" for name in assigned(body)})
    trainer = "class Trainer:\n" + indent(function("def run(self):", own), "    ")
    return {ENTRY: module(imports, definitions, trainer, GUARD + "Trainer().run()")}


def several_methods(text: str) -> Files:
    """Functions are methods, and the object is made in one and run in another."""
    imports, definitions, body = parts(unmarked(text))
    kept, methods = _methods(definitions)
    own = {name: f"self.{name}" for name in [*assigned(body), *defined("\n".join(methods))]}
    steps = statements(renamed(body, own))
    head, tail = (steps[:-1], steps[-1:]) if len(steps) > 1 else (["pass"], steps)
    made = [function("def __init__(self):", "\n".join(head))]
    called = {name: f"self.{name}" for name in defined("\n".join(methods))}
    made += [_with_self(renamed(one, called)) for one in methods]
    made += [function("def run(self):", "\n".join(tail))]
    trainer = "class Trainer:\n" + indent("\n\n".join(made), "    ")
    end = "trainer = Trainer()\ntrainer.run()"
    return {ENTRY: module(imports, kept, trainer, function("def main():", end), GUARD + "main()")}


def _methods(definitions: str) -> tuple[str, list[str]]:
    kept: list[str] = []
    methods: list[str] = []
    for one in statements(definitions) if definitions.strip() else []:
        node = ast.parse(one.strip("\n")).body[0]
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
        (methods if plain else kept).append(one.strip("\n"))
    return "\n\n\n".join(kept), methods


def _with_self(text: str) -> str:
    return re.sub(r"def (\w+)\((?=(\))?)", lambda m: f"def {m[1]}(self" + ("" if m[2] else ", "), text, count=1)


def over_modules(text: str) -> Files:
    """The entry point only calls a function of another module."""
    imports, definitions, body = parts(unmarked(text))
    steps = module(imports, definitions, function("def run():", body))
    return {
        "work/__init__.py": "",
        "work/steps.py": steps,
        ENTRY: module("from work import steps", GUARD + "steps.run()"),
    }


def definitions_apart(text: str) -> Files:
    """Functions are in a module of their own."""
    imports, definitions, body = parts(unmarked(text))
    names = defined(definitions)
    if not names:
        raise DoesNotApplyError("no function is defined")
    apart = module(imports, definitions)
    return {"model.py": apart, ENTRY: module(f"{imports}\nfrom model import *", body)}


def notebook(text: str) -> Files:
    """A notebook: imports, definitions, and each statement in a cell of its own."""
    imports, definitions, body = parts(unmarked(text))
    cells = [imports, *(statements(definitions) if definitions else []), *statements(body)]
    made: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": _source(cell)}
        for cell in cells
        if cell.strip()
    ]
    title: dict[str, object] = {"cell_type": "markdown", "metadata": {}, "source": ["# Training\n"]}
    document = {"cells": [title, *made], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return {"train.ipynb": json.dumps(document, indent=1) + "\n"}


def _source(cell: str) -> list[str]:
    lines = cell.strip("\n").split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:]


STRUCTURES: dict[str, Style] = {
    style.__name__: style
    for style in (
        as_it_is,
        aliases,
        compat_module,
        compat_names,
        star_import,
        bound_function,
        in_functions,
        main_guard,
        under_guard,
        app_run,
        one_method,
        several_methods,
        over_modules,
        definitions_apart,
        notebook,
    )
}
