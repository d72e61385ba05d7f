"""Records of what fixing did: the fixes that were applied or refused, and the files that they changed."""

from __future__ import annotations

import msgspec

from npulint.judge.findings import Finding, RunResult


class Touched(msgspec.Struct, frozen=True):
    """What an edit of a fix changes: lines of the original file, from `first` to `last`, or, with `statement`, the
    imports (no lines)."""

    path: str
    first: int = 0
    last: int = 0
    statement: str = ""


class Fixed(msgspec.Struct, frozen=True):
    """An applied fix: its check, and the place in the original file. Applicability: safe or unsafe. `paths` are the
    files that it changes, `touched` the places, `finding` is what it fixes. `original` is the fingerprint of the
    finding before all fixes, empty if it was not there; `enabled`: it was, but nothing could fix it."""

    code: str
    name: str
    path: str
    line: int
    applicability: str
    paths: tuple[str, ...] = ()
    touched: tuple[Touched, ...] = ()
    finding: Finding | None = None
    original: str = ""
    enabled: bool = False


class Refusal(msgspec.Struct, frozen=True):
    """A refused fix. `reason` is a text key below ``fix.refused.``, `detail` what the text names, such as the message
    of the system. A refusal of a whole project or file has no code, name and line (0). `files` are those that the
    reason is about; empty if it is about `path`."""

    code: str
    name: str
    path: str
    line: int
    reason: str
    detail: str = ""
    files: tuple[str, ...] = ()


class FileChange(msgspec.Struct, frozen=True):
    """A file changed by fixes: its bytes before and after; `new` if it does not exist yet. `location` is the path to
    open, `root` the folder that it must lie in (empty: anywhere)."""

    path: str
    before: bytes
    after: bytes
    new: bool = False
    location: str = ""
    root: str = ""


class FixResult(msgspec.Struct, frozen=True):
    """The result of fixing, by path. `result` is that of a run over the fixed files. `apply_fixes` writes nothing;
    after `npulint.fix.write` it is about the files that were really written. `folders` are those of the checked
    files, `solved` the fingerprints of fixable findings that fixes of others solved."""

    files: list[FileChange]
    fixed: list[Fixed]
    refused: list[Refusal]
    result: RunResult
    folders: tuple[str, ...] = ()
    solved: tuple[str, ...] = ()
