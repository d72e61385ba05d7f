"""Converts the nodes of an exported program to the common graph record."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import UNSET

from npulint.facts.graph import Body, Node
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.torch.frames import Traces
from npulint.graphs.read.torch.schema import (
    Argument,
    GraphArgument,
    GraphRecord,
    Named,
    Operation,
    OptionalTensor,
    SymArgument,
    Symbolic,
    TensorMeta,
)
from npulint.graphs.read.torch.words import ELEMENT_TYPES, LAYOUTS, MEMORY_FORMATS, UNKNOWN

# Makes symbolic sizes readable: ``Mul(Integer(2), Symbol('s0', …))`` in SymPy's notation becomes ``2*s0``.

LIMIT = 256
"""Maximum characters of a symbolic size."""

_LONGEST = 4000
_MAX_SYMBOL_DEPTH = 24
_INFIX = {"Add": " + ", "Mul": "*", "Pow": "**", "FloorDiv": "//", "PythonMod": " % ", "Mod": " % "}


def readable(text: str) -> str:
    """A readable symbolic size; unchanged if it cannot be parsed."""
    if len(text) > _LONGEST:
        return text[:LIMIT]
    try:
        tree = ast.parse(text, mode="eval")
        return _written(tree.body, 0)[:LIMIT]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text[:LIMIT]


def _written(node: ast.expr, depth: int) -> str:
    if depth > _MAX_SYMBOL_DEPTH:
        raise ValueError("deep")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return ast.unparse(node)
    name = node.func.id
    if name in ("Symbol", "Integer", "Float", "Rational") and node.args and all(map(_plain, node.args)):
        return "/".join(ast.unparse(part).strip("'\"") for part in node.args[: 2 if name == "Rational" else 1])
    parts = [_written(part, depth + 1) for part in node.args]
    if name not in _INFIX or len(parts) < 2:
        return f"{name}({', '.join(parts)})"
    closed = [_closed(part) if name != "Add" else part for part in parts]
    return _INFIX[name].join(closed)


def _plain(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _closed(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() or text.endswith(")") else f"({text})"


PLACEHOLDER = "placeholder"
"""The operator of graph inputs in FX."""

NODES = 100_000
"""Maximum nodes of one file, a multiple of the largest models."""

_DEPTH = 64  # nested graphs
_LIST = 64
_TEXT = 256
_WHOLE = 2**63
_STRIDED = 7
_OPS = "torch.ops."


class _Waiting(NamedTuple):
    record: GraphRecord
    name: str
    serves: str
    kinds: dict[str, dict[str, str]]
    depth: int


class Converter:
    """Creates the bodies of programs; shared texts and stack traces are kept once."""

    def __init__(self) -> None:
        self._traces = Traces()
        self._sizes: dict[str, str] = {}
        self._count = 0
        self.sources: dict[str, str] = {}

    def bodies(self, record: GraphRecord, name: str, kinds: dict[str, dict[str, str]]) -> list[Body]:
        """The body of a graph, followed by those of all nested graphs. `kinds` maps input names to additional
        attributes. Afterwards `sources` maps value names of the graph to the nodes that produce them. Raises
        `GraphError`."""
        queue = deque([_Waiting(record, name, "", kinds, 0)])
        bodies: list[Body] = []
        names = {name: 0}
        while queue:
            waiting = queue.popleft()
            if waiting.depth > _DEPTH:
                raise GraphError("graph-damaged", "graphs nested too deeply")
            graph_nodes = _Nodes(waiting.record, self)
            self._count += len(waiting.record.nodes) + len(waiting.record.inputs)
            if self._count > NODES:
                raise GraphError("graph-too-large", f"more than {NODES} nodes")
            nodes, inner = graph_nodes.convert(waiting.kinds)
            if not bodies:
                self.sources = graph_nodes.sources
            bodies.append(Body(waiting.name, nodes, waiting.serves))
            for node, graph in inner:
                own = unused(small(f"{waiting.name}.{graph.name}" if waiting.name else graph.name), names)
                queue.append(_Waiting(graph.graph, own, f"{waiting.name}/{node}", {}, waiting.depth + 1))
        return bodies

    def frames(self, text: str) -> Any:
        """See `Traces.frames`."""
        return self._traces.frames(text)

    def size(self, size: Symbolic) -> int | str:
        """A dimension: a number, or a text if it is symbolic."""
        if size.as_int is not UNSET:
            return size.as_int if 0 <= size.as_int < _WHOLE else -1
        if size.as_expr is UNSET:
            return -1
        text = size.as_expr.expr_str
        dimension = self._sizes.get(text)
        if dimension is None:
            dimension = self._sizes[text] = readable(text)
        return dimension


class _Nodes:
    """One graph under construction."""

    def __init__(self, record: GraphRecord, converter: Converter) -> None:
        self.record = record
        self.converter = converter
        self.sources: dict[str, str] = {}  # value name to the node (and output) that produces it

    def convert(self, kinds: dict[str, dict[str, str]]) -> tuple[list[Node], list[tuple[str, GraphArgument]]]:
        """The nodes, and the nested graphs that they take."""
        nodes = [self._placeholder(argument, kinds) for argument in self.record.inputs if _input_name(argument)]
        inner: list[tuple[str, GraphArgument]] = []
        for place, operation in enumerate(self.record.nodes):
            node, graphs = self._node(operation, place)
            nodes.append(node)
            inner += [(node.name, graph) for graph in graphs]
        return nodes, inner

    def _placeholder(self, argument: Argument, kinds: dict[str, dict[str, str]]) -> Node:
        value = _input_name(argument)
        name = self.sources[value] = small(value)
        attrs = self._outputs([value]) if argument.as_tensor is not UNSET else {}
        return Node(name, PLACEHOLDER, (), attrs | kinds.get(value, {}))

    def _node(self, operation: Operation, place: int) -> tuple[Node, list[GraphArgument]]:
        tensors, others = [], []
        for output in operation.outputs:
            tensors += list(_tensors(output))
            others += list(_symbols(output))
        values = [*tensors, *others]
        name = small(operation.name or (values[0] if values else f"{operation.target.rpartition('.')[2]}_{place}"))
        inputs, arguments, graphs = self._inputs(operation)
        attrs = self._outputs(tensors)
        if arguments:
            attrs["arguments"] = arguments
        self.sources.update({value: name if at == 0 else f"{name}:{at}" for at, value in enumerate(values)})
        op = small(operation.target.removeprefix(_OPS))
        node = Node(name, op, inputs, attrs, 0, self.converter.frames(operation.metadata.stack_trace))
        return node, graphs

    def _inputs(self, operation: Operation) -> tuple[tuple[str, ...], dict[str, Any], list[GraphArgument]]:
        inputs: list[str] = []
        arguments: dict[str, Any] = {}
        graphs: list[GraphArgument] = []
        for place, (name, argument) in enumerate(_flat(operation)):
            taken = [*_tensors(argument), *_symbols(argument)]
            inputs += [self.sources.get(value) or small(value) for value in taken]
            if argument.as_graph is not UNSET:
                graphs.append(argument.as_graph)
            value = _value(argument)
            if value is not None:
                arguments[small(name) or str(place)] = value
        return tuple(inputs), arguments, graphs

    def _outputs(self, names: list[str]) -> dict[str, Any]:
        if not names:
            return {}
        tensor_metas = [self.record.tensor_values.get(name) for name in names]
        attrs: dict[str, Any] = {
            "dtypes": [UNKNOWN if meta is None else ELEMENT_TYPES.get(meta.dtype, UNKNOWN) for meta in tensor_metas],
            "shapes": [None if meta is None else self._shape(meta) for meta in tensor_metas],
        }
        if any(meta is not None and meta.layout != _STRIDED for meta in tensor_metas):
            attrs["layouts"] = [UNKNOWN if meta is None else LAYOUTS.get(meta.layout, UNKNOWN) for meta in tensor_metas]
        if any(meta is not None and meta.requires_grad for meta in tensor_metas):
            attrs["requires_grad"] = True
        devices = [meta.device.type[:_TEXT] for meta in tensor_metas if meta is not None and meta.device is not UNSET]
        if devices and devices[0] != "cpu":
            attrs["device"] = devices[0]
        return attrs

    def _shape(self, meta: TensorMeta) -> list[int | str]:
        return [self.converter.size(size) for size in meta.sizes[:_LIST]]


def _flat(operation: Operation) -> Iterator[tuple[str, Argument]]:
    """The arguments by name; those in a dictionary by its keys."""
    queue = [(named_argument.name, named_argument.arg, 0) for named_argument in reversed(operation.inputs)]
    while queue:
        name, argument, depth = queue.pop()
        yield name, argument
        if argument.as_string_to_argument is not UNSET and depth < _DEPTH:
            within = reversed(argument.as_string_to_argument.items())
            queue += [(f"{name}.{key}" if name else key, inner, depth + 1) for key, inner in within]


def _tensors(argument: Argument) -> Iterator[str]:
    if argument.as_tensor is not UNSET:
        yield argument.as_tensor.name
    elif argument.as_tensors is not UNSET:
        yield from (as_tensor.name for as_tensor in argument.as_tensors)
    elif argument.as_optional_tensors is not UNSET:
        yield from filter(None, map(_optional, argument.as_optional_tensors))
    elif argument.as_optional_tensor is not UNSET:
        yield from filter(None, [_optional(argument.as_optional_tensor)])
    elif argument.as_nested_tensors is not UNSET:
        yield from (named.name for part in argument.as_nested_tensors for named in part)
    elif argument.as_custom_obj is not UNSET:
        yield argument.as_custom_obj.name
    elif argument.as_token is not UNSET:
        yield argument.as_token.name


def _optional(tensor: OptionalTensor) -> str:
    if isinstance(tensor.as_tensor, Named):
        return tensor.as_tensor.name
    return "" if tensor.as_tensor is UNSET else tensor.as_tensor


def _symbols(argument: Argument) -> Iterator[str]:
    """The names of the nodes whose numbers an argument contains."""
    for sym_argument in (argument.as_sym_int, argument.as_sym_bool, argument.as_sym_float):
        if sym_argument is not UNSET and sym_argument.as_name is not UNSET:
            yield sym_argument.as_name
    for several in (argument.as_sym_ints, argument.as_sym_bools, argument.as_sym_floats):
        if several is not UNSET:
            yield from (symbol.as_name for symbol in several if symbol.as_name is not UNSET)


def _input_name(argument: Argument) -> str:
    """The name of an input; empty for a plain number or None."""
    return next(_tensors(argument), "") or next(_symbols(argument), "")


def _value(argument: Argument) -> Any:
    """The literal value of an argument, if it is small; else None."""
    for value in (argument.as_int, argument.as_float, argument.as_bool, argument.as_string):
        if value is not UNSET:
            return small(value)
    for number, words in (
        (argument.as_scalar_type, ELEMENT_TYPES),
        (argument.as_layout, LAYOUTS),
        (argument.as_memory_format, MEMORY_FORMATS),
    ):
        if number is not UNSET:
            return words.get(number, UNKNOWN)
    if argument.as_device is not UNSET:
        return argument.as_device.type[:_TEXT]
    return _several(argument)


def _several(argument: Argument) -> Any:
    for values in (argument.as_ints, argument.as_floats, argument.as_bools, argument.as_strings):
        if values is not UNSET:
            return [small(value) for value in values[:_LIST]]
    for sym_argument in (argument.as_sym_int, argument.as_sym_bool, argument.as_sym_float):
        if sym_argument is not UNSET:
            return _number(sym_argument)
    for several in (argument.as_sym_ints, argument.as_sym_bools, argument.as_sym_floats):
        if several is not UNSET:
            return [_number(symbol) for symbol in several[:_LIST]]
    return None


def _number(sym_argument: SymArgument) -> Any:
    return next(
        (
            small(v)
            for v in (sym_argument.as_name, sym_argument.as_int, sym_argument.as_float, sym_argument.as_bool)
            if v is not UNSET
        ),
        None,
    )


def small(value: Any) -> Any:
    """A number or text that fits into a record: 64-bit integers, texts of some hundred characters."""
    if isinstance(value, str):
        return value if len(value) <= _TEXT else f"{value[: _TEXT - 1]}…"
    return value if not isinstance(value, int) or -_WHOLE <= value < _WHOLE else float(_WHOLE if value > 0 else -_WHOLE)


def unused(name: str, taken: dict[str, int]) -> str:
    """A variant of a name that is not `taken` (name to number of requests), which is updated."""
    variant = name
    while variant in taken:
        taken[name] += 1
        variant = f"{name}_{taken[name]}"
    taken[variant] = 0
    return variant
