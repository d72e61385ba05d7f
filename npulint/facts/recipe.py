"""The recipe of a program: what decides which numbers a training gives, as records that know where they come from."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Span

ITEMS: dict[str, tuple[str, ...]] = {
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
"""The parts of a recipe by the item of the checklist that asks for them."""

ITEM_OF: dict[str, str] = {part: item for item, parts in ITEMS.items() for part in parts}


class Station(msgspec.Struct, frozen=True):
    """A place on the way of a value to where it is used: where it is written (a launcher, an option, a configuration
    file, an assignment), with the name that it has there (``--lr``, ``args.lr``, ``TRAIN.LR``)."""

    path: str
    span: Span
    name: str


class Traced(msgspec.Struct, frozen=True):
    """What a value is, as far as the code tells. `known`: `value` is the only one that it can have. `text` shows it to
    people (alternatives joined by `` / ``, ``?`` where nothing is known). `stations` lead from where it is written to
    where it is used; the first is the place to change it."""

    known: bool = False
    value: object = None
    text: str = "?"
    stations: tuple[Station, ...] = ()


class Ingredient(msgspec.Struct, frozen=True):
    """One thing in a recipe: `part` is a word of `ITEMS`, `what` names it (an operation, a setting, an argument of an
    operation as ``adam.epsilon``), at the place where it is written."""

    part: str
    what: str
    path: str
    span: Span
    traced: Traced = Traced()

    @property
    def item(self) -> str:
        """The item of the checklist that asks for it."""
        return ITEM_OF[self.part]
