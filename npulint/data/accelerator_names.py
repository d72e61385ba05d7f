"""What PyTorch itself has for members of torch.cuda on any accelerator, and since which release."""

from __future__ import annotations

import csv
import os
from functools import cache

import msgspec


class AcceleratorName(msgspec.Struct, frozen=True):
    """A row of ``accelerator_names.csv``: a `member` of torch.cuda (``amp.autocast``) and what is written `instead`
    from the PyTorch release `since` on. `same`: it takes the same positional arguments and returns the same."""

    member: str
    instead: str
    since: tuple[int, int]
    same: bool


@cache
def accelerator_names() -> dict[str, AcceleratorName]:
    """The rows by member."""
    path = os.path.join(os.path.dirname(__file__), "accelerator_names.csv")
    with open(path, encoding="utf-8", newline="") as stream:
        rows = [
            AcceleratorName(row["member"], row["instead"], _release(row["since"]), row["same"] == "yes")
            for row in csv.DictReader(stream)
        ]
    return {row.member: row for row in rows}


def _release(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
