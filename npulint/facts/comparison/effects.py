"""What a difference does to the loss, as far as its part of the training config tells: the order in which differences
are listed, and which are listed on request only."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.comparison.difference import Difference

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
