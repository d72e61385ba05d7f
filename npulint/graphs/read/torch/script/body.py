"""Converts one function of TorchScript code to nodes: its operators, with the branches and loops that contain them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import Node, NodeFrame
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.torch.script.expression import ExpressionScan, ScriptCall, ScriptValue
from npulint.graphs.read.torch.script.ranges import Ranges
from npulint.graphs.read.torch.words import C10_TYPES

# Parses files of TorchScript code into classes with typed attributes, and functions with their lines.

_CLASS = lazy_compile(r"class ([\w\x80-\xff]+)")
_FUNCTION = lazy_compile(r"( {0,2})def ([\w\x80-\xff]+)\(")
_ATTRIBUTE = lazy_compile(r'  (?:([\w\x80-\xff]+) : |__annotations__\["([^"]*)"\] = )(?:Final\[)?([\w.\x80-\xff]+)')
_SELF = lazy_compile(r" *def [\w\x80-\xff]+\(([\w\x80-\xff]+): ([\w.\x80-\xff]+)")


class ScriptFunction(msgspec.Struct):
    """A function or method: its qualified name, the type of its first parameter, and (byte offset, text) of the lines
    of its body."""

    name: str
    own: tuple[str, str]
    lines: list[tuple[int, str]]


class ScriptModule(msgspec.Struct):
    """One file: its functions, and the attribute types of its classes. Names are spelled as in the code."""

    functions: list[ScriptFunction] = []
    attributes: dict[str, dict[str, str]] = {}


def read_module(data: bytes, name: str) -> ScriptModule:
    """The classes and functions of a file; `name` is the dotted module name. Each byte is one character, so that
    offsets match the source tables."""
    script_module = ScriptModule()
    owner = indent = ""
    function: ScriptFunction | None = None
    heading = False
    for start, line in _lines(data):
        match = _FUNCTION.match(line)
        if match is not None:
            owner, indent = owner if match[1] else "", f"{match[1]}  "
            scope = f"{name}.{owner}" if owner else name
            typed = _SELF.match(line)
            function = ScriptFunction(f"{scope}.{match[2]}", (typed[1], typed[2]) if typed else ("", ""), [])
            script_module.functions.append(function)
            heading = not line.rstrip().endswith(":")
        elif line[:1] not in (" ", ""):
            function, heading = None, False
            named = _CLASS.match(line)
            owner = named[1] if named else ""
        elif heading:
            heading = not line.rstrip().endswith(":")
        elif function is not None and line.startswith(indent):
            function.lines.append((start, line))
        elif owner and (typed := _ATTRIBUTE.match(line)):
            script_module.attributes.setdefault(f"{name}.{owner}", {})[typed[1] or typed[2]] = typed[3]
    return script_module


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, data[start:end].decode("latin-1")
        start = end + 1


_TARGETS = lazy_compile(r"[\w.\x80-\xff]+(?:, [\w.\x80-\xff]+)*,?")
_HEAD = lazy_compile(r"(?:if|while|with|return|assert) |for [\w, \x80-\xff]+ in ")
_CONVERSIONS = {"bool": "Bool", "int": "Int", "float": "Float", "complex": "Complex", "str": "str"}
_IMPLICIT = {"int": "IntImplicit", "float": "FloatImplicit", "complex": "ComplexImplicit", "number": "ScalarImplicit"}
_BLOCKS = {"if": "prim.If", "while": "prim.Loop", "for": "prim.Loop"}
_LISTED = 64


class ScriptCallee(msgspec.Struct, frozen=True):
    """A call of another function: by qualified name, or of a method by the type and attributes of the object
    (``__torch__.Net``, ``encoder.layer``) and its own name."""

    name: str
    owner: str
    attribute: str
    frames: tuple[NodeFrame, ...]


class Content(msgspec.Struct, frozen=True):
    """The contents of a function."""

    nodes: list[Node]
    uses: list[ScriptCallee]


def content(function: ScriptFunction, ranges: Ranges, most: int) -> Content:
    """The operators of a function, at most `most`, innermost first, and its calls. Raises `GraphError`."""
    return _Body(function, ranges, most).read()


class _Body:
    def __init__(self, function: ScriptFunction, ranges: Ranges, most: int) -> None:
        self.function = function
        self.most = most
        self.ranges = ranges
        self.nodes: list[Node] = []
        self.uses: list[ScriptCallee] = []
        self.names: dict[str, int] = {}
        self.values: dict[str, str] = {}  # variable to node
        self.paths: dict[str, str] = {}  # variable to attribute of the object, dotted
        self.functions: dict[str, str] = {}  # variable to function
        self.blocks: list[tuple[int, str]] = []
        self.target = ""
        self.scan = ExpressionScan(self.made, lambda name: self.values.get(name, ""))
        if function.own[0]:
            self.paths[function.own[0]] = ""

    def read(self) -> Content:
        for start, line in self.function.lines:
            text = line.strip()
            if not text or text == "pass":
                continue
            indent = len(line) - len(line.lstrip())
            self.blocks = [block for block in self.blocks if block[0] < indent]
            try:
                self.statement(text, start + indent, indent)
            except ValueError as error:
                raise GraphError("graph-damaged", f"{_decoded(self.function.name)[:200]}: {error}") from None
        return Content(self.nodes, self.uses)

    def statement(self, text: str, start: int, indent: int) -> None:
        """Process one line of code; `start` is its byte offset."""
        head = _HEAD.match(text)
        if head is not None:
            self.target = ""
            word = head[0].split(" ", 1)[0]
            inner = text[head.end() :].removesuffix(":") if text.endswith(":") else text[head.end() :]
            value = self.scan.run(inner, start + head.end())
            if word in _BLOCKS:
                self.add(_BLOCKS[word], tuple(value.nodes), {}, start)
                self.blocks.append((indent, _BLOCKS[word]))
            return
        if text == "else:":
            self.blocks.append((indent, "prim.If"))
            return
        left, equals, right = text.partition(" = ")
        if not equals or not _TARGETS.fullmatch(left):
            self.target = ""
            self.scan.run(text, start)
            return
        targets = [target for target in left.replace(",", " ").split() if target]
        self.target = targets[0]
        value = self.scan.run(right, start + len(left) + len(equals))
        self.assign(targets, value, right)

    def assign(self, targets: list[str], value: ScriptValue, right: str) -> None:
        """Record the values of variables."""
        path = self.path(value.name) if value.name else self.looked_up(right)
        for place, target in enumerate(targets):
            for table in (self.values, self.paths, self.functions):
                table.pop(target, None)
            if value.nodes:
                same = len(value.nodes) == len(targets)
                node = value.nodes[place if same else 0]
                self.values[target] = node if same or not place else f"{node.partition(':')[0]}:{place}"
            elif path is not None:
                self.paths[target] = path
            elif value.name.startswith("__torch__."):
                self.functions[target] = value.name

    def path(self, name: str) -> str | None:
        """The attribute of the object that a dotted name refers to, or None."""
        first, dot, rest = name.partition(".")
        base = self.paths.get(first)
        if base is None:
            return None
        return f"{base}.{rest}" if base and dot else base + rest

    def looked_up(self, text: str) -> str | None:
        """The attribute that ``getattr(x, "0")`` refers to."""
        match = _GETATTR.fullmatch(text)
        base = None if match is None else self.path(match[1])
        return base if match is None or base is None else f"{base}.{match[2]}" if base else match[2]

    def made(self, call: ScriptCall, is_outermost: bool) -> str:
        """The name of the node for a call, or an empty string."""
        op = _operator(call)
        if op:
            return self.add(op, tuple(call.inputs), _attrs(op, call), call.start, self.target if is_outermost else "")
        if call.callee.startswith("."):
            path = self.path(call.receiver) if call.receiver else None
            if path is not None:
                self.uses.append(ScriptCallee(call.callee[1:], self.function.own[1], path, self.frames(call)))
        else:
            name = self.functions.get(call.callee, call.callee)
            if name.startswith("__torch__."):
                self.uses.append(ScriptCallee(name, "", "", self.frames(call)))
        return ""

    def frames(self, call: ScriptCall) -> tuple[NodeFrame, ...]:
        """The origin of a call, taken from its bracket, because the function name is a constant without an origin."""
        return self.ranges.frames(call.start) or self.ranges.frames(call.start + len(call.callee))

    def add(self, op: str, inputs: tuple[str, ...], attrs: dict[str, Any], start: int, suggested: str = "") -> str:
        """Add a node and return its name."""
        if len(self.nodes) >= self.most:
            raise GraphError("graph-too-large", f"{_decoded(self.function.name)[:200]}: too many operators")
        within = [kind for _, kind in self.blocks]
        if within:
            attrs["within"] = within[-_LISTED:]
        name = self.unused(_decoded(suggested or op.rpartition(".")[2]))
        self.nodes.append(Node(name, op, inputs, attrs, 0, self.ranges.frames(start)))
        return name

    def unused(self, name: str) -> str:
        """A variant of a name that no node has."""
        variant = name
        while variant in self.names:
            self.names[name] += 1
            variant = f"{name}_{self.names[name]}"
        self.names[variant] = 0
        return variant


_GETATTR = lazy_compile(r'getattr\(([\w.\x80-\xff]+), "([^"\\]*)"\)')


def _operator(call: ScriptCall) -> str:
    """The operator of a call; empty for functions, methods, annotations and runtime checks."""
    callee = call.callee
    if callee.startswith("torch."):
        name = callee[6:]
        constant = name == "device" and isinstance(call.arguments.get("0"), str)
        return "" if constant or "." in name else f"aten.{_decoded(name)}"
    if callee.startswith("ops.") and callee.count(".") == 2:
        return "" if callee.startswith("ops.prim.") else _decoded(callee[4:])
    if callee in _CONVERSIONS:
        return f"aten.{_CONVERSIONS[callee]}"
    if callee == "annotate" and call.names and call.names[0] in _IMPLICIT and (call.inputs or len(call.names) > 1):
        return f"aten.{_IMPLICIT[call.names[0]]}"
    return ""


def _attrs(op: str, call: ScriptCall) -> dict[str, Any]:
    arguments = {_decoded(key): _literal(value) for key, value in call.arguments.items()}
    number = arguments.get("dtype", arguments.get("1") if op in ("aten.to", "aten.type") else None)
    attrs: dict[str, Any] = {}
    if isinstance(number, int) and not isinstance(number, bool) and number in C10_TYPES:
        arguments["dtype"] = C10_TYPES[number]
        attrs["dtypes"] = [C10_TYPES[number]]
    if arguments:
        attrs["arguments"] = arguments
    return attrs


def _literal(value: Any) -> Any:
    return _decoded(value) if isinstance(value, str) else value


def _decoded(text: str) -> str:
    """A text whose characters are bytes, decoded."""
    return text if text.isascii() else text.encode("latin-1", "replace").decode("utf-8", "replace")
