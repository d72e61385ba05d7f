"""Attributes that describe the place of every fact from Python code."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.model.running.guards import active, guarded_by, is_trial
from npulint.model.running.input_reachability import pipeline_of
from npulint.model.running.training import Step, training_of
from npulint.model.running.training_conditions import is_over_in_training
from npulint.model.values.cursors import Expr, Scope
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import walker

# Detects code that runs only on some ranks of a distributed run.

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
    return any(_is_one_rank(branch.test) for branch in around)


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


class Surroundings:
    """The attributes of one block, each computed once; create with `surroundings_of`."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @cached_property
    def active(self) -> Flag:
        """Whether it runs unless somebody turns an option on."""
        return active(self._scope)

    @cached_property
    def in_input(self) -> Literal["yes", "maybe", "no"]:
        """Whether it runs in, or builds, the input pipeline."""
        return pipeline_of(self._scope.context).in_input(self._scope)

    @cached_property
    def in_loop(self) -> bool:
        """Whether it is in a loop of its function."""
        return self._scope.loops > 0

    @cached_property
    def in_test(self) -> bool:
        """Whether it is test code: in a test file, or only run when an imported module is started itself."""
        return is_test_file(self._scope.path) or is_trial(self._scope)

    @cached_property
    def step(self) -> Step:
        """Whether it runs in every training step of PyTorch, in some, while data is prepared, or at another time."""
        return training_of(self._scope.context).step(self._scope)

    @property
    def prepares_data(self) -> bool:
        """Whether it runs while data is prepared, on the host."""
        return self.step == "host" or self.in_input == "yes"

    @cached_property
    def behind(self) -> Literal["npu", "cuda", "none"]:
        """The device that a condition around it tests for."""
        return guarded_by(self._scope)

    @cached_property
    def ranked(self) -> bool:
        """Whether a condition around it compares the rank of the process."""
        return on_some_ranks(self._scope)

    @cached_property
    def under(self) -> str:
        """The canonical names of the ``with`` contexts around it, innermost first, joined by spaces."""
        return " ".join(scope.test.name for scope in self._scope.ancestors if scope.kind == "with")


def surroundings_of(scope: Scope) -> Surroundings:
    """The only `Surroundings` object of a block."""
    if scope.surroundings is None:
        scope.surroundings = Surroundings(scope)
    surroundings: Surroundings = scope.surroundings
    return surroundings


def step_at(scope: Scope, line: int) -> Step:
    """How often what stands at `line` of a block runs while training: not at all after an exit that is taken then, and
    in some steps after one that some steps take."""
    step = surroundings_of(scope).step
    if step in ("yes", "gated") and is_over_in_training(scope, line):
        return "no"
    return "gated" if step == "yes" and training_of(scope.context).may_be_skipped(scope, line) else step
