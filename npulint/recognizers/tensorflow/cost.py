"""Operations that block the host or lose precision, by how they are used."""

from __future__ import annotations

from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.host import Placed, feeds_model, measures, placed

_PY_FUNCS = ("py_func", "numpy_function", "py_function", "contrib.framework.py_func")
_NPU_DROPOUTS = ("dropout", "dropout_v3", "dropoutV3")
_SHAPERS = ("set_shape", "ensure_shape", "_set_shape")
_HALF = frozenset(("tensorflow.float16", "tensorflow.half", "float16", "half"))
_CASTS = frozenset(("tensorflow.cast", "tensorflow.saturate_cast"))
_SQUARES = frozenset(("tensorflow.square", "tensorflow.squared_difference"))


@recognizes(*(f"tensorflow.{name}" for name in _PY_FUNCS))
@fact_kind("py_func")
class PythonFunction(CallFact):
    """A Python function is wrapped into the graph; the name is the canonical name of the wrapper."""

    @attribute
    def shaped(self) -> bool:
        """Whether the file sets the static shape of any tensor."""
        return bool(self.scope.calls_named(*_SHAPERS))

    @attribute
    def place(self) -> Placed:
        """Where it stands: in the input pipeline, on the path between layers and loss, or at the edge (only inputs
        before it, or only what is shown or fetched behind it)."""
        return placed(self.call)

    @attribute
    def feeds_model(self) -> bool:
        """Whether layers, losses or optimizers certainly use its result, outside the input pipeline."""
        return feeds_model(self.call)


@recognizes("tensorflow.nn.dropout", "tensorflow.compat.v2.nn.dropout")
@fact_kind("dropout")
class Dropout(CallFact):
    """TensorFlow's own dropout is built; the name is its canonical name."""

    @attribute
    def noise_shape(self) -> Flag:
        """Whether the mask has its own shape; unknown for a bare name."""
        value = self.call.argument("noise_shape", 2)
        if value is None or (value.is_literal and value.literal is None):
            return "no"
        if value.written and not value.displays:
            return "no" if None in value.known.values else "unknown"
        return "yes"

    @attribute
    def alternative(self) -> bool:
        """Whether another branch of the same function calls an NPU dropout."""
        function = self.scope.function
        others = [] if function is None else self.scope.calls_named(*_NPU_DROPOUTS)
        apart = [other for other in others if other.scope is not self.scope and other.scope.function is function]
        return any(call.name.startswith("npu_bridge.") for call in apart)


@fact_kind("half_reduction")
class HalfReduction(CallFact):
    """A value that was certainly cast to float16 is summed or averaged; the name is the canonical name of the
    operation."""

    @attribute
    def metric(self) -> bool:
        """Whether it only belongs to a metric: it is shown, and given to metrics or summaries, or counts hits."""
        return measures(self.call)


@fact_kind("half_cast")
class HalfCast(CallFact):
    """A value is cast to float16; the name is the canonical name of the operation."""

    @attribute
    def metric(self) -> bool:
        """Whether it only belongs to a metric: it is shown, and given to metrics or summaries, or counts hits."""
        return measures(self.call)


@fact_kind("zero_root")
class RootOfSquares(CallFact):
    """The square root is taken of a sum of squares without an offset, which may be zero."""


@recognizes("tensorflow.reduce_sum", "tensorflow.reduce_mean")
def half_reductions(call: CallSite) -> list[HalfReduction]:
    """Sums and means of float16 values."""
    value = call.argument("input_tensor", 0)
    sites = [] if value is None else value.sites
    return [HalfReduction(call, call.name)] if sites and all(_casts_to_half(site) for site in sites) else []


@recognizes("tensorflow.cast", "tensorflow.saturate_cast")
def half_casts(call: CallSite) -> list[HalfCast]:
    """Casts to float16."""
    return [HalfCast(call, call.name)] if _casts_to_half(call) else []


@recognizes("tensorflow.sqrt")
def roots_of_squares(call: CallSite) -> list[RootOfSquares]:
    """Norms of vectors."""
    value = call.argument("x", 0)
    sites = [] if value is None else value.sites
    sums = [site.argument("input_tensor", 0) for site in sites if site.name == "tensorflow.reduce_sum"]
    return [RootOfSquares(call, call.name)] if any(expr is not None and _is_square(expr) for expr in sums) else []


def _casts_to_half(call: CallSite) -> bool:
    values = call.argument_value("dtype", 1) if call.name in _CASTS else None
    return values is not None and values.single in _HALF


def _is_square(value: Expr) -> bool:
    power = value.operands("**")
    if power:
        return power[1].single == 2
    names = {site.name for site in value.sites}
    return bool(names) and names <= _SQUARES
