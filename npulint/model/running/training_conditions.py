"""Conditions in training code: which of them hold only while nothing trains, and which only now and then."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.facts.code import Op
from npulint.model.running.conditions import BRANCHES
from npulint.model.running.exits import Exits
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import memoized, walker

EVALUATION = lazy_compile(
    r"(?:^|[_.])(?:eval\w*|valid\w*|val|test\w*|infer\w*|predict\w*|demo|visuali\w*|export\w*|sample|recogni[sz]e\w*|beam\w*)(?:_|$)"
)
_TRAINING = lazy_compile(r"(?:^|\.)training$")
_TARGETS = lazy_compile(r"(?:^|[._])(?:targets?|labels?|gts?|gt_\w+|truths?|\w+_labels?|\w+_targets?)$")
# What a generator keeps of the tokens before; there is none while training.
_DECODING = lazy_compile(
    r"(?:^|[._])(?:(?:layer_)?past(?:_key_values?|_kv)?|kv_cache|incremental_state|input_pos|cache_position|use_cache)$"
)
# Weights of adapters are merged into those of the model, and adapters switched off, for inference.
_MERGED = lazy_compile(r"(?:^|[._])(?:merged|disable_adapters?)$")
_COUNTER = lazy_compile(
    r"(?:^|[._])(?:i|j|n|idx|\w*iter|\w*iteration|\w*iters|\w*step|\w*steps|\w*batch_?(?:idx|id|i|index|nr|num)|epoch)$"
)
_PHASE = lazy_compile(r"train|eval|infer")
_OBJECT_AND_NAME = 2
_COMPARING = ("==", "<", "<=", "in")
_UNUSUAL = frozenset(("isnan", "isinf", "isfinite"))
_SOMETIMES = lazy_compile(
    r"(?:^|[._])(?:rank|local_rank|verbose|debug|log|logging|print\w*|is_main\w*|is_master|master|rank_?0?|writer|prof\w*"
    r"|timers?|timing|benchmark|dry_run|wandb|tensorboard\w*|tb_\w+|summary\w*)(?:$|[._(])"
)

_EVALUATING = lazy_compile(
    r"(?:^|[._])(?:is|in|do|for)?_?(?:eval|evaluate|evaluating|evaluation|infer|inference|predict|testing)(?:_mode|_only)?$"
)
_TABLES = ("Embedding", "EmbeddingBag", "embedding", "embedding_bag")
_SPARSE_MAKERS = ("sparse_coo_tensor", "to_sparse", "to_sparse_coo")
_EQUALITY = {"==": True, "is": True, "in": True, "!=": False, "is not": False, "not in": False}
_FILLED = frozenset(("is", "==", "not in"))
_FILLED_ELSE = frozenset(("is not", "!=", "in"))
_DEVICE = lazy_compile(r"(?:^|\.)device(?:\.type)?$")


def evaluates(scope: Scope) -> bool:
    """Whether a branch is taken only when nothing trains: ``if not self.training``, ``if targets is None``."""
    return taken_in_training(scope) == "no"


def is_over_in_training(scope: Scope, line: int) -> bool:
    """Whether what stands at `line` of a block follows an exit that is taken while training:
    ``if self.training: return loss``."""
    return _exits(scope.context).are_before(scope, line)


@once
def _exits(context: Context) -> Exits:
    return Exits(taken_in_training)


def is_over_in_most_steps(scope: Scope, line: int) -> bool:
    """Whether what stands at `line` of a block follows an exit that is taken in all but some steps:
    ``if step != 100: return``, ``if step % 50: continue``."""
    return _usual_exits(scope.context).are_before(scope, line)


@once
def _usual_exits(context: Context) -> Exits:
    return Exits(_usually_taken, kinds=frozenset(("return", "continue")))


def _usually_taken(scope: Scope) -> Flag:
    """Whether a branch is taken in all but some steps."""
    taken = taken_in_training(scope)
    return "yes" if taken == "unknown" and scope.kind == "if" and _holds_usually(scope.test) else taken


def _holds_usually(test: Expr) -> bool:
    """Whether a condition holds in all but some steps: the counter of the steps is not a certain number."""
    operands = test.operands()
    if test.operator in ("or", "not"):
        return any(map(_holds_usually if test.operator == "or" else _now_and_then, operands))
    return test.operator == "%" or (test.operator == "!=" and any(map(_counts, operands)))


def _counts(value: Expr) -> bool:
    return _is_counter(value) or value.operator == "%"


@memoized(meanwhile=lambda: "unknown")
def taken_in_training(scope: Scope) -> Flag:
    """Whether a branch is taken while a model trains; other blocks run, loops perhaps."""
    if scope.kind not in BRANCHES:
        return "unknown" if scope.kind in ("loop", "except") else "yes"
    holds = _holds(scope.test)
    return "unknown" if holds is None else "yes" if holds == (scope.kind == "if") else "no"


@walker(depth=8, otherwise=lambda: None)
def _holds(test: Expr) -> bool | None:
    """The truth value of a condition while a model trains: its ``training`` is True, there are targets."""
    if test.written:
        return _of_name(test)
    if test.is_literal:
        return bool(test.literal)
    call = test.call
    if call is not None:
        return True if call.name == "torch.is_grad_enabled" else _holds(call.args[0]) if _converts(call) else None
    operands = test.operands()
    if test.operator == "not":
        holds = _holds(operands[0])
        return None if holds is None else not holds
    if test.operator in ("and", "or"):
        answers = [_holds(operand) for operand in operands]
        decisive = test.operator == "or"
        return decisive if decisive in answers else None if None in answers else not decisive
    return _compared(test.operator, *operands) if len(operands) == 2 else None


def _converts(call: CallSite) -> bool:
    return call.name == "bool" and len(call.args) == 1


def _of_name(name: Expr) -> bool | None:
    if _TRAINING.search(name.written):
        return True
    if name.written.endswith(".is_sparse") and not _has_sparse_gradients(name.context):
        return False
    if any(pattern.search(name.written) for pattern in (_EVALUATING, _DECODING, _MERGED)):
        return False
    if "." in name.written or not _PHASE.search(name.written):
        return None
    values = {_holds(assignment.value) for assignment in name.assignments}
    return values.pop() if len(values) == 1 else None


@once
def _has_sparse_gradients(context: Context) -> bool:
    """Whether the project makes tables whose gradients may be sparse, or sparse tensors itself."""
    modules = module_scopes(context)
    asked = [call.argument("sparse") for module in modules for call in module.calls_named(*_TABLES)]
    if any(expr is not None and expr.literal is not False for expr in asked):
        return True
    return any(True for module in modules for _ in module.calls_named(*_SPARSE_MAKERS))


def _compared(operator: str, left: Expr, right: Expr) -> bool | None:
    """The truth value of a comparison: with True or False, of targets with None, of the phase with its name."""
    same, against = _EQUALITY.get(operator), right.literal
    if same is None or not right.is_literal:
        return None
    if isinstance(against, bool):
        holds = _holds(left)
        return None if holds is None else (holds == against) == same
    if against is None:
        return not same if _TARGETS.search(left.written) else same if _DECODING.search(left.written) else None
    if left.written and isinstance(against, str):
        return same if against == "train" else not same if EVALUATION.search(against) else None
    return None


def is_first(scope: Scope) -> bool:
    """Whether a branch runs once: until it has made what its condition misses (``if self.table is None``, or the
    ``else`` of ``if key in table``), or has reset the flag that leads to it (``if self.fresh: ...; self.fresh =
    False``)."""
    if scope.kind not in ("if", "else"):
        return False
    here = [
        local_assignment
        for local_assignment in scope.routine.local_assignments
        if scope in local_assignment.scope.ancestors
    ]
    missing = _missing(scope.test, scope.kind == "else")
    lasting = missing is not None and ("." in missing or missing in scope.routine.parameters)
    if lasting and any(
        assignment.target == missing or assignment.target.startswith(f"{missing}[") for assignment in here
    ):
        return True
    flag = _flag(scope.test) if scope.kind == "if" else None
    return flag is not None and any(
        (assignment.target, assignment.scope) == (flag[0], scope)
        and assignment.value.is_literal
        and assignment.value.literal is flag[1]
        for assignment in here
    )


def _flag(test: Expr) -> tuple[str, bool] | None:
    """The attribute that a condition asks for, and the value with which it does not hold; None for other conditions."""
    negated = test.operator == "not"
    name = (test.operands()[0] if negated else test).written
    return (name, negated) if "." in name else None


def _missing(test: Expr, otherwise: bool) -> str | None:
    """The table or object of which a condition (`otherwise`: its opposite) says that it, or a key, is not there yet;
    None for other conditions. Local variables start anew in every step, tables that are passed do not."""
    operands = test.operands()
    if test.operator == "not" and not otherwise:
        expr = operands[0]
        if expr.call is not None and expr.call.name == "hasattr" and len(expr.call.args) == _OBJECT_AND_NAME:
            holder, name = expr.call.args
            return f"{holder.written}.{name.literal}"
        return _attribute(expr)
    if test.operator in (_FILLED_ELSE if otherwise else _FILLED) and len(operands) == 2:
        left, right = operands
        if test.operator in ("in", "not in"):
            return right.written or None
        return _attribute(left) if right.is_literal and right.literal is None else None
    return None


def _attribute(value: Expr) -> str | None:
    return value.written if "." in value.written else None


def evaluates_in_between(function: Scope) -> bool:
    """Whether a function evaluates a model and has it train on afterwards: ``model.eval()``, later ``model.train()``,
    and nothing trains it meanwhile."""
    lines = {call.written.removesuffix(".eval"): call.line for call in function.calls if call.last == "eval"}
    if not lines or any(call.last == "backward" for call in function.calls):
        return False
    back = (call for call in function.calls if call.last == "train" and "." in call.written)
    return any(call.line > lines.get(call.written.removesuffix(".train"), call.line) for call in back)


def is_occasional(scope: Scope) -> bool:
    """Whether a branch is taken in some steps only: every n-th, on one rank, after an error, for data of the host."""
    if scope.kind == "except":
        return True
    return scope.kind in BRANCHES and (_now_and_then(scope.test) or _is_for_host(scope) or is_first(scope))


def _is_for_host(scope: Scope) -> bool:
    """Whether a branch is taken for tensors that are on the host: what a model computes is on the device."""
    answers = [assignment.value for assignment in scope.test.assignments] if scope.test.written else []
    test = answers[0] if len(answers) == 1 else scope.test
    operands = test.operands()
    if len(operands) != 2 or test.operator not in ("==", "!=") or (test.operator == "==") != (scope.kind == "if"):
        return False
    left, right = operands
    return _DEVICE.search(left.written) is not None and right.is_literal and right.literal == "cpu"


@walker(depth=7, otherwise=bool)
def _now_and_then(test: Expr) -> bool:
    """Whether a condition holds in some steps only: every n-th, the first ones, on one rank, when a loss is nan."""
    if test.written:
        kept = [assignment.value for assignment in test.assignments]  # first = step == 0
        is_kept = len(kept) == 1 and not kept[0].written and _now_and_then(kept[0])
        return is_kept or _SOMETIMES.search(test.written) is not None or _is_answer(test)
    call = test.call
    if call is not None:
        if call.last in _UNUSUAL or _asks_for_array(call) or _SOMETIMES.search(call.written):
            return True
        return any(map(_now_and_then, [call.callee, *call.args] if call.callee.operator else call.args))
    operands = test.operands()
    compares = test.operator in _COMPARING and any(map(_is_counter, operands))
    return compares or test.operator == "%" or any(map(_now_and_then, operands))


def _is_answer(name: Expr) -> bool:
    """Whether a local name keeps the answer whether something is an array of the host."""
    calls = [assignment.value.call for assignment in name.assignments] if name.written.startswith("is_") else []
    return len(calls) == 1 and calls[0] is not None and _asks_for_array(calls[0])


def _asks_for_array(call: CallSite) -> bool:
    """``isinstance(x, numpy.ndarray)``: what a model computes is none."""
    return call.name == "isinstance" and len(call.args) > 1 and call.args[1].name.startswith("numpy.")


def _is_counter(value: Expr) -> bool:
    """Whether a name counts steps: it says so, or it is an attribute that is incremented beside the condition."""
    if _COUNTER.search(value.written):
        return True
    here = value.module.dotted.get(value.written, ()) if "." in value.written else ()
    routine = value.scope.routine
    added = (
        value.scope.at(assignment.block)
        for assignment in here
        if isinstance(assignment.value, Op) and assignment.value.op == "+="
    )
    return any(scope.routine is routine for scope in added)
