"""Whether a file holds a graph, and in which form: told from its first bytes, or the names in an archive."""

from __future__ import annotations

import re
import zipfile

from npulint.discover.regular import is_regular, read_head
from npulint.later import regex

HEAD = 64 * 1024
"""Bytes of a text that are looked at."""

_TEXT = regex(rb"(?m)^[ \t]*(?:node|graph_def|meta_graphs|library)[ \t]*:?[ \t]*\{")
_EXPORTED = regex(rb'"graph_module"\s*:\s*\{|"schema_version"\s*:\s*\{')
_MEMBERS = 200_000  # names of an archive that are looked at
_LEN = 2  # the wire type of what has a length
_ZIP = b"PK\x03\x04"


def form_of(location: str) -> str:
    """The form of the graph in a file: graph_def, meta_graph, saved_model (binary), text (of any of these),
    exported_program, torchscript; json for the one member of an exported program that tells its graph. Empty when it
    holds none, or is no regular file."""
    if not is_regular(location):
        return ""
    head = read_head(location, HEAD)
    return _of_archive(location) if head.startswith(_ZIP) else form_of_text(location, head)


def form_of_text(name: str, head: bytes) -> str:
    """The form of a graph that is in no archive, from the beginning of the file."""
    ending = name.rpartition(".")[2].lower()
    if ending == "pbtxt":
        return "text" if _TEXT.search(head) else ""
    if ending == "json":
        return "json" if _EXPORTED.search(head) else ""
    return _of_protobuf(head) if ending in ("pb", "meta") else ""


def _of_archive(location: str) -> str:
    try:
        with zipfile.ZipFile(location) as archive:
            names = [info.filename for info in archive.infolist()[:_MEMBERS]]
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return ""
    if any(re.search(r"(?:^|/)models/[^/]+\.json$|^serialized_exported_program\.json$", name) for name in names):
        return "exported_program"
    return "torchscript" if any(re.search(r"(?:^|/)code/.+\.py$", name) for name in names) else ""


def _of_protobuf(head: bytes) -> str:
    """The message that begins so: a node (name, operator) first, or what describes a graph, or a schema version."""
    if head.startswith(b"\x08\x01\x12"):
        return "saved_model"
    if head[:1] != b"\x0a":
        return ""
    inner = _after_length(head, 1)
    if head[inner : inner + 1] != b"\x0a":
        return "meta_graph" if head[inner : inner + 1] in (b"\x12", b"\x1a", b"\x22", b"\x2a") else ""
    name = _after_length(head, inner + 1)
    length = _length(head, inner + 1)
    after = name + length
    if head[after : after + 1] == b"\x12" and head[name:after].isascii():
        return "graph_def"
    return "meta_graph"


def _after_length(data: bytes, start: int) -> int:
    while start < len(data) and data[start] & 0x80:
        start += 1
    return start + 1


def _length(data: bytes, start: int) -> int:
    value = shift = 0
    while start < len(data) and shift < 64:
        value |= (data[start] & 0x7F) << shift
        if not data[start] & 0x80:
            break
        start, shift = start + 1, shift + 7
    return value
