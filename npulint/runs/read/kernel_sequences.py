"""Sequences of kernels that one fused operator would replace: attention, RMS norm, SwiGLU, rotary embedding."""

from __future__ import annotations

import re
from collections import deque
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import micro, share

# What facts about kernels have in common.


class OfComputing(FileFact, kw_only=True):
    """A fact about a part of the computing time of a run."""

    share: float | None = None
    """The part in percent, without communication."""
    of_step: float | None = None
    """What computing takes of a step, in percent, where that is known."""


Sequence = Literal["attention", "rms_norm", "swiglu", "rotary"]

_LONGEST = 8  # kernels of a sequence
_STREAMS = 1024
_BETWEEN = r"(?:(?:Cast|Muls?|Adds?|RealDiv|Div|MaskedFill|Sub|BroadcastTo) ){0,4}"
_FUSED: tuple[tuple[Sequence, frozenset[str], str, re.Pattern[str]], ...] = (
    (
        "attention",
        frozenset(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")),
        "torch_npu.npu_fusion_attention",
        lazy_compile(rf"BatchMatMul\w* {_BETWEEN}SoftmaxV2 (?:(?:Cast|DropOutDoMask\w*) ){{0,2}}BatchMatMul\w*\Z"),
    ),
    (
        "rms_norm",
        frozenset(("Mul",)),
        "torch_npu.npu_rms_norm",
        lazy_compile(r"(?:Pow|Square|Mul) ReduceMeanD? Adds? Rsqrt (?:Cast )?Mul(?: Cast)?(?: Mul)\Z"),
    ),
    ("swiglu", frozenset(("Mul",)), "torch_npu.npu_swiglu", lazy_compile(r"(?:Swish|Silu|SiLU) Mul\Z")),
    (
        "rotary",
        frozenset(("Add",)),
        "torch_npu.npu_rotary_mul",
        lazy_compile(r"Neg Concat\w* (?:Mul ){1,2}Add\Z"),
    ),
)


@fact_kind("run_fusible")
class FusibleSequence(OfComputing):
    """A sequence of kernels in one stream that a fused operator would replace; one fact for each kind, at the longest,
    with the sum of all."""

    name: Sequence
    instead: str
    """The fused operator of torch_npu."""
    types: str
    """The kernels of the longest."""
    count: int
    per_step: float
    total_us: float


class _Found:
    def __init__(self) -> None:
        self.count = self.line = 0
        self.total = 0.0
        self.longest = -1.0
        self.types = ""


class Sequences:
    """Finds the sequences of a table."""

    def __init__(self) -> None:
        self._last: dict[str, deque[tuple[str, float, int]]] = {}
        self._found: dict[Sequence, _Found] = {}

    def see(self, line: int, stream: str, type_: str, duration: float) -> None:
        """Process the next kernel of the table."""
        last = self._last.get(stream)
        if last is None:
            if len(self._last) >= _STREAMS:
                return
            last = self._last[stream] = deque(maxlen=_LONGEST)
        last.append((type_, duration, line))
        for name, ends, _, pattern in _FUSED:
            if type_ in ends:
                words = " ".join(kernel_type for kernel_type, _, _ in last)
                match = pattern.search(words)
                if match is not None and (match.start() == 0 or words[match.start() - 1] == " "):
                    self._add(name, list(last)[-len(match[0].split()) :])

    def _add(self, name: Sequence, kernels: list[tuple[str, float, int]]) -> None:
        sequence = self._found.setdefault(name, _Found())
        total = sum(duration for _, duration, _ in kernels)
        sequence.count += 1
        sequence.total += total
        if total > sequence.longest:
            sequence.longest, sequence.line = total, kernels[0][2]
            sequence.types = ", ".join(type_ for type_, _, _ in kernels)

    def facts(self, path: str, compute: float, steps: int) -> list[Fact]:
        """A `run_fusible` for each kind of sequence."""
        instead = {name: operator for name, _, operator, _ in _FUSED}
        return [
            FusibleSequence(
                name,
                path,
                Span.at(sequence.line),
                instead=instead[name],
                types=sequence.types,
                count=sequence.count,
                per_step=round(sequence.count / max(steps, 1), 1),
                total_us=micro(sequence.total),
                share=share(sequence.total, compute),
            )
            for name, sequence in sorted(self._found.items())
        ]
