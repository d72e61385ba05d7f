"""Compares TensorFlow's graph rewrite for mixed precision with the NPU adapter, which does the same by other means: a
precision mode, and an optimizer that scales the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from npulint.commands.compare.amp import argument_value, is_of_calls, spots
from npulint.commands.compare.values import shown_plain
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import CodeStep
from npulint.commands.training_config.tracer import Tracer
from npulint.facts.comparison.difference import Difference, SideValue, of_both

_REWRITE = "tensorflow.train.experimental.enable_mixed_precision_graph_rewrite"
_MODES = ("precision_mode", "precision_mode_v2")
_ALIKE = frozenset(("allow_mix_precision", "allow_mix_precision_fp16", "mixed_float16"))
_UNSCALED = frozenset(
    """allow_mix_precision_bf16 allow_fp32_to_bf16 mixed_bfloat16 must_keep_origin_dtype origin force_fp32
    cube_fp16in_fp32out""".split()
)  # gradients that cannot underflow
_DYNAMIC, _FIXED = "dynamic_loss_scale", "fixed_loss_scale"
_FIRST = 32768.0  # initial value of TensorFlow's dynamic scale


class _Scale(msgspec.Struct, frozen=True):
    """A loss scale: dynamic or fixed, and its (initial) value; None if undetermined."""

    dynamic: bool
    value: float | None

    @property
    def shown(self) -> str:
        """For display."""
        return f"{'dynamic' if self.dynamic else 'static'}, {'?' if self.value is None else shown_plain(self.value)}"


def unify_graph_rewrite(
    differences: Sequence[Difference],
    reference: TrainingConfig,
    migrated: TrainingConfig,
    first: Tracer,
    second: Tracer,
) -> list[Difference]:
    """`differences`; if only the reference rewrites its graph, the differences of the calls are replaced by one for the
    precision mode and one for the loss scale."""
    step = _rewrite(reference, first)
    if step is None or _rewrite(migrated, second) is not None:
        return list(differences)
    scalers = [
        all_step for all_step in migrated.all_steps() if _scales(all_step) and second.runs(all_step.scope) is not False
    ]
    if not any(difference.part == "autocast" and is_of_calls(difference, spots([step])) for difference in differences):
        return list(differences)
    mode = next(
        (difference for difference in differences if difference.what in _MODES and difference.change == "added"), None
    )
    gone = [difference for difference in differences if is_of_calls(difference, spots([step, *scalers]))]
    own = [difference for difference in gone if difference.part == "loss_scale" or mode is not None]
    rest = [difference for difference in differences if difference not in own and difference is not mode]
    return [*rest, *_cast(step, mode), *_scaled(step, first, scalers, second, mode, gone)]


def _rewrite(config: TrainingConfig, tracer: Tracer) -> CodeStep | None:
    """The call that rewrites the graph of a program, if its start runs it."""
    steps = (step for step in config.all_steps() if step.kind == "call" and step.name == _REWRITE)
    return next((step for step in steps if tracer.runs(step.scope) is not False), None)


def _scales(step: CodeStep) -> bool:
    return step.kind == "call" and step.part == "loss_scale" and not step.evaluates


def _cast(step: CodeStep, mode: Difference | None) -> Iterator[Difference]:
    if mode is not None and mode.migrated is not None:
        side_value = SideValue(step.shown, step.scope.path, step.span)
        text = mode.migrated.text
        yield of_both(
            "autocast", False, mode.what, "", side_value, mode.migrated, adapter=text in _ALIKE, certain=text != "?"
        )


def _scaled(
    step: CodeStep,
    first: Tracer,
    scalers: Sequence[CodeStep],
    second: Tracer,
    mode: Difference | None,
    gone: Sequence[Difference],
) -> Iterator[Difference]:
    """The difference between the loss scale of the rewrite and that of the migrated program."""
    rewrite_scale = _of_rewrite(step, first)
    here = SideValue("?" if rewrite_scale is None else rewrite_scale.shown, step.scope.path, step.span)
    if not scalers:
        if mode is None or mode.migrated is None or mode.migrated.text not in _UNSCALED:
            near = next((other.near for other in gone if other.near is not None), mode.migrated if mode else None)
            yield Difference("loss_scale", "removed", "loss_scale", "", here, None, near=near)
        return
    scaled = next(((scaler, scale) for scaler in scalers if (scale := _of_call(scaler, second)) is not None), None)
    if rewrite_scale is None or scaled is None:
        return
    scaler, other = scaled
    there = SideValue(other.shown, scaler.scope.path, scaler.span)
    alike = rewrite_scale.dynamic and other.dynamic  # it soon reaches the same value, whatever the first one is
    unknown = other.value is None and not alike
    yield of_both(
        "loss_scale", rewrite_scale == other, "loss_scale", "", here, there, adapter=alike, certain=not unknown
    )


def _of_rewrite(step: CodeStep, tracer: Tracer) -> _Scale | None:
    argument = argument_value(step, tracer, "loss_scale")
    value = None if argument is None else argument[0]
    if value == "dynamic":
        return _Scale(True, _FIRST)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _Scale(False, float(value)) if is_number and isinstance(value, int | float) else None


def _of_call(step: CodeStep, tracer: Tracer) -> _Scale | None:
    """The loss scale that a call creates; None for one that only applies it."""
    if step.recipe is None or step.recipe.neutral not in (_DYNAMIC, _FIXED):
        return None
    dynamic = step.recipe.neutral == _DYNAMIC
    wanted = "initial" if dynamic else "loss_scale"
    name = next((own for own, neutral in step.recipe.neutral_names.items() if neutral == wanted), wanted)
    argument = argument_value(step, tracer, name)
    value = None if argument is None else argument[0]
    if argument is not None and value is None and dynamic:
        value = _FIRST  # the default of Keras
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _Scale(dynamic, float(value) if is_number and isinstance(value, int | float) else None)
