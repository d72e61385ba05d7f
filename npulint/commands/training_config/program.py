"""The training config of one program: its steps by function, resolved over all its modules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from npulint.commands.training_config.steps.calls import steps_of_calls
from npulint.commands.training_config.steps.expressions import Formula, formulas
from npulint.commands.training_config.steps.formatting import shown
from npulint.commands.training_config.steps.model import MODULE, Argument, CodeStep, Home, home_of
from npulint.commands.training_config.steps.named import named_steps
from npulint.commands.training_config.steps.purposes import EVALUATING, METRIC, PREPARING, Formulas
from npulint.commands.training_config.steps.unresolved import AVERAGE
from npulint.commands.training_config.steps.unused_constants import unread
from npulint.commands.training_config.steps.unused_results import makes_unused
from npulint.core.lazy_regex import lazy_compile
from npulint.data.recipe import is_half
from npulint.model.code.reached import STARTED, Reached
from npulint.model.code.reached import home as place_of
from npulint.model.running.surroundings import surroundings_of
from npulint.model.values.context import Context
from npulint.model.values.cursors import Scope, scope_at
from npulint.recognizers.programs import Program

_ROUNDS = 6  # depth of project calls over which the part of a function is inferred
LEADING = tuple(
    """layer loss transform optimizer schedule initialisation dataset shuffle operation update average clipping
    checkpoint frozen seed determinism""".split()
)
_DATA = lazy_compile(
    r"data|augment|transform|preproc|load|crop|resiz|image|img|read|batch|sampl|parse|decode|collate|input|generat"
    r"|normal|flip|rotat|distort|record|reader|feed|mel|spec|wav|audio|token|voxel|point|patch|noise|label|anno"
)
ASIDE = lazy_compile(r"profil|(?:^|_)log(?:_|$|g)|print|save|dump|export|plot|draw|visual|summar|report")


class TrainingConfig:
    """The steps of a program by function. `parts` maps a function to the part of the training config it implements.
    `more` are paths of modules that are reachable without an import statement."""

    def __init__(self, context: Context, program: Program, more: Iterable[str] = ()) -> None:
        self.context = context
        self.program = program
        self.homes: dict[Home, list[CodeStep]] = defaultdict(list)
        self.paths = tuple(dict.fromkeys((*program.paths, *more)))
        self._reached = Reached(context.project).all_of(self.paths, program.entry) if program.entry else None
        modules = [scope_at(context, context.project.modules[path], 0) for path in self.paths]
        homes: dict[Home, list[CodeStep]] = defaultdict(list)
        for module in modules:
            idle = unread(context, module.module, self.paths)
            for step in self._steps(module):
                if idle and step.is_global and step.name.partition(".")[0] in idle:
                    continue
                if (not step.is_global or self._starts(step.scope)) and not makes_unused(step):
                    homes[step.home].append(step)
        self.parts = self._parts(homes)
        for home, steps in homes.items():
            self.homes[home] = [self._weighed(step) for step in steps]
        for module in modules:
            self._calculate(module)
        for steps in self.homes.values():
            steps.sort(key=lambda step: step.order)

    def _steps(self, module: Scope) -> list[CodeStep]:
        """The steps of a module, whether they count or not, shared by the programs of a project."""
        framework = self.program.fact.framework
        return self.context.memoize(("steps", module, framework), lambda: module_steps(module, framework))

    def runs(self, home: Home) -> bool:
        """Whether the program may reach a function."""
        return self._reached is None or home[1] == MODULE or home in self._reached

    def scope(self, home: Home) -> Scope:
        """The function, class or module at a place."""
        return scope_at(self.context, self.context.project.modules[home[0]], home[1])

    def all_steps(self) -> Iterator[CodeStep]:
        """The steps of all functions that the program may reach."""
        return (step for home, steps in self.homes.items() if self.runs(home) for step in steps)

    def _starts(self, scope: Scope) -> bool:
        """Whether module-level code runs in this program: code below ``__main__`` only in the entry script."""
        return scope.path == self.program.entry or place_of(scope.module, scope.block) != STARTED

    def _parts(self, homes: dict[Home, list[CodeStep]]) -> dict[Home, str]:
        """The part of each function: the most significant one of its steps, including those of its callees."""
        parts = {home: {s.part for s in steps if s.kind == "call" and _counts(s)} for home, steps in homes.items()}
        called = {
            home: {inner for step in steps if step.target is not None for inner in self._entered(step.target)}
            for home, steps in homes.items()
        }
        for _ in range(_ROUNDS):
            grown = False
            for home, targets in called.items():
                more = set().union(*(parts.get(target, ()) for target in targets)) - parts[home]
                parts[home] |= more
                grown = grown or bool(more)
            if not grown:
                break
        return {home: part for home, own in parts.items() if (part := _leading(own))}

    def _entered(self, target: Home) -> list[Home]:
        """The functions that a call of a project function or class runs."""
        owner = self.scope(target)
        if owner.kind != "class":
            return [target]
        methods = (owner.definition(name) for name in ("__init__", "forward", "call", "__call__"))
        return [(method.path, method.block) for method in methods if method is not None]

    def _weighed(self, step: CodeStep) -> CodeStep:
        """A step with the attributes that depend on its context: whether it counts, and the part of the called
        function."""
        part, counts, name = step.part, True, step.shown.lower()
        if step.kind == "call":
            counts = _counts(step)
            part = "half_cast" if part == "operation" and _halves(step) else part
        elif step.target is not None:
            inner = [self.parts[target] for target in self._entered(step.target) if target in self.parts]
            averages = AVERAGE.search(self.scope(step.target).record.name.lower())
            part = "average" if averages else _leading(set(inner))
            part = "evaluation" if EVALUATING.search(name) else part
            part = "transform" if part == "operation" and PREPARING.search(name) else part
            counts = bool(part) and not ASIDE.search(name)
        elif step.kind == "fill":
            counts = step.home in self.parts
        elif step.kind == "default" and step.part == "setting":
            counts = step.home in self.parts or step.evaluates or surroundings_of(self.scope(step.home)).prepares_data
            part = "evaluation" if step.evaluates else part
        return step if counts and part == step.part else msgspec.structs.replace(step, part=part, counts=counts)

    def _calculate(self, module: Scope) -> None:
        """Add the formulas of a module that affect numbers."""
        compared = {step.site for step in self._steps(module) if step.recipe is None or not step.recipe.host}
        purposes = Formulas(module)
        for formula in self.context.memoize(("formulas", module), lambda: list(formulas(module, compared))):
            home = home_of(formula.expr.scope)
            part = purposes.part(formula, self.parts.get(home, ""))
            if part and (home[1] != MODULE or self._starts(formula.expr.scope)):
                self.homes[home].append(_step(formula, part))


def module_steps(module: Scope, framework: str) -> list[CodeStep]:
    """All steps of a module, ordered by function and execution; which of them count for a program is decided later."""
    steps = [*steps_of_calls(module, framework), *named_steps(module)]
    return sorted(steps, key=lambda step: (step.home, step.order))


def _counts(step: CodeStep) -> bool:
    """Whether a call counts: those of array and image libraries do only where data are prepared."""
    if step.recipe is None or not step.recipe.host or step.recipe.part == "shuffle":
        return True
    name = step.scope.qualname.lower()
    return not METRIC.search(name) and (
        surroundings_of(step.scope).prepares_data or bool(_DATA.search(name.rpartition(".")[2]))
    )


def _halves(step: CodeStep) -> bool:
    """Whether a call casts to a 16-bit type."""
    casts = step.shown.endswith(("cast", "to", "type", "astype"))
    return casts and any(argument.expr.written and is_half(argument.expr.written) for argument in step.arguments)


def _leading(parts: set[str]) -> str:
    return next((part for part in LEADING if part in parts), "")


def _step(formula: Formula, part: str) -> CodeStep:
    """The step of a formula."""
    constants = [Argument(str(at), formula.expr.sibling(constant)) for at, constant in enumerate(formula.constants)]
    return CodeStep(
        "expression",
        formula.shape,
        formula.target,
        part,
        formula.expr.scope,
        formula.span,
        tuple(constants),
        formula=Argument("", formula.expr),
        text=shown(formula.expr),
    )
