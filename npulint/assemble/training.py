"""Training: which PyTorch code runs in every step of a training loop, and which on the host beside it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from npulint.assemble.context import Context, once
from npulint.assemble.cursors import CallSite, Expr, Scope, call_at, module_scopes
from npulint.assemble.training_conditions import EVALUATION, evaluates, is_occasional
from npulint.assemble.walker import walker
from npulint.lazy_regex import lazy_compile

_STEP_METHODS = frozenset(  # called by Lightning, transformers, mmcv and fairseq
    ("training_step", "optimizer_step", "compute_loss", "forward_train", "train_step")
)
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
_UNTRAINED = ("torch.no_grad", "torch.inference_mode")
_LOADER = lazy_compile(r"loader|dataset|batch|data_?iter|prefetch|pbar", re.IGNORECASE)
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

    def step(self, scope: Scope) -> Step:
        """How often code in a block runs while training."""
        outer = train_loop(scope)
        if outer is None:
            function = _named_function(scope)
            outer = function if function in self.functions else None
        if outer is not None:
            return self._within(scope, outer)
        return "host" if self._is_on_host(scope) else "no"

    def _within(self, scope: Scope, outer: Scope) -> Literal["yes", "gated", "no"]:
        """How often code in a block runs of what runs in every step from `outer` on."""
        known = self._parts.get((scope, outer))
        if known is None:
            around = list(scope.ancestors)
            between = around[: around.index(outer)] if outer in around else []
            known = self._parts[scope, outer] = (
                "no" if any(map(evaluates, between)) else "gated" if any(map(is_occasional, between)) else "yes"
            )
        return known

    # -- preparation of data -----------------------------------------------------------------------

    def _is_on_host(self, scope: Scope) -> bool:
        """Whether a function, or what is in no function, prepares data."""
        place = scope.function or scope.owner or scope.at(0)
        known = self._hosted.get(place)
        if known is None:
            known = self._hosted[place] = self._prepares_data(place)
        return known

    def _prepares_data(self, place: Scope) -> bool:
        """The same, by whom a function is passed to, its name, its class's name and bases, its file."""
        if place in self._loading or place.last_name in _HOST_METHODS:
            return True
        owner = place.owner
        if owner is not None:
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
        queue = [(call, 0) for module in module_scopes(self._context) for call in backward_calls(module)]
        while queue:
            call, hops = queue.pop()
            around, function = list(loops_around(call.scope)), call.scope.function
            if around:
                loops.update(around[:1], (loop for loop in around[1:] if _names_batches(loop.test)))
            elif function is not None and function not in steppers and hops <= _HOPS:
                steppers.add(function)
                queue += [(caller, hops + 1) for caller in self._callers(function)]
        return loops, steppers

    def _callers(self, function: Scope) -> list[CallSite]:
        """The calls of a function; of ``__call__`` those of the instances of its class."""
        owner, _, last = function.name.rpartition(".")
        callers = function.callers
        if last in ("__call__", "forward"):
            callers += self._calls_of_instances(owner)
        if not callers and function.is_method:
            modules = module_scopes(self._context)
            callers = [call for module in modules for call in module.calls_named(last) if call.name.startswith("?")]
        return callers

    def _calls_of_instances(self, owner: str) -> list[CallSite]:
        """The calls of instances of the class `owner`, also of one that was passed to the function."""
        found = []
        for module in module_scopes(self._context):
            for index, name in enumerate(module.call_names):
                passed = name.startswith("?") and "." not in name
                if name == f"{owner}()" or (passed and _calls_one_of(module.call(index), owner)):
                    found.append(module.call(index))
        return found

    # -- functions ---------------------------------------------------------------------------------

    @cached_property
    def functions(self) -> set[Scope]:
        """The functions that run in every training step."""
        loops, steppers = self._found
        queue = list(steppers)
        for name in ("forward", "backward", *_STEP_METHODS):
            queue += [method for method in self._methods.get(name, ()) if self._is_step(method)]
        for module in {loop.at(0) for loop in loops}:
            queue += self._called_in_loops(module)
        found: set[Scope] = set()
        while queue:
            function = queue.pop()
            if function in found or EVALUATION.search(function.last_name) or self._is_on_host(function):
                continue
            found.add(function)
            for call in function.calls:
                if self._within(call.scope, function) == "yes":
                    queue += self._called(call)
        return found

    def _called_in_loops(self, module: Scope) -> Iterator[Scope]:
        """The own functions that the training loops of a module call in every round."""
        for call in module.all_calls:
            loop = train_loop(call.scope)
            if loop is not None and self._within(call.scope, loop) == "yes":
                yield from self._called(call)

    def _is_step(self, method: Scope) -> bool:
        """Whether it is ``forward`` or ``backward`` where anything trains, or what frameworks call in each step."""
        if method.last_name in _STEP_METHODS:
            return True
        trains = bool(self.loops) or not self._methods.keys().isdisjoint(_STEP_METHODS)
        owner = method.record.name.rpartition(".")[0]
        untrained = any(decorator.name.startswith(_UNTRAINED) for decorator in method.decorators)
        return trains and not untrained and not _AFTERWARDS.search(owner)

    @cached_property
    def _methods(self) -> dict[str, list[Scope]]:
        """The methods of the project's classes by name."""
        found: dict[str, list[Scope]] = defaultdict(list)
        for module in module_scopes(self._context):
            for function in module.blocks_of("function"):
                if function.is_method:
                    found[function.last_name].append(function)
        return found

    def _called(self, call: CallSite) -> list[Scope]:
        """The own functions that a call runs; of an unknown object the methods of that name, unless there are many."""
        target, name = call.target, call.name
        if target is not None:
            return [target] if target.kind != "class" else []
        if not name.startswith("?") or "." not in name:
            return []
        named = self._methods.get(name.rpartition(".")[2], [])
        return named if len(named) <= _NAMESAKES else []


def _calls_one_of(call: CallSite, owner: str) -> bool:
    """Whether what is called by a plain name may be an instance of a class."""
    return call.name == f"?{call.written}" and any(made.name == owner for made in call.callee.sites)


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
