"""Steps from named literals: assignments, defaults, entries of displays, and iteration counts of loops."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.callers import passed
from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Const, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Span
from npulint.lazy_regex import lazy_compile
from npulint.training_config.steps.code_context import evaluates, home_of, is_open
from npulint.training_config.steps.counters import counters
from npulint.training_config.steps.literals import is_filling, is_literal, is_relevant
from npulint.training_config.steps.model import Argument, CodeStep
from npulint.training_config.steps.naming import AVERAGE, group_part, named_part

_TRAINING = lazy_compile(r"^(?:run|backward|train|train_step|train_on_batch|train_one_epoch|fit|minimize)$")
_SCHEDULE = lazy_compile(r"schedul|warm_?up|cosine|anneal|(?:^|_)lr(?:_|$)")
_ADAPTER = "parameter_map["
_SWITCHES = {
    "benchmark": "determinism",
    "deterministic": "determinism",
    "allow_tf32": "determinism",
    "TF_DETERMINISTIC_OPS": "determinism",
    "TF_CUDNN_DETERMINISTIC": "determinism",
    "HCCL_DETERMINISTIC": "determinism",
    "CUBLAS_WORKSPACE_CONFIG": "determinism",
    "PYTHONHASHSEED": "seed",
    "requires_grad": "frozen",
    "trainable": "frozen",
}
"""Attributes and environment variables whose assignment has a side effect."""
_BEGINNINGS = (Const(0), Const(1))  # initial values of counters
_OF_GROUPS = frozenset(("weight_decay", "momentum"))
_OUTER = ("module", "class", "global")


class Named:
    """Creates steps from the named literals of a project's modules."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def of(self, module: Module) -> Iterator[CodeStep]:
        """The steps of a module, unordered."""
        for part in (self._binds, self._counters, self._tables, self._defaults, self._loops):
            yield from part(module)

    def _binds(self, module: Module) -> Iterator[CodeStep]:
        counted = {_last(bind.target) for bind, _ in counters(module)}
        for bind in module.code.assignments:
            if _ADAPTER in bind.target:
                continue  # its settings are separate facts
            place = Span.of(bind)
            last = _last(bind.target)
            if isinstance(bind.value, Table | SequenceDisplay):
                yield from self._entries(module, bind.value, bind.block, place, last)
            if isinstance(bind.value, Table):
                continue
            part = _SWITCHES.get(last, "") or group_part(bind.target)
            if part in _OF_GROUPS and not is_literal(bind.value):
                yield self._literal("switch", last, part, module, bind.block, place, bind.value)
                continue
            if bind.target.endswith("[*]") and is_filling(bind.value):
                yield self._literal("fill", last, "operation", module, bind.block, place, bind.value)
                continue
            if part and is_literal(bind.value):
                yield self._literal("switch", last, part, module, bind.block, place, bind.value)
                continue
            if not is_literal(bind.value) or not is_relevant(bind.value):
                continue
            part = named_part(last)
            if part == "setting" and not _of_configuration(module, bind.block, bind.target):
                continue
            if part and not (last in counted and bind.value in _BEGINNINGS):
                yield self._literal("bind", last, part, module, bind.block, place, bind.value)

    def _counters(self, module: Module) -> Iterator[CodeStep]:
        for bind, added in counters(module):
            place = Span.of(bind)
            yield self._literal("counter", _last(bind.target), "evaluation", module, bind.block, place, added)

    def _tables(self, module: Module) -> Iterator[CodeStep]:
        """The entries of dict displays that are arguments or returned: ``[{"params": p, "lr": 0.1}]``."""
        for returned in module.code.returns:
            if isinstance(returned.value, Table | SequenceDisplay):
                place = Span.at(returned.line)
                yield from self._entries(module, returned.value, returned.block, place, "return")
        for index, call in enumerate(module.code.calls):
            place = Span.of(call)
            for value in (*call.args, *(value for _, value in call.keywords)):
                if isinstance(value, Table | SequenceDisplay):
                    yield from self._entries(module, value, call.block, place, module.callee_name(index))

    def _entries(self, module: Module, value: Value, block: int, place: Span, owner: str) -> Iterator[CodeStep]:
        waiting: list[tuple[str, Value]] = [(owner, value)]
        while waiting:
            prefix, display = waiting.pop()
            if isinstance(display, SequenceDisplay):
                waiting += [(prefix, item) for item in display.items if isinstance(item, Table | SequenceDisplay)]
            if not isinstance(display, Table):
                continue
            places = [Span(*one) for one in display.places] or [place] * len(display.keys)
            for key, value, at in zip(display.keys, display.values, places, strict=True):
                if not isinstance(key, Const):
                    continue
                name = f"{prefix}.{key.value}"
                inner = value.items if isinstance(value, SequenceDisplay) else (value,)
                if any(isinstance(item, Table) for item in inner):
                    waiting.append((name, value))
                elif is_literal(value) and is_relevant(value) and named_part(str(key.value)):
                    part = named_part(str(key.value))
                    yield self._literal("entry", name, part, module, block, at, value)

    def _literal(
        self, kind: str, name: str, part: str, module: Module, block: int, place: Span, value: Value
    ) -> CodeStep:
        argument = Argument("", value, block, place.line, part)
        home = home_of(module, block)
        only = evaluates(module, block)
        return CodeStep(kind, name, name, part, module, home, block, place, (argument,), evaluates=only)

    def _defaults(self, module: Module) -> Iterator[CodeStep]:
        for block, record in enumerate(module.blocks):
            if record.kind != "function" or not record.defaults:
                continue
            first = len(record.params) - len(record.defaults)
            for name, value in zip(record.params[first:], record.defaults, strict=True):
                part = _named_in(module, block, name)
                if part and is_literal(value) and is_relevant(value) and not self._always_passed(module, block, name):
                    place = Span.at(record.line)
                    yield self._literal("default", name, part, module, block, place, value)

    def _always_passed(self, module: Module, block: int, name: str) -> bool:
        """Whether all calls of a function pass a parameter, so that its default is irrelevant."""
        arguments = passed(scope_at(self.context, module, block), name)
        return bool(arguments) and all(value is not None for _, value in arguments)

    def _loops(self, module: Module) -> Iterator[CodeStep]:
        """Loops with a literal number of iterations: ``for epoch in range(90)``."""
        counters = {b.block: b.target for b in module.code.assignments if module.blocks[b.block].kind == "loop"}
        training = {call.block for call in module.code.calls if _TRAINING.search(_called(call))}
        for block, record in enumerate(module.blocks):
            if record.kind != "loop" or not isinstance(record.test, CallResult):
                continue
            call = module.code.calls[record.test.call]
            part = named_part(counters.get(block, ""))
            if part not in ("epochs", "steps"):
                part = "steps" if block in training else ""
            if part and isinstance(call.callee, Ref) and call.callee.name in ("range", "xrange"):
                arguments = tuple(Argument(str(i), a, call.block, call.line, part) for i, a in enumerate(call.args))
                span = Span.of(call)
                home = home_of(module, record.parent)
                yield CodeStep("loop", part, "range", part, module, home, record.parent, span, arguments, is_open(call))


def _called(call: Call) -> str:
    """The last name of a callee as written; empty if it is computed."""
    return call.callee.name.rpartition(".")[2] if isinstance(call.callee, Ref) else ""


def _named_in(module: Module, block: int, name: str) -> str:
    """The part of a parameter, by its name and those of its function or class."""
    part, owner = named_part(name), module.blocks[block].name.lower()
    if part in ("schedule", "momentum", "setting") and AVERAGE.search(owner):
        return "average"
    return "schedule" if part == "setting" and _SCHEDULE.search(owner) else part


def _last(target: str) -> str:
    """The last name of an assignment target: ``lr`` of ``self.cfg[lr]`` and of ``cfg.lr``."""
    return target.rstrip("]").replace("[", ".").rpartition(".")[2]


def _of_configuration(module: Module, block: int, target: str) -> bool:
    """Whether an assignment affects more than its own function: at module or class level, on an object, or in a
    function that creates a configuration."""
    return "." in target or "[" in target or module.blocks[module.scope[block]].kind in _OUTER
