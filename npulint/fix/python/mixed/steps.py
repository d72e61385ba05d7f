"""A training step in the source: its backward calls, the optimizers that step after them, and what clips gradients."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from npulint.fix.model import FixRefused
from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit

Routine = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_OPTIMIZER = re.compile(r"(?i)(?:^|_)(?:opt|optim)(?:_|\d|$|[A-Z])|optimi[sz]er|^(?:opt|optim)[A-Z]|^solver$")
_NO_OPTIMIZER = re.compile(r"(?i)sched|warm|_lr|lr_|^lr$|ema|prof|scaler")
_CLIPS = re.compile(r"(?i)clip|grad_?norm|get_grad")
_OWN = ("create_graph", "register_hook")


class TrainingStep:
    """The backward calls of a `routine` (function or module) and its optimizer steps, in order. Raises `FixRefused`
    when the code does more than these with its gradients."""

    def __init__(self, tree: Tree, routine: Routine) -> None:
        self.routine = routine
        calls = sorted(
            (node for node in inside(routine) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)),
            key=tree.range,
        )
        self.backwards = [call for call in calls if _last(call) == "backward"]
        self.steps = [call for call in calls if _last(call) == "step" and is_optimizer(call)]
        if any(not _is_plain_backward(tree, backward) for backward in self.backwards):
            raise FixRefused("own-gradients")
        if not self.steps or any(_last(call) == "step" and not _is_known(call) for call in calls):
            raise FixRefused("step-apart")
        if any(not isinstance(tree.parent(step), ast.Expr) or step.args or step.keywords for step in self.steps):
            raise FixRefused("step-apart")
        self._clips = {step: _first_clip(tree, step) for step in self.steps}
        self._check_gradients(tree)

    @property
    def optimizers(self) -> list[ast.expr]:
        """The optimizers, each once."""
        distinct = {ast.dump(node): node for node in map(receiver, self.steps)}
        return list(distinct.values())

    def is_barrier(self, statement: ast.stmt) -> bool:
        """Whether a statement contains a backward call or an optimizer step."""
        parts = {*self.backwards, *self.steps}
        return any(part in parts for part in ast.walk(statement))

    def scaled(self, tree: Tree, scaler: str) -> list[Edit]:
        """The edits that put the scaler around backward calls and optimizer steps."""
        edits: list[Edit] = []
        for call in self.backwards:
            start, end = tree.range(receiver(call))
            wide = tree.outer(receiver(call))
            if wide == (start, end):
                edits += [tree.edit(start, start, f"{scaler}.scale("), tree.edit(end, end, ")")]
            else:
                edits.append(tree.edit(wide[0], wide[0], f"{scaler}.scale"))
        for number, call in enumerate(self.steps):
            edits += self._step(tree, scaler, number, call)
        return edits

    def _step(self, tree: Tree, scaler: str, number: int, call: ast.Call) -> list[Edit]:
        statement = tree.statement(call)
        start, end = tree.range(statement)
        if not tree.leads(start) or tree.source[end : tree.line_end(end)].strip()[:1] not in ("", "#"):
            raise FixRefused("one-line")
        optimizer = tree.text(receiver(call))
        edits = [tree.edit(start, end, f"{scaler}.step({optimizer})")]
        clip = self._clips[call]
        if clip is not None:
            line = tree.line_start(tree.range(clip)[0])
            edits.append(tree.edit(line, line, f"{tree.indent(line)}{scaler}.unscale_({optimizer})\n"))
        if self._is_last(tree, number, call):
            place = tree.line_end(end)
            edits.append(tree.edit(place, place, f"\n{tree.indent(start)}{scaler}.update()"))
        return edits

    def _is_last(self, tree: Tree, number: int, call: ast.Call) -> bool:
        """Whether no other step follows before the next backward call; the scale changes only then."""
        if number + 1 == len(self.steps):
            return True
        following = self.steps[number + 1]
        here, there = tree.range(call)[0], tree.range(following)[0]
        if any(here < tree.range(backward)[0] < there for backward in self.backwards):
            return True
        if tree.statement(following) not in tree.block(tree.statement(call)):
            raise FixRefused("step-apart")
        return False

    def _check_gradients(self, tree: Tree) -> None:
        """Raise `FixRefused` (``own-gradients``) where scaled gradients would be used as if they were not. The scaler's
        step has unscaled them for whatever comes after it."""
        unscaled = [tree.range(clip)[0] for clip in self._clips.values() if clip is not None]
        for node in inside(self.routine):
            named = node.attr if isinstance(node, ast.Attribute) else node.arg if isinstance(node, ast.keyword) else ""
            if named in _OWN:
                raise FixRefused("own-gradients")
            if not _reads_gradients(node):
                continue
            place = tree.range(node)[0]
            if self._is_behind_steps(tree, place):
                continue
            blocks = [tree.block(tree.statement(step)) for step, clip in self._clips.items() if clip is not None]
            if not any(start <= place for start in unscaled) or not any(
                _is_within(tree, node, block) for block in blocks
            ):
                raise FixRefused("own-gradients")

    def _is_behind_steps(self, tree: Tree, place: int) -> bool:
        """Whether all backward calls before a place are followed by a step of every optimizer before it."""
        before = [tree.range(backward)[0] for backward in self.backwards if tree.range(backward)[0] < place]
        steps = [receiver(step) for step in self.steps if (before or [0])[-1] < tree.range(step)[0] < place]
        return bool(before) and {ast.dump(step) for step in steps} == {
            ast.dump(optimizer) for optimizer in self.optimizers
        }


def training_step(tree: Tree, node: ast.AST) -> TrainingStep:
    """The training step of a backward call."""
    around = node
    while not isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        if isinstance(around, ast.ClassDef | ast.Lambda):
            raise FixRefused("step-apart")
        around = tree.parent(around)
    step = _step_of(tree, around)
    if isinstance(step, str):
        raise FixRefused(step)
    return step


@lru_cache(maxsize=8)
def _step_of(tree: Tree, routine: Routine) -> TrainingStep | str:
    """The training step of a function or module, for which each of its backward calls asks; else why there is none."""
    try:
        return TrainingStep(tree, routine)
    except FixRefused as refused:
        return refused.reason


def inside(routine: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module without those of functions and classes in it."""
    waiting = list(ast.iter_child_nodes(routine))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


def receiver(call: ast.Call) -> ast.expr:
    """What the method of a call belongs to."""
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def is_optimizer(call: ast.Call) -> bool:
    """Whether the receiver of a call is named as an optimizer."""
    name = _name(receiver(call))
    return bool(name) and _OPTIMIZER.search(name) is not None and _NO_OPTIMIZER.search(name) is None


def _is_known(call: ast.Call) -> bool:
    """Whether a ``step`` is that of an optimizer or certainly of something else."""
    return is_optimizer(call) or _NO_OPTIMIZER.search(_name(receiver(call))) is not None


def _name(value: ast.expr) -> str:
    """The last segment of a dotted name; empty for other expressions."""
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name | ast.Attribute):
        return value.attr
    return value.id if isinstance(value, ast.Name) else ""


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_plain_backward(tree: Tree, call: ast.Call) -> bool:
    """Whether a backward call is a statement of its own and gets no gradient."""
    plain = not call.args and all(keyword.arg == "retain_graph" for keyword in call.keywords)
    return plain and isinstance(tree.parent(call), ast.Expr)


def _first_clip(tree: Tree, step: ast.Call) -> ast.stmt | None:
    """The first statement before an optimizer step in its block, after the backward call, that uses gradients."""
    statement = tree.statement(step)
    block = tree.block(statement)
    node = None
    for earlier in reversed(block[: block.index(statement)]):
        if any(
            isinstance(part, ast.Call) and _last(part) in ("backward", "step", "zero_grad")
            for part in ast.walk(earlier)
        ):
            break
        if any(map(_reads_gradients, ast.walk(earlier))):
            node = earlier
    if node is not None and not tree.leads(tree.range(node)[0]):
        raise FixRefused("one-line")
    return node


def _reads_gradients(node: ast.AST) -> bool:
    """Whether a node is an attribute ``grad``, or a call that clips or measures gradients."""
    if isinstance(node, ast.Attribute):
        return node.attr == "grad"
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id == "grad":
        return True
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return _CLIPS.search(name) is not None


def _is_within(tree: Tree, node: ast.AST, block: Sequence[ast.stmt]) -> bool:
    while node is not tree.module:
        if node in block:
            return True
        node = tree.parent(node)
    return False
