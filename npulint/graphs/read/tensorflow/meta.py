"""Containers of graphs, from the wire format (tensorflow/core/protobuf/{meta_graph,saved_model}.proto)."""

from __future__ import annotations

from typing import Any

import msgspec

from npulint.graphs.read.protobuf.wire import COLLECTIONS, LENGTH, TAGS, TEXT, Field, Source, Tally, fields

_CHUNK = 64 * 1024
_MORE = bytes(range(128, 256))  # varint bytes with a continuation bit


class MetaGraph(msgspec.Struct, frozen=True):
    """A MetaGraphDef: the offset or fields of its graph, and its metadata."""

    graphs: list[Any]
    version: str = ""
    tags: tuple[str, ...] = ()
    collections: dict[str, int] = {}


def meta_graph(source: Source, start: int, stop: int, tally: Tally) -> MetaGraph:
    """The MetaGraphDef between two offsets. Raises `GraphError`."""
    graphs: list[Field] = []
    version = ""
    tags: tuple[str, ...] = ()
    collections: dict[str, int] = {}
    for field in fields(source, start, stop, tally):
        if field.wire != LENGTH:
            continue
        if field.number == 1:
            version, tags = _info(source, field, tally)
        elif field.number == 2:
            graphs.append(field)
        elif field.number == 4 and len(collections) < COLLECTIONS:
            name, count = _collection(source, field, tally)
            collections[name] = count
    return MetaGraph(graphs, version, tags, collections)


def chosen(graphs: list[MetaGraph]) -> MetaGraph:
    """Of the graphs of a SavedModel the one for training, else for serving, else the first."""
    for tag in ("train", "serve"):
        for graph in graphs:
            if tag in graph.tags:
                return graph
    return graphs[0]


def _info(source: Source, message: Field, tally: Tally) -> tuple[str, tuple[str, ...]]:
    """The TensorFlow version that wrote it, and the tags."""
    version = ""
    tags: list[str] = []
    for field in fields(source, message.start, message.stop, tally):
        if field.wire == LENGTH and field.number == 5:
            version = _text(source, field)
        elif field.wire == LENGTH and field.number == 4 and len(tags) < TAGS:
            tags.append(_text(source, field))
    return version, tuple(tags)


def _collection(source: Source, message: Field, tally: Tally) -> tuple[str, int]:
    name, count = "", 0
    for field in fields(source, message.start, message.stop, tally):
        if field.wire == LENGTH and field.number == 1:
            name = _text(source, field)
        elif field.wire == LENGTH and field.number == 2:
            for kind in fields(source, field.start, field.stop, tally):
                if kind.wire == LENGTH:
                    count = sum(
                        _members(source, kind.number, inner)
                        for inner in fields(source, kind.start, kind.stop, tally)
                        if inner.number == 1
                    )
    tally.text(len(name))
    return name, count


def _members(source: Source, kind: int, field: Field) -> int:
    """The number of collection members in a field: one, or those of a packed list of integers or floats."""
    if kind not in (3, 4) or field.wire != LENGTH:
        return 1
    if kind == 4:
        return (field.stop - field.start) // 4
    pieces = range(field.start, field.stop, _CHUNK)
    return sum(len(source.take(at, min(at + _CHUNK, field.stop)).translate(None, _MORE)) for at in pieces)


def _text(source: Source, field: Field) -> str:
    return source.take(field.start, min(field.stop, field.start + 4 * TEXT)).decode("utf-8", "replace")[:TEXT]
