"""Aggregates recorded operators: one node per operator, place and phase."""

from __future__ import annotations

import dis
import linecache
import os
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from types import CodeType
from typing import Any

import torch

from npulint.facts.graph import Body, Graph, Node, NodeNames
from npulint.live.course import Course
from npulint.live.torch.memory import Ledger
from npulint.live.torch.sites import NOT_RECORDED, Sites, line_at

# What in the source makes the host read a value: ``.item()``, ``if tensor``, ``print`` …

_METHODS = "item tolist cpu numpy to equal allclose nonzero".split()
_CONVERTED = {  # builtin or function: what it asks a tensor for
    "float": "float",
    "int": "int",
    "range": "int",
    "round": "float",
    "bool": "bool",
    "any": "bool",
    "all": "bool",
    "max": "bool",
    "min": "bool",
    "sorted": "bool",
    "assert": "bool",
    "print": "print",
    "str": "print",
    "repr": "print",
    "list": "tolist",
}
_METHOD = re.compile(rf"\.({'|'.join(_METHODS)})\s*\((?:[^()]|\([^()]*\))*\)\s*$")
_FUNCTION = re.compile(rf"\s*(?:(math\.)\w+|({'|'.join(_CONVERTED)}))\s*\(")
_ANY = re.compile(rf"\.({'|'.join(_METHODS)})\s*\(|\b(math\.)\w+\(|\b({'|'.join(_CONVERTED)})\s*\(")
_SCALERS = os.sep + "grad_scaler.py"
_PRINTING = os.sep + "_tensor_str.py"
_OPCODES = (
    (("POP_JUMP", "JUMP_IF", "UNARY_NOT", "TO_BOOL"), "bool"),
    (("BINARY_S", "STORE_S", "DELETE_S", "BUILD_SLICE"), "index"),
    (("FORMAT", "CONVERT_VALUE"), "format"),
    (("CONTAINS",), "contains"),
)


_READS = frozenset(f"aten.{name}.default" for name in "_local_scalar_dense is_nonzero equal".split())
"""Operators that read values."""


def cause_of(op: str, copies: bool, readers: Sequence[tuple[CodeType, int]]) -> str:
    """What lets an operator read a value at the innermost of these instructions; empty if the source does not show
    it. `copies`: it copies to the host."""
    cause = _cause(readers)
    if cause == "print" or copies or op in _READS:
        return cause
    return "mask" if cause == "index" and ".nonzero" in op else ""  # an index of a boolean tensor is one


def _cause(readers: Sequence[tuple[CodeType, int]]) -> str:
    if any(code.co_filename.endswith(_PRINTING) for code, _ in readers):
        return "print"
    if not readers:
        return ""
    code, last = readers[0]
    if os.path.basename(code.co_filename) == "_tensor.py":
        return code.co_name.strip("_")
    return "found_inf" if code.co_filename.endswith(_SCALERS) else _read_by(code, last)


def _read_by(code: CodeType, last: int) -> str:
    opcode = dis.opname[code.co_code[last]] if last < len(code.co_code) else ""
    for begins, cause in _OPCODES:
        if opcode.startswith(begins):
            return cause
    text = _expression(code, last)
    if text is None:
        calls = _ANY.findall(linecache.getline(code.co_filename, line_at(code, last)))
        words = {_word(*parts) for parts in calls}
        return words.pop() if len(words) == 1 else ""
    method, function = _METHOD.search(text), _FUNCTION.match(text)
    if method is not None:
        return _word(method[1], "", "")
    return _word("", function[1] or "", function[2] or "") if function is not None else ""


def _word(method: str, mathematical: str, function: str) -> str:
    if method:
        return "cpu" if method == "to" else method
    return "float" if mathematical else _CONVERTED.get(function, "")


def _expression(code: CodeType, last: int) -> str | None:
    """The text of the expression of an instruction; None where Python does not record it (3.10)."""
    positions: Any = getattr(code, "co_positions", None)
    position = next(islice(positions(), last // 2, None), None) if positions is not None else None
    if position is None or None in position:
        return None
    first, end, begin, stop = position
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first, min(end, first + 20) + 1)]
    if not lines or not all(lines):
        return None
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][begin:]
    return b"".join(lines).decode(errors="replace")


_WORDS: dict[Any, str] = {}
_MOST = 8  # outputs recorded per operator
_SHAPES = 12  # different shapes recorded per operator and place
_SEQUENCE = 200_000  # operators of a step whose order is recorded

KeyArgs = tuple[tuple[str, Any], ...]
"""Arguments by name."""
TO_CPU: KeyArgs = (("device", "cpu"),)


class _Entry:
    """The data of one node. `seen` are the shapes of its outputs with the step in which each was first seen."""

    __slots__ = ("arguments", "count", "dtypes", "host", "layouts", "number", "seen", "shapes")

    def __init__(self, number: int, results: list[Any], arguments: dict[str, Any], host: bool) -> None:
        self.number = number
        self.count = 1
        self.host = host
        self.arguments = arguments
        self.dtypes = [dtype_word(result.dtype) for result in results]
        self.shapes = [list(map(int, result.shape)) for result in results]
        layouts = [str(result.layout).removeprefix("torch.") for result in results]
        self.layouts = layouts if any(layout != "strided" for layout in layouts) else []
        self.seen: dict[tuple[Any, ...], int] = {}

    def saw(self, shapes: tuple[Any, ...], step: int) -> None:
        """Note the shapes of its outputs in a step."""
        if shapes not in self.seen and len(self.seen) < _SHAPES:
            self.seen[shapes] = step

    def attrs(self) -> dict[str, Any]:
        attrs: dict[str, Any] = {"dtypes": self.dtypes, "shapes": self.shapes, "arguments": self.arguments}
        attrs |= {"layouts": self.layouts, "later": self._later()}
        return {name: value for name, value in attrs.items() if value}

    def _later(self) -> list[list[int]]:
        """The shape of the first output in the first step, and what took its place in later steps; empty if nothing
        did."""
        first = min(self.seen.values(), default=0)
        before = [tuple(map(int, shapes[0])) for shapes, step in self.seen.items() if shapes and step == first]
        later = [tuple(map(int, shapes[0])) for shapes, step in self.seen.items() if shapes and step != first]
        fresh = [shape for shape in dict.fromkeys(later) if shape not in before]
        if not fresh or not before:
            return []
        base = _nearest(fresh[0], before)
        return [list(base), *(list(shape) for shape in fresh if _nearest(shape, before) == base)]


def _nearest(shape: tuple[int, ...], others: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that has most sizes in common with another one."""
    return max(others, key=lambda other: (len(other) == len(shape), sum(map(int.__eq__, other, shape))))


class Recorder:
    """Aggregates reported operators. `ledger` follows the memory of their results; `step` is the number of the current
    step, from 0."""

    def __init__(self) -> None:
        self.sites = Sites()
        self.paused = 0
        self.ledger = Ledger()
        self.step = 0
        self._entries: dict[tuple[str, str, int, KeyArgs], _Entry] = {}
        self._sequence: list[int] = []
        self._last: list[int] = []

    @property
    def recorded(self) -> bool:
        """Whether there is any operator."""
        return bool(self._entries)

    def forget(self) -> None:
        """Drop what was recorded."""
        self._entries.clear()
        self._sequence, self._last = [], []

    def add(self, op: str, results: Any, key_args: KeyArgs = (), host: bool = False) -> None:
        """Record an operator (``aten.add.Tensor``) with its results; `key_args` are relevant arguments. `host`: it
        involved only CPU tensors."""
        if self.paused:
            return
        site, phase = self.sites.here(3)
        self.put(op, results, site, phase, key_args, host)

    def put(self, op: str, results: Any, site: int, phase: str, key_args: KeyArgs = (), host: bool = False) -> None:
        """As `add`, at a known place."""
        if site == NOT_RECORDED or self.paused:
            return
        key = (op, phase, site, key_args)
        entry = self._entries.get(key)
        if entry is None:
            entry = _Entry(len(self._entries), list(_tensors(results)), dict(key_args), host)
            self._entries[key] = entry
        else:
            entry.count += 1
            entry.host = entry.host and host
        entry.saw(tuple(tensor.shape for tensor in _tensors(results)), self.step)
        if len(self._sequence) < _SEQUENCE:
            self._sequence.append(entry.number)
            self.ledger.operators += 1

    def stepped(self) -> None:
        """A step has ended."""
        self.step += 1
        self._last, self._sequence = self._sequence, []
        self.ledger.stepped()

    def graph(self, accelerated: bool = False) -> Graph:
        """The recorded graph, in order of first execution. With `accelerated`, operators with CPU tensors only belong
        to the host and are omitted."""
        nodes, names = [], NodeNames()
        for (op, phase, site, _), entry in self._kept(accelerated):
            frames = self.sites.frames(site)
            attrs = entry.attrs() | self._read(op, site, entry)
            nodes.append(Node(names.of(op), op, attrs=attrs, frames=frames, phase=phase, count=entry.count))
        return Graph("live_torch", [Body("", nodes)], str(torch.__version__))

    def course(self, accelerated: bool = False) -> Course:
        """The last whole step in the order in which it ran, and the memory; numbers are those of the nodes of
        `graph`."""
        places = {entry.number: place for place, (_, entry) in enumerate(self._kept(accelerated))}
        return self.ledger.course(self._last or self._sequence, places, bool(self._last))

    def _kept(self, accelerated: bool) -> list[tuple[tuple[str, str, int, KeyArgs], _Entry]]:
        return [(key, entry) for key, entry in list(self._entries.items()) if not (accelerated and entry.host)]

    def _read(self, op: str, site: int, entry: _Entry) -> dict[str, Any]:
        """The lines of libraries that called an operator, and what reads the value if the host waits for one."""
        attrs: dict[str, Any] = {"library": list(self.sites.library(site))}
        readers = self.sites.readers(site)
        attrs["cause"] = cause_of(op, entry.arguments.get("device") == "cpu", readers)
        return {name: value for name, value in attrs.items() if value}


def dtype_word(dtype: Any) -> str:
    """An element type as in graphs: ``float16``."""
    word = _WORDS.get(dtype)
    if word is None:
        word = _WORDS[dtype] = str(dtype).removeprefix("torch.")
    return word


def op_name(op: Any) -> str:
    """An operator name as in graphs: ``aten.add.Tensor``, ``aten.relu.default``."""
    namespace, _, base = op._schema.name.partition("::")
    return f"{namespace}.{base}.{op._schema.overload_name or 'default'}"


def _tensors(results: Any) -> Iterable[Any]:
    if isinstance(results, torch.Tensor):
        yield results
    elif isinstance(results, (list, tuple)):
        for result in results[:_MOST]:
            if isinstance(result, torch.Tensor):
                yield result


def _mask(args: Any, kwargs: Any) -> KeyArgs:
    taken = args[1] if len(args) > 1 else kwargs.get("indices", ())
    return (
        (("indices", "bool"),)
        if any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in taken)
        else ()
    )


def _output_size(args: Any, kwargs: Any) -> KeyArgs:
    size = kwargs.get("output_size")
    return () if size is None else (("output_size", int(size)),)


def _classes(args: Any, kwargs: Any) -> KeyArgs:
    return (("num_classes", int(args[1] if len(args) > 1 else kwargs.get("num_classes", -1))),)


KEY_ARGS: dict[str, Callable[[Any, Any], KeyArgs]] = {
    "index": _mask,
    "index_put": _mask,
    "index_put_": _mask,
    "_index_put_impl_": _mask,
    "repeat_interleave": _output_size,
    "one_hot": _classes,
}
"""Operators whose arguments decide whether the host waits, with functions that select these."""
