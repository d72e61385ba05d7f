"""Reads tables that compare tensors of an NPU run with those of a reference.

Source: CSV of msaccucmp (all releases), msquickcmp, ptdbg and msprobe (tensors, statistics or MD5 sums). Each input and
output of an operator is a row; the relevant operator is the first in execution order whose outputs differ although its
inputs do not."""

from __future__ import annotations

import csv
import math
from collections import OrderedDict
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.compared_columns import Layout, layout
from npulint.runs.read.compared_ops import (
    BELOW,
    CLOSE,
    LARGE,
    ComparedOperator,
    Curve,
    Firsts,
    Op,
    Problem,
    Tensor,
    Unlike,
    Verdict,
    mixlist,
)
from npulint.runs.read.numbers import finite, number, saturated
from npulint.runs.read.op_names import indexed, tensor_of, type_of, user_line
from npulint.runs.read.rows import Seen, delimiter_of, header_cells, texts

_OPEN = 20_000  # operators that may be incomplete: manually sorted tables need it
_SEPARATOR = lazy_compile(r"[,;\s]+")
_ZERO = lazy_compile(r"(?i)\ball (?:the )?(?:data|values?)\b.{0,30}\bzeros?\b")
_UNLIKE = lazy_compile(r"(?i)shape.{0,60}(?:match|differ|inconsist)|dtype.{0,40}(?:match|differ)|unmatched")
_MISSING = lazy_compile(r"(?i)(?:no|not|does).{0,20}(?:have|found|exist).{0,40}(?:data|dump|file)|no bench data")
_SPREADSHEETS = ("PK\x03\x04", b"\xd0\xcf\x11".decode("gb18030"))  # zip, and the compound file of .xls
_HALF, _WIDE = ("float16", "bfloat16"), ("float32", "float64")
_VERDICTS: dict[str, Verdict] = {
    "yes": "pass",
    "pass": "pass",
    "no": "fail",
    "error": "error",
    "warning": "warning",
    "different": "different",
}


@fact_kind("run_comparison")
class ComparisonTable(FileFact):
    """A comparison of tensors with a reference, one fact for the table; the name is the tool: msaccucmp_5 msaccucmp
    msquickcmp ptdbg msprobe."""

    outputs: int
    """How many were compared."""
    below: int
    """Outputs whose cosine is below 0.98."""
    lowest: float | None
    """The lowest cosine."""
    curve: list[float]
    """The lowest cosine of up to 128 stretches of the outputs."""
    deviates: int
    """The number of operators of this sort, see `run_compared`; so are the next two."""
    inherits: int
    not_a_number: int


class SpreadsheetError(ValueError):
    """The table is a spreadsheet (.xlsx, .xls) that must be saved as CSV first."""


class NoComparisonError(ValueError):
    """The first line is not the header of a comparison."""


def read(stream: BinaryIO, path: str, seen: Seen | None = None) -> list[Fact]:
    """The facts of a comparison table: a `run_comparison` for the whole, a `run_compared` for each operator to look at.

    `seen` receives the number of rows. Raises `SpreadsheetError`, `NoComparisonError`, or what reading `stream` raises.
    """
    lines = texts(stream)
    first = next(lines, "")
    if first.startswith(_SPREADSHEETS):
        raise SpreadsheetError(path)
    columns = layout(header_cells(first))
    if columns is None:
        raise NoComparisonError("no header of a comparison")
    reader = _Reader(columns)
    seen = seen or Seen("comparison")
    for line, row in _rows(lines, delimiter_of(first), columns, seen):
        reader.take(line, row)
    return reader.facts(path)


def _rows(lines: Iterator[str], delimiter: str, columns: Layout, seen: Seen) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row; rows with too few or too many cells are only counted."""
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        line = reader.line_num + 2
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            seen.reject(line)
            continue
        if not row:
            continue
        if len(row) == columns.width or (len(row) > columns.width and not any(row[columns.width :])):
            seen.rows += 1
            yield line, row
        else:
            seen.reject(line)


class _Reader:
    def __init__(self, columns: Layout) -> None:
        self._columns = columns
        self._open: OrderedDict[str, Op] = OrderedDict()
        self._firsts = Firsts()
        self._curve = Curve()
        self._outputs = self._below = 0
        self._lowest: float | None = None
        self._graph = columns.family.startswith("ms") and columns.family != "msprobe"

    def take(self, line: int, row: list[str]) -> None:
        """Add one row of the table."""
        cell = self._columns.cell
        full_name, reference = cell(row, "name"), cell(row, "reference")
        if not full_name and not reference:
            return
        name, side, label = self._names(full_name or reference, cell(row, "tensor"))
        if self._graph and not (full_name and reference):
            return
        op = self._open.get(name)
        if op is None:
            op = self._new(name, reference, line, row)
        cosine = number(cell(row, "cosine"))
        fine = cosine is not None and cosine >= CLOSE and self._columns.is_unsuspicious(row)
        reason = "" if fine else cell(row, "reason")
        zero = bool(reason) and _ZERO.search(reason) is not None
        if side == "input":
            op.take_input(cosine, zero)
        else:
            self._output(cosine)
            fine = fine and (number(cell(row, "max_relative")) or 0.0) < LARGE
        tensor = None if fine else self._tensor(line, row, (side, label), cosine, (reason, zero))
        if tensor is not None:
            op.take(tensor)

    def _names(self, full_name: str, tensor: str) -> tuple[str, str, str]:
        """Operator, side and label of a row's tensor."""
        if tensor and self._graph:
            side, index = indexed(tensor)
            return full_name, side, f"{side}:{index}" if side else tensor
        name, side, index = tensor_of(full_name)
        return name, side, f"{side}.{index}" if index else side

    def _new(self, name: str, reference: str, line: int, row: list[str]) -> Op:
        cell = self._columns.cell
        order = number(cell(row, "sequence"))
        if order is None or not math.isfinite(order):
            order = number(cell(row, "index"))
        kind = cell(row, "type")
        named = reference if self._graph else tensor_of(reference)[0]
        op = Op(
            name,
            named,
            kind or type_of(name),
            (order if order is not None and math.isfinite(order) else float(line), line),
        )
        self._open[name] = op
        if len(self._open) > _OPEN:
            self._firsts.add(self._open.popitem(last=False)[1])
        return op

    def _output(self, cosine: float | None) -> None:
        self._outputs += 1
        if cosine is None or math.isnan(cosine):
            return
        self._curve.add(cosine)
        self._below += cosine < BELOW
        if self._lowest is None or cosine < self._lowest:
            self._lowest = cosine

    def _tensor(
        self, line: int, row: list[str], place: tuple[str, str], cosine: float | None, why: tuple[str, bool]
    ) -> Tensor | None:
        """The row's tensor; None if it shows nothing but its similarity."""
        cell = self._columns.cell
        most, least = number(cell(row, "npu_max")), number(cell(row, "npu_min"))
        reference_ends = [number(cell(row, "reference_max")), number(cell(row, "reference_min"))]
        extreme = next((value for value in (most, least) if value is not None and saturated(value)), 0.0)
        tensor = Tensor(
            line,
            place[1],
            place[0],
            cosine,
            number(cell(row, "max_relative")),
            _dtype(cell(row, "npu_dtype")),
            _dtype(cell(row, "reference_dtype")),
            why[0],
            why[1],
            extreme,
            any(value is not None and saturated(value) for value in reference_ends)
            if reference_ends != [None, None]
            else None,
            cell(row, "overflow").lower() in ("yes", "true"),
            self._verdict(row),
            self._unlike(row, cosine, *why),
            _infinite(most, least, reference_ends),
            ("", 0),
        )
        if not _is_significant(tensor):
            return None
        return msgspec.structs.replace(tensor, source=user_line(cell(row, "stack")))

    def _verdict(self, row: list[str]) -> Verdict:
        cell = self._columns.cell
        verdict = _VERDICTS.get(cell(row, "verdict").lower())
        return verdict or ("fail" if cell(row, "precision_error").lower() in ("yes", "true") else "-")

    def _unlike(self, row: list[str], cosine: float | None, reason: str, zero: bool) -> Unlike:
        """Why the two sides are not comparable; ``-`` if they are."""
        cell = self._columns.cell
        shapes = cell(row, "npu_shape"), cell(row, "reference_shape")
        if (all(shapes) and shapes[0] != shapes[1]) or _UNLIKE.search(f"{cell(row, 'cosine')} {reason}"):
            return "shape"
        if not reason or zero or (cosine is not None and not math.isnan(cosine)):
            return "-"
        if _MISSING.search(reason):
            return "missing"
        return "failed" if self._graph and cell(row, "cosine").lower() != "unsupported" else "-"

    def facts(self, path: str) -> list[Fact]:
        """The facts of the table, after all rows."""
        for op in self._open.values():
            self._firsts.add(op)
        self._open.clear()
        counts = self._firsts.counts
        ranked = list(self._firsts.ranked())
        half = [op.type for what, _, op, tensor in ranked if what == "deviates" and _lowered(tensor)]
        compared_operators = [_fact(path, self._columns, *entry, counts[entry[0]], half) for entry in ranked]
        table = ComparisonTable(
            self._columns.family,
            path,
            Span(),
            outputs=self._outputs,
            below=self._below,
            lowest=self._lowest,
            curve=self._curve.points(),
            deviates=counts.get("deviates", 0),
            inherits=counts.get("inherits", 0),
            not_a_number=counts.get("not_a_number", 0),
        )
        return [table, *compared_operators]


def _is_significant(tensor: Tensor) -> bool:
    """Whether a tensor shows more than a similarity."""
    if tensor.overflow or tensor.unlike != "-" or tensor.verdict not in ("-", "pass"):
        return True
    if tensor.side == "input":
        return False
    if tensor.extreme or tensor.infinite:
        return True
    cosine, relative = tensor.cosine, tensor.max_relative
    if cosine is None or cosine < CLOSE:
        return cosine is not None and cosine < BELOW
    return math.isnan(cosine) or (relative is not None and relative >= LARGE)


def _infinite(most: float | None, least: float | None, reference_ends: list[float | None]) -> bool:
    """Whether only the NPU side has a NaN or an infinity as extreme value."""
    if all(value is None or math.isfinite(value) for value in (most, least)):
        return False
    return all(value is not None and math.isfinite(value) for value in reference_ends)


def _dtype(text: str) -> str:
    """A normalised data type: ``float16``, ``bfloat16``, ``float32``, ``int64`` …; ``-`` if there is none."""
    name = text.lower().rpartition(".")[2].removeprefix("dt_").strip("<>' ")
    return {"float": "float32", "half": "float16", "bf16": "bfloat16", "double": "float64"}.get(name, name) or "-"


def _lowered(tensor: Tensor) -> bool:
    """Whether only the NPU side has a type of half the width."""
    return tensor.npu_dtype in _HALF and tensor.reference_dtype in _WIDE


def _fact(
    path: str, columns: Layout, what: Problem, rank: int, op: Op, tensor: Tensor, count: int, half: list[str]
) -> ComparedOperator:
    return ComparedOperator(
        op.name,
        path,
        Span.at(tensor.line),
        what=what,
        rank=rank,
        total=count,
        family=columns.family,
        type=op.type,
        reference=op.reference,
        fused=flag(_parts(op.reference) > 1 if op.reference else None),
        tensor=tensor.label or "-",
        cosine=tensor.cosine if tensor.cosine is None or math.isfinite(tensor.cosine) else "nan",
        max_relative=finite(tensor.max_relative),
        inputs_min_cosine=finite(op.inputs_min),
        npu_dtype=tensor.npu_dtype,
        reference_dtype=tensor.reference_dtype,
        not_comparable=tensor.unlike,
        reason=tensor.reason,
        zero=tensor.zero,
        reference_saturated=flag(tensor.reference_extreme),
        verdict=tensor.verdict,
        file=tensor.source[0],
        source_line=tensor.source[1],
        lowered=_lowered(tensor),
        mixlist=mixlist(op.type, half),
    )


def _parts(reference: str) -> int:
    """The number of reference operators that one NPU operator corresponds to."""
    return len([part for part in _SEPARATOR.split(reference) if part])
