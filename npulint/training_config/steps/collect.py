"""Collects the steps of a module from its code."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.training_config.steps.calls import Calls
from npulint.training_config.steps.model import CodeStep
from npulint.training_config.steps.named import Named


class Collector:
    """Collects all steps of a project's modules; which of them count for a program is decided later."""

    def __init__(self, context: Context, framework: str) -> None:
        self._calls = Calls(context, framework)
        self._named = Named(context)

    def steps(self, module: Module) -> list[CodeStep]:
        """All steps of a module, ordered by function and execution."""
        found = [*self._calls.of(module), *self._named.of(module)]
        found.sort(key=lambda step: (step.home, step.order))
        return found
