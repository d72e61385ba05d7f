"""Whether reordered steps compute something else."""

from __future__ import annotations

from npulint.commands.compare.step_pairs import Pairing
from npulint.commands.training_config.steps.model import CodeStep
from npulint.facts.model import Span

_ORDERED = frozenset(("transform", "shuffle", "repeat", "batch_size", "dataset", "schedule"))
_MADE = frozenset(("dataset", "schedule"))

Around = tuple[str, Span]
"""The call or assignment that contains steps, by path and place."""


def matters(left: CodeStep, right: CodeStep, pairing: Pairing, function: str) -> bool:
    """Whether it matters that a step of `function` is now at another position."""
    counts = left.counts or right.counts
    return counts and _has_place(left, function) and _among(left, right, pairing)


def _has_place(step: CodeStep, function: str) -> bool:
    """Whether the position of a step is significant: for layers it is where they are applied, not created."""
    if step.kind not in ("call", "own"):
        return False
    applied = step.is_applied
    if step.part in _MADE and not applied and step.shown[:1].isupper():
        return False  # a data set that is created, not transformed
    return step.part in _ORDERED or applied or (step.part in ("layer", "dropout") and not function.endswith("__init__"))


def _among(left: CodeStep, right: CodeStep, pairing: Pairing) -> bool:
    """Whether steps inside the same call (``Compose([Flip(), Crop()])``) have changed their order there."""
    first, second = _around(left), _around(right)
    if first is None or second is None:
        return True
    for step, other in (*pairing.pairs, *pairing.swapped):
        together = step is not left and _around(step) == first and _around(other) == second
        if together and (step.order < left.order) != (other.order < right.order):
            return True
    return False


def _around(step: CodeStep) -> Around | None:
    """The innermost call, else the assignment, that contains a step; None if there is none."""
    place = step.span
    best: Span | None = None
    binds = (bind for bind in step.module.code.assignments if bind.block == step.scope.block)
    for span in (*map(Span.of, step.module.code.calls), *map(Span.of, binds)):
        if span != place and _contains(span, place) and (best is None or _contains(best, span)):
            best = span
    return None if best is None else (step.module.path, best)


def _contains(outer: Span, inner: Span) -> bool:
    first, last = (outer.line, outer.column), (outer.end_line, outer.end_column)
    return first <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= last
