"""The recipe of one program: of all that its modules say, what the program does and what decides its numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.programs import Program
from npulint.assemble.reached import STARTED, Reached
from npulint.assemble.reached import home as place_of
from npulint.facts.model import Span
from npulint.later import regex
from npulint.recipe.collect import Collector, home_of
from npulint.recipe.expressions import Arithmetic, arithmetic, conditions
from npulint.recipe.shown import shown
from npulint.recipe.steps import MODULE, Argument, Step

Home = tuple[str, int]
"""A function by path and block; `MODULE` stands for what is outside functions."""

_ROUNDS = 6  # calls of own functions through which what they do is told
LEADING = ("layer", "loss", "transform", "optimizer", "schedule", "initialisation", "dataset", "operation", "update")
_DATA = regex(
    r"data|augment|transform|preproc|load|crop|resiz|image|img|read|batch|sampl|parse|decode|collate|input|generat"
    r"|normal|flip|rotat|distort|record|reader|feed|mel|spec|wav|audio|token|voxel|point|patch|noise|label|anno"
)
_ASIDE = regex(r"profil|(?:^|_)log(?:_|$|g)|print|save|dump|export|plot|draw|visual|summar|report")
_RATE = regex(r"(?:^|_)lr(?:_|$)|learning|schedul|warm_?up|decay|anneal")
_LOSS = regex(r"loss|cost|penal|objective|criterion|regulari")
_METRIC = regex(
    r"metric|accura|(?:^|_)acc(?:_|$)|score|psnr|ssim|iou|recall|precision|evaluat|draw|plot|visual|summar|show"
)


class Recipe:
    """The steps of a program, by the function that they belong to. `parts` tells what a function is there for. `more`
    are modules that it also comes to, though no import statement tells so."""

    def __init__(self, context: Context, program: Program, more: Iterable[str] = ()) -> None:
        self.context = context
        self.program = program
        self.homes: dict[Home, list[Step]] = defaultdict(list)
        self.parts: dict[Home, str] = {}
        self.paths = tuple(dict.fromkeys((*program.paths, *more)))
        self._reached = Reached(context.project).all_of(self.paths, program.entry) if program.entry else None
        framework = program.attrs["framework"]
        collector = Collector(context, framework)
        found: dict[Home, list[Step]] = defaultdict(list)
        for path in self.paths:
            module = context.project.modules[path]
            for step in context.once(("steps", path, framework), partial(collector.steps, module)):
                if step.home != MODULE or self._starts(module, step.block):
                    found[path, step.home].append(step)
        self._judge(found)
        for home, steps in found.items():
            self.homes[home] = [self._weighed(home, step) for step in steps]
        for path in self.paths:
            self._calculate(context.project.modules[path])
        for steps in self.homes.values():
            steps.sort(key=lambda step: step.order)

    def runs(self, home: Home) -> bool:
        """Whether the program may come to a function."""
        return self._reached is None or home[1] == MODULE or home in self._reached

    def _starts(self, module: Module, block: int) -> bool:
        """Whether code outside functions runs in this program: what is behind ``__main__`` only in the entry script."""
        return module.path == self.program.entry or place_of(module, block) != STARTED

    def _judge(self, found: dict[Home, list[Step]]) -> None:
        """Tell what each function is there for: the most telling of its steps, those of what it calls included."""
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
        """The functions that a call of an own function or class runs."""
        module = self.context.project.modules[target[0]]
        if module.blocks[target[1]].kind != "class":
            return [target]
        methods = (module.definition(target[1], name) for name in ("__init__", "forward", "call", "__call__"))
        return [(target[0], block) for block in methods if block >= 0]

    def _counts(self, module: Module, step: Step) -> bool:
        """Calls of libraries for arrays and images count where data are prepared."""
        if step.known is None or not step.known.host:
            return True
        name = module.qualname(step.block)
        if _METRIC.search(name.lower()):
            return False
        if self.context.training.step(module, step.block) == "host":
            return True
        if self.context.reach.in_input(module, step.block) == "yes":
            return True
        return bool(_DATA.search(name.lower().rpartition(".")[2]))

    def _weighed(self, home: Home, step: Step) -> Step:
        """A step with what is told of it by its surroundings: whether it counts, and what an own function is for."""
        module = self.context.project.modules[home[0]]
        part, counts = step.part, True
        if step.kind == "call":
            counts = self._counts(module, step)
        elif step.kind == "own":
            inner = [self.parts[target] for target in self._entered(step.target or home) if target in self.parts]
            part = _leading(set(inner))
            counts = bool(part) and not _ASIDE.search(step.shown.lower())
        elif step.kind == "default" and step.part == "setting":
            counts = home in self.parts
        return step if counts and part == step.part else msgspec.structs.replace(step, part=part, counts=counts)

    def _calculate(self, module: Module) -> None:
        rates = {bind.block for bind in module.code.binds if _RATE.search(bind.target.lower())}
        for one in (*arithmetic(module), *conditions(module)):
            home = (module.path, home_of(module, one.block))
            if one.target == "if":
                part = "schedule" if one.inner in rates else ""
            else:
                part = self._part_of(module, home, one)
            if part and (home[1] != MODULE or self._starts(module, one.block)):
                self.homes[home].append(_expression(module, home[1], one, part))

    def _part_of(self, module: Module, home: Home, one: Arithmetic) -> str:
        name = module.qualname(one.block).lower().rpartition(".")[2]
        target = one.target.lower().rpartition(".")[2]
        if _METRIC.search(name) or _METRIC.search(target):
            return ""
        if _RATE.search(target) or (_RATE.search(name) and not target):
            return "schedule"
        if _LOSS.search(target) or (_LOSS.search(name) and home in self.parts):
            return "loss"
        part = self.parts.get(home, "")
        if part in ("layer", "operation", "loss"):
            return "operation"
        host = self.context.training.step(module, one.block) == "host"
        return "arithmetic" if part == "transform" or (host and part) else ""


def _leading(parts: set[str]) -> str:
    return next((part for part in LEADING if part in parts), "")


def _expression(module: Module, home: int, one: Arithmetic, part: str) -> Step:
    given = tuple(Argument(str(at), constant, one.block, one.line) for at, constant in enumerate(one.shape.constants))
    span = Span(one.line, one.column, one.line, one.end)
    target = one.target.rpartition(".")[2]
    shown_as = target or "return"
    text = shown(module, one.value)
    return Step("expression", one.shape.text, shown_as, part, module, home, one.block, span, given, text=text)
