"""Statistics of tensors that msprobe recorded while a program ran, and what its analyses made of them.

Sources: `dump.json` (minimum, maximum, mean and norm of every operator's inputs and outputs, in execution order),
`anomaly_analyze_*.json` (operators where a NaN or an infinity came up), and the records of the training monitor.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.json_objects import Members, documents, text_of
from npulint.read.artifacts.numbers import number, saturated, whole
from npulint.read.artifacts.op_names import type_of, user_line

FIRST = 10
"""Operators that are kept of each sort."""

_HEAD = lazy_compile(r'"(task|level|framework)"\s*:\s*"([^"\n]{0,60})"')
_RANK = lazy_compile(r"rank_?(\d{0,9})$")
_INPUTS = ("input_args", "input_kwargs", "input", "parameters")
_OUTPUTS = ("output", "parameters_grad")
_MASKING = frozenset(("masked_fill", "masked_fill_", "full", "full_like", "fill_", "where", "triu", "tril"))
_DEPTH = 20


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """`run_dump` for the whole of a `dump.json`, `run_statistic` for the first operators whose outputs are no finite
    numbers or the end of float16 while the inputs are fine. Raises `NotJsonError`."""
    members = Members(stream, "data")
    ops = tensors = halves = 0
    counts: dict[str, int] = {}
    found: list[Fact] = []
    for line, name, value in members:
        if not isinstance(value, dict):
            continue
        ops += 1
        inputs, outputs = _tensors(value, _INPUTS), _tensors(value, _OUTPUTS)
        tensors += len(inputs) + len(outputs)
        halves += sum(_dtype(tensor) == "float16" for _, tensor in (*inputs, *outputs))
        for what, label, tensor in _noted(inputs, outputs):
            if type_of(name) in _MASKING:  # the end of a number range is put there on purpose
                continue
            counts[what] = counts.get(what, 0) + 1
            if counts[what] <= FIRST:
                attrs = _attrs(what, counts[what], name, label, tensor)
                found.append(GenericFact("run_statistic", name, path, Span.at(line), attrs))
    head = dict(_HEAD.findall(members.head))
    attrs = {key: head.get(key, "-") for key in ("task", "level", "framework")}
    attrs |= {"ops": ops, "tensors": tensors, "float16": halves, "truncated": "yes" if members.truncated else "no"}
    attrs |= {what: counts.get(what, 0) for what in ("not_a_number", "saturated")}
    summary = GenericFact("run_dump", attrs["task"], path, Span(), attrs)
    for fact in found:
        fact.attrs["total"] = counts[fact.attrs["what"]]
    return [summary, *found]


def _tensors(value: dict[str, Any], keys: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """(label, tensor) of all tensors below some keys of an operator, in order."""
    stack = [(key, value[key], 0) for key in reversed(keys) if key in value]
    found = []
    while stack:
        label, item, depth = stack.pop()
        if isinstance(item, dict) and "Max" in item and "Min" in item:
            found.append((label, item))
        elif depth < _DEPTH and isinstance(item, (dict, list)):
            pairs = list(item.items() if isinstance(item, dict) else enumerate(item))
            stack += [(f"{label}.{key}", inner, depth + 1) for key, inner in reversed(pairs)]
    return found


def _noted(
    inputs: list[tuple[str, dict[str, Any]]], outputs: list[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What came up in the outputs that was not in the inputs, each with the tensor that shows it."""
    for what, test in (("not_a_number", _infinite), ("saturated", _saturated)):
        if not any(test(tensor) for _, tensor in inputs):
            shown = next(((label, tensor) for label, tensor in outputs if test(tensor)), None)
            if shown:
                yield what, *shown


def _infinite(tensor: dict[str, Any]) -> bool:
    ends = [number(tensor.get(key)) for key in ("Max", "Min", "Mean", "Norm")]
    if all(value is not None and math.isinf(value) for value in ends[:2]) and ends[0] == ends[1]:
        return ends[0] == math.inf  # a mask that is minus infinity throughout is meant
    return any(value is not None and not math.isfinite(value) for value in ends[:2])


def _saturated(tensor: dict[str, Any]) -> bool:
    return any(saturated(number(tensor.get(key))) for key in ("Max", "Min"))


def _dtype(tensor: dict[str, Any]) -> str:
    return str(tensor.get("dtype", "-")).rpartition(".")[2].lower()[:60]


def _attrs(what: str, rank: int, name: str, label: str, tensor: dict[str, Any]) -> dict[str, Any]:
    ends = {key: number(tensor.get(key.capitalize())) for key in ("max", "min")}
    told = {key: value if value is None or math.isfinite(value) else str(value) for key, value in ends.items()}
    kind = type_of(name)
    attrs = {"what": what, "rank": rank, "type": kind, "tensor": label, "dtype": _dtype(tensor), **told}
    return {**attrs, "file": "", "source_line": 0}


def read_anomalies(stream: BinaryIO, path: str) -> list[Fact]:
    """`run_statistic` for each operator or gradient that an analysis of msprobe names. Raises `NotJsonError`."""
    text = text_of(stream)
    found: list[Fact] = []
    for start, end, document in documents(text):
        for rank, entry in _anomalies(document):
            name = str(entry.get("op_name") or entry.get("tag_name"))[:1000]
            at = text.find(json.dumps(name), start, end)
            line = text.count("\n", 0, max(at, start)) + 1
            attrs = _anomaly(entry, name)
            attrs |= {"device_rank": rank, "rank": len(found) + 1}
            found.append(GenericFact("run_statistic", name, path, Span.at(line), attrs))
    for fact in found:
        fact.attrs["total"] = len(found)
    return found[: 10 * FIRST]


def _anomalies(document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """(rank of the process, entry) of each anomaly: lists by rank, or one object each."""
    for key, value in document.items() if isinstance(document, dict) else ():
        match = _RANK.match(key)
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict) and ("op_name" in entry or "tag_name" in entry):
                own = whole(entry.get("rank"))
                yield own if own is not None else int(match[1] or 0) if match else 0, entry


def _anomaly(entry: dict[str, Any], name: str) -> dict[str, Any]:
    info = entry.get("data_info")
    tensors = _tensors(info, _OUTPUTS) if isinstance(info, dict) else []
    label, tensor = next((pair for pair in tensors if _infinite(pair[1])), ("-", {}))
    what = "not_a_number" if "op_name" in entry else "monitor"
    step = whole(entry.get("step"))
    attrs = _attrs(what, 0, name, label, tensor)
    construct, stack = _texts(entry.get("construct_info")), _texts(entry.get("stack_info"))
    module = next((part for part in reversed(construct) if part != name), "")
    file, line = user_line("\n".join(stack)[:20_000])
    more = {"file": file, "source_line": line, "module": module[:500]}
    return {**attrs, **more, "reason": str(entry.get("message", ""))[:500], "step": -1 if step is None else step}


def _texts(value: Any) -> list[str]:
    """The texts of a list; none of anything else."""
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []
