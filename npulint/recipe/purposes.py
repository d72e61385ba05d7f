"""What formulas are there for, by the names and the code around them."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.later import regex
from npulint.recipe.expressions import Formula
from npulint.recipe.naming import AVERAGE, STRONG, named_part

METRIC = regex(
    r"metric|accura|(?:^|_)acc(?:_|$)|score|psnr|ssim|iou|recall|precision|draw|plot|visual|summar|show|colou?r"
)
_RATE = regex(r"(?:^|_)lr(?:_|$)|learning|schedul|warm_?up|anneal")
_LOSS = regex(r"loss|penal|objective|criterion|regulari")
_EVALUATING = regex(
    r"^(?:eval|evaluate|evaluation|validate|validation|val|test|(?:run|do)_eval|(?:evaluate|test)_\w+)$"
)
_DATA = regex(r"data|input|reader|loader|corpus|augment|transform|preproc|sampl")


class Formulas:
    """Tells the part of a recipe that a formula of a module belongs to."""

    def __init__(self, context: Context, module: Module) -> None:
        self._context = context
        self._module = module
        self._rates = {bind.block for bind in module.code.binds if _RATE.search(bind.target.lower())}
        self._tests = {
            call.block
            for index, call in enumerate(module.code.calls)
            if _EVALUATING.search(module.written(index).lower())
        }

    def part(self, one: Formula, home: str) -> str:
        """The part that a formula in a function of the part `home` belongs to; empty if it decides no numbers."""
        name = self._module.qualname(one.block).lower()
        target = one.target.lower()
        if METRIC.search(name.rpartition(".")[2]) or METRIC.search(target):
            return ""
        if one.target == "if":
            return self._of_condition(one, home)
        named = named_part(one.target)
        if named in STRONG:
            return named
        if _RATE.search(target) or (_RATE.search(name) and one.target == "return"):
            return "schedule"
        if _LOSS.search(target) or (_LOSS.search(name) and home):
            return "loss"
        if AVERAGE.search(name) and home:
            return "average"
        return self._of_place(one, home)

    def _of_condition(self, one: Formula, home: str) -> str:
        if one.inner in self._rates:
            return "schedule"
        if one.inner in self._tests:
            return "evaluation"
        return "transform" if self._of_place(one, home) == "arithmetic" else ""

    def _of_place(self, one: Formula, home: str) -> str:
        """Arithmetic of data, or of the model."""
        context, module = self._context, self._module
        host = context.training.step(module, one.block) == "host" or context.reach.in_input(module, one.block) == "yes"
        if home == "transform" or (home and host):
            return "arithmetic"
        if home == "operation" and _DATA.search(module.path.rpartition("/")[2].lower()):
            return "arithmetic"
        return "operation" if home in ("layer", "operation", "loss") else ""
