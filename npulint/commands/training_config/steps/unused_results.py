"""Calls that only make something, and whose result nothing reads: they decide nothing."""

from __future__ import annotations

from typing import Final

from npulint.commands.training_config.steps.model import CodeStep
from npulint.model.code.mentions import names_mentioned
from npulint.model.code.module import Module

_MADE: Final = frozenset(("dynamic_loss_scale", "fixed_loss_scale"))
"""What calls create that has no effect until it is given to another one, by the framework-neutral name."""


def makes_unused(step: CodeStep) -> bool:
    """Whether a step makes a loss scale and keeps it under a name that its module never reads."""
    if step.site is None or step.recipe is None or step.recipe.neutral not in _MADE or step.is_global:
        return False
    names = {bind.target for bind in step.site.assignments}
    return bool(names) and all(map(str.isidentifier, names)) and names.isdisjoint(step.module.derive(_mentioned))


def _mentioned(module: Module) -> frozenset[str]:
    """The first parts of all names that a module reads."""
    return frozenset(written.partition(".")[0] for written, _ in names_mentioned(module.code))
