"""Open documents of the editor with their unsaved text."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from lsprotocol.types import TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument

from npulint.discover.safe_open import read_regular
from npulint.hosts.server.positions import replaced, split
from npulint.read.source import DecodedSource, decode

_LIMIT = 20_000_000  # bytes
Change = TextDocumentContentChangePartial | TextDocumentContentChangeWholeDocument


class Snapshot(msgspec.Struct, frozen=True):
    """A document at the start of a run. For a notebook, `cells` maps lines of its text to cells: URI, version, and line
    from 1."""

    uri: str
    path: str
    version: int
    text: str
    lines: Sequence[str]
    cells: Mapping[int, tuple[str, int, int]] = {}


class EditorDocument:
    """An open document: `uri` as sent by the client, absolute `path`, and `version`. `encoding` is that of
    positions."""

    def __init__(self, uri: str, path: str, version: int, text: str, encoding: str) -> None:
        self.uri = uri
        self.path = path
        self.version = version
        self.text = text
        self.encoding = encoding
        self._lines: list[str] | None = None

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the current text without line ends."""
        if self._lines is None:
            self._lines = split(self.text)
        return self._lines

    def change(self, version: int, changes: Iterable[Change]) -> None:
        """Apply content changes in order."""
        for one in changes:
            if isinstance(one, TextDocumentContentChangePartial):
                self.text = replaced(self.text, one.range, one.text, self.encoding)
            else:
                self.text = one.text
        self.version = version
        self._lines = None

    def snapshot(self) -> Snapshot:
        """A snapshot of the current text."""
        return Snapshot(self.uri, self.path, self.version, self.text, self.lines)


def unsaved(path: str, text: str) -> bytes | None:
    """The bytes to check instead of the file at `path` while the editor shows `text`, in the encoding of the file if
    possible, else UTF-8; None when the file has this text."""
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
    return data if isinstance(back, DecodedSource) and back.text == _plain(text) else marked


def _stored(path: str) -> DecodedSource | None:
    try:
        decoded_source = decode(read_regular(path, _LIMIT), path, path.endswith(".py"))
    except (OSError, ValueError):
        return None
    return decoded_source if isinstance(decoded_source, DecodedSource) else None


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
