"""JSON with comments and syntax slips, as a tree of values."""

from __future__ import annotations

from npulint.read.configuration.leaves import MAX_DEPTH, Tree, UnreadableError
from npulint.read.json_tree import JsonNode, Lines, parse_json


def json_values(text: str) -> Tree:
    """The values of a JSON text, tolerating comments and extra commas. Raises `UnreadableError`."""
    root, faults = parse_json(text)
    lines = Lines(text)
    wrong = next((fault for fault in faults if fault.what == "too-deep"), None)
    if wrong is None and (root is None or not isinstance(root.value, dict | list)):
        wrong = next((fault for fault in faults if fault.what == "syntax"), None)
        if root is not None and wrong is None:
            return Tree(root.value, lines.span(root.start, root.end))
    if wrong is not None or root is None:
        reason = "too-deep" if wrong is not None and wrong.what == "too-deep" else "json"
        raise UnreadableError(reason, "", lines.span(*((wrong.start, wrong.end) if wrong else (0, 0))))
    return _tree(root, lines, 0)


def _tree(node: JsonNode, lines: Lines, depth: int) -> Tree:
    span = lines.span(node.start, node.end)
    if depth > MAX_DEPTH:
        raise UnreadableError("too-deep", f"> {MAX_DEPTH}", span)
    if isinstance(node.value, dict):
        return Tree({name: _tree(inner, lines, depth + 1) for name, (_, inner) in node.value.items()}, span)
    if isinstance(node.value, list):
        return Tree([_tree(inner, lines, depth + 1) for inner in node.value], span)
    unordered = isinstance(node.value, float) and node.value != node.value
    return Tree("NaN" if unordered else node.value, span)
