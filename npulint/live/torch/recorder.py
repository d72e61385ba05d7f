"""Aggregates recorded operators: one node per operator, place and phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from npulint.facts.graph import Body, Graph, Node
from npulint.live.torch.sites import NOT_RECORDED, Sites, library_frame

_WORDS: dict[Any, str] = {}
_MOST = 8  # outputs recorded per operator

KeyArgs = tuple[tuple[str, Any], ...]
"""Arguments by name."""
TO_CPU: KeyArgs = (("device", "cpu"),)
_READS = frozenset(f"aten.{name}.default" for name in "_local_scalar_dense is_nonzero equal nonzero".split())
"""Operators that make the host wait: a library may have them."""


class _Entry:
    """The data of one node."""

    __slots__ = ("arguments", "count", "dtypes", "host", "inside", "layouts", "shapes")

    def __init__(self, results: list[Any], arguments: dict[str, Any], host: bool, inside: str) -> None:
        self.count = 1
        self.inside = inside
        self.host = host
        self.arguments = arguments
        self.dtypes = [dtype_word(one.dtype) for one in results]
        self.shapes = [list(map(int, one.shape)) for one in results]
        layouts = [str(one.layout).removeprefix("torch.") for one in results]
        self.layouts = layouts if any(layout != "strided" for layout in layouts) else []

    def attrs(self) -> dict[str, Any]:
        known: dict[str, Any] = {"dtypes": self.dtypes, "shapes": self.shapes, "arguments": self.arguments}
        known |= {"layouts": self.layouts, "inside": self.inside}
        return {name: value for name, value in known.items() if value}


class Recorder:
    """Aggregates reported operators. `torch_version` is that of the process."""

    def __init__(self) -> None:
        self.sites = Sites()
        self.paused = 0
        self._entries: dict[tuple[str, str, int, KeyArgs, str], _Entry] = {}

    @property
    def recorded(self) -> bool:
        """Whether there is any operator."""
        return bool(self._entries)

    def forget(self) -> None:
        """Drop what was recorded."""
        self._entries.clear()

    def add(self, op: str, results: Any, key_args: KeyArgs = (), host: bool = False) -> None:
        """Record an operator (``aten.add.Tensor``) with its results; `key_args` are relevant arguments. `host`: it
        involved only CPU tensors."""
        if self.paused:
            return
        site, phase = self.sites.here(3)
        inside = library_frame() if op in _READS or key_args == TO_CPU else ""
        self.put(op, results, site, phase, key_args, host, inside)

    def put(
        self,
        op: str,
        results: Any,
        site: int,
        phase: str,
        key_args: KeyArgs = (),
        host: bool = False,
        inside: str = "",
    ) -> None:
        """As `add`, at a known place; `inside` is the function of a library that it is in."""
        if site == NOT_RECORDED or self.paused:
            return
        key = (op, phase, site, key_args, inside)
        entry = self._entries.get(key)
        if entry is not None:
            entry.count += 1
            entry.host = entry.host and host
            return
        self._entries[key] = _Entry(list(_tensors(results)), dict(key_args), host, inside)

    def graph(self, accelerated: bool = False) -> Graph:
        """The recorded graph, in order of first execution. With `accelerated`, operators with CPU tensors only belong
        to the host and are omitted."""
        nodes, numbers = [], dict[str, int]()
        for (op, phase, site, _, _), entry in list(self._entries.items()):
            if accelerated and entry.host:
                continue
            base = op.split(".")[1] if "." in op else op
            number = numbers[base] = numbers.get(base, 0) + 1
            name = base if number == 1 else f"{base}_{number - 1}"
            frames = self.sites.frames(site)
            nodes.append(Node(name, op, attrs=entry.attrs(), frames=frames, phase=phase, count=entry.count))
        return Graph("live_torch", [Body("", nodes)], str(torch.__version__))


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
        for one in results[:_MOST]:
            if isinstance(one, torch.Tensor):
                yield one


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
