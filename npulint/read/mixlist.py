"""Mixed precision lists (``ops_info.json`` and similar): the operators that they move, and their errors."""

from __future__ import annotations

from typing import Any

from npulint.facts.model import Fact, GenericFact
from npulint.read.json_tree import Fault, JsonNode, Lines, parse_json

LISTS = ("black-list", "white-list")
ACTIONS = ("to-add", "to-remove")
_REASONS = {"comment": "comment-in-json", "duplicate-key": "duplicate"}


def read_mixlist(text: str, path: str) -> list[Fact]:
    """The facts of one list file: one `mixlist_file` (attrs: valid), a `mixlist_entry` for each operator (attrs: list,
    action) and a `mixlist_problem` for each error that the adapter rejects (names: invalid-json, comment-in-json,
    unknown-key, wrong-shape, duplicate; attrs: detail).

    Entries are read as far as possible even if the text is invalid JSON."""
    reader = _Reader(text, path)
    root, faults = parse_json(text)
    reader.faults(faults)
    if root is not None:
        reader.root(root)
        reader.contradictions()
    whole = reader.fact("mixlist_file", path, 0, 0, valid=not reader.problems)
    return [whole, *reader.entries, *reader.problems]


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._lines = Lines(text)
        self._text = text
        self._path = path
        self.entries: list[Fact] = []
        self.problems: list[Fact] = []

    def fact(self, kind: str, name: str, start: int, end: int, **attrs: Any) -> Fact:
        return GenericFact(kind, name, self._path, self._lines.span(start, end), attrs)

    def _problem(self, name: str, node: JsonNode | Fault, detail: str) -> None:
        self.problems.append(self.fact("mixlist_problem", name, node.start, node.end, detail=detail))

    def faults(self, faults: list[Fault]) -> None:
        """The first fault of each kind: one stray comma may cause many."""
        for what in dict.fromkeys(fault.what for fault in faults):
            fault = next(f for f in faults if f.what == what)
            detail = self._text[fault.start : fault.end][:60]
            self._problem(_REASONS.get(what, "invalid-json"), fault, detail)

    def root(self, node: JsonNode) -> None:
        if not isinstance(node.value, dict):
            self._problem("wrong-shape", node, "top level")
            return
        for name, (key, value) in node.value.items():
            if name not in LISTS:
                self._problem("unknown-key", key, name)
            if isinstance(value.value, dict):
                self._list(name, value.value)
            elif name in LISTS:
                self._problem("wrong-shape", value, name)

    def _list(self, name: str, actions: dict[str, tuple[JsonNode, JsonNode]]) -> None:
        for action, (key, value) in actions.items():
            if action not in ACTIONS:
                if name in LISTS:
                    self._problem("unknown-key", key, action)
                continue
            if not isinstance(value.value, list):
                self._problem("wrong-shape", value, f"{name}.{action}")
                continue
            for item in value.value:
                if isinstance(item.value, str):
                    fact = self.fact("mixlist_entry", item.value, item.start, item.end, list=name, action=action)
                    self.entries.append(fact)
                else:
                    self._problem("wrong-shape", item, f"{name}.{action}")

    def contradictions(self) -> None:
        """Operators that two entries move differently, at the later entry."""
        seen: dict[str, list[Fact]] = {}
        for entry in self.entries:
            for other in seen.setdefault(entry.name, []):
                if _contradict(entry.attrs, other.attrs):
                    detail = f"{entry.name}: {other.attrs['list']} {other.attrs['action']}"
                    self.problems.append(
                        GenericFact("mixlist_problem", "duplicate", self._path, entry.span, {"detail": detail})
                    )
                    break
            seen[entry.name].append(entry)


def _contradict(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one["list"] == other["list"]:
        return bool(one["action"] != other["action"])
    return bool(one["action"] == other["action"] == "to-add")
