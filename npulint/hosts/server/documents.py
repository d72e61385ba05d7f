"""Open documents of the editor with their unsaved text."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from lsprotocol.types import (
    NotebookCell,
    NotebookCellKind,
    NotebookDocumentChangeEvent,
    TextDocumentContentChangePartial,
    TextDocumentContentChangeWholeDocument,
    TextDocumentItem,
)

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
        for change in changes:
            if isinstance(change, TextDocumentContentChangePartial):
                self.text = replaced(self.text, change.range, change.text, self.encoding)
            else:
                self.text = change.text
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


# Notebooks opened as cells: joined to the text of an .ipynb file, with findings mapped back to cells.


class Notebook:
    """An open notebook. `version` counts every change of any cell."""

    def __init__(
        self, uri: str, path: str, cells: Iterable[NotebookCell], texts: Iterable[TextDocumentItem], encoding: str
    ) -> None:
        self.uri = uri
        self.path = path
        self.version = 0
        self.encoding = encoding
        self._cells = list(cells)
        self._documents: dict[str, EditorDocument] = {}
        self._open(texts)

    @property
    def addresses(self) -> list[str]:
        """The URIs of the cells in order."""
        return [cell.document for cell in self._cells]

    def change(self, event: NotebookDocumentChangeEvent) -> list[str]:
        """Apply cell changes; returns the URIs of removed cells."""
        self.version += 1
        cells = event.cells
        if cells is None:
            return []
        before = set(self.addresses)
        if cells.structure is not None:
            array = cells.structure.array
            self._cells[array.start : array.start + array.delete_count] = array.cells or []
            self._open(cells.structure.did_open or ())
        for data in cells.data or ():
            self._cells = [data if cell.document == data.document else cell for cell in self._cells]
        for content in cells.text_content or ():
            document = self._documents.get(content.document.uri)
            if document is not None:
                document.change(content.document.version, content.changes)
        return sorted(before - set(self.addresses))

    def snapshot(self) -> Snapshot:
        """The notebook as an .ipynb file with one line of JSON per line of code."""
        lines = ['{"cells": [']
        where: dict[int, tuple[str, int, int]] = {}
        for index, cell in enumerate(self._cells):
            document = self._documents.get(cell.document)
            kind = "code" if cell.kind == NotebookCellKind.Code else "markdown"
            lines.append(f'{"," if index else ""}{{"cell_type": "{kind}", "source": [')
            text = split(document.text) if document is not None else []
            for number, line in enumerate(text, 1):
                last = number == len(text)
                lines.append(json.dumps(line if last else line + "\n") + ("" if last else ","))
                if document is not None:
                    where[len(lines)] = (cell.document, document.version, number)
            lines.append("]}")
        lines.append('], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
        text_of_all = "\n".join(lines) + "\n"
        return Snapshot(self.uri, self.path, self.version, text_of_all, lines, where)

    def lines(self, address: str) -> list[str]:
        """The lines of one cell."""
        document = self._documents.get(address)
        return split(document.text) if document is not None else []

    def _open(self, texts: Iterable[TextDocumentItem]) -> None:
        for item in texts:
            self._documents[item.uri] = EditorDocument(item.uri, self.path, item.version, item.text, self.encoding)
