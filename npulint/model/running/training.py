"""Training: which PyTorch code runs in every step of a training loop, and which on the host beside it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.remote import without_device
from npulint.model.running.training_conditions import (
    EVALUATION,
    evaluates,
    evaluates_in_between,
    is_occasional,
    is_over_in_most_steps,
)
from npulint.model.running.training_reach import is_untrained, may_train
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, call_at, module_scopes
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import walker

_STEP_METHODS = frozenset(  # called by Lightning, transformers, mmcv and fairseq
    ("training_step", "optimizer_step", "compute_loss", "forward_train", "train_step")
)
_OF_RUNNERS = frozenset(("forward_train", "train_step"))
_STARTS_RUNNER = lazy_compile(r"(?:^|[._])(?:build_runner|\w*Runner|train_(?:model|detector|segmentor|\w+_model))$")
_HOST_METHODS = frozenset(("__getitem__", "__len__", "collate_fn", "collate"))
_COLLATING = frozenset(("collate_fn",))
_HOST_KEYWORDS = _COLLATING | {"worker_init_fn", "transform", "target_transform", "transforms"}
_HOST_CLASS = lazy_compile(
    r"(?:^|\.)torch\.utils\.data\.|(?:Data[sS]et|DataLoader|Collat(?:or|e)|[a-z]Transforms?)(?:V?\d+)?(?:\(\))?$"
)
_HOST_FILE = lazy_compile(
    r"(?:^|[/_])(?:datasets?|data_?loader|data_?utils?|transforms?|augment\w*|preprocess\w*|tokeniz\w*|collat\w*|samplers?)"
    r"(?:[/_.]|\.py$)"
)
_AFTERWARDS = lazy_compile(r"(?:PostProcess\w*|Evaluat\w*|Predictor\w*|Inferenc\w*|Metrics?|Visuali[sz]er)$")
_LOADER = lazy_compile(r"loader|dataset|batch|data_?iter|prefetch|pbar", re.IGNORECASE)
_OF_CONTAINERS = frozenset(name for kind in (list, dict, set, str) for name in dir(kind)) - {"update"}
_PARTS = lazy_compile(r"micro_?(?:batch|step)|accum", re.IGNORECASE)
_OF_OPTIMIZERS = frozenset(("step", "update", "zero_grad"))  # methods that other objects of a step have as well
_HOPS = 5  # functions around a backward call that may hold its loop
_NAMESAKES = 4  # methods of one name that a call on an unknown object may reach

Step = Literal["yes", "gated", "host", "no"]
"""How often code runs while training: in every step, in some, while data is prepared, or at another time."""


@once
def training_of(context: Context) -> Training:
    """What is known of the training loops of a project."""
    return Training(context)


def train_loop(scope: Scope) -> Scope | None:
    """The training loop of PyTorch around a block within its function; None if there is none."""
    loops = training_of(scope.context).loops
    return next((loop for loop in loops_around(scope) if loop in loops), None)


def loops_around(scope: Scope) -> Iterator[Scope]:
    """The loops around a block within its function (itself, if it is one), innermost first."""
    loop = scope.loop
    while loop is not None:
        yield loop
        loop = loop.parent.loop if loop.parent is not None else None


def backward_calls(module: Scope) -> list[CallSite]:
    """The calls of ``backward`` in a module that are no calls of an own method of that name."""
    return [call for call in module.calls_named("backward") if call.target is None]


class Training:
    """The training loops of a project and the functions that run in every round of them; looked for on demand."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._hosted: dict[Scope | None, bool] = {}
        self._parts: dict[tuple[Scope, Scope], Literal["yes", "gated", "no"]] = {}
        self._continues: dict[str, dict[int, list[int]]] = {}
        self._trained_at: dict[Scope, int] = {}  # the last line of a training loop that comes to a backward call

    def step(self, scope: Scope) -> Step:
        """How often code in a block runs while training, unless it follows an exit (see `step_at`)."""
        outer = train_loop(scope)
        if outer is None:
            function = _named_function(scope)
            outer = function if function in self.functions else None
        if outer is not None:
            return self._within(scope, outer)
        return "host" if self._is_on_host(scope) else "no"

    def _within(self, scope: Scope, outer: Scope) -> Literal["yes", "gated", "no"]:
        """How often code in a block runs of what runs in every step from `outer` on."""
        frequency = self._parts.get((scope, outer))
        if frequency is None:
            around = list(scope.ancestors)
            between = around[: around.index(outer)] if outer in around else []
            frequency = self._parts[scope, outer] = (
                "no" if any(map(evaluates, between)) else "gated" if any(map(is_occasional, between)) else "yes"
            )
        return frequency

    def may_be_skipped(self, scope: Scope, line: int) -> bool:
        """Whether code in a training step follows an exit of most steps, or a ``continue`` after the training, so that
        only some rounds run it."""
        if is_over_in_most_steps(scope, line):
            return True
        loop = train_loop(scope)
        if loop is None:
            return False
        trained = self._trained_at.get(loop, 0)
        return any(trained < continued < line for continued in self._continued(loop.at(0)).get(loop.block, ()))

    def _continued(self, module: Scope) -> dict[int, list[int]]:
        """For each loop of a module the lines of its ``continue`` statements, but for those of rare events."""
        continued = self._continues.get(module.path)
        if continued is None:
            continued = self._continues[module.path] = defaultdict(list)
            for exit_record in module.module.code.exits:
                place = module.at(exit_record.block)
                loop = place.loop if exit_record.kind == "continue" else None
                if loop is not None and self._within(place, loop) == "yes":
                    continued[loop.block].append(exit_record.line)
        return continued

    # -- preparation of data -----------------------------------------------------------------------

    def _is_on_host(self, scope: Scope) -> bool:
        """Whether a function, or what is in no function, prepares data."""
        place = scope.function or scope.owner or scope.at(0)
        host = self._hosted.get(place)
        if host is None:
            host = self._hosted[place] = self._prepares_data(place)
        return host

    def _prepares_data(self, place: Scope) -> bool:
        """The same, by whom a function is passed to, its name, its class's name and bases, its file."""
        if place in self._loading or place.last_name in _HOST_METHODS:
            return True
        owner = place.owner
        if owner is not None:
            if owner in without_device(self._context):
                return True
            bases = (base.name for base in owner.bases)
            if any(_HOST_CLASS.search(name) for name in (*bases, owner.record.name)):
                return True
        return bool(_HOST_FILE.search(place.path.removeprefix(self._context.project.root)))

    @cached_property
    def _loading(self) -> set[Scope]:
        """The functions that are passed to data loaders and datasets."""
        return self._passed_as(_HOST_KEYWORDS)

    @cached_property
    def collating(self) -> set[Scope]:
        """The functions that make batches: some loader is given them as ``collate_fn``."""
        return self._passed_as(_COLLATING)

    def _passed_as(self, keywords: frozenset[str]) -> set[Scope]:
        """The functions that calls are given by one of these keywords."""
        return {
            function
            for module in self._context.project.modules.values()
            for index, call in enumerate(module.code.calls)
            for key, value in call.keywords
            if key in keywords
            for function in call_at(self._context, module, index).expr(value).functions
        }

    # -- loops -------------------------------------------------------------------------------------

    @property
    def loops(self) -> set[Scope]:
        """The innermost loops that come to a backward call in every round, also through functions."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[set[Scope], set[Scope]]:
        """The training loops, and the functions through which they come to a backward call."""
        loops: set[Scope] = set()
        steppers: set[Scope] = set()
        queue = [(call, 0) for call in self._backward_calls()]
        while queue:
            call, hops = queue.pop()
            around, function = _training_loops(call.scope), call.scope.function
            if around:
                own = [*around[:1], *filter(_goes_over_batches, around[1:])]
                loops.update(own)
                for loop in own:
                    self._trained_at[loop] = max(call.line, self._trained_at.get(loop, 0))
            elif function is not None and function not in steppers and hops <= _HOPS:
                steppers.add(function)
                queue += [(caller, hops + 1) for caller in self._callers(function)]
        return loops, steppers

    def _backward_calls(self) -> list[CallSite]:
        """The backward calls of a project: those of its tests only where it has no others, because a test calls in each
        round what a training program runs once, such as initialisation and checkpoints."""
        calls = [call for module in module_scopes(self._context) for call in backward_calls(module)]
        return [call for call in calls if not self._is_test(call.scope)] or calls

    def _is_test(self, scope: Scope) -> bool:
        return is_test_file(scope.path.removeprefix(self._context.project.root))

    def _callers(self, function: Scope) -> list[CallSite]:
        """The calls of a function; of ``__call__`` those of the instances of its class. Calls in tests make no step."""
        owner, _, last = function.name.rpartition(".")
        callers = function.callers
        if last in ("__call__", "forward"):
            callers += self._calls_of_instances(owner)
        if not callers and function.is_method:
            modules = module_scopes(self._context)
            callers = [call for module in modules for call in module.calls_named(last) if _is_of_unknown(call.name)]
        return callers if self._is_test(function) else [call for call in callers if not self._is_test(call.scope)]

    def _calls_of_instances(self, owner: str) -> list[CallSite]:
        """The calls of instances of the class `owner`, also of one that was passed to the function."""
        calls = []
        for module in module_scopes(self._context):
            for index, name in enumerate(module.call_names):
                passed = name.startswith("?") and "." not in name
                if name == f"{owner}()" or (passed and _calls_one_of(module.call(index), owner)):
                    calls.append(module.call(index))
        return calls

    # -- functions ---------------------------------------------------------------------------------

    @cached_property
    def functions(self) -> set[Scope]:
        """The functions that run in every training step."""
        loops, steppers = self._found
        queue = [function for function in steppers if not _runs_once(function)]
        for name in ("forward", "backward", *_STEP_METHODS):
            queue += [method for method in self._methods.get(name, ()) if self._is_step(method)]
        for module in {loop.at(0) for loop in loops}:
            queue += self._called_in_loops(module)
        scopes: set[Scope] = set()
        while queue:
            function = queue.pop()
            if function in scopes or EVALUATION.search(function.last_name) or self._is_on_host(function):
                continue
            if function not in steppers and evaluates_in_between(function):
                continue
            scopes.add(function)
            for call in function.calls:
                if self._within(call.scope, function) == "yes" and not is_over_in_most_steps(call.scope, call.line):
                    queue += self._called(call)
        return scopes

    def _called_in_loops(self, module: Scope) -> Iterator[Scope]:
        """The own functions that the training loops of a module call in every round."""
        for call in module.all_calls:
            loop = train_loop(call.scope)
            if loop is None or self.may_be_skipped(call.scope, call.line):
                continue
            if self._within(call.scope, loop) == "yes":
                yield from self._called(call)

    def _is_step(self, method: Scope) -> bool:
        """Whether it is ``forward`` or ``backward`` where anything trains, or what frameworks call in each step."""
        trains = bool(self.loops) or not self._methods.keys().isdisjoint(_STEP_METHODS)
        if trains and not may_train(method):
            return False
        if method.last_name in _STEP_METHODS:
            return method.last_name not in _OF_RUNNERS or self._has_runner
        owner = method.record.name.rpartition(".")[0]
        return trains and not is_untrained(method) and not _AFTERWARDS.search(owner)

    @cached_property
    def _has_runner(self) -> bool:
        """Whether anything in the project starts a runner of OpenMMLab, which calls the steps of a model."""
        modules = module_scopes(self._context)
        imported = (record.name or record.module for module in modules for record in module.module.code.imports)
        called = (call.written for module in modules for call in module.all_calls)
        return any(map(_STARTS_RUNNER.search, chain(imported, called)))

    @cached_property
    def _methods(self) -> dict[str, list[Scope]]:
        """The methods of the project's classes by name."""
        methods: dict[str, list[Scope]] = defaultdict(list)
        for module in module_scopes(self._context):
            for function in module.blocks_of("function"):
                if function.is_method:
                    methods[function.last_name].append(function)
        return methods

    def _called(self, call: CallSite) -> list[Scope]:
        """The own functions that a call runs; of an unknown object the methods of that name, unless there are many."""
        target, name = call.target, call.name
        if target is not None and target.kind == "class":
            method = target.definition("__call__") if name.endswith("()") else None
            return [] if method is None else [method]
        if target is not None:
            return [target]
        if not _is_of_unknown(name) or (not name.startswith("?") and name.rpartition(".")[2] in _OF_OPTIMIZERS):
            return []
        named = [scope for scope in self._methods.get(name.rpartition(".")[2], []) if _takes(scope, call)]
        if len(named) > _NAMESAKES or name.rpartition(".")[2] in _OF_CONTAINERS:
            return []
        return [method for method in named if may_train(method)]


def _is_of_unknown(name: str) -> bool:
    """Whether a call, by its canonical name, is of a method of an object whose class is unknown."""
    qualname = name.partition(":")[2]
    return "." in name and (name.startswith(("?", "getattr()")) or "()." in qualname)


def _takes(method: Scope, call: CallSite) -> bool:
    """Whether a call has an argument for each parameter of a method that needs one; a partial has some already."""
    if call.starred or call.written.rpartition(".")[2] != method.last_name:
        return True
    record = method.record
    needed = [
        param for param in record.params[: len(record.params) - len(record.defaults)] if not param.startswith("*")
    ]
    given = len(call.args) + sum(name in needed for name, _ in call.record.keywords)
    return len(needed) - 1 <= given  # the first one is the object


@walker(depth=_HOPS, otherwise=bool)
def _runs_once(function: Scope) -> bool:
    """Whether a program runs a function once: no call of it is in a loop, and all calls are in code that runs once.
    Frameworks may call what nothing calls by its name."""
    callers = function.callers
    return bool(callers) and all(
        call.scope.loop is None and (call.scope.function is None or _runs_once(call.scope.function)) for call in callers
    )


def _training_loops(scope: Scope) -> list[Scope]:
    """The loops around a backward call within its function, innermost first; not one over the parts of a batch if
    another one or a caller goes round for each batch."""
    around = list(loops_around(scope))
    return around[1:] if around and _is_accumulation(around[0]) else around


def _is_accumulation(loop: Scope) -> bool:
    """Whether a loop goes over the parts of one batch, by the names of what it goes over."""
    return any(_PARTS.search(expr.written) for expr in loop.test.mentioned if expr.written)


def _calls_one_of(call: CallSite, owner: str) -> bool:
    """Whether what is called by a plain name may be an instance of a class."""
    return call.name == f"?{call.written}" and any(made.name == owner for made in call.callee.sites)


def _goes_over_batches(loop: Scope) -> bool:
    """Whether each round of a loop has a batch of its own, which it goes over or takes from an iterator."""
    return _names_batches(loop.test) or any(call.scope.loop is loop for call in loop.calls_named("next"))


@walker(depth=5, otherwise=bool)
def _names_batches(value: Expr) -> bool:
    """Whether an expression, also in arguments of calls, has a name that stands for batches."""
    if value.written:
        return _LOADER.search(value.written) is not None
    return not value.is_display and any(map(_names_batches, value.parts))


def _named_function(scope: Scope) -> Scope | None:
    """The nearest function around a block that is no lambda."""
    function = scope.function
    while function is not None and function.kind == "lambda":
        function = function.parent.function if function.parent is not None else None
    return function
