"""The statements that compute a loss, which autocast must cover."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from npulint.fix.model import FixRefused
from npulint.fix.python.mixed.steps import TrainingStep, receiver
from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit

# Methods and functions that only fetch, move or make data, which autocast does not concern.
_MOVING = frozenset(
    "to cuda npu cpu float long int half double type size view reshape permute transpose squeeze unsqueeze detach item"
    " contiguous requires_grad_ zero_grad train eval keys values items get numel dim time clone update append"
    " ones zeros randn rand full tensor arange randint ones_like zeros_like rand_like randn_like full_like empty"
    " from_numpy as_tensor new_tensor new_ones new_zeros Variable FloatTensor LongTensor Tensor normal_ fill_ uniform_"
    " astype is_available cat stack concatenate"
    " len next iter zip enumerate range str dict list tuple isinstance set_description"
    .split()
)  # fmt: skip
_LOADING = re.compile(r"(?:get|next|load|fetch|sample)_?\w*(?:batch|data)$|^(?:load|fetch|collate)")
_AROUND = (ast.If, ast.With, ast.Try)


def autocast_region(tree: Tree, call: ast.Call, step: TrainingStep) -> list[ast.stmt]:
    """The neighbouring statements that compute the loss of a backward call, from the forward on. Raises `FixRefused`
    (``forward-apart``) if they are not all in one block of the function."""
    wanted = set(_names(receiver(call)))
    if any(_computes(part) for part in ast.walk(receiver(call))):
        raise FixRefused("forward-apart")
    statement: ast.stmt = tree.statement(call)
    while True:
        nodes = _computing(tree, statement, wanted, step)
        if nodes:
            return nodes
        around = tree.parent(statement)
        if not isinstance(around, _AROUND):
            raise FixRefused("forward-apart")
        statement = around


def region_edits(tree: Tree, region: Sequence[ast.stmt], context: str) -> list[Edit]:
    """The edits that indent statements below a ``with``."""
    start, end = tree.range(region[0])[0], tree.range(region[-1])[1]
    if not tree.leads(start) or tree.source[end : tree.line_end(end)].strip()[:1] not in ("", "#"):
        raise FixRefused("one-line")
    first, last = tree.line_of(start), tree.line_of(end)
    if any(start <= begin < end and tree.line_of(begin) != tree.line_of(stop) for begin, stop in tree.lexed.strings):
        raise FixRefused("string-lines")
    edits = []
    for number in range(first, last + 1):
        place = tree.starts[number - 1]
        lead = f"{tree.indent(start)}with {context}:\n" if number == first else ""
        if tree.lines[number - 1].strip():
            edits.append(tree.edit(place, place, lead + tree.unit))
    return edits


def _computing(tree: Tree, statement: ast.stmt, wanted: set[str], step: TrainingStep) -> list[ast.stmt]:
    """The statements of a block before one that compute the wanted names, which grow by those that they need."""
    block = tree.block(statement)
    end = block.index(statement)
    chosen: list[int] = []
    for number in range(end - 1, -1, -1):
        if step.is_barrier(block[number]):
            break
        if wanted & set(_bound(block[number])):
            chosen.append(number)
            wanted |= set(_names(block[number]))
    while chosen and (_without_gradients(block[chosen[-1]]) or not any(map(_computes, ast.walk(block[chosen[-1]])))):
        chosen.pop()
    if not chosen:
        return []
    region = block[chosen[-1] : chosen[0] + 1]
    if any(isinstance(part, ast.Yield | ast.YieldFrom | ast.Await) for node in region for part in ast.walk(node)):
        raise FixRefused("forward-apart")
    return region


def _without_gradients(statement: ast.stmt) -> bool:
    """Whether a statement computes what is not trained: ``with torch.no_grad():``."""
    return isinstance(statement, ast.With) and any(
        isinstance(item.context_expr, ast.Call) and _last(item.context_expr) in ("no_grad", "inference_mode")
        for item in statement.items
    )


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _computes(node: ast.AST) -> bool:
    """Whether a node is a call that may compute with the model."""
    if not isinstance(node, ast.Call):
        return False
    name = _last(node)
    return name not in _MOVING and _LOADING.search(name) is None


def _names(node: ast.AST) -> Iterator[str]:
    """The variables that an expression or statement reads: names, and attributes of ``self``."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id != "self":
            yield part.id
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self":
            yield f"self.{part.attr}"


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The variables that a statement binds or changes in place, in inner blocks too."""
    for part in ast.walk(statement):
        if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield from _target(part)
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            yield from _target(part.value)
        elif (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in ("append", "update")
        ):
            yield from _target(part.func.value)


def _target(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        yield f"self.{node.attr}"
