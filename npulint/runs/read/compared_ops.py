"""Collects comparison results by operator, and ranks the operators to look at first."""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.facts.kinds import fact_kind
from npulint.runs.read.frames import LineFact

BELOW = 0.98
"""Minimum cosine similarity of an output; the tools' own graph filter uses the same threshold."""

CLOSE = 0.99
"""Cosine similarity from which the tools consider two tensors equal."""

LARGE = 1.0
"""Relative error from which an element is unrelated to its reference."""

Problem = Literal[
    "deviates", "inherits", "not_a_number", "not_comparable", "overflow", "rounding", "saturated", "verdict"
]
Verdict = Literal["pass", "warning", "error", "fail", "different", "-"]
Unlike = Literal["shape", "missing", "failed", "-"]

FIRST = 10
"""Operators that are kept for each problem."""


_TYPE = lazy_compile(r"[A-Za-z]\w{0,99}")
_CONVERTS = frozenset(("Cast", "Identity", "Reshape", "TransData", "Transpose", "TransposeD"))


@fact_kind("run_compared")
class ComparedOperator(LineFact, kw_only=True):
    """An operator to look at (a comparison with a reference, or a panel of precision_tool), at most the first ten of
    each `what`."""

    what: Problem
    """Deviates: cosine of an output below 0.98, of no input; inherits: of an input too; not_a_number: NaN or an
    infinity on the NPU's side only; overflow: flagged by the tool; saturated: ends of float16; verdict: the tool's own;
    rounding: cosine from 0.99, but large relative errors."""
    rank: int
    """In execution order, from 1."""
    total: int
    """The number of operators of that `what`."""
    family: str
    """The tool: msaccucmp_5 msaccucmp msquickcmp ptdbg msprobe precision_tool."""
    type: str
    """As written, otherwise from the name, otherwise ``-``."""
    reference: str
    """The operators on the other side."""
    fused: Flag
    """Whether these are several."""
    tensor: str
    cosine: float | Literal["nan"] | None
    max_relative: float | None = None
    inputs_min_cosine: float | None
    npu_dtype: str | None = None
    reference_dtype: str | None = None
    not_comparable: Unlike | None = None
    reason: str | None = None
    """As written."""
    zero: bool | None = None
    """Whether one side is all zeros."""
    reference_saturated: Flag | None = None
    """Whether the reference has the end of float16 too."""
    verdict: Verdict | None = None
    lowered: bool = False
    """Whether only the NPU's side is float16 or bfloat16."""
    mixlist: str
    """The text of an operator list that keeps the lowered operators that deviate (else this one) in float32,
    ``<OpType>`` in it where the type is unknown or only converts."""


class Tensor(msgspec.Struct, frozen=True, gc=False):
    """One row: a tensor on both sides. `cosine` and `max_relative` are None where the row has no number (NaN
    is one). `side` is ``input``, ``output`` or empty; `extreme` is the limit of float16 that the NPU's values reach (0:
    none), `reference_extreme` whether the reference reaches it too (None: unknown)."""

    line: int
    label: str
    side: str
    cosine: float | None
    max_relative: float | None
    npu_dtype: str
    reference_dtype: str
    reason: str
    zero: bool
    extreme: float
    reference_extreme: bool | None
    overflow: bool
    verdict: Verdict
    unlike: Unlike
    infinite: bool
    source: tuple[str, int]


class Op:
    """An operator, collected row by row; only its most significant tensors are kept."""

    __slots__ = (
        "best_rounding",
        "failed",
        "good_inputs",
        "inputs_min",
        "inputs_nan",
        "name",
        "nan",
        "order",
        "overflowed",
        "reference",
        "saturated",
        "type",
        "verdict",
        "worst",
    )

    def __init__(self, name: str, reference: str, kind: str, order: tuple[float, int]) -> None:
        self.name, self.reference, self.type, self.order = name, reference, kind, order
        self.inputs_min: float | None = None
        self.inputs_nan = 0
        self.worst: Tensor | None = None
        self.nan: Tensor | None = None
        self.overflowed: Tensor | None = None
        self.saturated: Tensor | None = None
        self.failed: Tensor | None = None
        self.verdict: Tensor | None = None
        self.best_rounding: Tensor | None = None

    def take_input(self, cosine: float | None, zero: bool) -> None:
        """Add the similarity of an input tensor."""
        if cosine is None:
            return
        if math.isnan(cosine):
            self.inputs_nan += not zero
        elif self.inputs_min is None or cosine < self.inputs_min:
            self.inputs_min = cosine

    def take(self, tensor: Tensor) -> None:
        """Add a tensor that may have a problem."""
        if tensor.overflow:
            self.overflowed = self.overflowed or tensor
        if tensor.unlike != "-":
            self.failed = self.failed or tensor
        if tensor.verdict in ("error", "fail", "different") and (not self.verdict or self.verdict.verdict == "warning"):
            self.verdict = tensor
        elif tensor.verdict == "warning":
            self.verdict = self.verdict or tensor
        if tensor.side != "input":
            self._take_output(tensor)

    def _take_output(self, tensor: Tensor) -> None:
        cosine = tensor.cosine
        if tensor.extreme:
            self.saturated = self.saturated or tensor
        if tensor.infinite or (cosine is not None and math.isnan(cosine) and tensor.unlike == "-"):
            if self.nan is None or (self.nan.zero and not tensor.zero):
                self.nan = tensor
        elif cosine is not None and not math.isnan(cosine):
            if self.worst is None or self.worst.cosine is None or cosine < self.worst.cosine:
                self.worst = tensor
            if cosine >= CLOSE and tensor.max_relative is not None and tensor.max_relative >= LARGE:
                self.best_rounding = self.best_rounding or tensor

    @property
    def inputs(self) -> str:
        """``good``: all comparable inputs are similar; ``bad``: one is not; ``unknown``: none is comparable."""
        if self.inputs_min is not None:
            return "good" if self.inputs_min >= BELOW else "bad"
        return "bad" if self.inputs_nan else "unknown"

    def noted(self) -> Iterator[tuple[Problem, Tensor]]:
        """(problem, tensor) of the operator, each with the tensor that shows it."""
        if self.overflowed is not None:
            yield "overflow", self.overflowed
        if self.failed is not None:
            yield "not_comparable", self.failed
        if self.nan is not None:
            yield "not_a_number", self.nan
        if self.saturated is not None:
            yield "saturated", self.saturated
        if self.verdict is not None:
            yield "verdict", self.verdict
        worst = self.worst
        if worst is not None and worst.cosine is not None and worst.cosine < BELOW:
            yield ("inherits" if self.inputs == "bad" else "deviates"), worst
        elif self.best_rounding is not None and self.verdict is None:
            yield "rounding", self.best_rounding


class Firsts:
    """The first operators in execution order for each problem; `counts` has the totals."""

    def __init__(self) -> None:
        self.counts: dict[Problem, int] = {}
        self._kept: dict[Problem, list[tuple[float, int, str, Op, Tensor]]] = {}

    def add(self, op: Op) -> None:
        """Add an operator whose rows are complete."""
        for what, tensor in op.noted():
            self.counts[what] = self.counts.get(what, 0) + 1
            kept = self._kept.setdefault(what, [])
            order, line = op.order
            entry = (-order, -line, what, op, tensor)
            if len(kept) < FIRST:
                heapq.heappush(kept, entry)
            elif entry[:2] > kept[0][:2]:
                heapq.heapreplace(kept, entry)

    def ranked(self) -> Iterator[tuple[Problem, int, Op, Tensor]]:
        """(problem, rank from 1, operator, tensor), sorted by problem."""
        for what in sorted(self._kept):
            ordered = sorted(self._kept[what], key=lambda entry: (-entry[0], -entry[1]))
            for rank, (_, _, _, op, tensor) in enumerate(ordered, 1):
                yield what, rank, op, tensor


def mixlist(kind: str, half: Iterable[str] = ()) -> str:
    """A mixed precision list (JSON text) that keeps operators in float32: of the types `half` if `kind` is among them,
    else of `kind` only; ``<OpType>`` if the type is unknown or only converts."""
    named = [op_type for op_type in dict.fromkeys(half) if _named(op_type)]
    types = named if kind in named else [kind if _named(kind) else "<OpType>"]
    return json.dumps({"black-list": {"to-add": types}})


def _named(kind: str) -> bool:
    """Whether listing an operator type has an effect: conversions cannot be listed."""
    return kind not in _CONVERTS and _TYPE.fullmatch(kind) is not None


class Curve:
    """The curve of similarity over the graph: the lowest cosine of equal segments of outputs, at most `POINTS`."""

    POINTS = 128

    def __init__(self) -> None:
        self._lowest: list[float] = []
        self._stretch = 1
        self._count = 0
        self._now = math.inf

    def add(self, cosine: float) -> None:
        """Add the cosine of the next output."""
        self._now = min(self._now, cosine)
        self._count += 1
        if self._count == self._stretch:
            self._lowest.append(self._now)
            self._count, self._now = 0, math.inf
            if len(self._lowest) >= self.POINTS:
                self._lowest = [min(pair) for pair in zip(self._lowest[::2], self._lowest[1::2], strict=True)]
                self._stretch *= 2

    def points(self) -> list[float]:
        """The lowest cosine of each segment; the last one may be shorter."""
        return [round(value, 6) for value in (*self._lowest, *([self._now] if self._count else []))]
