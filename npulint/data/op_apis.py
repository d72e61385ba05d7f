"""TensorFlow and PyTorch APIs that create a given device operator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from npulint.core.lazy_regex import lazy_compile
from npulint.data import lazy_table
from npulint.data.host_ops import host_ops

_GRADIENT = lazy_compile(r"(?:Grad(?:WithArgmax|Grad)?|Backprop(?:Input|Filter)?|Backward)(?=(?:V\d+|D|Ex)*$)")
_RELEASE = lazy_compile(r"(?:V\d+|D|Ex|Native)$")
_ATEN = lazy_compile(r"(?:aten|npu)(?:::|\.)_?(\w+?)_?(?:\.\w+)?$")
_MODULES = frozenset(("linalg", "fft", "special"))  # submodules of torch that also name operators
_LONG = 200


_recorded = lazy_table("op_apis.json", dict[str, tuple[tuple[str, ...], tuple[str, ...]]])


def apis_of(op: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The last parts of the names of the TensorFlow and PyTorch APIs that create an operator, normalised by `plain`.
    `op` is an operator type of the device (``ReduceSumD``, ``ResizeBilinearV2Grad``) or TensorFlow, or a name of
    PyTorch (``aten::huber_loss``). Empty if no API is known."""
    aten = _ATEN.match(op[:_LONG])
    if aten is not None:
        module, _, rest = aten[1].partition("_")
        return (), (aten[1], f"{module}.{rest}") if module in _MODULES else (aten[1],)
    hosted = _hosted().get(op, ())
    for word in _spellings(op[:_LONG]):
        if word in _recorded():
            tensorflow, torch = _recorded()[word]
            return (*tensorflow, *hosted), torch
    return hosted, ()


def plain(name: str) -> str:
    """A normalised API name: a layer and the function of the same name are equal."""
    return name.replace("_", "").casefold()


@cache
def api_words() -> frozenset[str]:
    """The last segments, normalised by `plain`, of all APIs that create operators."""
    rows = (*_recorded().values(), *((names, ()) for names in _hosted().values()))
    return frozenset(plain(name.rpartition(".")[2]) for row in rows for names in row for name in names)


def _spellings(op: str) -> Iterator[str]:
    """A type, and the types that it is a gradient or a version of."""
    yield op
    forward = _GRADIENT.sub("", op)
    for word in (op, forward):
        yield word
        while (shorter := _RELEASE.sub("", word)) != word:
            word = shorter
            yield word


@cache
def _hosted() -> dict[str, tuple[str, ...]]:
    """TensorFlow APIs that leave an operator on the host, by operator, without the root of their names."""
    by_op: dict[str, dict[str, None]] = {}
    for api, rows in host_ops().items():
        for row in rows:
            for op in row.ops.split():
                by_op.setdefault(op, {})[api.partition(".")[2]] = None
    return {op: tuple(names) for op, names in by_op.items()}
