"""Compares PyTorch's native mixed precision with apex, which expresses the same with other calls: by the loss scale,
and by the opt level that corresponds to autocast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from npulint.commands.compare.values import shown_plain
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import CodeStep
from npulint.commands.training_config.tracer import Tracer
from npulint.facts.comparison.difference import Difference, SideValue, of_both
from npulint.facts.model import Span

_AUTOCAST = "torch.autocast"
_SCALER = "torch.amp.GradScaler"
_APEX = "apex.amp.initialize"
_NATIVE = frozenset((_AUTOCAST, _SCALER, *(f"{_SCALER}().{name}" for name in ("scale", "update", "unscale_"))))
_OF_APEX = frozenset((_APEX, "apex.amp.scale_loss"))
_DYNAMIC = frozenset(("O1", "O2"))  # opt levels with a dynamic loss scale
_FIRST = 65536.0  # initial value of both dynamic scalers
_LIKE_AUTOCAST = "O1"


class _Scale(msgspec.Struct, frozen=True):
    """The loss scale of a program: dynamic or static, initial value, and where it is set."""

    dynamic: bool
    value: object
    mark: SideValue


def unify_mechanisms(
    differences: Sequence[Difference],
    reference: TrainingConfig,
    migrated: TrainingConfig,
    first: Tracer,
    second: Tracer,
) -> list[Difference]:
    """`differences`; if one program uses native mixed precision and the other apex, the differences of the individual
    calls are replaced by one for the loss scale and one for the opt level. If only one program contains a mechanism and
    its start does not use it, there is no difference."""
    left, right = _calls(reference), _calls(migrated)
    ways = _mechanism(left, first), _mechanism(right, second)
    if "" in ways or ways == ("both", "both"):
        return list(differences)
    ways = (ways[1], ways[1]) if ways[0] == "both" else (ways[0], ways[0]) if ways[1] == "both" else ways
    if ways[0] != ways[1]:
        rest = [difference for difference in differences if not is_of_calls(difference, spots(left) | spots(right))]
        return [*rest, *_scaled(left, first, right, second), *_cast(left, first, right, second)]
    idle = [step for step in (*left, *right) if (step.name in _NATIVE) != (ways[0] == "native")]
    return [difference for difference in differences if not is_of_calls(difference, spots(idle), any)]


def _calls(config: TrainingConfig) -> list[CodeStep]:
    """The mixed precision calls of a program: those of the entry script first, those only for evaluation last."""
    steps = [step for step in config.all_steps() if step.kind == "call" and step.name in _NATIVE | _OF_APEX]
    return sorted(steps, key=lambda step: (step.evaluates, step.scope.path != config.program.entry))


def _mechanism(steps: Sequence[CodeStep], tracer: Tracer) -> str:
    """The mechanism that the start followed by the tracer uses: native, apex, both (undetermined) or empty (none)."""
    taken = [step for step in steps if step.name in (_SCALER, _APEX)]
    names = {step.name for step in taken}
    if len(names) > 1:
        names = {step.name for step in taken if tracer.runs(step.scope) is True} or names
    if len(names) != 1:
        return "both" if names else ""
    return "native" if _SCALER in names else "apex"


def spots(steps: Iterable[CodeStep]) -> set[tuple[str, Span]]:
    """The places of some calls."""
    return {(step.scope.path, step.span) for step in steps}


def is_of_calls(
    difference: Difference, spots: set[tuple[str, Span]], quantifier: Callable[[Iterable[bool]], bool] = all
) -> bool:
    """Whether a difference is only about such calls; differences of named values are kept."""
    if difference.part not in ("loss_scale", "autocast") or difference.named:
        return False
    return quantifier(
        (mark.path, mark.span) in spots for mark in (difference.reference, difference.migrated) if mark is not None
    )


def _scaled(left: list[CodeStep], first: Tracer, right: list[CodeStep], second: Tracer) -> Iterator[Difference]:
    scale, other = _scale(left, first), _scale(right, second)
    if scale is None or other is None:
        return
    same = (scale.dynamic, scale.value) == (other.dynamic, other.value)
    function = next(step for step in right if step.name in (_SCALER, _APEX)).function
    yield of_both("loss_scale", same, "loss_scale", "", scale.mark, other.mark, function=function)


def _scale(steps: list[CodeStep], tracer: Tracer) -> _Scale | None:
    """The loss scale set by the first scaler of a program; None if undetermined."""
    step = next((step for step in steps if step.name in (_SCALER, _APEX)), None)
    if step is None:
        return None
    native = step.name == _SCALER
    argument = argument_value(step, tracer, "init_scale" if native else "loss_scale")
    if argument is None:
        return None
    value, mark = argument
    dynamic = native
    if not native and value in (None, "dynamic"):
        level = argument_value(step, tracer, "opt_level")
        if level is None:
            return None
        dynamic = value == "dynamic" or level[0] in _DYNAMIC
        value = _FIRST if dynamic else 1.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    kind = "dynamic" if dynamic else "static"
    return _Scale(dynamic, float(value), mark.shown_as(f"{kind}, {shown_plain(value)}"))


def _cast(left: list[CodeStep], first: Tracer, right: list[CodeStep], second: Tracer) -> Iterator[Difference]:
    """Opt level against autocast: O1 casts per operator like autocast and differs in its operator lists only; other
    levels are different."""
    casts = [next((step for step in steps if step.name in (_AUTOCAST, _APEX)), None) for steps in (left, right)]
    sides, levels = [], []
    for step, tracer in zip(casts, (first, second), strict=True):
        argument = argument_value(step, tracer, "opt_level") if step is not None and step.name == _APEX else None
        if step is None or (step.name == _APEX and argument is None):
            return
        side = SideValue(step.shown, step.scope.path, step.span)
        if argument is not None:
            levels.append(argument[0])
            side = argument[1].shown_as(f"{step.shown}(opt_level={argument[1].text})")
        sides.append((side, step))
    (side_value, _), (other, cast) = sides
    alike = levels == [_LIKE_AUTOCAST]
    yield of_both("autocast", False, cast.shown, "", side_value, other, adapter=alike, function=cast.function)


def argument_value(step: CodeStep, tracer: Tracer, name: str) -> tuple[object, SideValue] | None:
    """The value of an argument or its default, with its place; None if undetermined."""
    for argument in step.arguments:
        if argument.name == name:
            span = argument.span or step.span
            traced = tracer.trace(argument.expr, span)
            return (traced.value, SideValue.traced(traced, step.scope.path, span)) if traced.known else None
    defaults = {} if step.recipe is None or step.is_open else step.recipe.effective({})
    if name not in defaults:
        return None
    return defaults[name], SideValue(shown_plain(defaults[name]), step.scope.path, step.span)
