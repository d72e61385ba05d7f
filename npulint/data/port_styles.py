"""Tables of the port to the NPU: the step that a topic belongs to, and spellings for several devices."""

from __future__ import annotations

import csv
import os
from functools import cache

import msgspec

STEPS = ("device", "distribution", "precision", "optimizer", "data", "libraries", "launch", "environment")
"""The steps of a port that fixes belong to, in order; the last step is the README (`npulint.commands.port.readme`)."""


class TopicRow(msgspec.Struct, frozen=True):
    """A row of ``port_steps.csv``: the step of the findings about a topic; `neutral`: their edits without names of the
    NPU do the same on a GPU."""

    topic: str
    step: str
    neutral: bool


class SpellingRow(msgspec.Struct, frozen=True):
    """A row of ``port_spellings.csv``: a name of the NPU, and its name in ``torch.accelerator`` or ``torch.amp``;
    `first` is ``type`` if the type of the device becomes the first argument."""

    name: str
    accelerator: str
    first: str


def _rows(name: str) -> list[dict[str, str]]:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@cache
def topics() -> dict[str, TopicRow]:
    """The rows of ``port_steps.csv`` by topic."""
    return {
        row["topic"]: TopicRow(row["topic"], row["step"], row["neutral"] == "yes") for row in _rows("port_steps.csv")
    }


@cache
def spellings() -> dict[str, SpellingRow]:
    """The rows of ``port_spellings.csv`` by name."""
    return {row["name"]: SpellingRow(**row) for row in _rows("port_spellings.csv")}


def is_neutral(topic: str) -> bool:
    """Whether edits of a topic, if they do not name the NPU, do the same on a GPU."""
    row = topics().get(topic)
    return row is not None and row.neutral
