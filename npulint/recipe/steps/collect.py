"""From the code of a module to its steps."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.data.recipe import RecipeCall, recipe_call
from npulint.facts.code import Call, Const, Items, Op, Ref, Result, Table, Value
from npulint.facts.model import Span
from npulint.later import regex
from npulint.recipe.steps.arguments import named_literals, of_own, of_splits, of_vocabulary
from npulint.recipe.steps.counters import counters
from npulint.recipe.steps.literals import is_filling, is_literal, is_telling
from npulint.recipe.steps.model import MODULE, Argument, Step
from npulint.recipe.steps.naming import AVERAGE, group_part, named_part
from npulint.recipe.steps.unresolved import cast_of, derived, registered, telling_arguments, telling_name

_EVALUATION = regex(
    r"(?:^|[_.])(?:eval|evaluate|evaluation|val|valid|validate|validation|test|infer|inference)(?:[_.]|$)"
)
_ANY_MODULE = "torch.nn.Module"  # applied without that it is known any more which it was
_TRAINING = regex(r"^(?:run|backward|train|train_step|train_on_batch|train_one_epoch|fit|minimize)$")
_SCHEDULE = regex(r"schedul|warm_?up|cosine|anneal|(?:^|_)lr(?:_|$)")
_READING = frozenset(("dataset", "shuffle"))
_ADAPTER = "parameter_map["
_DEFINING = frozenset(("add_argument", "HParams", "set_defaults"))
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
"""Attributes and environment variables whose assignment does something by itself."""
_BEGINNINGS = (Const(0), Const(1))  # of what is counted up
_OF_GROUPS = frozenset(("weight_decay", "momentum"))
_OUTER = ("module", "class", "global")


class Collector:
    """Collects the steps of a project's modules, each as it stands; which of them count is decided afterwards."""

    def __init__(self, context: Context, framework: str) -> None:
        self.context = context
        self._framework = framework
        self.names = context.names

    def steps(self, module: Module) -> list[Step]:
        """All steps of a module in the order of their homes and of evaluation."""
        parts = (self._calls, self._binds, self._counters, self._tables, self._defaults, self._loops)
        found = [step for part in parts for step in part(module)]
        found.sort(key=lambda step: (step.home, step.order))
        return found

    # -- calls ------------------------------------------------------------------------------------

    def _calls(self, module: Module) -> Iterator[Step]:
        for index, name in enumerate(self.names.of_calls(module)):
            call = module.code.calls[index]
            step = self._known(module, index, call, name) or self._own(module, index, call, name)
            if step is None:
                step = self._named(module, index, call)
            if step is not None:
                yield step

    def _known(self, module: Module, index: int, call: Call, name: str) -> Step | None:
        """A call that the vocabulary knows, or of an object of a class that it knows (a layer that is applied)."""
        known = recipe_call(name, self._framework)
        if known is None or known.same_as.rstrip("()") == _ANY_MODULE:
            return None
        if known.transparent:
            cast = cast_of(call, known)
            return self._step("call", f"?.{cast}", f".{cast}", "half_cast", module, call, (), index) if cast else None
        arguments = () if known.same_as.endswith("()") else tuple(of_vocabulary(call, known))
        if known.part in _READING:
            arguments += tuple(of_splits(module, call, [argument.name for argument in arguments], known))
        step = self._step(
            "call", known.same_as, _shown(known.same_as), known.part, module, call, arguments, index, known
        )
        handed = self._handed(module, call) if known.part == "transform" else ()
        return msgspec.structs.replace(step, handed=handed) if handed else step

    def _handed(self, module: Module, call: Call) -> tuple[tuple[str, int], ...]:
        """The own functions that a call is given."""
        given = (value for value in (*call.args, *(value for _, value in call.keywords)) if isinstance(value, Ref))
        named = (self.names.function(self.names.of_name(module, v.name, call.block, call.line)) for v in given)
        return tuple((home.path, block) for home, block in (one for one in named if one is not None))

    def _own(self, module: Module, index: int, call: Call, name: str) -> Step | None:
        target = self.names.function(name) or self._only_method(module, name)
        if target is None:
            return None
        home, block = target
        made = None if name.endswith("()") else derived(self.names, home, block)
        if made is not None:
            given = tuple(of_vocabulary(call, made))
            return self._step("call", made.same_as, _shown(made.same_as), made.part, module, call, given, index, made)
        applied = name.endswith("()") and home.blocks[block].kind == "class"
        shown = home.blocks[block].name.rpartition(".")[2] or "lambda"
        arguments = () if applied else tuple(of_own(self.context, module, index, home, block))
        key = f"{home.path}:{block}" + ("()" if applied else "")
        return self._step("own", key, shown, "", module, call, arguments, index, None, (home.path, block))

    def _only_method(self, module: Module, name: str) -> tuple[Module, int] | None:
        """The own method that a call of an unknown object means, if only one class of the project, or of the modules
        that are imported here, has such a method."""
        if not name.startswith("?") or "." not in name:
            return None
        found = self.context.once("own methods", self._methods).get(name.rpartition(".")[2], [])
        if len(found) > 1:
            near = (module.path, *self.context.project.uses(module.path))
            found = [one for one in found if one[0].path in near]
        return found[0] if len(found) == 1 else None

    def _methods(self) -> dict[str, list[tuple[Module, int]]]:
        found: dict[str, list[tuple[Module, int]]] = {}
        for module in self.context.project.modules.values():
            for block, record in enumerate(module.blocks):
                if record.kind == "function" and module.blocks[record.parent].kind == "class":
                    found.setdefault(record.name.rpartition(".")[2], []).append((module, block))
        return found

    def _named(self, module: Module, index: int, call: Call) -> Step | None:
        """A call of something unknown that is given settings by keyword: ``dict(type="SGD", lr=0.1)``."""
        last = module.written(index)
        made = registered(last, call)
        if made is not None:
            given = tuple(one for one in of_vocabulary(call, made) if one.name != "type")
            return self._step("call", made.same_as, _shown(made.same_as), made.part, module, call, given, index, made)
        part = telling_name(call.callee)
        if part:
            return self._step("call", last, last, part, module, call, tuple(telling_arguments(call)), index)
        arguments = tuple(named_literals(call))
        if not arguments:
            return None
        if last in _DEFINING or last.startswith("DEFINE_"):
            return None  # options have values of their own
        parts = [argument.role for argument in arguments]
        part = next((p for p in parts if p != "setting"), "setting")
        return self._step("named", last, last, part, module, call, arguments, index)

    def _step(
        self,
        kind: str,
        name: str,
        shown: str,
        part: str,
        module: Module,
        call: Call,
        arguments: tuple[Argument, ...],
        index: int,
        known: RecipeCall | None = None,
        target: tuple[str, int] | None = None,
    ) -> Step:
        return Step(
            kind=kind,
            name=name,
            shown=shown,
            part=part,
            module=module,
            home=home_of(module, call.block),
            block=call.block,
            span=Span(call.line, call.column, call.end_line, call.end_column),
            arguments=arguments,
            open=_open(call),
            call=index,
            target=target,
            known=known,
            evaluates=evaluates(module, call.block),
        )

    # -- literals that get names ------------------------------------------------------------------

    def _binds(self, module: Module) -> Iterator[Step]:
        counted = {_last(bind.target) for bind, _ in counters(module)}
        for bind in module.code.binds:
            if _ADAPTER in bind.target:
                continue  # its settings are facts of their own
            place = Span(bind.line, bind.column, bind.end_line, bind.end_column)
            last = _last(bind.target)
            if isinstance(bind.value, Table | Items):
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
            if not is_literal(bind.value) or not is_telling(bind.value):
                continue
            part = named_part(last)
            if part == "setting" and not _of_configuration(module, bind.block, bind.target):
                continue
            if part and not (last in counted and bind.value in _BEGINNINGS):
                yield self._literal("bind", last, part, module, bind.block, place, bind.value)

    def _counters(self, module: Module) -> Iterator[Step]:
        for bind, added in counters(module):
            place = Span(bind.line, bind.column, bind.end_line, bind.end_column)
            yield self._literal("counter", _last(bind.target), "evaluation", module, bind.block, place, added)

    def _tables(self, module: Module) -> Iterator[Step]:
        """The entries of dict displays that calls are given, or that are returned: ``[{"params": p, "lr": 0.1}]``."""
        for returned in module.code.returns:
            if isinstance(returned.value, Table | Items):
                place = Span(returned.line, 1, returned.line, 1)
                yield from self._entries(module, returned.value, returned.block, place, "return")
        for index, call in enumerate(module.code.calls):
            place = Span(call.line, call.column, call.end_line, call.end_column)
            for value in (*call.args, *(value for _, value in call.keywords)):
                if isinstance(value, Table | Items):
                    yield from self._entries(module, value, call.block, place, module.written(index))

    def _entries(self, module: Module, value: Value, block: int, place: Span, owner: str) -> Iterator[Step]:
        waiting: list[tuple[str, Value]] = [(owner, value)]
        while waiting:
            prefix, display = waiting.pop()
            if isinstance(display, Items):
                waiting += [(prefix, item) for item in display.items if isinstance(item, Table | Items)]
            if not isinstance(display, Table):
                continue
            places = [Span(*one) for one in display.places] or [place] * len(display.keys)
            for key, value, at in zip(display.keys, display.values, places, strict=True):
                if not isinstance(key, Const):
                    continue
                name = f"{prefix}.{key.value}"
                inner = value.items if isinstance(value, Items) else (value,)
                if any(isinstance(item, Table) for item in inner):
                    waiting.append((name, value))
                elif is_literal(value) and is_telling(value) and named_part(str(key.value)):
                    part = named_part(str(key.value))
                    yield self._literal("entry", name, part, module, block, at, value)

    def _literal(self, kind: str, name: str, part: str, module: Module, block: int, place: Span, value: Value) -> Step:
        given = Argument("", value, block, place.line, part)
        home = home_of(module, block)
        only = evaluates(module, block)
        return Step(kind, name, name, part, module, home, block, place, (given,), evaluates=only)

    def _defaults(self, module: Module) -> Iterator[Step]:
        for block, record in enumerate(module.blocks):
            if record.kind != "function" or not record.defaults:
                continue
            first = len(record.params) - len(record.defaults)
            for name, value in zip(record.params[first:], record.defaults, strict=True):
                part = _named_in(module, block, name)
                if part and is_literal(value) and is_telling(value) and not self._always_given(module, block, name):
                    place = Span(record.line, 1, record.line, 1)
                    yield self._literal("default", name, part, module, block, place, value)

    def _always_given(self, module: Module, block: int, name: str) -> bool:
        """Whether all calls of a function pass a parameter, so that its default says nothing."""
        passed = self.context.flow.passed(module, block, name)
        return bool(passed) and all(value is not None for _, value in passed)

    def _loops(self, module: Module) -> Iterator[Step]:
        """Loops whose number of rounds is written: ``for epoch in range(90)``."""
        counters = {b.block: b.target for b in module.code.binds if module.blocks[b.block].kind == "loop"}
        training = {call.block for call in module.code.calls if _TRAINING.search(_called(call))}
        for block, record in enumerate(module.blocks):
            if record.kind != "loop" or not isinstance(record.test, Result):
                continue
            call = module.code.calls[record.test.call]
            part = named_part(counters.get(block, ""))
            if part not in ("epochs", "steps"):
                part = "steps" if block in training else ""
            if part and isinstance(call.callee, Ref) and call.callee.name in ("range", "xrange"):
                given = tuple(Argument(str(i), a, call.block, call.line, part) for i, a in enumerate(call.args))
                span = Span(call.line, call.column, call.end_line, call.end_column)
                home = home_of(module, record.parent)
                yield Step("loop", part, "range", part, module, home, record.parent, span, given, _open(call))


def _called(call: Call) -> str:
    """The last word of what a call calls, as written; empty where that is computed."""
    return call.callee.name.rpartition(".")[2] if isinstance(call.callee, Ref) else ""


def _named_in(module: Module, block: int, name: str) -> str:
    """The part that a parameter belongs to by its name and that of its function or class."""
    part, owner = named_part(name), module.blocks[block].name.lower()
    if part in ("schedule", "momentum", "setting") and AVERAGE.search(owner):
        return "average"
    return "schedule" if part == "setting" and _SCHEDULE.search(owner) else part


def home_of(module: Module, block: int) -> int:
    """The named function around a block, or `MODULE`; a lambda belongs to the function that it stands in."""
    function = module.function_of(block)
    while function >= 0 and module.blocks[function].kind == "lambda":
        function = module.function_of(module.blocks[function].parent)
    return max(function, MODULE)


def _shown(name: str) -> str:
    """A canonical name as people say it: a class by its own name, a function with its module."""
    words = name.split(".")
    if len(words) > 1 and words[-1][:1].islower() and not words[-2].endswith(")"):
        return ".".join(words[-2:]).lstrip("?")
    return words[-1]


def evaluates(module: Module, block: int) -> bool:
    """Whether code is there for evaluation alone, by the names around it."""
    return any(_EVALUATION.search(word) for word in (module.qualname(block).lower(), module.path.rpartition("/")[2]))


def _open(call: Call) -> bool:
    """Whether ``*args`` or ``**kwargs`` may give more than is seen."""
    return any(isinstance(a, Op) and a.op == "star" for a in call.args) or any(k == "**" for k, _ in call.keywords)


def _last(target: str) -> str:
    """The last word of an assignment's target: ``lr`` of ``self.cfg[lr]`` and of ``cfg.lr``."""
    return target.rstrip("]").replace("[", ".").rpartition(".")[2]


def _of_configuration(module: Module, block: int, target: str) -> bool:
    """Whether an assignment sets something for more than its own function: at the level of a module or class, of an
    object, or in a function that makes a configuration."""
    return "." in target or "[" in target or module.blocks[module.scope[block]].kind in _OUTER
