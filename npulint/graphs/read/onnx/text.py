"""ONNX models in protobuf's text format (`onnx.save(model, "model.textproto")`); every node has a line."""

from __future__ import annotations

from typing import Any

from npulint.facts.graph import Graph
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.onnx.model import LENGTHS, LINE, MESSAGES, Kind, Message, graph_of, most
from npulint.graphs.read.protobuf.literals import content as bytes_of
from npulint.graphs.read.protobuf.literals import integer, real, text
from npulint.graphs.read.protobuf.markup import Entries, Markup
from npulint.graphs.read.protobuf.text_file import text_of
from npulint.graphs.read.protobuf.wire import Tally

_ROLE = {"Node": "node", "Model": "root"}  # the roles that Markup knows: nodes have lines
_ROLES = {
    (_ROLE.get(message, message), kind.name): _ROLE.get(kind.of, kind.of)
    for message, kinds in MESSAGES.items()
    for kind in kinds.values()
    if kind.of in MESSAGES
}


def read_text(location: str, content: bytes | None = None) -> Graph:
    """The graph of the model in a text file, or in `content` instead. Raises `GraphError`, `OSError`."""
    content = text_of(location) if content is None else content
    tally = Tally()

    def made(name: str) -> Any:
        return lambda entries, line: _message(name, entries, line, tally)

    makers = {_ROLE.get(name, name): made(name) for name in MESSAGES if name != "Model"}
    entries = Markup(content, _ROLES, {}, makers, tally).read()
    try:
        return graph_of(_message("Model", entries, 1, tally), tally)
    except ValueError as error:
        raise GraphError("graph-damaged", str(error)) from error


def _message(name: str, entries: Entries, line: int, tally: Tally) -> Message:
    """The fields of a message. Raises `ValueError` for a malformed one."""
    kinds = {kind.name: kind for kind in MESSAGES[name].values()}
    message: Message = {}
    if name == "Node":
        tally.node(0, 0)
        message[LINE] = line
    for key, raw in entries:
        kind = kinds.get(key)
        if kind is None or kind.of == "enum":  # written as words, and zeros are not left out here
            continue
        if not kind.repeated:
            message[key] = _value(kind, raw)
        elif kind.of in MESSAGES or kind.of == "text" or len(message.get(key, ())) < most(name, key):
            message.setdefault(key, []).append(_value(kind, raw))
    return message


def _value(kind: Kind, raw: Any) -> Any:
    """The value of a field, from what Markup made of it."""
    if kind.of in MESSAGES:
        return raw
    if kind.of in LENGTHS:
        most = LENGTHS[kind.of]
        return bytes_of(raw, most)[:most] if kind.of == "bytes" else text(raw, most)
    if type(raw) is not str:
        raise ValueError(f"{kind.name} is no number")
    return integer(raw) if kind.of == "int" else real(raw)
