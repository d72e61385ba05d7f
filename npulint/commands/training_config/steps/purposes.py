"""The purpose of formulas, by names and surrounding code."""

from __future__ import annotations

from npulint.commands.training_config.steps.expressions import Formula
from npulint.commands.training_config.steps.unresolved import AVERAGE, STRONG, named_part
from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.surroundings import surroundings_of
from npulint.model.values.cursors import Scope

METRIC = lazy_compile(
    r"metric|accura|(?:^|_)acc(?:_|$)|score|psnr|ssim|iou|recall|precision|draw|plot|visual|summar|show|colou?r"
)
PREPARING = lazy_compile(
    r"augment|jitter|crop|flip|resiz|distort|rotat|preprocess|normali[sz]e_(?:image|img|input|data)"
)
_RATE = lazy_compile(r"(?:^|_)lr(?:_|$)|learning|schedul|warm_?up|anneal")
_PLAIN_RATE = lazy_compile(r"(?:^|_)lr(?:_|$)|learning|warm_?up|anneal|decay|rate")
_LOSS = lazy_compile(r"loss|penal|objective|criterion|regulari")
EVALUATING = lazy_compile(
    r"^(?:eval|evaluate|evaluation|validate|validation|val|test|(?:run|do)_eval|(?:eval|evaluate|test|validate)_\w+)$"
)
_RESULT = lazy_compile(r"^(?:test|val|valid|validation|eval|dev)_?(?:loss|acc|score|result|metric|error|auc|psnr|nll)")
_CLOCK = lazy_compile(
    r"(?:^|_)(?:\w*time|duration|elapsed|fps|speed|percent|progress|took|secs|seconds)(?!_?step)(?:_|$)"
)
_SPEED = lazy_compile(r"buffer|prefetch|capacity|parallel|(?:^|_)num_(?:threads|workers)|queue_size|cycle_length|cache")
_LENGTH = lazy_compile(r"epoch|step|iter")
_DATA = lazy_compile(r"data|input|reader|loader|corpus|augment|transform|preproc|sampl")


class Formulas:
    """Assigns the formulas of a module to parts of the training config."""

    def __init__(self, module: Scope) -> None:
        binds, sites = module.assignments, module.all_calls
        self._rates = {bind.scope for bind in binds if _RATE.search(bind.target.lower())}
        self._tests = {site.scope for site in sites if EVALUATING.search(site.last.lower())}
        self._tests |= {bind.scope for bind in binds if _RESULT.search(bind.target.lower())}

    def part(self, formula: Formula, home: str) -> str:
        """The part of a formula in a function of the part `home`; empty if it does not affect numbers."""
        name = formula.expr.scope.qualname.lower()
        target = formula.target.lower()
        aside = METRIC.search(target) or _CLOCK.search(target) or _SPEED.search(target)
        if METRIC.search(name.rpartition(".")[2]) or aside:
            return ""
        if formula.target == "if":
            return self._of_condition(formula, home)
        named = named_part(formula.target)
        if _is_of_lengths(target, formula):
            return "steps"
        if named in STRONG:
            return named
        if _RATE.search(target) or _RATE.search(name):
            return "schedule"
        if _LOSS.search(target) or (_LOSS.search(name) and home):
            return "loss"
        if AVERAGE.search(name) and home:
            return "average"
        return self._of_place(formula, home)

    def _of_condition(self, formula: Formula, home: str) -> str:
        if formula.inner in self._rates:
            return "schedule"
        if formula.inner in self._tests:
            return "evaluation"
        return "transform" if self._of_place(formula, home) == "arithmetic" else ""

    def _of_place(self, formula: Formula, home: str) -> str:
        """Formulas of data preparation or of the model."""
        if home == "transform" or surroundings_of(formula.expr.scope).prepares_data:
            return "arithmetic"
        if any(_DATA.search(word.lower()) for word in formula.names) and formula.target != "return":
            return "arithmetic" if home else ""
        if home == "operation" and _DATA.search(formula.expr.module.path.rpartition("/")[2].lower()):
            return "arithmetic"
        return "operation" if home in ("layer", "operation", "loss") else ""


def _is_of_lengths(target: str, formula: Formula) -> bool:
    """Whether a target named like a schedule holds numbers of epochs or steps, not learning rates."""
    lengths = [name for name in formula.names if _LENGTH.search(name.lower())]
    rates = any(_PLAIN_RATE.search(word.lower()) for word in (target, *formula.names))
    return "schedul" in target and bool(lengths) and not rates
