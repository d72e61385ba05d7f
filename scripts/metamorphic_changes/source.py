"""A program as files, the syntax trees of its modules, and edits of their bytes.

Changes are edits at the positions of the syntax tree and not a printed tree: comments (some of them are for npulint),
layout and the lines of everything else stay as they are."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

Files = Mapping[str, bytes]
"""Contents by path, relative to the project, with slashes."""
INDENT = "    "
_BLANK = re.compile(rb"\s*(#.*)?")
_WORD = re.compile(r"[A-Za-z_]\w*")


class Edit(NamedTuple):
    """Replace the bytes from `start` to `end` of a file by `text`."""

    path: str
    start: int
    end: int
    text: str


class Variant(NamedTuple):
    """A changed program: where it is changed (``path:line``), the edits, the new files, and what is called otherwise:
    the new names of identifiers, options and files, each with its old name, and words that mean the same in the answers
    for both programs. If it `splits` a file, a new file has the moved part and repeats imports: what is reported once
    for each file may be reported once more."""

    location: str
    edits: tuple[Edit, ...] = ()
    new_files: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    splits: bool = False

    def changed_files(self, files: Files) -> dict[str, bytes]:
        """The changed and the new files with their contents, from the files of the unchanged program."""
        by_path: dict[str, list[Edit]] = {}
        for edit in dict.fromkeys(self.edits):
            by_path.setdefault(edit.path, []).append(edit)
        changed = {path: edited(files[path], edits) for path, edits in by_path.items()}
        return {**changed, **{path: text.encode() for path, text in self.new_files.items()}}


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Bytes after edits that do not overlap; those at the same offset are made in their order."""
    parts: list[bytes] = []
    end = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < end:
            raise ValueError(f"edits overlap at byte {edit.start}")
        parts += [data[end : edit.start], edit.text.encode()]
        end = edit.end
    return b"".join([*parts, data[end:]])


class Source:
    """A module: its path, its bytes and its syntax tree."""

    def __init__(self, path: str, data: bytes, tree: ast.Module) -> None:
        self.path = path
        self.data = data
        self.tree = tree
        self.lines = data.split(b"\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, parents before children."""
        return list(ast.walk(self.tree))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node but the module."""
        return {child: parent for parent in self.nodes for child in ast.iter_child_nodes(parent)}

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the text, those in comments and strings too."""
        return frozenset(_WORD.findall(self.data.decode()))

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The parent of a node, its parent and so on; the module last."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg | ast.alias) -> tuple[int, int]:
        """The offsets of the first byte of a node and of the byte after it; a definition begins at its decorators."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        line, column = node.lineno, node.col_offset
        for decorator in getattr(node, "decorator_list", []):
            if decorator.lineno < line:
                line = decorator.lineno  # the sign before it stands in the column of the definition
        return self.starts[line - 1] + column, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def replace(self, node: ast.expr | ast.stmt | ast.keyword, text: str) -> Edit:
        """The edit that gives a node another text."""
        return Edit(self.path, *self.span(node), text)

    def insert(self, line: int, text: str) -> Edit:
        """The edit that puts whole lines before a line, counted from one."""
        at = self.starts[line - 1] if line <= len(self.lines) else len(self.data)
        return Edit(self.path, at, at, text)

    def location(self, node: ast.expr | ast.stmt | ast.alias) -> str:
        """Where a node is, as ``path:line``."""
        return f"{self.path}:{node.lineno}"

    def lines_of(self, first: ast.stmt, last: ast.stmt) -> tuple[int, int]:
        """The first and the last line of a run of statements, counted from one."""
        assert last.end_lineno is not None
        return bisect_left(self.starts, self.span(first)[0] + 1), last.end_lineno

    def margin(self, line: int) -> str:
        """The white space at the beginning of a line."""
        text = self.lines[line - 1].decode()
        return text[: len(text) - len(text.lstrip())]

    def is_alone(self, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether nothing else but a comment is in the lines of a run of statements."""
        start, end = self.span(first)[0], self.span(last)[1]
        top, bottom = self.lines_of(first, last)
        before, after = self.data[self.starts[top - 1] : start], self.data[end : self.starts[bottom] - 1]
        return not before.strip() and bool(_BLANK.fullmatch(after)) and self.data[start : start + 4] != b"elif"

    def has_remark(self, line: int) -> bool:
        """Whether a comment for a linter is in the line or before it: lines must not be put between."""
        return any(
            b"npulint" in text or b"noqa" in text or text.rstrip().endswith(b"\\")
            for text in self.lines[max(line - 2, 0) : line]
        )

    def indented(self, first: int, last: int, by: str = INDENT) -> str:
        """The text of lines, moved to the right. The inside of strings of several lines stays as it is."""
        margin = self.margin(first)
        inside = self.lines_in_strings
        lines = []
        for number in range(first, last + 1):
            text = self.lines[number - 1].decode()
            moved = number not in inside and text.strip() and text.startswith(margin)
            lines.append(f"{margin}{by}{text[len(margin) :]}" if moved else text)
        return "\n".join(lines)

    @cached_property
    def lines_in_strings(self) -> set[int]:
        """The lines that begin inside of a string."""
        strings = (
            node
            for node in self.nodes
            if isinstance(node, ast.JoinedStr)
            or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        )
        return {
            line
            for node in strings
            if node.end_lineno is not None
            for line in range(node.lineno + 1, node.end_lineno + 1)
        }


class Program:
    """The files of a project, and those of them that are Python modules."""

    def __init__(self, files: Files) -> None:
        self.files = files
        parsed = ((path, parsed_source(path, data)) for path, data in sorted(files.items()) if path.endswith(".py"))
        self.sources: dict[str, Source] = {path: source for path, source in parsed if source is not None}

    @cached_property
    def other_texts(self) -> dict[str, str]:
        """The text of the files that are no readable Python module: launchers, notebooks, configurations, Python 2."""
        return {path: data.decode(errors="replace") for path, data in self.files.items() if path not in self.sources}

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of all files."""
        modules = (source.words for source in self.sources.values())
        return frozenset().union(*modules, *(_WORD.findall(text) for text in self.other_texts.values()))

    @cached_property
    def other_words(self) -> frozenset[str]:
        """All words of the files that are no readable Python module."""
        return frozenset().union(*(_WORD.findall(text) for text in self.other_texts.values()))

    def new_name(self, name: str) -> str:
        """A name that no file of the project contains: the name itself, or with a number."""
        number, candidate = 1, name
        while candidate in self.words:
            number += 1
            candidate = f"{name}_{number}"
        return candidate


Change = Callable[[Program], Iterator[Variant]]
"""Makes the variants of a program, one for each location where the change certainly means nothing."""


def parsed_source(path: str, data: bytes) -> Source | None:
    """The module of a file; None if this Python cannot read it, or if columns of the tree are not those of the bytes:
    with other encodings, other ends of lines, form feeds and byte order marks."""
    try:
        data.decode()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if encoding != "utf-8" or b"\r" in data or b"\f" in data:
        return None
    return Source(path, data, tree)
