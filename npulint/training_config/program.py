"""The training config of one program: its steps by function, resolved over all its modules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial

import msgspec

from npulint.assemble.call_graph import STARTED, Reached
from npulint.assemble.call_graph import home as place_of
from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.module import Module
from npulint.assemble.programs import Program
from npulint.assemble.surroundings import surroundings_of
from npulint.data.recipe import is_half
from npulint.facts.code import Ref
from npulint.lazy_regex import lazy_compile
from npulint.training_config.steps.code_context import evaluates, home_of
from npulint.training_config.steps.collect import Collector
from npulint.training_config.steps.expressions import Formula, formulas
from npulint.training_config.steps.formatting import shown
from npulint.training_config.steps.model import MODULE, Argument, CodeStep
from npulint.training_config.steps.naming import AVERAGE
from npulint.training_config.steps.purposes import EVALUATING, METRIC, PREPARING, Formulas
from npulint.training_config.steps.unused_constants import unread

Home = tuple[str, int]
"""A function by path and block; `MODULE` is module-level code."""

_ROUNDS = 6  # depth of project calls over which the part of a function is inferred
LEADING = tuple(
    """layer loss transform optimizer schedule initialisation dataset operation update average clipping checkpoint
    frozen seed determinism""".split()
)
_DATA = lazy_compile(
    r"data|augment|transform|preproc|load|crop|resiz|image|img|read|batch|sampl|parse|decode|collate|input|generat"
    r"|normal|flip|rotat|distort|record|reader|feed|mel|spec|wav|audio|token|voxel|point|patch|noise|label|anno"
)
ASIDE = lazy_compile(r"profil|(?:^|_)log(?:_|$|g)|print|save|dump|export|plot|draw|visual|summar|report")


class Recipe:
    """The steps of a program by function. `parts` maps a function to the part of the training config it implements.
    `more` are paths of modules that are reachable without an import statement."""

    def __init__(self, context: Context, program: Program, more: Iterable[str] = ()) -> None:
        self.context = context
        self.program = program
        self.homes: dict[Home, list[CodeStep]] = defaultdict(list)
        self.parts: dict[Home, str] = {}
        self.paths = tuple(dict.fromkeys((*program.paths, *more)))
        self._reached = Reached(context.project).all_of(self.paths, program.entry) if program.entry else None
        self._collector = Collector(context, program.attrs["framework"])
        found: dict[Home, list[CodeStep]] = defaultdict(list)
        for path in self.paths:
            module = context.project.modules[path]
            idle = unread(context, module, self.paths)
            for step in self._steps(module):
                if idle and step.home == MODULE and step.name.partition(".")[0] in idle:
                    continue
                if step.home != MODULE or self._starts(module, step.block):
                    found[path, step.home].append(step)
        self._judge(found)
        for home, steps in found.items():
            self.homes[home] = [self._weighed(home, step) for step in steps]
        for path in self.paths:
            self._calculate(context.project.modules[path])
        for steps in self.homes.values():
            steps.sort(key=lambda step: step.order)

    def _steps(self, module: Module) -> list[CodeStep]:
        """The steps of a module before judging, shared by the programs of a project."""
        key = ("steps", module.path, self.program.attrs["framework"])
        return self.context.memoize(key, partial(self._collector.steps, module))

    def runs(self, home: Home) -> bool:
        """Whether the program may reach a function."""
        return self._reached is None or home[1] == MODULE or home in self._reached

    def _starts(self, module: Module, block: int) -> bool:
        """Whether module-level code runs in this program: code below ``__main__`` only in the entry script."""
        return module.path == self.program.entry or place_of(module, block) != STARTED

    def _judge(self, found: dict[Home, list[CodeStep]]) -> None:
        """Infer the part of each function: the most significant one of its steps, including those of its callees."""
        parts: dict[Home, set[str]] = {}
        for home, steps in found.items():
            module = self.context.project.modules[home[0]]
            parts[home] = {s.part for s in steps if s.kind == "call" and self._counts(module, s)}
        for _ in range(_ROUNDS):
            grown = False
            for home, steps in found.items():
                for step in steps:
                    if step.target is None:
                        continue
                    for target in self._entered(step.target):
                        more = parts.get(target, set()) - parts[home]
                        if more:
                            parts[home] |= more
                            grown = True
            if not grown:
                break
        self.parts = {home: part for home, own in parts.items() if (part := _leading(own))}

    def _entered(self, target: Home) -> list[Home]:
        """The functions that a call of a project function or class runs."""
        module = self.context.project.modules[target[0]]
        if module.blocks[target[1]].kind != "class":
            return [target]
        methods = (module.definition(target[1], name) for name in ("__init__", "forward", "call", "__call__"))
        return [(target[0], block) for block in methods if block >= 0]

    def _name(self, home: Home) -> str:
        return self.context.project.modules[home[0]].blocks[home[1]].name.lower()

    def _counts(self, module: Module, step: CodeStep) -> bool:
        """Whether a step counts: calls of array and image libraries do only where data are prepared."""
        if step.known is None or not step.known.host:
            return True
        name = module.qualname(step.block)
        if METRIC.search(name.lower()):
            return False
        if self._prepares(module, step.block):
            return True
        return bool(_DATA.search(name.lower().rpartition(".")[2]))

    def _weighed(self, home: Home, step: CodeStep) -> CodeStep:
        """A step with the attributes that depend on its context: whether it counts, and the part of the called
        function."""
        module = self.context.project.modules[home[0]]
        part, counts = step.part, True
        if step.kind == "call":
            counts = self._counts(module, step)
            part = "half_cast" if part == "operation" and _halves(step) else part
        elif step.kind == "own":
            inner = [self.parts[target] for target in self._entered(step.target or home) if target in self.parts]
            part = "average" if AVERAGE.search(self._name(step.target or home)) else _leading(set(inner))
            part = "evaluation" if EVALUATING.search(step.shown.lower()) else part
            part = "transform" if part == "operation" and PREPARING.search(step.shown.lower()) else part
            counts = bool(part) and not ASIDE.search(step.shown.lower())
        elif step.kind == "fill":
            counts = home in self.parts
        elif step.kind == "default" and step.part == "setting":
            counts = home in self.parts or step.evaluates or self._prepares(module, home[1])
            part = "evaluation" if step.evaluates else part
        return step if counts and part == step.part else msgspec.structs.replace(step, part=part, counts=counts)

    def _prepares(self, module: Module, block: int) -> bool:
        return surroundings_of(scope_at(self.context, module, block)).prepares_data

    def _calculate(self, module: Module) -> None:
        compared = {step.call for step in self._steps(module) if step.known is None or not step.known.host}
        surroundings = Formulas(self.context, module)
        for one in self.context.memoize(("formulas", module.path), lambda: list(formulas(module, compared))):
            home = (module.path, home_of(module, one.block))
            part = surroundings.part(one, self.parts.get(home, ""))
            if part and (home[1] != MODULE or self._starts(module, one.block)):
                self.homes[home].append(_step(module, home[1], one, part))


def _halves(step: CodeStep) -> bool:
    return step.shown.endswith(("cast", "to", "type", "astype")) and any(
        isinstance(argument.value, Ref) and is_half(argument.value.name) for argument in step.arguments
    )


def _leading(parts: set[str]) -> str:
    return next((part for part in LEADING if part in parts), "")


def _step(module: Module, home: int, one: Formula, part: str) -> CodeStep:
    constants = enumerate(one.constants)
    arguments = tuple(Argument(str(at), constant, one.block, one.span.line) for at, constant in constants)
    whole = Argument("", one.value, one.block, one.span.line)
    only = evaluates(module, one.block)
    text = shown(module, one.value)
    return CodeStep(
        "expression",
        one.shape,
        one.target,
        part,
        module,
        home,
        one.block,
        one.span,
        arguments,
        whole=whole,
        evaluates=only,
        text=text,
    )
