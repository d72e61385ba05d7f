"""Detects code that runs only on some ranks of a distributed run."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.cursors import Expr, Scope
from npulint.model.values.walker import walker

_NAMED = lazy_compile(r"(?:^|[._])(?:(?:local|npu|hvd|device|worker|my)_rank(?:_id)?|rank_(?:id|idx|index))$")
_RANK_CALL = lazy_compile(
    r"^horovod\.(?:\w+\.)*(?:local_)?rank$|^(?:npu_bridge\.|hccl\.|npu_device\.).*get_(?:npu_)?(?:local_)?rank_id$"
)
_GLOBAL = lazy_compile(r"(?:^|[._])(?:global_)?rank$")
_GET_RANK = "torch.distributed.get_rank"
_SET = frozenset(("$RANK_ID", "$RANK", "$LOCAL_RANK", "$OMPI_COMM_WORLD_RANK", "$DEVICE_INDEX"))
_COMPARED = frozenset(("==", "!=", "<", ">", "<=", ">=", "in", "not in"))


def on_some_ranks(scope: Scope) -> bool:
    """Whether a condition around a block compares the rank of the process."""
    return any(_compares_rank(around.test) for around in scope.ancestors if around.kind in ("if", "else"))


def on_one_rank(scope: Scope) -> bool:
    """Whether a condition of the same function around a block holds on one rank only: ``rank == 0``, ``not rank``."""
    function = scope.routine
    around = (ancestor for ancestor in scope.ancestors if ancestor.kind == "if" and ancestor.routine is function)
    return any(_is_one_rank(one.test) for one in around)


@walker(depth=8, otherwise=bool)
def _is_one_rank(test: Expr) -> bool:
    parts = test.operands()
    if test.operator == "and":
        return any(_is_one_rank(part) for part in parts)
    if test.operator == "not":
        return _is_global_rank(parts[0])
    compared = test.operator == "==" and len(parts) == 2
    return compared and any(map(_is_global_rank, parts)) and any(part.is_literal for part in parts)


def _is_global_rank(value: Expr) -> bool:
    if not value.written and value.call is None:
        return False
    return _GLOBAL.search(value.written) is not None or any(site.name == _GET_RANK for site in value.sites)


@walker(depth=8, otherwise=bool)
def _compares_rank(test: Expr) -> bool:
    """Whether a condition is or contains a comparison of the rank; ``not rank`` counts as well."""
    parts = test.operands("and", "or", "not")
    if parts:
        negated = test.operator == "not" and _is_rank(parts[0])
        return negated or any(_compares_rank(part) for part in parts)
    return test.operator in _COMPARED and any(_is_rank(part) for part in test.operands())


@walker(depth=8, otherwise=bool)
def _is_rank(value: Expr) -> bool:
    """Whether a value is the rank of the process, according to its name, its environment variable or the call that
    returned it; ``rank % n`` counts as well."""
    parts = value.operands("%")
    if parts:
        return not parts[0].is_literal and any(_is_rank(part) for part in parts)
    if not value.written and value.call is None:
        return False
    if _NAMED.search(value.written) or value.known.symbol in _SET:
        return True
    return any(_RANK_CALL.search(site.name) for site in value.sites)
