"""Spellings of a value: where a program takes it from."""

from __future__ import annotations

import ast
import json

from tests.seed_rows.sources import (
    ENTRY,
    SLOT,
    DoesNotApplyError,
    Files,
    assigned,
    defined,
    function,
    module,
    parts,
    read,
    replaced,
    statements,
    unmarked,
    value_of,
)
from tests.seed_rows.styles import GUARD, Style

Number = bool | int | float | str
NOTE = "  # or here"


def literal(text: str) -> Number:
    """The value as a literal. Raises `DoesNotApplyError` for another expression."""
    value = value_of(text)
    try:
        found = eval(compile(ast.parse(value, mode="eval"), "value", "eval"), {"__builtins__": {}})
    except NameError as error:
        raise DoesNotApplyError("the value is not a literal") from error
    assert isinstance(found, (bool, int, float, str))
    return found


def _with(text: str, imports: str, definitions: str, value: str) -> str:
    """The program with a definition at its top and another text in the place of its value."""
    own, rest, body = parts(unmarked(text, value))
    return module(f"{imports}\n{own}" if imports else own, definitions, rest, body)


def constant(text: str) -> Files:
    """A constant of the module."""
    return {ENTRY: _with(text, "", f"CHOSEN = {value_of(text)}{NOTE}", "CHOSEN")}


def constant_of_module(text: str) -> Files:
    """A constant of a module with settings."""
    imports, _, _ = parts(unmarked(text))
    settings = module(imports, f"CHOSEN = {value_of(text)}{NOTE}")
    return {"settings.py": settings, ENTRY: _with(text, "import settings", "", "settings.CHOSEN")}


def default_of_argparse(text: str) -> Files:
    """The default of a command-line option."""
    value = literal(text)
    kind = f"default={value_of(text)}, type={type(value).__name__}"
    if isinstance(value, bool):
        kind = f'action="store_{str(not value).lower()}"'
    lines = (
        f'parser = argparse.ArgumentParser()\nparser.add_argument("--chosen", {kind}){NOTE}\nargs = parser.parse_args()'
    )
    return {ENTRY: _with(text, "import argparse", lines, "args.chosen")}


def default_of_flags(text: str) -> Files:
    """The default of a flag of TensorFlow."""
    if "import tensorflow as tf\n" not in text:
        raise DoesNotApplyError("not TensorFlow")
    return {ENTRY: _with(text, "", _flags(text, "tf.app.flags"), "FLAGS.chosen")}


def default_of_absl(text: str) -> Files:
    """The default of a flag of absl."""
    return {ENTRY: _with(text, "from absl import flags", _flags(text, "flags"), "FLAGS.chosen")}


def _flags(text: str, flags: str) -> str:
    kind = {bool: "bool", int: "integer", float: "float", str: "string"}[type(literal(text))]
    return f'{flags}.DEFINE_{kind}("chosen", {value_of(text)}, "what is chosen"){NOTE}\nFLAGS = {flags}.FLAGS'


def from_yaml(text: str) -> Files:
    """A YAML file that the program loads."""
    line = 'with open("config.yaml") as file:\n    settings = yaml.safe_load(file)'
    stored = json.dumps(literal(text))
    files = {ENTRY: _with(text, "import yaml", line, 'settings["train"]["chosen"]')}
    return {**files, "config.yaml": f"train:\n  steps: 1000\n  chosen: {stored}{NOTE}\n"}


def item_of_dict(text: str) -> Files:
    """An item of a dict."""
    line = f'OPTIONS = {{"steps": 1000, "chosen": {value_of(text)}}}{NOTE}'
    return {ENTRY: _with(text, "", line, 'OPTIONS["chosen"]')}


def spread_dict(text: str) -> Files:
    """A dict that is passed as keywords, or set item by item in a loop."""
    value, marked = value_of(text), unmarked(text, SLOT)
    for node in ast.walk(ast.parse(marked)):
        if isinstance(node, ast.keyword) and _is_slot(node.value):
            made = replaced(marked, [(node, "**OPTIONS")])
            return {ENTRY: _with(made, "", f'OPTIONS = {{"{node.arg}": {value}}}{NOTE}', "")}
        if isinstance(node, ast.Assign) and (loop := _loop(node)):
            key, lines = loop
            lines = lines.replace("\n", "\n" + " " * node.col_offset)
            made = replaced(marked, [(node, lines)])
            return {ENTRY: _with(made, "", f"OPTIONS = {{{key}: {value}}}{NOTE}", "")}
    raise DoesNotApplyError("the value is neither a keyword nor set as an option")


def _is_slot(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == SLOT


def _loop(node: ast.Assign) -> tuple[str, str] | None:
    """The key of an option that is set to the value, and a loop that sets it."""
    (target,) = node.targets
    source = ast.unparse(node.value)
    if SLOT not in source or not isinstance(target, ast.Attribute):
        return None
    head = "for key, value in OPTIONS.items():\n    "
    given = source.replace(SLOT, "value")
    if isinstance(target.value, ast.Subscript):
        base = ast.unparse(target.value.value)
        return ast.unparse(target.value.slice), f"{head}{base}[key].{target.attr} = {given}"
    return repr(target.attr), f"{head}setattr({ast.unparse(target.value)}, key, {given})"


def field_of_dataclass(text: str) -> Files:
    """The default of a field of a dataclass."""
    kind = type(literal(text)).__name__
    lines = f"@dataclass\nclass Options:\n    steps: int = 1000\n    chosen: {kind} = {value_of(text)}{NOTE}"
    made = _with(text, "from dataclasses import dataclass", lines + "\n\n\nOPTIONS = Options()", "OPTIONS.chosen")
    return {ENTRY: made}


def field_of_namedtuple(text: str) -> Files:
    """A field of a named tuple."""
    lines = 'Options = namedtuple("Options", ["steps", "chosen"])\n'
    lines += f"OPTIONS = Options(steps=1000, chosen={value_of(text)}){NOTE}"
    return {ENTRY: _with(text, "from collections import namedtuple", lines, "OPTIONS.chosen")}


def attribute_of_class(text: str) -> Files:
    """An attribute of a class with settings."""
    lines = f"class Config:\n    steps = 1000\n    chosen = {value_of(text)}{NOTE}"
    return {ENTRY: _with(text, "", lines, "Config.chosen")}


def default_of_parameter(text: str) -> Files:
    """The default of a parameter of the function that runs everything."""
    imports, definitions, body = parts(unmarked(text, SLOT))
    if SLOT in definitions:
        raise DoesNotApplyError("the value is in a function of its own")
    run = function(f"def run(chosen={value_of(text)}):{NOTE}", body.replace(SLOT, "chosen"))
    return {ENTRY: module(imports, definitions, run, GUARD + "run()")}


def passed_on(text: str) -> Files:
    """An argument that goes through two functions of two modules."""
    value = value_of(text)
    imports, definitions, body = parts(unmarked(text, SLOT))
    apart, body, names = _apart(definitions, body)
    run = function("def run(chosen):", body.replace(SLOT, "chosen"))
    head = f"{imports}\nfrom model import {', '.join(names)}"
    return {"model.py": module(imports, apart), ENTRY: module(head, run, GUARD + f"run({value}){NOTE}")}


def _apart(definitions: str, body: str) -> tuple[str, str, list[str]]:
    """The module that uses the value, the statements that pass it on, and the names that these import."""
    if SLOT in definitions:
        holder = next(one for one in statements(definitions) if SLOT in one)
        names = defined(holder)
        if not names or not holder.strip().startswith("def "):
            raise DoesNotApplyError("the value is a constant already")
        calls = [n for n in ast.walk(ast.parse(body)) if isinstance(n, ast.Call) and ast.unparse(n.func) == names[0]]
        if not calls:
            raise DoesNotApplyError("the function with the value is not called by what runs")
        given = [(call.args[-1], f"{ast.unparse(call.args[-1])}, chosen=chosen") for call in calls if call.args]
        assert len(given) == len(calls), "every call has an argument"
        head, tail = definitions.split(holder.strip())
        own = holder.strip().replace("):", ", chosen):", 1).replace(SLOT, "chosen")
        return head + own + tail, replaced(body, given), defined(definitions)
    steps = statements(body)
    at = next(n for n, one in enumerate(steps) if SLOT in one)
    free = read(steps[at], assigned("\n".join(steps[:at])))
    made = [name for name in assigned(steps[at]) if read("\n".join(steps[at + 1 :]), [name])]
    end = f"\nreturn {', '.join(made)}" if made else ""
    apply = function(f"def apply({', '.join([*free, 'chosen'])}):", steps[at].replace(SLOT, "chosen") + end)
    call = f"{', '.join(made)} = " if made else ""
    steps[at] = f"{call}apply({', '.join([*free, 'chosen'])})"
    return module(definitions, apply), "\n".join(steps), [*defined(definitions), "apply"]


VALUES: dict[str, Style] = {
    style.__name__: style
    for style in (
        constant,
        constant_of_module,
        default_of_argparse,
        default_of_flags,
        default_of_absl,
        from_yaml,
        item_of_dict,
        spread_dict,
        field_of_dataclass,
        field_of_namedtuple,
        attribute_of_class,
        default_of_parameter,
        passed_on,
    )
}
