"""What the stages of a fix hand on to each other."""

from __future__ import annotations

import msgspec

from npulint.findings import Edit, RunResult


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
    package `after`, or, with `first`, before all others."""

    path: str
    statement: str
    after: str = ""
    first: bool = False


class Plan(msgspec.Struct, frozen=True):
    """What a change comes to. The imports that a file is wished for are united before they become edits."""

    edits: tuple[Edit, ...] = ()
    imports: tuple[Wish, ...] = ()


class FixRefused(Exception):
    """A step that cannot be taken. `reason` is a key of the texts below ``fix.refused.``: what a person reads."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Fixed(msgspec.Struct, frozen=True):
    """A change that was made: the check that asked for it, and where, as the file was before all fixes. Applicability:
    safe or unsafe."""

    code: str
    name: str
    path: str
    line: int
    applicability: str


class Refusal(msgspec.Struct, frozen=True):
    """A change that could not be made. `reason` is a key of the texts below ``fix.refused.``. What spoils a whole
    project or file has no code and no name, and no line (0)."""

    code: str
    name: str
    path: str
    line: int
    reason: str


class FileChange(msgspec.Struct, frozen=True):
    """A file that fixes change: its bytes as they were judged, and as they are to be. One that is not there yet is
    `new`. `location` is for opening it, `root` the folder that it may not lie outside of (empty: anywhere)."""

    path: str
    before: bytes
    after: bytes
    new: bool = False
    location: str = ""
    root: str = ""


class FixResult(msgspec.Struct, frozen=True):
    """What fixes come to, in the order of paths; nothing is written yet. `result` is what a run says of the files as
    they are then."""

    files: list[FileChange]
    fixed: list[Fixed]
    refused: list[Refusal]
    result: RunResult
