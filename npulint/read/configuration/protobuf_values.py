"""The text format of protocol buffers, used for object detection pipelines and Caffe networks."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.read.configuration.leaves import MAX_DEPTH, Tree, UnreadableError, typed
from npulint.read.json_tree import Lines

_TOKEN = lazy_compile(
    r"(?P<blank>[\s,;]+|#[^\n]*)|(?P<mark>[{}<>\[\]:])|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>[^\s,;{}<>\[\]:\"'#]+)|(?P<odd>.)"
)


def protobuf_values(text: str) -> Tree:
    """The fields of a message; repeated fields become a list. Raises `UnreadableError`."""
    lines = Lines(text)
    root: dict[str, list[Tree]] = {}
    stack: list[tuple[dict[str, list[Tree]], str, int]] = []
    table, name, listed = root, "", False
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        span = lines.span(match.start(), match.end())
        if kind == "odd" or len(stack) > MAX_DEPTH:
            raise UnreadableError("too-deep" if stack and len(stack) > MAX_DEPTH else "syntax-error", token, span)
        if kind in ("word", "text"):
            if not name:
                name = token
                continue
            table.setdefault(name, []).append(Tree(token[1:-1] if kind == "text" else typed(token), span))
            name = name if listed else ""
        elif token in "{<" and kind == "mark":
            stack.append((table, name, match.start()))
            table, name, listed = {}, "", False
        elif token in "}>" and kind == "mark":
            if not stack or name:
                raise UnreadableError("syntax-error", token, span)
            inner, (table, name, start) = table, stack.pop()
            table.setdefault(name, []).append(Tree(_closed(inner), lines.span(start, match.end())))
            name = ""
        elif token in "[]" and kind == "mark":
            listed = token == "[" and bool(name)
            name = name if listed else ""
    if stack or name:
        raise UnreadableError("syntax-error", "", lines.span(len(text), len(text)))
    return Tree(_closed(root), Span())


def _closed(fields: dict[str, list[Tree]]) -> dict[str, Tree]:
    return {name: trees[0] if len(trees) == 1 else Tree(trees, trees[0].span) for name, trees in fields.items()}
