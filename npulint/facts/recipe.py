"""The training config of a program: the values that decide the numbers of a training, with their provenance."""

from __future__ import annotations

from typing import Literal

import msgspec

from npulint.facts.model import Span

Item = Literal["mixed_precision", "loss_scale", "data", "preprocessing", "sharding", "training", "hyperparameters"]
"""The items of the pre-tuning checklist that are about parts of a training config."""

ITEMS: dict[Item, tuple[str, ...]] = {
    "mixed_precision": ("precision_mode", "autocast", "mix_list", "half_cast"),
    "loss_scale": ("loss_scale",),
    "data": ("dataset", "split", "shuffle", "repeat", "drop_remainder"),
    "preprocessing": ("transform", "arithmetic"),
    "sharding": ("shard", "sampler", "ranks", "reduction"),
    "training": (
        "layer",
        "operation",
        "dropout",
        "loss",
        "regularisation",
        "optimizer",
        "update",
        "clipping",
        "average",
        "initialisation",
        "checkpoint",
        "frozen",
        "evaluation",
        "determinism",
        "iterations_per_loop",
    ),
    "hyperparameters": (
        "learning_rate",
        "schedule",
        "batch_size",
        "epochs",
        "steps",
        "weight_decay",
        "momentum",
        "seed",
        "setting",
    ),
}
"""The parts of a training config that belong to each item of the pre-tuning checklist."""

ITEM_OF: dict[str, Item] = {part: item for item, parts in ITEMS.items() for part in parts}


Side = Literal["reference", "migrated"]
"""A side of a comparison."""


class ProvenanceStep(msgspec.Struct, frozen=True):
    """One location on the way of a value from its definition (a launcher, an option, a configuration file, an
    assignment) to its use, with the name that it has there (``--lr``, ``args.lr``, ``TRAIN.LR``)."""

    path: str
    span: Span
    name: str


class Traced(msgspec.Struct, frozen=True):
    """The statically determined value of an expression. `known`: `value` is the only possible one. `text` is for
    display (alternatives joined by `` / ``, ``?`` if undetermined). `provenance` leads from the definition to the use:
    to change the value, edit the first."""

    known: bool = False
    value: object = None
    text: str = "?"
    provenance: tuple[ProvenanceStep, ...] = ()


class TrainingSetting(msgspec.Struct, frozen=True):
    """One entry of a training config: `part` is a part in `ITEMS`, `what` the name (of an operation, a setting, or an
    argument of an operation: ``adam.epsilon``), with the place where it is written."""

    part: str
    what: str
    path: str
    span: Span
    traced: Traced = Traced()

    @property
    def item(self) -> Item:
        """The checklist item that the entry belongs to."""
        return ITEM_OF[self.part]
