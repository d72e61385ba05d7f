"""Notebooks: the code cells as one Python text, with a line map to the ``.ipynb`` file."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Block, Call, Code
from npulint.facts.model import Problem, Span
from npulint.read.json_tree import JsonNode, Lines, parse_json

_PYTHON_CELLS = frozenset(("time", "timeit", "capture", "prun", "python", "python3", "pypy", "memit", "mprun", "lprun"))
_MAGIC = lazy_compile(r"^[ \t]*(?:[%!?]|[\w.\[\]]+\?{1,2}[ \t]*$)|=[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
_LINE_MAGIC = lazy_compile(r"^(?P<indent>[ \t]*)(?:[%!?].*|%{0,2}[\w.*\[\]'\"]+\?{1,2}[ \t]*;?[ \t]*)$")
_BEGINS_MAGIC = lazy_compile(r"[ \t]*(?:[\w., \t]+=[ \t]*)?[!%]")
_ASSIGNED_MAGIC = lazy_compile(r"^(?P<head>[ \t]*[\w., \t]+=[ \t]*)[%!].*$")


class Notebook(msgspec.Struct, frozen=True):
    """The Python code of a notebook. ``lines[i]`` is the file line of line ``i + 1`` of `text`."""

    text: str
    lines: list[int]
    problems: list[Problem]


def read_notebook(raw: str, path: str) -> Notebook:
    """The code of a notebook of nbformat 3 or later, with IPython magics neutralised.

    Broken JSON, or JSON that is no notebook, gives an empty text and a fatal `Problem` (reason ``json``); a cell that
    does not parse is omitted with a non-fatal one. A notebook in another language than Python has no code."""
    root, json_problems = parse_json(raw)
    faults = [fault for fault in json_problems if fault.what != "duplicate-key"]
    places = Lines(raw)
    if root is None or faults:
        span = places.span(faults[0].start, faults[0].end) if faults else Span()
        return Notebook("", [], [Problem(path, "json", faults[0].what if faults else "", span)])
    cells = _cells(root)
    if cells is None:
        return Notebook("", [], [Problem(path, "json", "no notebook")])
    if not _is_python(root):
        return Notebook("", [], [])
    text: list[str] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for cell in cells:
        source, where = _source(cell, places)
        if not _is_python_cell(cell):
            source = [""] * len(source)
        code, problem = _python(source, where, path)
        text += code
        lines += where
        problems += problem
    return Notebook("\n".join(text) + "\n" if text else "", lines, problems)


def _member(node: JsonNode | None, name: str) -> JsonNode | None:
    if node is None or not isinstance(node.value, dict):
        return None
    pair = node.value.get(name)
    return pair[1] if pair else None


def _items(node: JsonNode | None) -> list[JsonNode]:
    return node.value if node is not None and isinstance(node.value, list) else []


def _cells(root: JsonNode) -> list[JsonNode] | None:
    """The code cells, or None if the file is no notebook."""
    holders = [root, *_items(_member(root, "worksheets"))]
    json_nodes = [_member(holder, "cells") for holder in holders]
    if all(cells is None for cells in json_nodes):
        return None
    return [cell for cells in json_nodes for cell in _items(cells) if _text(_member(cell, "cell_type")) == "code"]


def _text(node: JsonNode | None) -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _is_python(root: JsonNode) -> bool:
    metadata = _member(root, "metadata")
    language = _text(_member(_member(metadata, "kernelspec"), "language"))
    language = language or _text(_member(_member(metadata, "language_info"), "name"))
    return "python" in (language or "python").lower()


def _is_python_cell(cell: JsonNode) -> bool:
    """Whether a cell is in the language of the notebook: editors note another one (a shell) in the cell's metadata."""
    editor = _member(_member(cell, "metadata"), "vscode")
    return "python" in (_text(_member(editor, "languageId")) or "python").lower()


def _source(cell: JsonNode, places: Lines) -> tuple[list[str], list[int]]:
    """The lines of a cell and their lines in the file; a JSON string with several lines has one place."""
    node = _member(cell, "source") or _member(cell, "input")
    if node is None:
        return [], []
    text: list[str] = []
    where: list[int] = []
    fresh = True
    for piece in [node] if isinstance(node.value, str) else _items(node):
        line = places.at(piece.start)[0]
        for index, part in enumerate(re.split(r"\r\n|\r|\n", _text(piece))):
            if index or fresh:
                text.append(part)
                where.append(line)
            else:
                where[-1] = where[-1] if text[-1] else line
                text[-1] += part
            fresh = False
    if text and not text[-1]:
        text.pop()
        where.pop()
    return text, where


def _python(source: list[str], where: list[int], path: str) -> tuple[list[str], list[Problem]]:
    """The cell as Python with the same number of lines, and its problems."""
    first = next((line for line in source if line.strip()), "").lstrip()
    if first.startswith("%%"):
        if first[2:].split(" ", 1)[0].strip() not in _PYTHON_CELLS:
            return [""] * len(source), []
        source = ["" if line.lstrip().startswith("%%") else line for line in source]
    source = _unindented(source)
    text = "\n".join(source)
    error = _error(text)
    if error is not None and _MAGIC.search(text):
        source = [_harmless(line) for line in _joined(source)]
        error = _error("\n".join(source))
    if error is None:
        return source, []
    at = where[min(max(error.lineno or 1, 1), len(where)) - 1]
    return [""] * len(source), [Problem(path, "syntax-error", error.msg or "", Span.at(at), fatal=False)]


def _unindented(source: list[str]) -> list[str]:
    """The lines without the indent of the first one, which IPython takes off every line that begins with it."""
    first = next((line for line in source if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return [line.removeprefix(indent) for line in source] if indent else source


def _joined(source: list[str]) -> Iterator[str]:
    """Lines with the backslash continuations of a magic merged into it, and blank lines in their place."""
    continued = False
    for line in source:
        text = line.rstrip()
        if continued:
            continued = text.endswith("\\")
            yield ""
            continue
        continued = text.endswith("\\") and _BEGINS_MAGIC.match(line) is not None
        yield text.rstrip("\\") if continued else line


def _harmless(line: str) -> str:
    match = _LINE_MAGIC.match(line)
    if match:
        return match.group("indent") + "pass"
    match = _ASSIGNED_MAGIC.match(line)
    return match.group("head") + "None" if match else line


def _error(text: str) -> SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error
    except (RecursionError, MemoryError, ValueError) as error:
        return SyntaxError(type(error).__name__)
    return None


def at_file_lines(code: Code, lines: list[int]) -> Code:
    """`code` with every line mapped to the notebook file; columns are those of the cell."""

    def moved(record: Any) -> Any:
        changes: dict[str, Any] = {"line": _line(lines, record.line)}
        if getattr(record, "end_line", 0) and not (isinstance(record, Block) and record.end_line == 0):
            changes["end_line"] = _line(lines, record.end_line)
        if isinstance(record, Call) and record.keyword_spans:
            changes["keyword_spans"] = tuple(
                (_line(lines, a), b, _line(lines, c), d) for a, b, c, d in record.keyword_spans
            )
        return msgspec.structs.replace(record, **changes)

    records = {field: getattr(code, field) for field in Code.__struct_fields__}
    lists = {
        field: [moved(record) for record in records_of_field]
        for field, records_of_field in records.items()
        if isinstance(records_of_field, list)
    }
    return msgspec.structs.replace(code, **lists)


def _line(lines: list[int], line: int) -> int:
    return lines[min(max(line, 1), len(lines)) - 1] if lines else line
