"""What the stages of a fix hand on to each other."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from npulint.findings import Edit, Step


class Text(msgspec.Struct, frozen=True):
    """A file as it is now. `text` has ``\\n`` line ends only, whatever the bytes have; `kind` is that of its facts:
    python, notebook, shell, mixlist, dependency, dockerfile, other. A file that is not there yet has an empty text and
    `new`."""

    path: str
    kind: str
    text: str
    new: bool = False


class Wish(msgspec.Struct, frozen=True):
    """An import that a Python file is to have: a statement with one name, best placed behind the first import of the
    package `after`."""

    path: str
    statement: str
    after: str = ""


class Plan(msgspec.Struct, frozen=True):
    """What a change comes to. The imports that a file is wished for are united before they become edits."""

    edits: tuple[Edit, ...] = ()
    imports: tuple[Wish, ...] = ()


class Refused(Exception):
    """A step that cannot be taken. `reason` is a key of the texts below ``fix.refused.``: what a person reads."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Planner = Callable[[Step, Text], Plan]
"""Works out one step in the file that it names; raises `Refused`."""
