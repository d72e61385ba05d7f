"""Rows of trained tables that are looked up, so that the gradient is sparse."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr, Scope
from npulint.assemble.recognizers.registry import recognizes
from npulint.facts.kinds import fact_kind

_LOOKUPS = ("tensorflow.nn.embedding_lookup", "tensorflow.contrib.layers.embedding_lookup_unique")
_VARIABLES = frozenset(("tensorflow.get_variable", "tensorflow.Variable"))
_OWN_GRADIENT = frozenset(("tensorflow.custom_gradient", "tensorflow.Defun", "tensorflow.function.Defun"))


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
    around = [one for one in scope.ancestors if one.kind == "function"]
    return any(made.name.removesuffix("()") in _OWN_GRADIENT for one in around for made in one.decorators)
