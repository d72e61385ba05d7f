"""The precision of a TensorFlow program on the NPU: which mode its settings choose, in which type its matrix operators
compute, and to which type the mode lowers the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.model.code.index import Index
from npulint.model.programs.precision import Computed, Lowered, Precision, ProgramPrecision
from npulint.model.programs.project_options import PRECISION


class _Mode(NamedTuple):
    """What a mode makes of a graph in float32: the kind of mode, the type of the gradients of matrix operators, and the
    type that other operators are lowered to."""

    kind: Precision
    gradients: Computed
    operators: Lowered


_MODES = {  # values of precision_mode and precision_mode_v2
    "allow_mix_precision": _Mode("mixed", "float16", "float16"),
    "allow_mix_precision_fp16": _Mode("mixed", "float16", "float16"),
    "allow_mix_precision_bf16": _Mode("mixed", "bfloat16", "bfloat16"),
    "mixed_float16": _Mode("mixed", "float16", "float16"),
    "mixed_bfloat16": _Mode("mixed", "bfloat16", "bfloat16"),
    "mixed_hif8": _Mode("mixed", "unknown", "unknown"),
    "allow_fp32_to_fp16": _Mode("fp16", "float16", "float32"),
    "allow_fp32_to_bf16": _Mode("origin", "bfloat16", "float32"),
    "force_fp16": _Mode("fp16", "float16", "float16"),
    "fp16": _Mode("fp16", "float16", "float16"),
    "force_fp32": _Mode("origin", "float32", "float32"),
    "cube_fp16in_fp32out": _Mode("origin", "float32", "float32"),
    "cube_hif8": _Mode("origin", "unknown", "float32"),
    "must_keep_origin_dtype": _Mode("origin", "float32", "float32"),
    "origin": _Mode("origin", "float32", "float32"),
}
_NONE = ("None", "")
_REWRITE = "enable_mixed_precision_graph_rewrite"
_POLICIES = {"mixed_float16": _MODES["mixed_float16"], "mixed_bfloat16": _MODES["mixed_bfloat16"]}
_SETTING_POLICY = ("set_global_policy", "set_policy", "Policy")


def precision_of(index: Index) -> ProgramPrecision:
    """The precision of a program."""
    modes = [*_chosen(index), *_policies(index)]
    rewritten = bool(index.named("call", _REWRITE))
    known = [mode for mode in modes if mode is not None]
    kinds = {mode.kind for mode in known}
    if "mixed" in kinds or rewritten:
        kind: Precision = "mixed"
    elif None in modes:
        kind = "unknown"
    else:
        kind = "fp16" if "fp16" in kinds else "origin" if kinds else "default"
    if kind == "default":
        return ProgramPrecision(kind, "chip", "float32")
    if rewritten and not known:
        known = [_MODES["mixed_float16"]]
    gradients, operators = {mode.gradients for mode in known}, {mode.operators for mode in known}
    sure = None not in modes
    return ProgramPrecision(
        kind,
        gradients.pop() if sure and len(gradients) == 1 else "unknown",
        operators.pop() if sure and len(operators) == 1 else "unknown",
    )


def _chosen(index: Index) -> Iterator[_Mode | None]:
    """The modes that settings of the adapter may choose; None for one that is not known."""
    for fact in (fact for key in PRECISION for fact in index.named("setting", key)):
        value = fact.get("value")
        if not isinstance(value, PossibleValues) or not value.values:
            yield None
            continue
        texts = [str(each) for each in value.values if str(each) not in _NONE]
        yield from (_MODES.get(text, _MODES["must_keep_origin_dtype"]) for text in texts)


def _policies(index: Index) -> Iterator[_Mode]:
    """The policies of Keras that are surely in half precision."""
    for name in _SETTING_POLICY:
        for fact in _of_keras(index.named("call", name)):
            value = fact.args.argument_value("policy" if name != "Policy" else "name", 0)
            text = None if value is None else value.single
            if isinstance(text, str) and text in _POLICIES and fact.get("active") == "yes":
                yield _POLICIES[text]


def _of_keras(calls: Iterable[Fact]) -> Iterator[Fact]:
    return (fact for fact in calls if ".mixed_precision." in fact.name)
