"""Notebooks opened as cells: joined to the text of an .ipynb file, with findings mapped back to cells."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lsprotocol.types import NotebookCell, NotebookCellKind, NotebookDocumentChangeEvent, TextDocumentItem

from npulint.hosts.server.documents import EditorDocument, Snapshot
from npulint.hosts.server.positions import split


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
