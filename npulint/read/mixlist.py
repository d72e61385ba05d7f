"""Mixed precision lists (``ops_info.json`` and similar): the operators that they move, and their errors."""

from __future__ import annotations

from typing import Literal

from npulint.data.ops import known_op, near_op
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.read.json_tree import Fault, JsonNode, Lines, parse_json

LISTS = ("black-list", "white-list")
Action = Literal["to-add", "to-remove"]
ACTIONS: tuple[Action, Action] = ("to-add", "to-remove")
ProblemName = Literal["invalid-json", "comment-in-json", "unknown-key", "wrong-shape", "duplicate"]
_REASONS: dict[str, ProblemName] = {"comment": "comment-in-json", "duplicate-key": "duplicate"}


@fact_kind("mixlist_file")
class MixlistFile(FileFact):
    """An operator list for mixed precision; the name is its path."""

    used: Literal["yes", "no", "several"] = "no"  # known when the project is assembled
    """Whether the settings of the project name it: yes for the only list that they can name, several if they can name
    more."""


@fact_kind("mixlist_entry")
class MixlistEntry(FileFact):
    """An operator list moves an operator type, which is the name."""

    list: str
    """The list in the file, such as black-list."""
    action: Action
    """Whether it is added to the list or removed from it."""

    @attribute
    def known(self) -> bool:
        """Whether npulint knows the operator type."""
        return known_op(self.name)

    @attribute
    def nearest(self) -> str:
        """Of an unknown one the known operator type of the most similar name, empty without one."""
        return "" if self.known else near_op(self.name) or ""


@fact_kind("mixlist_problem")
class MixlistProblem(FileFact):
    """An operator list has an error, for which the adapter rejects it; the name says which."""

    name: ProblemName
    detail: str
    """The text, or the key, that is wrong."""


def read_mixlist(text: str, path: str) -> list[Fact]:
    """The facts of one list file: a `MixlistFile`, a `MixlistEntry` for each operator and a `MixlistProblem` for each
    error.

    Entries are read as far as possible even if the text is invalid JSON."""
    reader = _Reader(text, path)
    root, faults = parse_json(text)
    reader.faults(faults)
    if root is not None:
        reader.root(root)
        reader.contradictions()
    return [MixlistFile(path, path, Span()), *reader.entries, *reader.problems]


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._lines = Lines(text)
        self._text = text
        self._path = path
        self.entries: list[MixlistEntry] = []
        self.problems: list[MixlistProblem] = []

    def _problem(self, name: ProblemName, node: JsonNode | Fault, detail: str) -> None:
        self.problems.append(MixlistProblem(name, self._path, self._lines.span(node.start, node.end), detail))

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
        for written, (key, value) in actions.items():
            action = next((word for word in ACTIONS if word == written), None)
            if action is None:
                if name in LISTS:
                    self._problem("unknown-key", key, written)
                continue
            if not isinstance(value.value, list):
                self._problem("wrong-shape", value, f"{name}.{action}")
                continue
            for item in value.value:
                if isinstance(item.value, str):
                    span = self._lines.span(item.start, item.end)
                    self.entries.append(MixlistEntry(item.value, self._path, span, name, action))
                else:
                    self._problem("wrong-shape", item, f"{name}.{action}")

    def contradictions(self) -> None:
        """Operators that two entries move differently, at the later entry."""
        seen: dict[str, list[MixlistEntry]] = {}
        for entry in self.entries:
            for other in seen.setdefault(entry.name, []):
                if _contradict(entry, other):
                    detail = f"{entry.name}: {other.list} {other.action}"
                    self.problems.append(MixlistProblem("duplicate", self._path, entry.span, detail))
                    break
            seen[entry.name].append(entry)


def _contradict(mixlist_entry: MixlistEntry, other: MixlistEntry) -> bool:
    if mixlist_entry.list == other.list:
        return mixlist_entry.action != other.action
    return mixlist_entry.action == other.action == "to-add"
