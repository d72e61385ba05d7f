"""What was seen of each part of the training configs on both sides: the evidence that checklist items need."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal

import msgspec

from npulint.commands.training_config.passed import argument_part, passed_settings
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import Argument, CodeStep
from npulint.commands.training_config.tracer import Tracer
from npulint.data.recipe import is_half, is_whole, setting_parts
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.recipe import ITEM_OF, TrainingSetting

EvidenceAnswer = Literal["same", "differs", "note", "unknown", "found", "unused"]
_ORDER: tuple[EvidenceAnswer, ...] = ("differs", "unknown", "note", "same")
_OFF = (None, False, "", "None", "none", "no", "False")
_WHOLE = frozenset(("float32", "fp32", "32", "32-true", "tensorflow.float32", "torch.float32", "float64", "full"))
_TOLD = frozenset(("precision_mode", "autocast", "loss_scale", "mix_list", "half_cast", "sampler", "shard", "average"))
"""Parts that a program either has or not: if only one program has it and no row says so, its use was not understood."""
_TRAINERS = frozenset(("Trainer", "TrainingArguments", "Seq2SeqTrainingArguments", "Accelerator", "Fabric"))
_MIXED = frozenset(("precision_mode", "autocast", "half_cast", "mix_list"))
_NOTED = frozenset(
    (("loss_scale", "added"), *(("drop_remainder", change) for change in ("added", "changed", "removed")))
)
"""Parts and changes that the NPU requires."""

Seen = Mapping[str, SideValue]
"""The first place where a program has each part."""


class PartEvidence(msgspec.Struct, frozen=True):
    """What was seen of a part: the first place and value on each side (None: it is not used there), and the answer:
    how it compares, ``found`` if nothing of it can be compared, or ``unused`` on both sides (also if both say so:
    ``amp=False``). `in_reference`: the reference uses it; `by_trainer`: by an argument of a training framework, which
    does all that belongs to it, such as scaling the loss."""

    part: str
    answer: EvidenceAnswer
    reference: SideValue | None = None
    migrated: SideValue | None = None
    in_reference: bool = False
    by_trainer: bool = False

    @property
    def item(self) -> str:
        """The item of the checklist that the part belongs to."""
        return ITEM_OF[self.part]

    @property
    def place(self) -> SideValue | None:
        """The place to show."""
        return self.migrated or self.reference


def evidence(
    differences: Iterable[Difference], reference: Seen, migrated: Seen, trainer: Container[str] = ()
) -> list[PartEvidence]:
    """The evidence of every part, of the compared rows `differences` and of what each program has; `trainer` are the
    parts that the training framework of the reference switches on."""
    rows: dict[str, list[Difference]] = {}
    for difference in differences:
        rows.setdefault(difference.part, []).append(difference)
    parts = (_of_part(part, rows.get(part, ()), reference.get(part), migrated.get(part)) for part in ITEM_OF)
    return [msgspec.structs.replace(part, by_trainer=part.part in trainer) for part in parts]


def _of_part(
    part: str, rows: Sequence[Difference], reference: SideValue | None, migrated: SideValue | None
) -> PartEvidence:
    answers = {_of_row(row) for row in rows}
    chosen = next((row for answer in _ORDER for row in rows if _of_row(row) == answer), None)
    if chosen is not None:
        answer = next(answer for answer in _ORDER if answer in answers)
        if answer == "same" and part in _TOLD and reference is None and migrated is None:
            answer = "unused"
        left = chosen.reference or (reference if answer == "same" else None)
        right = chosen.migrated or (migrated if answer == "same" else None)
        return PartEvidence(part, answer, left, right, reference is not None)
    if reference is None and migrated is None:
        return PartEvidence(part, "unused")
    used = reference is not None
    unclear = part in _TOLD and (reference is None or migrated is None)
    return PartEvidence(part, "unknown" if unclear else "found", reference, migrated, used)


def _of_row(difference: Difference) -> EvidenceAnswer:
    if difference.change == "none":
        return "same"
    if difference.adapter or difference.evaluates or (difference.part, difference.change) in _NOTED:
        return "note"
    return "differs" if difference.certain and difference.change != "unknown" else "unknown"


def seen(config: TrainingConfig, tracer: Tracer, settings: Iterable[TrainingSetting]) -> Seen:
    """The first place of each part that a program has in this start: in its calls and their arguments, its options,
    constants and configuration files, the settings of the adapter, and the variables of the environment."""
    places: dict[str, SideValue] = {}
    for part, side in chain(_steps(config, tracer, places), _settings(settings), _of_adapter(config)):
        places.setdefault(part, side)
    return places


def _steps(config: TrainingConfig, tracer: Tracer, parts: Container[str]) -> Iterator[tuple[str, SideValue]]:
    """What steps show of parts that are not among `parts` yet."""
    for step in config.all_steps():
        if not step.counts or not step.part or step.evaluates:
            continue
        if step.part in parts and all(not argument.role or argument.role in parts for argument in step.arguments):
            continue  # whether it runs is costly to tell
        if tracer.runs(step.scope) is False:
            continue
        if step.part not in _MIXED or _is_mixed(step):
            yield step.part, SideValue(step.text or step.shown, step.scope.path, step.span)
        for argument in step.arguments:
            if argument.role and argument.role != step.part and _is_used(step, argument):
                span = argument.span or step.span
                yield argument.role, SideValue(f"{step.shown}({argument.name})", step.scope.path, span)


def _is_mixed(step: CodeStep) -> bool:
    """Whether a step that is about precision, by its own name or that of an argument, computes in 16 bits."""
    if step.kind == "call":
        return step.part != "half_cast" or _is_half_cast(step)
    return any(argument.role in _MIXED and _is_used(step, argument) for argument in step.arguments)


def _is_used(step: CodeStep, argument: Argument) -> bool:
    """Whether an argument switches on what it is about. A list of names is one of operators only in a known call."""
    literal = argument.expr.literal if argument.expr.is_literal else argument.expr.written
    if argument.expr.is_literal and literal in _OFF:
        return False
    if argument.role == "half_cast":
        return is_half(argument.expr.written)
    if argument.role == "mix_list" and step.kind == "named":
        return False
    return argument.role not in _MIXED or not (is_whole(literal) or literal in _WHOLE)


def _is_half_cast(step: CodeStep) -> bool:
    """Whether a cast is one to 16 bits."""
    if step.shown.rpartition(".")[2] in ("half", "bfloat16"):
        return True
    return any(is_half(argument.expr.written or argument.expr.literal) for argument in step.arguments)


def by_trainer(config: TrainingConfig, tracer: Tracer) -> frozenset[str]:
    """The parts of mixed precision that an argument of a training framework switches on: of its trainer, or on a
    command line that the framework parses."""
    parts = {part for part, _ in _settings(passed_settings(tracer, ())) if part in _MIXED}
    for step in config.all_steps():
        if step.recipe is not None and step.site is not None and step.recipe.name.rpartition(".")[2] in _TRAINERS:
            for name, value in step.site.record.keywords:
                traced = tracer.trace(step.site.expr(value), step.span) if argument_part(name) in _MIXED else None
                if traced is not None and traced.known and not _is_whole(traced.value):
                    parts.add(argument_part(name))
    return frozenset(parts)


def _is_whole(value: object) -> bool:
    """Whether a value of a setting leaves mixed precision off."""
    return value in _OFF or str(value) in _WHOLE


def _settings(settings: Iterable[TrainingSetting]) -> Iterator[tuple[str, SideValue]]:
    for setting in settings:
        off = _is_whole(setting.traced.value) if setting.part in _MIXED else setting.traced.value in _OFF
        if setting.traced.known and not off:
            yield setting.part, SideValue.traced(setting.traced, setting.path, setting.span)


def _of_adapter(config: TrainingConfig) -> Iterator[tuple[str, SideValue]]:
    parts = setting_parts()
    for fact in config.program.index.of_kind("setting"):
        part = parts.get(fact.name, "")
        if part in ITEM_OF and fact.get("active") != "no":
            yield part, SideValue(fact.name, fact.path, fact.span)
