"""Adds mixed precision to a training step that has none: autocast around forward and loss, a gradient scaler around
backward and optimizer step."""

from __future__ import annotations

import ast
from collections.abc import Callable

from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.python.mixed.holders import with_groups
from npulint.fix.python.mixed.regions import autocast_region, region_edits
from npulint.fix.python.mixed.scaler import Scalers
from npulint.fix.python.mixed.steps import TrainingStep, training_step
from npulint.fix.python.names import module_name
from npulint.fix.python.tree import Tree, tree_of
from npulint.judge.findings import Edit, FixStep

_HALF = "float16"


def plan(step: FixStep, text: Text, text_of: Callable[[str], Text]) -> Plan:
    """The plan of a ``mixed_precision`` step at a backward call. Raises `FixRefused`: ``step-apart`` (the optimizer
    steps elsewhere), ``own-gradients`` (the code reads or computes gradients itself), ``forward-apart`` (it is not
    certain which statements compute the loss), ``callers`` (the scaler cannot be handed to the function), ``one-line``,
    ``name-taken``, and those of `tree_of`."""
    tree = tree_of(text)
    training = training_step(tree, tree.at(step.span))
    edits = _autocast(tree, training, step.words["type"])
    touched = {text.path}
    if step.words["type"] == _HALF:
        scalers = Scalers(text_of, step.words.get("callers", ""))
        name = scalers.name_in(tree, training.routine, training.optimizers, training.backwards[0])
        edits += [*training.scaled(tree, name), *scalers.edits]
        for place in step.words.get("holder", "").split():
            path, line, column = place.rsplit(":", 2)
            edits.append(with_groups(tree_of(text_of(path)), int(line), int(column)))
        touched |= scalers.using
    requests = [import_request for path in sorted(touched) for import_request in _imports(text_of(path))]
    return Plan(tuple(dict.fromkeys(edits)), tuple(requests))


def _autocast(tree: Tree, training: TrainingStep, half: str) -> list[Edit]:
    """The edits that put what leads to each backward call under autocast."""
    arguments = "" if half == _HALF else f"dtype={_torch(tree)}.{half}"
    context = f"{_torch(tree)}.npu.amp.autocast({arguments})"
    edits: list[Edit] = []
    taken: set[ast.stmt] = set()
    for call in training.backwards:
        region = autocast_region(tree, call, training)
        if taken.isdisjoint(region):
            edits += region_edits(tree, region, context)
        elif not taken.issuperset(region):
            raise FixRefused("forward-apart")
        taken.update(region)
    return edits


def _torch(tree: Tree) -> str:
    """The name by which a file knows PyTorch; the usual one where the import is yet to come."""
    try:
        return module_name(tree, "torch")
    except FixRefused:
        return "torch"


def _imports(text: Text) -> list[ImportRequest]:
    """The imports that a file needs for the names of torch_npu."""
    try:
        module_name(tree_of(text), "torch")
    except FixRefused:
        return [ImportRequest(text.path, "import torch"), ImportRequest(text.path, "import torch_npu", "torch")]
    return [ImportRequest(text.path, "import torch_npu", "torch")]
