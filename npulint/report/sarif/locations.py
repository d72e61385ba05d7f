"""SARIF locations: URIs and regions."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.judge.source_lines import LineProvider
from npulint.report.view import in_repository

ROOT = "%SRCROOT%"
"""The uriBaseId of relative paths: the working directory; GitHub assumes the repository root."""

_SAFE = "/!$&'()*+,;=@~"  # allowed in a path; a colon would begin a scheme
_DRIVE = lazy_compile(r"[A-Za-z]:/")
_ESCAPE = lazy_compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|.", re.DOTALL)


def artifact(path: str, folder: str = "") -> dict[str, str]:
    """The artifactLocation of a path from a run in `folder`: relative to the root, without base for a path with leading
    ``..``, a file URI for an absolute path."""
    uri, below = _uri(in_repository(path, folder))
    return {"uri": uri, "uriBaseId": ROOT} if below else {"uri": uri}


@lru_cache(maxsize=1024)
def _uri(path: str) -> tuple[str, bool]:
    """The URI of a path, and whether it lies below the root."""
    if path.startswith("/"):
        return "file://" + _quoted(path), False
    if _DRIVE.match(path):
        return f"file:///{path[0]}:{_quoted(path[2:])}", False
    segments = [_quoted(name) for name in path.split("/") if name not in ("", ".")]
    return "/".join(segments) or ".", ".." not in segments


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "backslashreplace"), safe=_SAFE)


def region(span: Span) -> dict[str, int]:
    """The region of a span with all four numbers, the end column exclusive; invalid numbers are corrected."""
    line, column = max(1, span.line), max(1, span.column)
    end_line, end_column = max(line, span.end_line), max(1, span.end_column)
    if end_line == line:
        end_column = max(column, end_column)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def stored(path: str, span: Span, lines: LineProvider) -> Span:
    """The span in the file as stored. Columns in a notebook count in the code of a cell line, which the file stores as
    an indented JSON string with escapes."""
    if not path.endswith(".ipynb"):
        return span
    text = lines(path)

    def column(line: int, column: int) -> int:
        return _stored_column(text[line - 1], column) if 0 < line <= len(text) else column

    return Span(span.line, column(span.line, span.column), span.end_line, column(span.end_line, span.end_column))


def _stored_column(line: str, column: int) -> int:
    start = len(line) - len(line.lstrip())
    if not line[start:].startswith('"'):
        return column
    position = start + 1
    for _ in range(column - 1):
        match = _ESCAPE.match(line, position)
        if match is None:
            break
        position = match.end()
    return position + 1
