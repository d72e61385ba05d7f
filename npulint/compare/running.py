"""What a program runs in the starts that are compared, as far as its options decide that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

from npulint.assemble.module import Module
from npulint.assemble.reached import Reached
from npulint.recipe.origins import Tracer
from npulint.recipe.program import Recipe
from npulint.recipe.steps import MODULE, Step


class Running:
    """Tells what of a program none of its starts runs. Each of the `tracers` follows values in one of them."""

    def __init__(self, recipe: Recipe, tracers: Sequence[Tracer]) -> None:
        self._recipe = recipe
        self._tracers = tracers
        self._known = lru_cache(maxsize=None)(self._block)

    def may(self, step: Step) -> bool:
        """Whether some start may come to a step."""
        if step.module.path not in self._loaded:
            return False
        off = step.home != MODULE and (step.module.path, step.home) in self._off
        return not off and self._known(step.module, step.block)

    def _block(self, module: Module, block: int) -> bool:
        return any(tracer.runs(module, block) is not False for tracer in self._tracers)

    @cached_property
    def _loaded(self) -> set[str]:
        """The modules that import statements that may run load, and those that no import statement names."""
        project = self._recipe.context.project
        mine = [path for path in self._recipe.paths if path in project.modules]
        named = {path for user in mine for path in project.uses(user) if path != user}
        queue = [path for path in mine if path not in named or path == self._recipe.program.entry]
        found = set(queue)
        while queue:
            module = project.modules[queue.pop()]
            running = (record for record in module.code.imports if self._known(module, record.block))
            new = {target.path for record in running for target in project.imported(module, record)} - found
            found |= new
            queue += new
        return found

    @cached_property
    def _off(self) -> set[tuple[str, int]]:
        """The functions that only code names which no start runs."""
        recipe = self._recipe
        if not recipe.program.entry:
            return set()
        whole, running = (Reached(recipe.context.project, runs) for runs in (None, self._known))
        given = recipe.paths, recipe.program.entry
        return whole.by_name(*given) - running.by_name(*given)
