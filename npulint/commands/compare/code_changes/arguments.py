"""Which arguments of calls count, and under which names."""

from __future__ import annotations

import ast
from typing import Final

from npulint.commands.compare.code_changes.trees import same_device
from npulint.commands.training_config.steps.calls import RUNNING
from npulint.core.lazy_regex import lazy_compile
from npulint.data.recipe import NEVER, RecipeCall, recipe_call

_DEVICE: Final = lazy_compile(r"(?:cuda|npu|gpu|cpu|/cpu|/gpu|/npu)(?::\d+)?")
PASSED: Final = "~"
"""What the name of an argument begins with that a known call only passes on."""


def is_switch(value: ast.expr) -> bool:
    """Whether an argument is a literal that is no text."""
    return isinstance(value, ast.Constant) and not isinstance(value.value, str)


def names_device(value: ast.expr) -> bool:
    """Whether an argument is a text that names a device."""
    return isinstance(value, ast.Constant) and isinstance(value.value, str) and bool(_DEVICE.fullmatch(value.value))


def is_running(name: str, value: ast.expr) -> bool:
    """Whether an argument of a project function says how far the training is: ``epoch=epoch``, not ``epoch=3``."""
    return name in RUNNING and not (isinstance(value, ast.Constant) and type(value.value) is int)


def compared(recipe: RecipeCall, parameter: str) -> str:
    """The name of an argument of a known call; empty for one that never affects numbers. One that only does not affect
    them by what the call does with it (``params`` of an Estimator) is marked."""
    if parameter in NEVER:
        return ""
    return recipe.compared(parameter) or f"{PASSED}{parameter}"


def dotted(node: ast.expr) -> tuple[str, str]:
    """The first part of a dotted name, and all of it; empty for another expression."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return (node.id, ".".join([node.id, *reversed(words)])) if isinstance(node, ast.Name) else ("", "")


def shared_name(canonical: str) -> str:
    """The name of a function of a library, whatever device it works on."""
    recipe = recipe_call(canonical)
    return recipe.same_as if recipe is not None and recipe.same_as else same_device(canonical)
