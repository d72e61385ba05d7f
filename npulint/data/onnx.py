"""Which ONNX operators ATC has a parser for, by opset, and what these parsers do not support."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import msgspec

from npulint.data import lazy_table

DOMAIN = "ai.onnx"
"""The domain of the standard operators."""

Effect = Literal["stops", "ignored"]
OnnxVerdict = Literal["parser", "other_opset", "standard", "foreign", "private", "function"]
OnnxFamily = Literal["loop", "quantised", "text", "signal", "optional", "newer", "onnxruntime", "aten", "other"]

Opsets = tuple[int, int]

_SEPARATOR = "::"
_FOREIGN: dict[str, OnnxFamily] = {  # domains of other runtimes, for which no public plugin of ATC exists
    "com.microsoft": "onnxruntime",
    "com.microsoft.nchwc": "onnxruntime",
    "com.microsoft.experimental": "onnxruntime",
    "com.ms.internal.nhwc": "onnxruntime",
    "ai.onnx.contrib": "text",
    "com.microsoft.extensions": "text",
    "org.pytorch.aten": "aten",
    "org.pytorch.prim": "aten",
    "org.pytorch._caffe2": "aten",
    "aten": "aten",
    "prim": "aten",
    "ai.onnx.ml": "other",
    "ai.onnx.training": "other",
    "ai.onnx.preview.training": "other",
}
_FAMILIES: dict[OnnxFamily, frozenset[str]] = {
    "loop": frozenset("Loop Scan SequenceMap".split()),
    "quantised": frozenset(
        """QuantizeLinear DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul ConvInteger
        MatMulInteger""".split()
    ),
    "text": frozenset("StringNormalizer StringConcat StringSplit RegexFullMatch TfIdfVectorizer ImageDecoder".split()),
    "signal": frozenset("DFT STFT MelWeightMatrix BlackmanWindow HammingWindow HannWindow".split()),
    "optional": frozenset("Optional OptionalGetElement OptionalHasElement".split()),
    "aten": frozenset(("ATen",)),
}


class OnnxOperator(msgspec.Struct, frozen=True):
    """An operator: the first opset that defines it and the one that deprecates it (0: none), the opsets with a parser,
    and whether the AI CPU computes it."""

    since: int
    until: int
    parsers: tuple[Opsets, ...]
    aicpu: bool

    def parsed(self, opset: int) -> bool:
        """Whether a model of this opset finds a parser."""
        return any(first <= opset <= last for first, last in self.parsers)


class OnnxLimit(msgspec.Struct, frozen=True):
    """A setting that the parser of an operator refuses or ignores, in these opsets. `when` describes the value."""

    opsets: Opsets
    attribute: str
    when: str
    effect: Effect


class _Table(msgspec.Struct, frozen=True):
    operators: dict[str, OnnxOperator]
    limits: dict[str, tuple[OnnxLimit, ...]]
    releases: tuple[tuple[str, int, int], ...]  # CANN, first and newest opset; oldest first


_table = lazy_table("onnx_ops.json", _Table)


def operator(domain: str, name: str) -> OnnxOperator | None:
    """The recorded operator, None if neither the standard nor ATC knows it."""
    return _table().operators.get(f"{domain or DOMAIN}{_SEPARATOR}{name}")


def limits(name: str, opset: int) -> tuple[OnnxLimit, ...]:
    """What the parser of a standard operator refuses or ignores at an opset."""
    return tuple(
        onnx_limit
        for onnx_limit in _table().limits.get(name, ())
        if onnx_limit.opsets[0] <= opset <= onnx_limit.opsets[1]
    )


def newest_release() -> str:
    """The newest CANN that the table knows."""
    return _table().releases[-1][0]


def opsets_of(cann: str) -> Opsets:
    """The first and the newest opset that ATC of a CANN release parses; of the newest known one if `cann` is empty or
    unknown."""
    newest = _table().releases[-1] if not cann else _table().releases[0]
    given = _numbers(cann)
    for release in _table().releases:
        if given and _numbers(release[0]) <= given:
            newest = release
    return newest[1], newest[2]


@cache
def verdict(domain: str, name: str, opset: int) -> OnnxVerdict:
    """What ATC's parser does with an operator: it has a parser for this opset of the domain (parser), or for other
    opsets only (other_opset); it has none, and the operator belongs to the standard (standard), to the domain of
    another runtime (foreign), or to nobody known (private), so that a plugin of the user's own may parse it."""
    onnx_operator = operator(domain, name)
    if onnx_operator is not None and onnx_operator.parsed(opset):
        return "parser"
    if onnx_operator is not None and onnx_operator.parsers:
        return "other_opset"
    if onnx_operator is not None:
        return "standard"
    return "foreign" if domain in _FOREIGN or family(domain, name) == "aten" else "private"


@cache
def family(domain: str, name: str) -> OnnxFamily:
    """What operators without a parser have in common, which decides what to do instead. `newer`: the standard defines
    it in opsets that ATC does not parse, so an export with an older one writes other operators."""
    if domain not in ("", DOMAIN):
        return _FOREIGN.get(domain, "other")
    for word, names in _FAMILIES.items():
        if name in names:
            return word
    onnx_operator = operator(domain, name)
    return "newer" if onnx_operator is not None and onnx_operator.since > opsets_of("")[1] else "other"


def holds(when: str, value: Any, outputs: int) -> bool:
    """Whether the value of an attribute (None: not given) is the one that a limit describes. An attribute that is
    listed with ``!`` has the allowed value by default."""
    if when == "second output":
        return outputs > 1
    if when == "missing":
        return value is None
    if value is None:
        return False
    if when == "given":
        return True
    if when == "even":
        return isinstance(value, int) and value % 2 == 0
    if when == "not ones":
        return isinstance(value, list) and any(number != 1 for number in value)
    return (str(value) == when[1:]) is (when[0] == "=")


def _numbers(release: str) -> tuple[int, ...]:
    parts = release.split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()
