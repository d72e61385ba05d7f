"""Aggregates recorded operators: one node per operator, place and phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from npulint.facts.graph import Body, Graph, Node, NodeNames
from npulint.live.course import Course
from npulint.live.torch.causes import cause_of
from npulint.live.torch.memory import Ledger
from npulint.live.torch.sites import NOT_RECORDED, Sites

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
        known: dict[str, Any] = {"dtypes": self.dtypes, "shapes": self.shapes, "arguments": self.arguments}
        known |= {"layouts": self.layouts, "later": self._later()}
        return {name: value for name, value in known.items() if value}

    def _later(self) -> list[list[int]]:
        """The shape of the first output in the first step, and what took its place in later steps; empty if nothing
        did."""
        first = min(self.seen.values(), default=0)
        before = [tuple(map(int, one[0])) for one, step in self.seen.items() if one and step == first]
        later = [tuple(map(int, one[0])) for one, step in self.seen.items() if one and step != first]
        fresh = [fromkey for fromkey in dict.fromkeys(later) if fromkey not in before]
        if not fresh or not before:
            return []
        base = _nearest(fresh[0], before)
        return [list(base), *(list(one) for one in fresh if _nearest(one, before) == base)]


def _nearest(shape: tuple[int, ...], others: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that has most sizes in common with another one."""
    return max(others, key=lambda one: (len(one) == len(shape), sum(map(int.__eq__, one, shape))))


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
        return [one for one in list(self._entries.items()) if not (accelerated and one[1].host)]

    def _read(self, op: str, site: int, entry: _Entry) -> dict[str, Any]:
        """The lines of libraries that called an operator, and what reads the value if the host waits for one."""
        known: dict[str, Any] = {"library": list(self.sites.library(site))}
        readers = self.sites.readers(site)
        known["cause"] = cause_of(op, entry.arguments.get("device") == "cpu", readers)
        return {name: value for name, value in known.items() if value}


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
        if any(one is not None and one.dtype in (torch.bool, torch.uint8) for one in taken)
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
