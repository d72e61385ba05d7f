"""Training: which PyTorch code runs in every step of a training loop, and which on the host beside it."""

from __future__ import annotations

import re
from functools import cached_property

from npulint.assemble.flow import Flow, Site
from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.facts.code import UNKNOWN, Block, CallResult, Const, Function, Op, Ref, Value
from npulint.lazy_regex import lazy_compile

_STEP_METHODS = frozenset(  # called by Lightning, transformers, mmcv and fairseq
    ("training_step", "optimizer_step", "compute_loss", "forward_train", "train_step")
)
_HOST_METHODS = frozenset(("__getitem__", "__len__", "collate_fn", "collate"))
_HOST_KEYWORDS = frozenset(("worker_init_fn", "transform", "target_transform", "transforms"))
_HOST_CLASS = lazy_compile(
    r"(?:^|\.)torch\.utils\.data\.|(?:Data[sS]et|DataLoader|Collat(?:or|e)|[a-z]Transforms?)(?:V?\d+)?(?:\(\))?$"
)
_HOST_FILE = lazy_compile(
    r"(?:^|[/_])(?:datasets?|data_?loader|data_?utils?|transforms?|augment\w*|preprocess\w*|tokeniz\w*|collat\w*|samplers?)"
    r"(?:[/_.]|\.py$)"
)
_EVALUATION = lazy_compile(
    r"(?:^|[_.])(?:eval\w*|valid\w*|val|test\w*|infer\w*|predict\w*|demo|visuali\w*|export\w*|sample|recogni[sz]e\w*|beam\w*)(?:_|$)"
)
_AFTERWARDS = lazy_compile(r"(?:PostProcess\w*|Evaluat\w*|Predictor\w*|Inferenc\w*|Metrics?|Visuali[sz]er)$")
_UNTRAINED = ("torch.no_grad", "torch.inference_mode")
_TRAINING = lazy_compile(r"(?:^|\.)training$")
_TARGETS = lazy_compile(r"(?:^|[._])(?:targets?|labels?|gts?|gt_\w+|truths?|\w+_labels?|\w+_targets?)$")
_COUNTER = lazy_compile(
    r"(?:^|[._])(?:i|j|n|idx|\w*iter|\w*iteration|\w*iters|\w*step|\w*steps|\w*batch_?(?:idx|id|i|index|nr|num)|epoch)$"
)
_COMPARING = frozenset(("==", "<", "<=", "in"))
_UNUSUAL = frozenset(("isnan", "isinf", "isfinite"))
_SOMETIMES = lazy_compile(
    r"(?:^|[._])(?:rank|local_rank|verbose|debug|log|logging|print\w*|is_main\w*|is_master|master|rank_?0?|writer|prof\w*"
    r"|timers?|timing|benchmark|dry_run|wandb|tensorboard\w*|tb_\w+|summary\w*)(?:$|[._(])"
)
_LOADER = lazy_compile(r"loader|dataset|batch|data_?iter|prefetch|pbar", re.IGNORECASE)
_HOPS = 5  # functions around a backward call that may hold its loop
_NAMESAKES = 4  # methods of one name that a call on an unknown object may reach

Place = tuple[str, int]
"""A path and a block there."""


class Training:
    """Answers ``yes`` (runs in every training step), ``gated`` (in some of them), ``host`` (data preparation) or
    ``no`` per block. Worked out when first asked for."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._names: Names = flow.names
        self._modules = flow.names.project.modules
        self._memo: dict[Place, str] = {}
        self._hosted: dict[Place, bool] = {}
        self._parts: dict[tuple[str, int, int], str] = {}

    def step(self, module: Module, block: int) -> str:
        """How often code in `block` runs while training."""
        key = (module.path, block)
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = self._step(module, block)
        return known

    def backward_calls(self, module: Module) -> list[int]:
        """The calls of ``backward`` in a module that are no calls of an own method of that name."""
        return [i for i in module.calls_of("backward") if self._names.function(self._names.of_call(module, i)) is None]

    def train_loop(self, module: Module, block: int) -> int:
        """The training loop around `block` within its function, or -1."""
        loop = module.loop_of(block)
        while loop >= 0 and (module.path, loop) not in self.loops:
            loop = module.loop_of(module.blocks[loop].parent)
        return loop

    def _step(self, module: Module, block: int) -> str:
        loop = self.train_loop(module, block)
        if loop >= 0:
            return self._within(module, block, loop)
        function = module.function_of(block)
        while function >= 0 and module.blocks[function].kind == "lambda":
            function = module.function_of(module.blocks[function].parent)
        if function >= 0 and (module.path, function) in self.functions:
            return self._within(module, block, function)
        return "host" if self._on_host(module, block) else "no"

    def _within(self, module: Module, block: int, outer: int) -> str:
        """How often code in `block` runs of what runs in every step from `outer` on."""
        key = (module.path, block, outer)
        known = self._parts.get(key)
        if known is None:
            if any(_evaluates(module.blocks[b]) for b in module.ancestors(block) if b > outer):
                known = "no"
            else:
                known = "gated" if self._gated(module, block, outer) else "yes"
            self._parts[key] = known
        return known

    def collates(self, module: Module, function: int) -> bool:
        """Whether a function makes batches: some loader is given it as ``collate_fn``."""
        return (module.path, function) in self._collating

    def _untrained(self, module: Module, block: int) -> bool:
        """Whether a function is decorated so that it takes no gradients."""
        record = module.blocks[block]
        return record.kind == "function" and any(
            self._names.of_value(module, value, record.parent, record.line).startswith(_UNTRAINED)
            for value in record.decorators
        )

    def _gated(self, module: Module, block: int, outer: int) -> bool:
        """Whether a condition between `block` and `outer` holds only now and then: every n-th step, on one rank."""
        inner = module.ancestors(block)
        around = inner[: inner.index(outer)] if outer in inner else []
        return any(
            module.blocks[b].kind == "except"
            or (module.blocks[b].kind in ("if", "else") and _now_and_then(module, module.blocks[b].test))
            for b in around
        )

    def _on_host(self, module: Module, block: int) -> bool:
        function = module.function_of(block)
        key = (module.path, function if function >= 0 else module.class_of(block))
        known = self._hosted.get(key)
        if known is None:
            known = self._hosted[key] = self._prepares(module, block, function)
        return known

    def _prepares(self, module: Module, block: int, function: int) -> bool:
        """Whether a function, or what is in no function, prepares data: by whom it is given to, its name, its class's
        name and bases, its file."""
        if function >= 0 and (module.path, function) in self._host:
            return True
        if function >= 0 and module.blocks[function].name.rpartition(".")[2] in _HOST_METHODS:
            return True
        owner = module.class_of(block)
        if owner >= 0:
            record = module.blocks[owner]
            bases = [self._names.of_value(module, base, record.parent, record.line) for base in record.bases]
            if any(_HOST_CLASS.search(base) for base in (*bases, record.name)):
                return True
        return bool(_HOST_FILE.search(module.path.removeprefix(self._names.project.root)))

    @cached_property
    def _host(self) -> set[Place]:
        """Functions handed to data loaders and datasets."""
        return self._collating | self._handed(_HOST_KEYWORDS)

    @cached_property
    def _collating(self) -> set[Place]:
        return self._handed(frozenset(("collate_fn",)))

    def _handed(self, keywords: frozenset[str]) -> set[Place]:
        """The functions that calls are given by one of these keywords."""
        found: set[Place] = set()
        for module in self._modules.values():
            for call in module.code.calls:
                for key, value in call.keywords:
                    if key in keywords:
                        targets = self._flow.functions(module, value, call.block, call.line)
                        found.update((home.path, inner) for home, inner in targets)
        return found

    @cached_property
    def loops(self) -> set[Place]:
        """The innermost loops that come to a backward call in every round, also through functions."""
        found: set[Place] = set()
        queue: list[tuple[Site, int]] = [((m, i), 0) for m in self._modules.values() for i in self.backward_calls(m)]
        seen: set[Place] = set()
        while queue:
            (module, index), hops = queue.pop()
            block = module.code.calls[index].block
            loop = module.loop_of(block)
            if loop >= 0:
                found.update((module.path, around) for around in _with_batches(module, loop))
                continue
            function = module.function_of(block)
            if function < 0 or (module.path, function) in seen or hops > _HOPS:
                continue
            seen.add((module.path, function))
            queue += [(site, hops + 1) for site in self._callers(module, function)]
        self._steppers = seen
        return found

    def _callers(self, module: Module, function: int) -> list[Site]:
        """The calls of a function; of ``__call__`` those of the instances of its class."""
        record = module.blocks[function]
        callers = list(self._flow.callers(module, function))
        if record.name.endswith((".__call__", ".forward")):
            owner = f"{module.name}:{record.name.rpartition('.')[0]}"
            for home in self._modules.values():
                callers += [(home, i) for i in range(len(home.code.calls)) if self._calls_one(home, i, owner)]
        if not callers and module.blocks[record.parent].kind == "class":
            last = record.name.rpartition(".")[2]
            for home in self._modules.values():
                callers += [(home, i) for i in home.calls_of(last) if self._names.of_call(home, i).startswith("?")]
        return callers

    def _calls_one(self, home: Module, index: int, owner: str) -> bool:
        """Whether a call calls an instance of the class `owner`, also one that was passed to the function."""
        name, call = self._names.of_call(home, index), home.code.calls[index]
        if not name.startswith("?"):
            return name == f"{owner}()"
        if not isinstance(call.callee, Ref) or "." in call.callee.name or name != f"?{call.callee.name}":
            return False
        sites = self._flow.sites(home, call.callee, call.block, call.line)
        return any(self._names.of_call(maker, at) == owner for maker, at in sites)

    @cached_property
    def functions(self) -> set[Place]:
        """The functions that run in every training step."""
        looping = {path for path, _ in self.loops}
        found: set[Place] = set()
        queue: list[tuple[Module, int]] = [(self._modules[path], block) for path, block in self._steppers]
        for name in ("forward", "backward", *_STEP_METHODS):
            queue += [place for place in self._methods.get(name, ()) if self._by_name(*place)]
        for path in looping:
            queue += self._called_in_loops(self._modules[path])
        while queue:
            module, block = queue.pop()
            if (module.path, block) in found or self._apart(module, block):
                continue
            found.add((module.path, block))
            for index in module.calls_in.get(block, ()):
                if self._within(module, module.code.calls[index].block, block) == "yes":
                    queue += self._called(module, index)
        return found

    def _called_in_loops(self, module: Module) -> list[tuple[Module, int]]:
        """The own functions that the training loops of a module call in every round."""
        found: list[tuple[Module, int]] = []
        for index, call in enumerate(module.code.calls):
            loop = self.train_loop(module, call.block) if module.loop_of(call.block) >= 0 else -1
            if loop >= 0 and self._within(module, call.block, loop) == "yes":
                found += self._called(module, index)
        return found

    def _by_name(self, module: Module, block: int) -> bool:
        """``forward`` of the project's own modules where anything trains, and what frameworks call in each step."""
        owner, _, name = module.blocks[block].name.rpartition(".")
        if name in _STEP_METHODS:
            return True
        if self._untrained(module, block):
            return False
        return bool(self.loops or self._stepping) and not _AFTERWARDS.search(owner)

    @cached_property
    def _stepping(self) -> bool:
        """Whether the project has methods that a framework's training loop calls."""
        return not self._methods.keys().isdisjoint(_STEP_METHODS)

    @cached_property
    def _methods(self) -> dict[str, list[tuple[Module, int]]]:
        """The methods of the project's classes by name."""
        found: dict[str, list[tuple[Module, int]]] = {}
        for module in self._modules.values():
            for block, record in enumerate(module.blocks):
                if record.kind == "function" and module.blocks[record.parent].kind == "class":
                    found.setdefault(record.name.rpartition(".")[2], []).append((module, block))
        return found

    def _called(self, module: Module, index: int) -> list[tuple[Module, int]]:
        """The own functions that a call runs; of an unknown object the methods of that name, unless there are many."""
        name = self._names.of_call(module, index)
        target = self._names.function(name)
        if target is not None:
            return [target] if target[0].blocks[target[1]].kind != "class" else []
        if not name.startswith("?") or "." not in name:
            return []
        named = self._methods.get(name.rpartition(".")[2], [])
        return named if len(named) <= _NAMESAKES else []

    def _apart(self, module: Module, block: int) -> bool:
        """Functions for evaluation or data, whoever calls them."""
        record = module.blocks[block]
        last = record.name.rpartition(".")[2]
        return bool(_EVALUATION.search(last)) or self._on_host(module, block)


def _with_batches(module: Module, loop: int) -> list[int]:
    """A loop that trains, and those around it that go through batches (it goes through losses or parts of one)."""
    found = [loop]
    outer = module.loop_of(module.blocks[loop].parent)
    while outer >= 0:
        if any(_LOADER.search(name) for name in _names(module, module.blocks[outer].test)):
            found.append(outer)
        outer = module.loop_of(module.blocks[outer].parent)
    return found


def _evaluates(record: Block) -> bool:
    """Whether a branch is taken only when nothing trains: ``if not self.training``, ``if targets is None``."""
    return record.kind in ("if", "else") and _phase(record.test) == ("eval" if record.kind == "if" else "train")


def _phase(test: Value) -> str:
    """``train`` or ``eval`` when a condition holds only then."""
    if isinstance(test, Ref):
        return "train" if _TRAINING.search(test.name) else ""
    if not isinstance(test, Op):
        return ""
    if test.op == "and":
        return next((found for found in map(_phase, test.operands) if found), "")
    if test.op == "not":
        return {"train": "eval", "eval": "train"}.get(_phase(test.operands[0]), "")
    left, right = test.operands if len(test.operands) == 2 else (UNKNOWN, UNKNOWN)
    if not isinstance(left, Ref) or not isinstance(right, Const):
        return ""
    if test.op in ("is", "is not") and right.value is None and _TARGETS.search(left.name):
        return "eval" if test.op == "is" else "train"
    if test.op == "==" and isinstance(right.value, str):
        return "train" if right.value == "train" else "eval" if _EVALUATION.search(right.value) else ""
    return ""


def _now_and_then(module: Module, test: Value, depth: int = 0) -> bool:
    """Whether a condition holds in some steps only: every n-th, the first ones, on one rank, when a loss is nan."""
    if isinstance(test, Ref):
        return bool(_SOMETIMES.search(test.name))
    if isinstance(test, Op) and depth < 6:
        if test.op in _COMPARING and any(isinstance(v, Ref) and _COUNTER.search(v.name) for v in test.operands):
            return True
        return test.op == "%" or any(_now_and_then(module, v, depth + 1) for v in test.operands)
    if isinstance(test, CallResult):
        call = module.code.calls[test.call]
        if isinstance(call.callee, Ref) and _SOMETIMES.search(call.callee.name):
            return True
        if module.callee_name(test.call) in _UNUSUAL:
            return True
        values = [call.callee, *call.args] if isinstance(call.callee, Op) else call.args
        return any(_now_and_then(module, v, depth + 1) for v in values if not isinstance(v, Function | Const))
    return False


def _names(module: Module, value: Value, depth: int = 0) -> list[str]:
    """The names in an expression, arguments of calls included."""
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Op) and depth < 4:
        return [name for part in value.operands for name in _names(module, part, depth + 1)]
    if isinstance(value, CallResult) and depth < 4:
        call = module.code.calls[value.call]
        return [name for part in (call.callee, *call.args) for name in _names(module, part, depth + 1)]
    return []
