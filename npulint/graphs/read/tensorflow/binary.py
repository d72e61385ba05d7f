"""Binary graphs of TensorFlow: GraphDef, MetaGraphDef and SavedModel.

Field numbers are those of tensorflow/core/framework/{graph,function}.proto and
tensorflow/core/protobuf/saved_model.proto."""

from __future__ import annotations

import msgspec

from npulint.discover.safe_open import open_regular
from npulint.facts.graph import Body, Graph, Node
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf.wire import LENGTH, VARINT, Source, Tally, fields
from npulint.graphs.read.tensorflow.meta import chosen, meta_graph
from npulint.graphs.read.tensorflow.nodes import Nodes, function

# The TensorFlow that wrote a graph, from the version in every GraphDef (tensorflow/core/framework/versions.proto).

_OF_BOTH = 134  # the last version of TensorFlow 1


def release_of(producer: int) -> str:
    """The release line of TensorFlow, ``1.x`` or ``2.x``, that writes graphs of this version; empty if unknown."""
    if producer > _OF_BOTH:
        return "2.x"
    return "1.x" if 0 < producer < _OF_BOTH else ""


# Unique names of functions.


def distinct(functions: list[Body]) -> list[Body]:
    """The functions of a graph; a duplicate name is replaced by a new one, which nothing calls."""
    taken: set[str] = set()
    bodies = []
    for body in functions:
        name, count = body.name, 1
        while not name or name in taken:
            count += 1
            name = f"{body.name}#{count}"
        taken.add(name)
        bodies.append(body if name == body.name else msgspec.structs.replace(body, name=name))
    return bodies


_VERSIONS = 4  # the field of a GraphDef


def read_binary(form: str, location: str, content: bytes | None = None) -> Graph:
    """The graph in a file of this `form` (graph_def, meta_graph, saved_model), or in `content` instead.

    A function is a body that begins with a node `_Arg` for each argument; its results have no nodes. Of a SavedModel
    with several graphs, the one for training is read, else the one for serving. Raises `GraphError`, `OSError`."""
    if content is not None:
        return _graph(form, Source(None, content))
    with open_regular(location) as stream:
        return _graph(form, Source(stream.fileno()))


def _graph(form: str, source: Source) -> Graph:
    tally = Tally()
    extent = (0, source.size)
    if form == "saved_model":
        spans = [field for field in fields(source, *extent, tally) if field.number == 2 and field.wire == LENGTH]
        metas = [meta_graph(source, span.start, span.stop, tally) for span in spans]
        if not metas:
            raise GraphError("not-a-graph", "a SavedModel without graphs")
        meta = chosen(metas)
    elif form == "meta_graph":
        meta = meta_graph(source, *extent, tally)
    else:
        bodies, release = _contents(source, [extent], tally)
        return Graph(form, bodies, release)
    bodies, release = _contents(source, [(field.start, field.stop) for field in meta.graphs], tally)
    return Graph(form, bodies, meta.version or release, meta.tags, meta.collections)


def _contents(source: Source, places: list[tuple[int, int]], tally: Tally) -> tuple[list[Body], str]:
    """The main body of a GraphDef (at several offsets, as a message may be in pieces) with its functions, and the
    release line of TensorFlow that wrote it."""
    producer = 0
    nodes = Nodes(source, tally)
    main: list[Node] = []
    functions: list[Body] = []
    for place in places:
        for field in fields(source, *place, tally):
            if field.wire != LENGTH:
                continue
            if field.number == 1:
                main.append(nodes.node(field))
            elif field.number == 2:
                functions += [
                    function(source, inner, nodes, tally)
                    for inner in fields(source, field.start, field.stop, tally)
                    if inner.number == 1 and inner.wire == LENGTH
                ]
            elif field.number == _VERSIONS:
                written = fields(source, field.start, field.stop, tally)
                producer = next(
                    (inner.value for inner in written if inner.number == 1 and inner.wire == VARINT), producer
                )
    if not main and not functions:
        raise GraphError("not-a-graph", "no nodes")
    return [Body("", main), *distinct(functions)], release_of(producer)
