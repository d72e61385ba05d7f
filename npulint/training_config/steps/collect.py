"""From the code of a module to its steps."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.training_config.steps.calls import Calls
from npulint.training_config.steps.model import CodeStep
from npulint.training_config.steps.named import Named


class Collector:
    """Collects the steps of a project's modules, each as it stands; which of them count is decided afterwards."""

    def __init__(self, context: Context, framework: str) -> None:
        self._calls = Calls(context, framework)
        self._named = Named(context)

    def steps(self, module: Module) -> list[CodeStep]:
        """All steps of a module in the order of their homes and of evaluation."""
        found = [*self._calls.of(module), *self._named.of(module)]
        found.sort(key=lambda step: (step.home, step.order))
        return found
