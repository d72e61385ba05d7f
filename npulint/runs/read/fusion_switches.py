"""Switch files of the fusion engine, read as strictly as the engine reads them.

A file is a JSON object (``{"Switch": {"GraphFusion": {"<Pass>": "off"}, "UBFusion": {}}}``), or has lines
``<Pass>:off``. The engine rejects the whole file at the first error, and the graph is not compiled; it ignores passes
that do not exist."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import BinaryIO, Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.ops import known_pass, near_pass
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.read.json_tree import JsonNode, Lines, parse_json
from npulint.runs.read.json_objects import text_of

_EXCEPTIONS = "ExceptionalPassOfO1Level"
_SECTIONS = ("GraphFusion", "UBFusion")
_STATES = ("on", "off")
_ALL = "ALL"
_NOTHING = "-"  # in messages
_NAME = lazy_compile(r"[A-Za-z]\w{0,199}")
_OF_A_PASS = lazy_compile(
    r"(?i:\w*(?:pass|fusion|rules?|switch|optimize)(?:v?\d{1,2})?)|(?:[A-Z]+[a-z\d_]+){2}[A-Z]\w*", re.ASCII
)
_SHOWN = 60  # characters of a detail
_MOST = 2000  # switches of a file

ProblemName = Literal["empty", "invalid-json", "wrong-shape", "unknown-key", "no-colon", "wrong-value", "duplicate"]
_State = Literal["on", "off"]


@fact_kind("run_fusion_switch")
class FusionSwitch(FileFact):
    """A fusion pass, or ALL, that a file switches on or off (fusion_switch)."""

    value: _State
    known_ones: int
    """How many switches of the file name a pass that npulint knows, or ALL."""

    @attribute
    def known(self) -> bool:
        """Whether npulint knows the pass; ALL counts as known."""
        return self.name == _ALL or known_pass(self.name)

    @attribute
    def nearest(self) -> str:
        """Of an unknown one the known pass that it certainly means, or ``-``."""
        return _NOTHING if self.known else near_pass(self.name) or _NOTHING

    @attribute
    def possible(self) -> bool:
        """Whether the name may be that of a pass, known or not."""
        return self.known or bool(_OF_A_PASS.fullmatch(self.name))


@fact_kind("run_fusion_problem")
class FusionSwitchProblem(FileFact):
    """A switch file of the fusion engine has an error, for which the engine rejects it; the name says which."""

    name: ProblemName
    detail: str
    """The text that is wrong."""


def read_switches(stream: BinaryIO, path: str) -> list[Fact]:
    """A `run_fusion_switch` for each pass that a file turns on or off, and a `run_fusion_problem` for each error.
    Raises `NotJsonError` if the file is too large."""
    reader = _Reader(text_of(stream), path)
    reader.read()
    return [*reader.switches(), *reader.problems]


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path
        self._lines = Lines(text)
        self._found: list[tuple[str, Span, _State]] = []
        self.problems: list[FusionSwitchProblem] = []

    def read(self) -> None:
        begin = self._text.strip()[:1]
        if not begin:
            self._problem("empty", Span(), posixpath.basename(self._path))
        elif begin in "{[":
            self._json()
        else:
            self._plain()

    def switches(self) -> Iterator[FusionSwitch]:
        known_count = sum(name == _ALL or known_pass(name) for name, _, _ in self._found)
        for name, span, value in self._found:
            yield FusionSwitch(name, self._path, span, value, known_count)

    def _problem(self, name: ProblemName, span: Span, detail: str) -> None:
        self.problems.append(FusionSwitchProblem(name, self._path, span, detail[:_SHOWN]))

    def _wrong(self, name: ProblemName, node: JsonNode) -> None:
        self._problem(name, self._lines.span(node.start, node.end), self._text[node.start : node.end].strip('"'))

    def _switch(self, name: str, span: Span, state: str) -> None:
        if _NAME.fullmatch(name) and len(self._found) < _MOST:
            self._found.append((name, span, "on" if state == "on" else "off"))

    def _json(self) -> None:
        root, faults = parse_json(self._text)
        fault = next((candidate for candidate in faults if candidate.what != "duplicate-key"), None)
        if fault is not None:
            detail = self._text[fault.start : fault.end]
            self._problem("invalid-json", self._lines.span(fault.start, fault.end), detail)
        if root is None:
            return
        if not isinstance(root.value, dict):
            self._wrong("wrong-shape", root)
            return
        for name, (key, value) in root.value.items():
            if name.strip() not in ("Switch", "Priority", _EXCEPTIONS):
                self._wrong("unknown-key", key)
            elif name.strip() == "Switch":
                self._sections(value)

    def _sections(self, node: JsonNode) -> None:
        if not isinstance(node.value, dict):
            self._wrong("wrong-shape", node)
            return
        for name, (key, value) in node.value.items():
            if name.strip() not in _SECTIONS:
                self._wrong("unknown-key", key)
            elif not isinstance(value.value, dict):
                self._wrong("wrong-shape", value)
            else:
                self._passes(value.value)

    def _passes(self, members: dict[str, tuple[JsonNode, JsonNode]]) -> None:
        for name, (key, value) in members.items():
            state = value.value.strip() if isinstance(value.value, str) else ""
            if state in _STATES:
                self._switch(name, self._lines.span(key.start, key.end), state)
            else:
                self._wrong("wrong-value", value)

    def _plain(self) -> None:
        names: set[str] = set()
        for number, line in enumerate(self._text.split("\n"), 1):
            if not line.strip():
                continue
            name, colon, state = (part.strip() for part in line.partition(":"))
            if not colon:
                self._problem("no-colon", Span.at(number), line.strip())
            elif state not in _STATES:
                self._problem("wrong-value", Span.at(number), state)
            elif name in names:
                self._problem("duplicate", Span.at(number), name)
            else:
                names.add(name)
                self._switch(name, Span.at(number), state)
            if len(self.problems) >= _MOST:
                return
