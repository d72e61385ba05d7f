"""Sparse tensors and sparse gradients: operators of sparse tensors, and rows of trained tables that are looked up."""

from __future__ import annotations

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.recognizers.registry import recognizes

_LOOKUPS = ("tensorflow.nn.embedding_lookup", "tensorflow.contrib.layers.embedding_lookup_unique")
_VARIABLES = frozenset(("tensorflow.get_variable", "tensorflow.Variable"))
_OWN_GRADIENT = frozenset(("tensorflow.custom_gradient", "tensorflow.Defun", "tensorflow.function.Defun"))
_SPARSE = frozenset(
    f"tensorflow.{name}"
    for name in """sparse_tensor_dense_matmul nn.embedding_lookup_sparse nn.safe_embedding_lookup_sparse
    contrib.layers.safe_embedding_lookup_sparse sparse_softmax sparse_retain sparse_transpose sparse_reorder sparse_add
    sparse.add sparse_reduce_sum sparse.reduce_sum""".split()
)
_ASKING = ("is_sparse", "SparseTensor")


@fact_kind("sparse_op")
@recognizes(*_SPARSE)
class SparseOperation(CallFact):
    """An operator of sparse tensors is built; the name is the canonical name of the function."""

    @attribute
    def certain(self) -> bool:
        """Whether it does not only run where a tensor turns out to be sparse: ``if K.is_sparse(x)``,
        ``if isinstance(x, tf.SparseTensor)``."""
        tests = [ancestor.test for ancestor in self.scope.ancestors if ancestor.kind in ("if", "else")]
        return not any(map(_asks_for_sparse, tests))


def _asks_for_sparse(test: Expr) -> bool:
    """Whether a condition asks for the type of a tensor."""
    names = [part.written if part.call is None else part.call.last for part in test.mentioned]
    return any(name.endswith(_ASKING) for name in names)


@fact_kind("row_lookup")
class RowLookup(CallFact):
    """Rows of a table are looked up, with a sparse gradient; the name is the canonical name of the function."""


@recognizes(*_LOOKUPS)
def lookups(call: CallSite) -> list[RowLookup]:
    """Lookups of embeddings."""
    return [RowLookup(call, call.name)]


@recognizes("tensorflow.gather", "tensorflow.gather_nd")
def gathered_rows(call: CallSite) -> list[RowLookup]:
    """Rows that are gathered from a trained variable, unless the function has a gradient of its own."""
    table = call.argument("params", 0)
    sites = [] if table is None else table.sites
    trained = bool(sites) and all(site.name in _VARIABLES and _is_trained(site) for site in sites)
    return [RowLookup(call, call.name)] if trained and not _has_own_gradient(call.scope) else []


def _is_trained(variable: CallSite) -> bool:
    position = 4 if variable.last == "get_variable" else 1
    value: Expr | None = variable.argument("trainable", position)
    return value is None or value.single is not False


def _has_own_gradient(scope: Scope) -> bool:
    """Whether a block is in a function whose gradient is defined by hand."""
    around = [ancestor for ancestor in scope.ancestors if ancestor.kind == "function"]
    return any(made.name.removesuffix("()") in _OWN_GRADIENT for function in around for made in function.decorators)
