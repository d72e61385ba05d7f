"""Tensor statistics recorded by msprobe, and results of its analyses.

Sources: `dump.json` (minimum, maximum, mean and norm of every operator's inputs and outputs, in execution order),
`anomaly_analyze_*.json` (operators where a NaN or an infinity appeared), and records of the training monitor."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal

import msgspec

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.runs.read.frames import LineFact
from npulint.runs.read.json_objects import Members, documents, text_of
from npulint.runs.read.numbers import number, saturated
from npulint.runs.read.op_names import type_of, user_line

FIRST = 10
"""Operators that are kept for each problem."""

_INPUTS = ("input_args", "input_kwargs", "input", "parameters")
_OUTPUTS = ("output", "parameters_grad")
_MASKING = frozenset(("masked_fill", "masked_fill_", "full", "full_like", "fill_", "where", "triu", "tril"))
_DEPTH = 20


_What = Literal["not_a_number", "saturated", "monitor"]


@fact_kind("run_statistic")
class TensorStatistic(LineFact, kw_only=True):
    """An operator or a gradient (dump.json, anomaly_analyze, the training monitor), at most the first ten of each
    `what` of a dump."""

    what: _What
    """Not_a_number or saturated in an output and in no input; monitor: a rule of the monitor."""
    rank: int
    """In execution order."""
    total: int = 0
    type: str
    tensor: str
    dtype: str


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """A `run_statistic` for the first operators whose outputs are not finite or
    at the limit of float16 while the inputs are fine. Raises `NotJsonError`."""
    counts: dict[_What, int] = {}
    tensor_statistics: list[TensorStatistic] = []
    for line, name, value in Members(stream, "data"):
        if not isinstance(value, dict):
            continue
        inputs, outputs = _tensors(value, _INPUTS), _tensors(value, _OUTPUTS)
        for what, label, tensor in _noted(inputs, outputs):
            if type_of(name) in _MASKING:  # extreme values are written on purpose
                continue
            counts[what] = counts.get(what, 0) + 1
            if counts[what] <= FIRST:
                tensor_statistics.append(_fact(path, line, what, counts[what], name, label, tensor))
    return [msgspec.structs.replace(fact, total=counts[fact.what]) for fact in tensor_statistics]


def _tensors(value: dict[str, Any], keys: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """(label, tensor) of all tensors below some keys of an operator, in order."""
    stack = [(key, value[key], 0) for key in reversed(keys) if key in value]
    tensors = []
    while stack:
        label, item, depth = stack.pop()
        if isinstance(item, dict) and "Max" in item and "Min" in item:
            tensors.append((label, item))
        elif depth < _DEPTH and isinstance(item, (dict, list)):
            pairs = list(item.items() if isinstance(item, dict) else enumerate(item))
            stack += [(f"{label}.{key}", inner, depth + 1) for key, inner in reversed(pairs)]
    return tensors


def _noted(
    inputs: list[tuple[str, dict[str, Any]]], outputs: list[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[_What, str, dict[str, Any]]]:
    """The problems that outputs have and inputs have not, each with the tensor that shows it."""
    tests: tuple[tuple[_What, Callable[[dict[str, Any]], bool]], ...] = (
        ("not_a_number", _infinite),
        ("saturated", _saturated),
    )
    for what, test in tests:
        if not any(test(tensor) for _, tensor in inputs):
            shown = next(((label, tensor) for label, tensor in outputs if test(tensor)), None)
            if shown:
                yield what, *shown


def _infinite(tensor: dict[str, Any]) -> bool:
    ends = [number(tensor.get(key)) for key in ("Max", "Min", "Mean", "Norm")]
    if all(value is not None and math.isinf(value) for value in ends[:2]) and ends[0] == ends[1]:
        return ends[0] == math.inf  # a tensor of only -inf is an intended mask
    return any(value is not None and not math.isfinite(value) for value in ends[:2])


def _saturated(tensor: dict[str, Any]) -> bool:
    return any(saturated(number(tensor.get(key))) for key in ("Max", "Min"))


def _dtype(tensor: dict[str, Any]) -> str:
    return str(tensor.get("dtype", "-")).rpartition(".")[2].lower()[:60]


def _fact(
    path: str, line: int, what: _What, rank: int, name: str, label: str, tensor: dict[str, Any], stack: str = ""
) -> TensorStatistic:
    file, source_line = user_line(stack) if stack else ("", 0)
    return TensorStatistic(
        name,
        path,
        Span.at(line),
        what=what,
        rank=rank,
        type=type_of(name),
        tensor=label,
        dtype=_dtype(tensor),
        file=file,
        source_line=source_line,
    )


def read_anomalies(stream: BinaryIO, path: str) -> list[Fact]:
    """A `run_statistic` for each operator or gradient that an msprobe analysis names. Raises `NotJsonError`."""
    text = text_of(stream)
    tensor_statistics: list[TensorStatistic] = []
    for start, end, document in documents(text):
        for entry in _anomalies(document):
            name = str(entry.get("op_name") or entry.get("tag_name"))[:1000]
            at = text.find(json.dumps(name), start, end)
            line = text.count("\n", 0, max(at, start)) + 1
            tensor_statistics.append(_anomaly(path, line, len(tensor_statistics) + 1, name, entry))
    return [msgspec.structs.replace(fact, total=len(tensor_statistics)) for fact in tensor_statistics[: 10 * FIRST]]


def _anomalies(document: Any) -> Iterator[dict[str, Any]]:
    """The entry of each anomaly: lists by rank, or one object each."""
    for value in document.values() if isinstance(document, dict) else ():
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict) and ("op_name" in entry or "tag_name" in entry):
                yield entry


def _anomaly(path: str, line: int, rank: int, name: str, entry: dict[str, Any]) -> TensorStatistic:
    info = entry.get("data_info")
    tensors = _tensors(info, _OUTPUTS) if isinstance(info, dict) else []
    label, tensor = next((pair for pair in tensors if _infinite(pair[1])), ("-", {}))
    what: _What = "not_a_number" if "op_name" in entry else "monitor"
    stack = "\n".join(_texts(entry.get("stack_info")))[:20_000]
    return _fact(path, line, what, rank, name, label, tensor, stack)


def _texts(value: Any) -> list[str]:
    """The texts of a list; none of anything else."""
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []
