"""Training: which PyTorch code runs in every step of a training loop, and which on the host beside it."""

from __future__ import annotations

from functools import cached_property

from npulint.assemble.flow import Flow, Site
from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.facts.code import Const, Function, Op, Ref, Result, Value
from npulint.later import regex

_STEP_METHODS = frozenset(("training_step", "optimizer_step", "compute_loss"))  # called by Lightning and transformers
_HOST_METHODS = frozenset(("__getitem__", "__len__", "collate_fn", "collate"))
_HOST_KEYWORDS = frozenset(("collate_fn", "worker_init_fn", "transform", "target_transform", "transforms"))
_HOST_BASE = regex(r"(?:Dataset|Sampler|Transform)\w*(?:\(\))?$")
_HOST_FILE = regex(
    r"(?:^|[/_])(?:datasets?|data_?loader|data_?utils?|transforms?|augment\w*|preprocess\w*|tokeniz\w*|collat\w*|samplers?)"
    r"(?:[/_.]|\.py$)"
)
_EVALUATION = regex(
    r"(?:^|[_.])(?:eval\w*|valid\w*|val|test\w*|infer\w*|predict\w*|demo|visuali\w*|export\w*|sample)(?:_|$)"
)
_UNTRAINED = ("torch.no_grad", "torch.inference_mode")
_MODULE = regex(r"(?:^|\.)nn\.(?:\w+\.)*Module$|LightningModule$|\.autograd\.Function$")
_SOMETIMES = regex(
    r"(?:^|[._])(?:rank|local_rank|verbose|debug|log|logging|print\w*|is_main\w*|is_master|master|rank_?0?|writer)(?:$|[._(])"
)
_HOPS = 5  # functions around a backward call that may hold its loop

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
        if any(self._untrained(module, inner) for inner in module.ancestors(block)):
            return "no"
        loop = self.train_loop(module, block)
        if loop >= 0:
            return "gated" if self._gated(module, block, loop) else "yes"
        function = module.function_of(block)
        while function >= 0 and module.blocks[function].kind == "lambda":
            function = module.function_of(module.blocks[function].parent)
        if function >= 0 and (module.path, function) in self.functions:
            return "gated" if self._gated(module, block, function) else "yes"
        return "host" if self._on_host(module, block) else "no"

    def _untrained(self, module: Module, block: int) -> bool:
        record = module.blocks[block]
        if record.kind == "with":
            return self._names.of_value(module, record.test, record.parent, record.line).startswith(_UNTRAINED)
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
        if function >= 0 and (module.path, function) in self._host:
            return True
        if function >= 0 and module.blocks[function].name.rpartition(".")[2] in _HOST_METHODS:
            return True
        owner = module.class_of(block)
        if owner >= 0:
            record = module.blocks[owner]
            bases = [self._names.of_value(module, base, record.parent, record.line) for base in record.bases]
            if any(_HOST_BASE.search(base) for base in (*bases, record.name)):
                return True
        return bool(_HOST_FILE.search(module.path))

    @cached_property
    def _host(self) -> set[Place]:
        """Functions handed to data loaders and datasets."""
        found: set[Place] = set()
        for module in self._modules.values():
            for call in module.code.calls:
                for key, value in call.keywords:
                    if key in _HOST_KEYWORDS:
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
                found.add((module.path, loop))
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
            owner = f"{module.name}:{record.name.rpartition('.')[0]}()"
            for home in self._modules.values():
                callers += [(home, i) for i, name in enumerate(self._names.of_calls(home)) if name == owner]
        return callers

    @cached_property
    def functions(self) -> set[Place]:
        """The functions that run in every training step."""
        loops = self.loops
        found: set[Place] = set()
        queue: list[tuple[Module, int]] = [(self._modules[path], block) for path, block in self._steppers]
        for module in self._modules.values():
            queue += [
                (module, b) for b, r in enumerate(module.blocks) if r.kind == "function" and self._by_name(module, b)
            ]
            for index, call in enumerate(module.code.calls):
                loop = module.loop_of(call.block)
                if loop >= 0 and (module.path, loop) in loops and not self._gated(module, call.block, loop):
                    queue += self._called(module, index)
        while queue:
            module, block = queue.pop()
            if (module.path, block) in found or self._apart(module, block):
                continue
            found.add((module.path, block))
            for index in module.calls_in.get(block, ()):
                if not self._gated(module, module.code.calls[index].block, block):
                    queue += self._called(module, index)
        return found

    def _by_name(self, module: Module, block: int) -> bool:
        """``forward`` of the project's own modules where anything trains, and what frameworks call in each step."""
        name = module.blocks[block].name.rpartition(".")[2]
        if name in _STEP_METHODS:
            return module.class_of(block) >= 0
        return name == "forward" and bool(self.loops) and module.class_of(block) >= 0

    def _called(self, module: Module, index: int) -> list[tuple[Module, int]]:
        target = self._names.function(self._names.of_call(module, index))
        if target is None or target[0].blocks[target[1]].kind == "class":
            return []
        return [target]

    def _apart(self, module: Module, block: int) -> bool:
        """Functions for evaluation or data, whoever calls them."""
        record = module.blocks[block]
        last = record.name.rpartition(".")[2]
        return bool(_EVALUATION.search(last)) or self._untrained(module, block) or self._on_host(module, block)


def _now_and_then(module: Module, test: Value, depth: int = 0) -> bool:
    if isinstance(test, Ref):
        return bool(_SOMETIMES.search(test.name))
    if isinstance(test, Op) and depth < 6:
        return test.op == "%" or any(_now_and_then(module, v, depth + 1) for v in test.operands)
    if isinstance(test, Result):
        call = module.code.calls[test.call]
        if isinstance(call.callee, Ref) and _SOMETIMES.search(call.callee.name):
            return True
        return any(_now_and_then(module, v, depth + 1) for v in call.args if not isinstance(v, Function | Const))
    return False
