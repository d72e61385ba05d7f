"""Conditions in training code: which of them hold only while nothing trains, and which only now and then."""

from __future__ import annotations

from typing import Literal

from npulint.assemble.conditions import BRANCHES
from npulint.assemble.cursors import Expr, Scope
from npulint.assemble.walker import walker
from npulint.lazy_regex import lazy_compile

EVALUATION = lazy_compile(
    r"(?:^|[_.])(?:eval\w*|valid\w*|val|test\w*|infer\w*|predict\w*|demo|visuali\w*|export\w*|sample|recogni[sz]e\w*|beam\w*)(?:_|$)"
)
_TRAINING = lazy_compile(r"(?:^|\.)training$")
_TARGETS = lazy_compile(r"(?:^|[._])(?:targets?|labels?|gts?|gt_\w+|truths?|\w+_labels?|\w+_targets?)$")
_COUNTER = lazy_compile(
    r"(?:^|[._])(?:i|j|n|idx|\w*iter|\w*iteration|\w*iters|\w*step|\w*steps|\w*batch_?(?:idx|id|i|index|nr|num)|epoch)$"
)
_COMPARING = ("==", "<", "<=", "in")
_UNUSUAL = frozenset(("isnan", "isinf", "isfinite"))
_SOMETIMES = lazy_compile(
    r"(?:^|[._])(?:rank|local_rank|verbose|debug|log|logging|print\w*|is_main\w*|is_master|master|rank_?0?|writer|prof\w*"
    r"|timers?|timing|benchmark|dry_run|wandb|tensorboard\w*|tb_\w+|summary\w*)(?:$|[._(])"
)

Phase = Literal["train", "eval", ""]
_OPPOSITE: dict[Phase, Phase] = {"train": "eval", "eval": "train", "": ""}


def evaluates(scope: Scope) -> bool:
    """Whether a branch is taken only when nothing trains: ``if not self.training``, ``if targets is None``."""
    return scope.kind in BRANCHES and _phase(scope.test) == ("eval" if scope.kind == "if" else "train")


def _phase(test: Expr) -> Phase:
    """``train`` or ``eval`` when a condition holds only then."""
    if test.written:
        return "train" if _TRAINING.search(test.written) else ""
    operands = test.operands()
    if test.operator == "and":
        return next((found for found in map(_phase, operands) if found), "")
    if test.operator == "not":
        return _OPPOSITE[_phase(operands[0])]
    if len(operands) != 2 or not operands[1].is_literal:
        return ""
    name, against = operands[0].written, operands[1].literal
    if test.operator in ("is", "is not") and against is None and _TARGETS.search(name):
        return "eval" if test.operator == "is" else "train"
    if name and test.operator == "==" and isinstance(against, str):
        return "train" if against == "train" else "eval" if EVALUATION.search(against) else ""
    return ""


def is_occasional(scope: Scope) -> bool:
    """Whether a branch is taken in some steps only: every n-th, on one rank, after an error."""
    return scope.kind == "except" or (scope.kind in BRANCHES and _now_and_then(scope.test))


@walker(depth=7, otherwise=bool)
def _now_and_then(test: Expr) -> bool:
    """Whether a condition holds in some steps only: every n-th, the first ones, on one rank, when a loss is nan."""
    if test.written:
        return _SOMETIMES.search(test.written) is not None
    call = test.call
    if call is not None:
        if call.last in _UNUSUAL or _SOMETIMES.search(call.written):
            return True
        return any(map(_now_and_then, [call.callee, *call.args] if call.callee.operator else call.args))
    operands = test.operands()
    compares = test.operator in _COMPARING and any(_COUNTER.search(one.written) for one in operands)
    return compares or test.operator == "%" or any(map(_now_and_then, operands))
