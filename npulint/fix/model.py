"""The data types shared by the stages of a fix."""

from __future__ import annotations

import msgspec

from npulint.judge.findings import Edit


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
