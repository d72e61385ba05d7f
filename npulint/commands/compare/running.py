"""Which code of a program the compared starts can run, as far as its options decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache

from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import MODULE, CodeStep
from npulint.commands.training_config.tracer import Tracer
from npulint.model.code.mentions import names_mentioned
from npulint.model.code.module import Module
from npulint.model.code.reached import Reached
from npulint.model.values.cursors import Scope, scope_at

_LOOKING_UP = frozenset(("getattr", "eval", "exec", "globals", "locals", "vars", "import_module", "__import__"))

_OF_OBJECTS = frozenset(("getattr", "vars"))


class Running:
    """Finds code that none of the starts runs. Each of the `tracers` follows values in one start."""

    def __init__(self, config: TrainingConfig, tracers: Sequence[Tracer]) -> None:
        self._config = config
        self._tracers = tracers
        self._known = lru_cache(maxsize=None)(self._block)

    def may(self, step: CodeStep) -> bool:
        """Whether some start may reach a step. A call of what a name may mean that is imported in the branches of a
        condition is not made of a function whose module no start loads."""
        called = step.scope.path if step.target is None else step.target[0]
        loaded = {step.scope.path, called} <= self._loaded
        return loaded and self._is_named(step) and self._known(step.module, step.scope.block)

    def may_read(self, option: str) -> bool:
        """Whether code that may run reads an option; one that no code names may be read by a library."""
        name = option.lstrip("-").replace("-", "_")
        readers = self._readers.get(name, [])
        return not readers or any(self._known(module, block) for module, block in readers)

    @cached_property
    def _readers(self) -> dict[str, list[tuple[Module, int]]]:
        """The blocks that read an attribute, by its name."""
        readers: dict[str, list[tuple[Module, int]]] = defaultdict(list)
        modules = self._config.context.project.modules
        for module in (modules[path] for path in self._config.paths if path in modules):
            for written, block in names_mentioned(module.code):
                _, dot, name = written.rpartition(".")
                if dot:
                    readers[name].append((module, block))
        return readers

    def may_branch(self, path: str, line: int) -> bool:
        """Whether some start may run the branch of the condition that begins in a line of a file."""
        module = self._config.context.project.modules[path]
        begun = [at for at, record in enumerate(module.blocks) if record.kind == "if" and record.line == line]
        return len(begun) != 1 or self._known(module, begun[0])

    def _block(self, module: Module, block: int) -> bool:
        """Whether the conditions around a block, and around its enclosing functions, may let it run."""
        record = module.blocks[block]
        if record.kind in ("if", "else") and all(
            tracer.runs(scope_at(self._config.context, module, block)) is False for tracer in self._tracers
        ):
            return False
        return record.parent < 0 or self._known(module, record.parent)

    @cached_property
    def _loaded(self) -> set[str]:
        """The modules loaded by import statements that may run, and those that no import statement names."""
        project = self._config.context.project
        mine = [path for path in self._config.paths if path in project.modules]
        named = {path for user in mine for path in project.uses(user) if path != user}
        queue = [path for path in mine if path not in named or path == self._config.program.entry]
        loaded = set(queue)
        while queue:
            module = project.modules[queue.pop()]
            running = (record for record in module.code.imports if self._known(module, record.block))
            new = {target.path for record in running for target in project.imported(module, record)} - loaded
            loaded |= new
            queue += new
        return loaded

    @cached_property
    def _named(self) -> set[tuple[str, int]]:
        """The functions and classes named in code that some start runs, or that computed names may refer to."""
        config = self._config
        project, start = config.context.project, (config.paths, config.program.entry)
        named = Reached(project, self._known).by_name(*start)
        if any(_computes_names(config.scope((path, MODULE))) for path in config.paths):
            all_named = config.context.memoize(Reached, lambda: Reached(project)).by_name(*start)
            every = ((path, at) for path in config.paths for at in range(len(project.modules[path].blocks)))
            named |= {place for place in every if place not in all_named}
        return named

    def _is_named(self, step: CodeStep) -> bool:
        """Whether the function of a step, and the class around it, may be reached."""
        if step.is_global or not self._config.program.entry:
            return True
        path, function = step.home
        owner = step.module.class_of(function)
        return step.home in self._named and (owner < 0 or (path, owner) in self._named)


def _computes_names(module: Scope) -> bool:
    """Whether a module looks up names of modules at run time: ``getattr(models, name)``, ``globals()[name]``."""
    imports = module.module.code.imports
    imported = {record.alias or record.name or record.module.partition(".")[0] for record in imports}
    for site in module.calls_named(*_LOOKING_UP):
        if site.written in _LOOKING_UP:
            first = site.args[0] if site.record.args else None
            of_object = site.written in _OF_OBJECTS and first is not None
            if not of_object or (first is not None and first.written.partition(".")[0] in imported):
                return True
    subscripts = (bind.value.subscript for bind in module.assignments)
    return any(subscript is not None and subscript[0].written.endswith("__dict__") for subscript in subscripts)
