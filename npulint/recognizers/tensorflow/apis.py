"""Interfaces that the adapter does not support, or that behave differently on the NPU."""

from __future__ import annotations

import re
from typing import Literal, cast

from npulint.core.lazy_regex import lazy_compile
from npulint.data.tf_api import TensorFlowApi, find
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.host import Placed, placed
from npulint.recognizers.tensorflow.optional import is_for_tpu, is_optional, is_used

_GPU = lazy_compile(r"gpu|cuda", re.IGNORECASE)
_COUNTS = frozenset(("tensorflow.reduce_max()", "tensorflow.reduce_sum()", "tensorflow.count_nonzero()"))
Support = Literal["no", "newer", "static_shape", "manual", "deprecated", "no_effect"]
Reason = Literal[
    "eager",
    "tpu",
    "gpu",
    "operator",
    "raw",
    "shape",
    "towers",
    "old_estimator",
    "device",
    "determinism",
    "profiler",
]


@fact_kind("tf_api")
class RecordedApi(CallFact):
    """An interface of TensorFlow is called that the adapter does not support, or that means something else on the NPU;
    only with the arguments that matter (``tf.sequence_mask`` without maxlen). The name is its canonical name, also
    ``tensorflow.raw_ops.X`` of an operator that may lack a kernel."""

    _api: TensorFlowApi

    @attribute
    def support(self) -> Support:
        """How the adapter supports it: no, newer (only operator packages later than the recorded list of 2022 have the
        operator), static_shape (the shape of its result depends on data), manual (to be ported manually), deprecated,
        or no_effect."""
        return cast(Support, self._api.support)

    @attribute
    def reason(self) -> Reason:
        """The group of interfaces that share an explanation."""
        return cast(Reason, self._api.reason)

    @attribute
    def release(self) -> Literal["1.15", "2.6", "both"]:
        """The TensorFlow release that the record applies to."""
        return cast(Literal["1.15", "2.6", "both"], self._api.release)

    @attribute
    def ops(self) -> str:
        """The operator types that it builds, joined by commas."""
        return self._api.ops.replace(" ", ", ")

    @attribute
    def instead(self) -> str:
        """What to write instead."""
        return self._api.instead

    @attribute
    def plain(self) -> bool:
        """Whether the name is that of the installed release itself: neither the name nor the file uses compat."""
        imported = (f"{record.module}.{record.name}" for record in self.call.module.code.imports)
        return ".compat" not in self.call.written and not any(".compat" in name for name in imported)

    @attribute
    def guarded(self) -> bool:
        """Whether the call may be skipped or may fail: it is in try, in a branch of a conditional expression, or (for
        TPU interfaces) in code for TPUs."""
        return is_optional(self.call) or (self._api.reason == "tpu" and is_for_tpu(self.scope))

    @attribute
    def used(self) -> bool:
        """Whether the project uses the function or class around it."""
        return is_used(self.scope)

    @attribute
    def place(self) -> Placed:
        """Where it is: in the input pipeline, between layers and what trains them, or at the edge of the graph."""
        return placed(self.call)


@recognizes(matching=lambda name: bool(find(name)))
def recorded_apis(call: CallSite) -> list[RecordedApi]:
    """A fact for each call of a recorded interface: the first record whose argument condition holds."""
    tensor_flow_api = next((api for api in find(call.name) if _is_meant(call, api)), None)
    return [] if tensor_flow_api is None else [RecordedApi(call, call.name, tensor_flow_api)]


def _is_meant(call: CallSite, api: TensorFlowApi) -> bool:
    """Whether the argument certainly has the value of the record."""
    if not api.argument:
        return True
    value = call.argument(api.argument, api.position)
    if value is None:
        return api.value == "-" and not call.starred
    if api.value == "data":
        return _is_counted(value)
    single = value.single
    if api.value == "-":
        return value.known.values == (None,) and value.known.exact
    if api.value == "gpu":
        return isinstance(single, str) and bool(_GPU.search(single))
    return single is True if api.value == "true" else isinstance(single, int | float) and single != 0


@walker(depth=16, otherwise=bool)
def _is_counted(value: Expr) -> bool:
    """Whether a number is the maximum or sum of a tensor, possibly with an offset."""
    return value.name in _COUNTS or any(map(_is_counted, value.operands("+", "-")))
