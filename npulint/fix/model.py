"""The data types shared by the stages of a fix."""

from __future__ import annotations

import msgspec

from npulint.findings import Edit, Finding, RunResult


class Text(msgspec.Struct, frozen=True):
    r"""The current text of a file. Line ends are ``\n`` whatever the bytes have; `kind` is that of its facts: python,
    notebook, shell, mixlist, dependency, dockerfile, other. A new file has an empty text and `new`."""

    path: str
    kind: str
    text: str
    new: bool = False


class ImportRequest(msgspec.Struct, frozen=True):
    """A requested import: a statement with one name, preferably after the first import of the package `after`, or, with
    `first`, before all others."""

    path: str
    statement: str
    after: str = ""
    first: bool = False


class Plan(msgspec.Struct, frozen=True):
    """The edits of a fix, and the imports that it requests; imports are merged before they become edits. `copied` is
    the file that a new one is made from: no other fix changes it then."""

    edits: tuple[Edit, ...] = ()
    imports: tuple[ImportRequest, ...] = ()
    copied: str = ""


class FixRefused(Exception):
    """A fix step that cannot be applied. `reason` is a text key below ``fix.refused.``, `detail` what it names. `path`
    is the file that the reason is about, as far as it is known: not each fix changes the file of its finding."""

    def __init__(self, reason: str, detail: str = "", path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.path = path


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
    after `npulint.fix.written` it is about the files that were really written. `folders` are those of the checked
    files."""

    files: list[FileChange]
    fixed: list[Fixed]
    refused: list[Refusal]
    result: RunResult
    folders: tuple[str, ...] = ()
