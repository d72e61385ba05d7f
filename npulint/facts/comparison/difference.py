"""Records of the differences, and of compared equal values, between two training configs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep, Traced


class SideValue(msgspec.Struct, frozen=True):
    """One side of a difference: the value as displayed, where it is written, and its provenance (empty: written in
    place)."""

    text: str
    path: str
    span: Span
    provenance: tuple[ProvenanceStep, ...] = ()

    @classmethod
    def traced(cls, traced: Traced, path: str, span: Span) -> SideValue:
        """A traced value that is used at a place."""
        return cls(traced.text, path, span).defined_by(traced.provenance)

    def defined_by(self, provenance: tuple[ProvenanceStep, ...]) -> SideValue:
        """The same value at the place where its provenance begins."""
        return SideValue(self.text, provenance[0].path, provenance[0].span, provenance) if provenance else self

    def shown_as(self, text: str) -> SideValue:
        """The same place with another text."""
        return msgspec.structs.replace(self, text=text)


class Difference(msgspec.Struct, frozen=True):
    """One thing that differs or (`change` is ``none``) is equal. `part` is a part in `npulint.facts.recipe.ITEMS`,
    `what` the operation or setting, `argument` its parameter. `change`: changed, removed, added, reordered, none or
    unknown (undetermined). A side that lacks it is None; `near` is then where it would be in that program. `count`
    places have the same difference; `also` are the other ones. `named`: the value has a name of its own, wherever it
    is used. `effect`: what it does to the loss (`effect_of`). `constants` tell the arguments of
    unmatched steps apart."""

    part: str
    change: str
    what: str
    argument: str = ""
    reference: SideValue | None = None
    migrated: SideValue | None = None
    near: SideValue | None = None
    certain: bool = True
    adapter: bool = False
    count: int = 1
    function: str = ""
    named: bool = False
    evaluates: bool = False
    constants: Hashable = None
    also: tuple[tuple[SideValue | None, SideValue | None], ...] = ()
    effect: str = ""

    @property
    def place(self) -> SideValue | None:
        """The place to report: in the migrated program if it has one."""
        return self.migrated or self.near or self.reference


def of_both(
    part: str, same: bool, what: str, argument: str, reference: SideValue, migrated: SideValue, **others: Any
) -> Difference:
    """A compared value that both sides have."""
    return Difference(part, "none" if same else "changed", what, argument, reference, migrated, **others)


def of_one(part: str, change: str, what: str, argument: str, value: SideValue, **others: Any) -> Difference:
    """A thing that only one side has: the reference if it is removed, the migrated program if it is added."""
    sides = (value, None) if change == "removed" else (None, value)
    return Difference(part, change, what, argument, *sides, **others)


# What a difference does to the loss, as far as its part of the training config tells: the order in which differences
# are listed, and which are listed on request only.

PARTS: dict[str, str] = {
    "loss": "loss",
    "regularisation": "loss",
    "optimizer": "update",
    "update": "update",
    "learning_rate": "update",
    "batch_size": "update",
    "momentum": "update",
    "reduction": "update",
    "weight_decay": "update",
    "clipping": "update",
    "frozen": "update",
    "layer": "model",
    "operation": "model",
    "dropout": "model",
    "dataset": "data",
    "split": "data",
    "transform": "data",
    "arithmetic": "data",
    "sampler": "samples",
    "shard": "samples",
    "shuffle": "samples",
    "repeat": "samples",
    "ranks": "samples",
    "checkpoint": "start",
    "initialisation": "start",
    "schedule": "later",
    "loss_scale": "underflow",
    "autocast": "rounding",
    "half_cast": "rounding",
    "mix_list": "rounding",
    "precision_mode": "rounding",
    "epochs": "length",
    "steps": "length",
    "average": "measured",
    "evaluation": "measured",
    "setting": "use",
    "seed": "chance",
    "determinism": "chance",
    "drop_remainder": "rest",
    "iterations_per_loop": "none",
}
"""The effect of a difference in each part of the training config."""

EFFECTS = (
    *(
        "loss",
        "update",
        "model",
        "data",
        "start",
        "underflow",
        "rounding",
        "later",
        "samples",
        "use",
        "length",
        "chance",
    ),
    *("measured", "rest", "idle", "shown", "none"),
)
"""All effects, strongest first."""
WEAK = frozenset(("rest", "idle", "shown", "none"))
"""Effects of differences that are listed on request only."""
_MEASURING = lazy_compile(r"(?:predict|evaluate|eval|test|validate)(?:\(|$)")
_OF_KERNELS = lazy_compile(r"attn_implementation|dtype")  # of from_pretrained: the weights are the same
_HARMLESS = frozenset(("?.float", ".float", "torch.float"))


def with_effects(differences: Iterable[Difference]) -> list[Difference]:
    """The differences with their effects; those that already have one keep it."""
    return [
        difference if difference.effect else msgspec.structs.replace(difference, effect=effect_of(difference))
        for difference in differences
    ]


def effect_of(difference: Difference) -> str:
    """The effect of a difference."""
    if difference.evaluates or _MEASURING.match(difference.what):
        return "measured"
    if difference.part == "checkpoint" and _OF_KERNELS.search(difference.argument):
        return "rounding"
    if difference.part == "half_cast" and difference.change == "added" and difference.what in _HARMLESS:
        return "none"
    if difference.part == "ranks" and not difference.certain:
        return "none"
    return PARTS[difference.part]


def rank(effect: str) -> int:
    """The place of an effect in `EFFECTS`; unknown ones come last."""
    return EFFECTS.index(effect) if effect in EFFECTS else len(EFFECTS)
