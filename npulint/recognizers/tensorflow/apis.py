"""Interfaces that the adapter does not support, or that behave differently on the NPU."""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, cast

from npulint.core.lazy_regex import lazy_compile
from npulint.data.tf_api import TensorFlowApi, find
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.code_places import operations
from npulint.model.running.guards import is_handled
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.functions import handed
from npulint.recognizers.tensorflow.host import Placed, placed

# Whether code certainly runs: it may be in a ``try``, one of several choices, for another device, or unused.

_TPU = lazy_compile(r"tpu(?!t)", re.IGNORECASE)  # no output
_MANY = 40  # evaluated callers per function
_LISTED = ("_export", "deprecated")  # decorators of functions without callers


def is_optional(call: CallSite) -> bool:
    """Whether a call is in a ``try`` with an ``except`` clause, or in a branch of a conditional expression."""
    if any(map(is_handled, call.scope.ancestors)):
        return True
    return call in _chosen(call.scope)


@walker(depth=3, otherwise=bool)
def is_for_tpu(scope: Scope) -> bool:
    """Whether the names of a file, function, class, parameter, condition or caller indicate code for TPUs."""
    around = [ancestor.record for ancestor in scope.ancestors]
    words = [scope.path, *(word for record in around for word in (record.name, *record.params))]
    if any(map(_TPU.search, words)) or any(map(_names_tpu, _conditions(scope))):
        return True
    name = "" if scope.function is None else scope.function.record.name.rpartition(".")[2]
    calls = (call for module in module_scopes(scope.context) for call in module.calls_named(name)) if name else ()
    return any(is_for_tpu(call.scope) for call in islice(calls, _MANY))


def _conditions(scope: Scope) -> list[Expr]:
    """The conditions around a block, and all of the function around it."""
    ifs = scope.blocks_of("if") if scope.function is not None else ()
    scopes = [block for block in ifs if block.function is scope.function]
    return [
        block.test
        for block in (*scopes, *(ancestor for ancestor in scope.ancestors if ancestor.kind in ("if", "else")))
    ]


def _names_tpu(value: Expr) -> bool:
    return any(_TPU.search(part.written or part.text) for part in value.mentioned)


def is_used(scope: Scope) -> bool:
    """Whether the project uses the name of the function or class that contains the code."""
    inside = [ancestor for ancestor in scope.ancestors if ancestor.kind in ("function", "class")]
    if not inside:
        return True
    decorators = [
        decorator.call.callee if decorator.call is not None else decorator for decorator in inside[-1].decorators
    ]
    if not all(decorator.written.endswith(_LISTED) for decorator in decorators):
        return True
    return inside[-1].record.name in _named(scope.context)


@once
def _named(context: Context) -> set[str]:
    """The last segments of all used names, also of functions that are passed on, and the imported names."""
    names = {name for name, uses in handed(context).items() if any(value.functions for _, value in uses)}
    for module in context.project.modules.values():
        names.update(module.callee_name(index) for index in range(len(module.code.calls)))
        names.update(record.name.rpartition(".")[2] for record in module.code.name_uses)
        names.update(record.name for record in module.code.imports)
    return names


@once_per_file
def _chosen(module: Scope) -> set[CallSite]:
    """The calls in the branches of conditional expressions, including their arguments."""
    arms = [arm for choice in operations(module, "if") for arm in choice.alternatives]
    chosen: set[CallSite] = set()
    while arms:
        calls = {part.call for part in arms.pop().nested if part.call is not None} - chosen
        chosen |= calls
        arms += [argument for call in calls for argument in call.arguments]
    return chosen


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
