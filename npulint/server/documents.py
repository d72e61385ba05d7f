"""The documents that the editor has open, with their unsaved text."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from lsprotocol.types import TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument

from npulint.discover.safe_open import read_regular
from npulint.read.source import Source, decode
from npulint.server.positions import replaced, split

_LIMIT = 20_000_000  # bytes
Change = TextDocumentContentChangePartial | TextDocumentContentChangeWholeDocument


class Snapshot(msgspec.Struct, frozen=True):
    """A document as it was when a run began. `cells` tells of a notebook, by the line of its text, which line of which
    cell it is: the cell's address and version, and its line from 1."""

    uri: str
    path: str
    version: int
    text: str
    lines: Sequence[str]
    cells: Mapping[int, tuple[str, int, int]] = {}


class EditorDocument:
    """One open document: `uri` as the editor spells it, `path` absolute, `version` as the editor counts. `encoding`
    is the one in which positions are counted."""

    def __init__(self, uri: str, path: str, version: int, text: str, encoding: str) -> None:
        self.uri = uri
        self.path = path
        self.version = version
        self.text = text
        self.encoding = encoding
        self._lines: list[str] | None = None

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the text as it is now, without their ends."""
        if self._lines is None:
            self._lines = split(self.text)
        return self._lines

    def change(self, version: int, changes: Iterable[Change]) -> None:
        """Apply what was typed, in order."""
        for one in changes:
            if isinstance(one, TextDocumentContentChangePartial):
                self.text = replaced(self.text, one.range, one.text, self.encoding)
            else:
                self.text = one.text
        self.version = version
        self._lines = None

    def snapshot(self) -> Snapshot:
        """The document as it is now."""
        return Snapshot(self.uri, self.path, self.version, self.text, self.lines)


def unsaved(path: str, text: str) -> bytes | None:
    """The bytes that npulint shall read instead of the file at `path` while an editor shows `text`; None when the
    file holds just that. They are in the encoding of the file where that can be, else in UTF-8."""
    text = text.removeprefix("\ufeff")
    stored = _stored(path)
    if stored is not None and stored.text == _plain(text):
        return None
    encoding = stored.encoding if stored is not None else "utf-8"
    marked = codecs.BOM_UTF8 + text.encode("utf-8", "replace")
    if stored is not None and stored.bom and encoding == "utf-8":
        return marked
    try:
        data = text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return marked
    back = decode(data, path, path.endswith(".py"))
    return data if isinstance(back, Source) and back.text == _plain(text) else marked


def _stored(path: str) -> Source | None:
    try:
        found = decode(read_regular(path, _LIMIT), path, path.endswith(".py"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, Source) else None


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
