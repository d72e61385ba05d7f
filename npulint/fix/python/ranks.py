"""Turns a training in one process that replicates its model (DataParallel) into one process for each NPU."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.python.mixed.steps import Routine, inside
from npulint.fix.python.names import module_name
from npulint.fix.python.sections import behind_imports, is_docstring, is_main
from npulint.fix.python.tree import Tree, tree_of
from npulint.judge.findings import Edit, FixStep

_ALWAYS = re.compile(r"device_count\(\)|['\"](?:npu|cuda)['\"]|(?:npu|cuda)\.is_available\(\)")
_INDEXED = re.compile(r"['\"](?:npu|cuda):\d|\.(?:npu|cuda)\(\d")
_MAKING = ("mkdir", "makedirs")
_LOGGING = re.compile(r"SummaryWriter|Logger\(|FileHandler|open\([^()]*['\"][wa]b?\+?['\"]|savefig|wandb")
_SCRIPT = """#!/bin/bash
source /usr/local/Ascend/ascend-toolkit/set_env.sh
torchrun --nproc_per_node="${{NPUS:-8}}" {name} "$@"
"""
_GROUP = """\
if "LOCAL_RANK" not in os.environ:  # started without torchrun: one NPU
    os.environ.update(LOCAL_RANK="0", RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
local_rank = int(os.environ["LOCAL_RANK"])
{torch}.npu.set_device(local_rank)
{torch}.distributed.init_process_group("hccl")"""
_QUIET = """
if {torch}.distributed.get_rank() != 0:
    sys.stdout = open(os.devnull, "w")  # one rank prints"""


def plan(step: FixStep, text: Text, text_of: Callable[[str], Text]) -> Plan:
    """The plan of a ``ranks`` step at a call of DataParallel: all of process group, wrapper, sampler with its epochs,
    writes by rank 0 and a launcher. Raises `FixRefused` (``ranks``) where one of them cannot be done with certainty,
    ``exists`` where the launcher exists."""
    tree = tree_of(text)
    call = tree.exactly_at(step.span)
    other = "local_rank" in text.text or _INDEXED.search(text.text) or _LOGGING.search(text.text)
    if not isinstance(call, ast.Call) or other:
        raise FixRefused("ranks")
    training = _Training(tree, call)
    edits = [
        *training.wrapped(),
        *training.sampled(),
        *training.divided(),
        *training.fetched_once(),
        *training.started(),
        *_written_once(tree, training.routine),
        _launcher(text, text_of),
    ]
    imports = [ImportRequest(text.path, "import os")]
    if training.prints:
        imports.append(ImportRequest(text.path, "import sys"))
    return Plan(tuple(edits), tuple(imports))


class _Training:
    """The function or module that wraps the model, with the loader and the loop over the epochs there."""

    def __init__(self, tree: Tree, call: ast.Call) -> None:
        self._tree = tree
        self._call = call
        self.routine: Routine = _routine(tree, call)
        self._torch = module_name(tree, "torch")
        if not _is_script(tree) or not _is_unconditional(tree, call):
            raise FixRefused("ranks")

    def wrapped(self) -> list[Edit]:
        """The edits that wrap the model for one NPU instead of several."""
        start, end = self._tree.range(self._call)
        model = self._call.args[0] if self._call.args else None
        if not isinstance(model, ast.Name | ast.Attribute):
            raise FixRefused("ranks")
        wrapper = f"{self._torch}.nn.parallel.DistributedDataParallel"
        moved = f"{self._tree.text(model)}.npu()"
        return [self._tree.edit(start, end, f"{wrapper}({moved}, device_ids=[local_rank])")]

    def sampled(self) -> list[Edit]:
        """The edits that give each rank its part of the data, in a new order in each epoch."""
        loaders = self._shuffling()
        if len(loaders) != 1:
            raise FixRefused("ranks")
        loader = loaders[0]
        shuffle = next(key for key in loader.keywords if key.arg == "shuffle")
        statement = self._tree.parent(loader)
        dataset = next(
            (keyword.value for keyword in loader.keywords if keyword.arg == "dataset"), next(iter(loader.args), None)
        )
        given = {keyword.arg for keyword in loader.keywords}
        if not _is_true(shuffle) or len(loader.args) > 2 or given & {"sampler", "batch_sampler", None}:
            raise FixRefused("ranks")
        if not isinstance(dataset, ast.Name) or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise FixRefused("ranks")
        target = statement.targets[0]
        epochs = [node for node in self._nodes(ast.For) if _is_epochs(node)]
        if not isinstance(target, ast.Name) or len(epochs) != 1:
            raise FixRefused("ranks")
        first = self._tree.range(epochs[0].body[0])[0]
        if not self._tree.leads(first):
            raise FixRefused("one-line")
        line = self._tree.line_start(first)
        epoch = self._tree.text(epochs[0].target)
        sampler = f"sampler={self._torch}.utils.data.DistributedSampler({dataset.id})"
        return [
            self._tree.edit(*self._tree.range(shuffle), sampler),
            self._tree.edit(line, line, f"{self._tree.indent(first)}{target.id}.sampler.set_epoch({epoch})\n"),
        ]

    def divided(self) -> list[Edit]:
        """The edits that divide the batch among the ranks, as DataParallel does. Raises `FixRefused` where something
        else depends on its size."""
        (loader,) = self._shuffling()
        keyword = next((node.value for node in loader.keywords if node.arg == "batch_size"), None)
        size = loader.args[1] if len(loader.args) > 1 else keyword
        if size is None:
            return []
        written = self._tree.text(size)
        if not isinstance(size, ast.Constant) and any(self._depends(node, written) for _, _, node in self._tree.nodes):
            raise FixRefused("ranks")
        plain = isinstance(size, ast.Constant | ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        divided = f"{written if plain else f'({written})'} // {self._torch}.distributed.get_world_size()"
        return [self._tree.edit(*self._tree.range(size), divided)]

    def _depends(self, node: ast.AST, written: str) -> bool:
        """Whether a node is a use of the batch size outside of loaders and of what is printed."""
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return False
        if self._tree.text(node) != written:
            return False
        while not isinstance(node, ast.stmt):
            node = self._tree.parent(node)
            if isinstance(node, ast.Call) and _last(node) in ("DataLoader", "print"):
                return False
        return True

    def fetched_once(self) -> list[Edit]:
        """The edits that let rank 0 download data before the others read it."""
        fetching = [node for _, _, node in self._tree.nodes if isinstance(node, ast.Call) and _downloads(node)]
        if not fetching:
            return []
        statements = [self._tree.statement(node) for node in fetching]
        block = self._tree.block(statements[0])
        if (
            any(statement not in block for statement in statements)
            or _routine(self._tree, statements[0]) is not self.routine
        ):
            raise FixRefused("ranks")
        first = self._tree.range(min(statements, key=self._tree.range))[0]
        last = self._tree.range(max(statements, key=self._tree.range))[1]
        line, end, indent = self._tree.line_start(first), self._tree.line_end(last), self._tree.indent(first)
        if not self._tree.leads(first) or self._tree.source[last:end].strip():
            raise FixRefused("one-line")
        wait = f"{self._torch}.distributed.barrier()"
        before = f"{indent}if local_rank != 0:\n{indent}{self._tree.unit}{wait}  # rank 0 downloads first\n"
        behind = f"\n{indent}if local_rank == 0:\n{indent}{self._tree.unit}{wait}"
        return [self._tree.edit(line, line, before), self._tree.edit(end, end, behind)]

    @property
    def prints(self) -> bool:
        """Whether the script itself prints."""
        return any(isinstance(node, ast.Call) and _last(node) == "print" for _, _, node in self._tree.nodes)

    def started(self) -> list[Edit]:
        """The edit that sets the device and starts the process group before all else."""
        group = (_GROUP + (_QUIET if self.prints else "")).format(torch=self._torch)
        if isinstance(self.routine, ast.Module):
            return [behind_imports(self._tree, group)]
        body = self.routine.body
        first = body[1] if is_docstring(body[0]) and len(body) > 1 else body[0]
        start = self._tree.range(first)[0]
        if not self._tree.leads(start):
            raise FixRefused("one-line")
        line, indent = self._tree.line_start(start), self._tree.indent(start)
        return [self._tree.edit(line, line, "".join(f"{indent}{text}\n" for text in group.split("\n")))]

    def _shuffling(self) -> list[ast.Call]:
        """The loaders that shuffle, or may."""
        loaders = [node for node in self._nodes(ast.Call) if _last(node) == "DataLoader"]
        return [
            loader for loader in loaders if any(key.arg == "shuffle" and not _is_false(key) for key in loader.keywords)
        ]

    def _nodes(self, kind: type) -> list:  # type: ignore[type-arg]
        return [node for node in inside(self.routine) if isinstance(node, kind)]


def _written_once(tree: Tree, routine: Routine) -> list[Edit]:
    """The edits that let rank 0 alone write checkpoints."""
    savers = {
        node.name
        for _, _, node in tree.nodes
        if isinstance(node, ast.FunctionDef) and "save" in node.name and any(map(_saves, ast.walk(node)))
    }
    edits: list[Edit] = []
    for _, _, node in tree.nodes:
        if not isinstance(node, ast.Call) or not (_saves(node) or "save" in _last(node) or _last(node) in _MAKING):
            continue
        if not isinstance(routine, ast.Module) and isinstance(_routine(tree, node), ast.Module):
            raise FixRefused("ranks")  # it may run before the process group is there
        if isinstance(_routine(tree, node), ast.FunctionDef) and getattr(_routine(tree, node), "name", "") in savers:
            continue
        edits += _for_first_rank(tree, node)
    return edits


def _for_first_rank(tree: Tree, call: ast.Call) -> list[Edit]:
    statement = tree.parent(call)
    if not isinstance(statement, ast.Expr):
        raise FixRefused("ranks")
    start, end = tree.range(statement)
    if not tree.leads(start) or any(start <= at < end and "\n" in tree.source[at:to] for at, to in tree.lexed.strings):
        raise FixRefused("one-line")
    test = f"if {module_name(tree, 'torch')}.distributed.get_rank() == 0:\n"
    edits = []
    for number in range(tree.line_of(start), tree.line_of(end) + 1):
        place = tree.starts[number - 1]
        lead = tree.indent(start) + test if number == tree.line_of(start) else ""
        if tree.lines[number - 1].strip():
            edits.append(tree.edit(place, place, lead + tree.unit))
    return edits


def _launcher(text: Text, text_of: Callable[[str], Text]) -> Edit:
    """A launcher beside the script, which one process cannot be started without."""
    folder, name = posixpath.split(text.path)
    path = posixpath.join(folder, f"{name.removesuffix('.py')}_npu.sh")
    if not text_of(path).new:
        raise FixRefused("exists")
    return Edit(path, Span(), _SCRIPT.format(name=name))


def _routine(tree: Tree, node: ast.AST) -> Routine:
    while not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        node = tree.parent(node)
        if isinstance(node, ast.ClassDef):
            raise FixRefused("ranks")
    return node


def _is_script(tree: Tree) -> bool:
    """Whether a file is started: it has code for that, or does its work at the level of the module."""
    return any(isinstance(node, ast.If) and is_main(node) for node in tree.module.body) or any(
        isinstance(node, ast.For | ast.Expr) for node in tree.module.body
    )


def _is_unconditional(tree: Tree, node: ast.AST) -> bool:
    """Whether something runs wherever there are several NPUs."""
    while node is not tree.module:
        parent = tree.parent(node)
        if isinstance(parent, ast.If) and not is_main(parent):
            if tree.field(node) != "body" or not _ALWAYS.search(tree.text(parent.test)):
                return False
        elif isinstance(parent, ast.For | ast.While | ast.Try | ast.IfExp):
            return False
        node = parent
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return True
    return True


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _saves(node: ast.AST) -> bool:
    """Whether a node is a call of ``torch.save``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "save":
        return False
    return isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"


def _downloads(call: ast.Call) -> bool:
    """Whether a call may download what it makes."""
    return any(keyword.arg == "download" and not _is_false(keyword) for keyword in call.keywords)


def _is_true(keyword: ast.keyword) -> bool:
    return isinstance(keyword.value, ast.Constant) and keyword.value.value is True


def _is_false(keyword: ast.keyword) -> bool:
    return isinstance(keyword.value, ast.Constant) and keyword.value.value is False


def _is_epochs(node: ast.For) -> bool:
    """Whether a loop counts the epochs."""
    return isinstance(node.target, ast.Name) and "epoch" in node.target.id.lower() and isinstance(node.iter, ast.Call)
