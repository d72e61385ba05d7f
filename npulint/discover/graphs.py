"""Recognizes graph files and their form by first bytes, or by member names of an archive."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.core.lazy_regex import lazy_compile
from npulint.discover.safe_open import is_regular, read_head

HEAD = 64 * 1024
"""Bytes of a text file that are examined."""

SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
"""The graph file in a SavedModel folder."""

_PROTOBUF = (".pb", ".meta", ".pbtxt", ".pb.txt")
_ONNX = (".onnx", ".textproto")
_FIRST = lazy_compile(rb"(?:\xef\xbb\xbf)?(?:[\s,;]|#[^\n]*\n)*([A-Za-z_]\w*)\s*[:{<[]")
_OF_GRAPH = frozenset((b"node", b"library", b"version", b"versions", b"debug_info"))
_OF_META = frozenset(
    b"meta_info_def graph_def saver_def collection_def object_graph_def meta_graphs saved_model_schema_version".split()
)
_OF_MODEL = frozenset(b"ir_version producer_name producer_version opset_import".split())
_ONNX_NODE = lazy_compile(rb"[\s{<;,]op_type\s*:\s*[\"']|(?:^|[\s}>;])opset_import\s*:?\s*[{<]")
_LIBRARY = lazy_compile(rb"(?:^|[\s}>;])library\s*:?\s*[{<]\s*function\s*:?\s*[{<]")
_NODE = lazy_compile(rb"(?:^|[\s}>;])node\s*:?\s*[{<[]")
_OPERATOR = lazy_compile(rb"[\s{<;,]op\s*:\s*[\"']")
_OTHER = lazy_compile(rb"[\s{<]calculator\s*:\s*[\"']")
_CHECKPOINT = lazy_compile(r"(.+-)(\d{1,18})\.meta")
_EXPORTED = lazy_compile(rb'"graph_module"\s*:\s*\{')
_RECORDED = lazy_compile(rb'^\s{0,9}\{\s{0,9}"npulint_recorded_step"\s{0,9}:')
EXPORTED_MEMBER = lazy_compile(r"(?:^|/)models/[^/]+\.json$|^(?:[^/]+/)?serialized_exported_program\.json$")
"""Member names of archives that hold graphs of exported programs."""

CODE_MEMBER = lazy_compile(r"^[^/]+/code/.+\.py$")
"""Member names of TorchScript code."""

_PACKAGE = lazy_compile(r"^[^/]+/\.data/extern_modules$")  # torch.package: its code is ordinary Python
_POINTER = b"version https://git-lfs."
_ZIP = b"PK\x03\x04"


def form_of(location: str) -> str:
    """The form of the graph in a file: graph_def, meta_graph, saved_model (binary), text (of any of these),
    exported_program, torchscript, onnx, onnx_text; json for the extracted graph member of an exported program; recorded
    for a step that `npulint try` recorded. Empty if it holds none, or is no regular file."""
    if not is_regular(location):
        return ""
    head = read_head(location, HEAD)
    return _of_archive(location) if head.startswith(_ZIP) else form_of_text(location, head)


def form_of_text(name: str, head: bytes) -> str:
    """The form of a graph outside archives, from the beginning of the file."""
    name = name.lower()
    if name.endswith(_ONNX):
        from npulint.discover.protobuf import is_onnx

        return "onnx" if is_onnx(head) else _of_onnx_text(head)
    if name.endswith(".json"):
        return "json" if _EXPORTED.search(head) else "recorded" if _RECORDED.match(head) else ""
    if not name.endswith(_PROTOBUF):
        return ""
    from npulint.discover.protobuf import form_of_protobuf

    return form_of_protobuf(head) or _of_text(head) or _of_onnx_text(head)


def instead(head: bytes) -> str:
    """A short description of a file that holds no graph; empty if unrecognized."""
    if not head:
        return "empty file"
    return "Git LFS pointer, see git lfs pull" if head.startswith(_POINTER) else ""


def superseded(names: Iterable[str]) -> set[str]:
    """The graph files that later ones replace: training writes the same ``model.ckpt-100.meta``,
    ``model.ckpt-200.meta``, … with each checkpoint."""
    newest: dict[str, tuple[int, str]] = {}
    replaced = set()
    for name in names:
        match = _CHECKPOINT.fullmatch(name) if name.endswith(".meta") else None
        if match is None:
            continue
        stem, step = match.group(1), (int(match.group(2)), name)
        kept = newest.get(stem)
        newest[stem] = step if kept is None else max(step, kept)
        if kept is not None:
            replaced.add(min(step, kept)[1])
    return replaced


def _of_archive(location: str) -> str:
    from npulint.discover.archives import names_of

    names = names_of(location)
    if any(map(EXPORTED_MEMBER.search, names)):
        return "exported_program"
    return "torchscript" if any(map(CODE_MEMBER.search, names)) and not any(map(_PACKAGE.search, names)) else ""


def _of_onnx_text(head: bytes) -> str:
    """The text format of an ONNX model, by its first field and a node or an opset."""
    first = _FIRST.match(head)
    fits = first is not None and b"\0" not in head and first.group(1) in _OF_MODEL and _ONNX_NODE.search(head)
    return "onnx_text" if fits else ""


def _of_text(head: bytes) -> str:
    """The text format of protocol buffers, by its first field. Other messages have a ``node`` too; in TensorFlow it has
    an ``op``."""
    first = _FIRST.match(head)
    field = b"" if first is None or b"\0" in head else first.group(1)
    if field in _OF_META or (field in _OF_GRAPH and _LIBRARY.search(head)):
        return "text"
    fits = field in _OF_GRAPH and _NODE.search(head) and _OPERATOR.search(head) and not _OTHER.search(head)
    return "text" if fits else ""
