"""TensorFlow 2: when ``npu_device.open`` is called, and what a script does too early or too late relative to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.order import ExecutionStep, Order
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import AssignmentSite, CallSite, Scope, call_at, module_scopes
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.tensorflow.functions import is_compiled

_OPEN = frozenset(("npu_device.open", "npu_device.npu_device.open"))
_STARTS = 40  # maximum evaluated scripts per project
_OPTION = lazy_compile(r"(?:^|\.)global_options\(\)\.(?P<key>\w[\w.]*)$")

Made = Literal["variable", "model", "strategy", "seed", "threads"]
Step = Literal["variable", "model", "strategy", "seed", "threads", "option"]
Side = Literal["before", "after"]
Patterns = tuple[tuple[Made, re.Pattern[str]], ...]
Site = CallSite | AssignmentSite

_THREADS: Patterns = (("threads", lazy_compile(r"^tensorflow\.config\.threading\.set_\w+$")),)
"""Calls that raise an error once the context is initialised."""
# Objects that are bound to the eager context, which opening replaces.
_EARLY: Patterns = (
    ("variable", lazy_compile(r"^tensorflow\.(?:Variable|keras\.metrics\.[A-Z]\w*|keras\.backend\.variable)$")),
    (
        "model",
        lazy_compile(
            r"^tensorflow\.keras\.(?:Input|layers\.Input|applications\.(?:\w+\.)?[A-Z]\w*|(?:models|saving)\.load_model)$"
            r"|^tensorflow_hub\.(?:KerasLayer|load)$"
        ),
    ),
    ("strategy", lazy_compile(r"^tensorflow\.(?:compat\.v2\.)?distribute\.(?:experimental\.)?\w+Strategy$")),
    (
        "seed",
        lazy_compile(
            r"^tensorflow\.(?:random\.set_seed|random\.set_random_seed|set_random_seed|keras\.utils\.set_random_seed)$"
        ),
    ),
    *_THREADS,
)


class _Misplaced(msgspec.Struct, frozen=True, eq=False):
    """A call or assignment on the wrong side of the opening."""

    site: Site
    what: Step
    side: Side


class _Walks(msgspec.Struct):
    """The results of walking through the scripts of a project. `made` maps an opening call to the first variable or
    model created before it, `other` to the device that the same script opened before it, if it is a different one."""

    made: dict[CallSite, tuple[Literal["variable", "model"], CallSite]] = {}
    other: dict[CallSite, str] = {}
    misplaced: dict[object, _Misplaced] = {}


@recognizes(*_OPEN)
@fact_kind("npu_open")
class NpuOpening(CallFact):
    """The NPU is opened by ``npu_device.open``."""

    def __post_init__(self) -> None:
        self.name = "npu_device.open"

    @property
    def _made(self) -> tuple[Literal["variable", "model"], CallSite] | None:
        return _walks(self.call.context).made.get(self.call)

    @attribute
    def default(self) -> Flag:
        """Whether the device becomes the default: no if its handle is unused."""
        chained = self.call.method
        if chained is not None:
            return "yes" if chained.last == "as_default" else "unknown"
        calls = (
            call for module in module_scopes(self.call.context) for call in module.calls_named("as_default", "scope")
        )
        if any(call.name.startswith("npu_device.open().") for call in calls):
            return "yes"
        return "unknown" if _is_used(self.call) else "no"

    @attribute
    def reached(self) -> Flag:
        """Whether the function that opens the device is called."""
        function = self.call.scope.function
        if function is None or function.callers:
            return "yes"
        parent = function.parent
        if function.kind != "function" or (parent is not None and parent.kind == "class") or function.decorators:
            return "unknown"
        last = function.record.name.rpartition(".")[2]
        return "unknown" if any(_names(module, last) for module in module_scopes(self.call.context)) else "no"

    @attribute
    def late(self) -> Literal["variable", "model", "none"]:
        """What the script has certainly created before: it stays bound to the context that opening replaces."""
        return "none" if self._made is None else self._made[0]

    @attribute
    def first(self) -> str:
        """The canonical constructor of the first such object, or ``-``."""
        return "-" if self._made is None else self._made[1].name

    @attribute
    def first_line(self) -> str:
        """The line of that object, or 0."""
        return "0" if self._made is None else str(self._made[1].line)

    @attribute
    def other(self) -> str:
        """The different device that the same script has opened before, or none."""
        return _walks(self.call.context).other.get(self.call, "none")


@fact_kind("beside_open")
class MisplacedCall(CallFact):
    """A script calls something on the wrong side of the opening of the NPU; the name is what it calls."""

    what: Step
    """What is called."""
    side: Side
    """The side of the opening on which it is."""


@fact_kind("beside_open")
class MisplacedOption(PlaceFact):
    """A script sets a global option when the NPU is open already; the name is the option."""

    what: Literal["option"] = "option"
    """What is set."""
    side: Literal["after"] = "after"
    """The side of the opening on which it is."""


@recognizes_in_modules
def misplaced(module: Scope) -> Iterator[MisplacedCall | MisplacedOption]:
    """What a module does on the wrong side of an opening."""
    if not _openings(module.context):
        return
    for step in _walks(module.context).misplaced.values():
        site = step.site
        if site.scope.module is not module.module:
            continue
        if isinstance(site, CallSite):
            yield MisplacedCall(site, site.name, step.what, step.side)
        else:
            name = site.target.rpartition("global_options().")[2]
            yield MisplacedOption(site.scope, site.span, name)


# -- the use of the device -------------------------------------------------------------------------


def _names(module: Scope, last: str) -> bool:
    """Whether a module calls something of this name, passes it on, or assigns it to another name."""
    if module.calls_named(last):
        return True
    code = module.module.code
    values = [assignment.value for assignment in code.assignments] + [returned.value for returned in code.returns]
    for call in code.calls:
        values += [*call.args, *(value for _, value in call.keywords)]
    written = [value.name for value in values if isinstance(value, Ref)] + [use.name for use in code.name_uses]
    return any(name.rpartition(".")[2] == last for name in written)


def _is_used(opening: CallSite) -> bool:
    """Whether the result of a call is used: returned, passed on, stored in an attribute or entered."""
    call, code = opening.record, opening.module.code
    lines = range(call.line, call.end_line + 1)
    begins = [return_record.line for return_record in code.returns] + [
        block.line for block in code.blocks if block.kind == "with"
    ]
    if any(line in lines for line in begins):
        return True
    kept = [assignment.target for assignment in code.assignments if assignment.line in lines]
    if any("." in target or "[" in target or not target for target in kept):
        return True
    called = [record.callee.name for record in code.calls if isinstance(record.callee, Ref)]
    if any(name.partition(".")[0] in kept for name in (*called, *(use.name for use in code.name_uses))):
        return True
    around = [
        outer for outer in code.calls if outer is not call and outer.line == call.line and outer.column < call.column
    ]
    return any(outer.end_line >= call.end_line for outer in around if outer.args or outer.keywords)


# -- the order of a script -------------------------------------------------------------------------


@once
def _openings(context: Context) -> list[CallSite]:
    """The calls of a project that open an NPU."""
    modules = list(context.project.modules.values())
    if not any(record.module.startswith("npu_device") for module in modules for record in module.code.imports):
        return []
    return [
        call_at(context, module, index)
        for module in modules
        for index, name in enumerate(context.names.of_calls(module))
        if name in _OPEN
    ]


@once
def _walks(context: Context) -> _Walks:
    """What the scripts of a project do before and after opening."""
    walks = _Walks()
    order = Order(context, is_compiled)
    for start in _starts(context)[:_STARTS]:
        _add_walk(walks, context, list(order.steps(start)))
    return walks


def _starts(context: Context) -> list[Scope]:
    """The modules whose module-level code reaches an opening call."""
    starts: dict[Scope, None] = {}
    seen: set[Scope] = set()
    queue = [call.scope.routine for call in _openings(context)]
    while queue:
        routine = queue.pop()
        if routine not in seen:
            seen.add(routine)
            callers = routine.callers if routine.kind != "module" else []
            queue += [call.scope.routine for call in callers]
            if not callers:
                starts[routine.at(0)] = None
    return list(starts)


def _add_walk(walks: _Walks, context: Context, steps: list[ExecutionStep]) -> None:
    """Adds the results of one walk."""
    openings = set(_openings(context))
    sites = [(at, step.site) for at, step in enumerate(steps)]
    opened = [(at, site) for at, site in sites if isinstance(site, CallSite) and site in openings]
    if not opened:
        return
    (begin, first), (end, _) = opened[0], opened[-1]
    for step in steps[:begin]:
        what = _what(step, _EARLY)
        if what:
            _add_misplaced(walks, step, what, "before")
        if what in ("variable", "model") and isinstance(step.site, CallSite):
            walks.made.setdefault(first, (what, step.site))
    for step in steps[end + 1 :] if steps[end].sure else ():
        late = "option" if _is_option(step) else _what(step, _THREADS)
        if late:
            _add_misplaced(walks, step, late, "after")
    _compare(walks, [(call, steps[at].sure) for at, call in opened])


def _what(step: ExecutionStep, patterns: Patterns) -> Made | None:
    """The kind of a call that is certainly executed; None for other calls."""
    if not isinstance(step.site, CallSite) or not step.sure:
        return None
    name = step.site.name
    if not name.startswith("tensorflow"):
        return None
    return next((what for what, pattern in patterns if pattern.match(name)), None)


def _is_option(step: ExecutionStep) -> bool:
    """Whether a step assigns a global option."""
    if isinstance(step.site, CallSite):
        return False
    target = step.site.target
    if "global_options" in target:
        return bool(_OPTION.search(target))
    head = target.rpartition(".")[0]
    if head in ("self", ""):
        return False
    meaning = step.site.leading(head).name
    return meaning.startswith("npu_device.") and "global_options()" in meaning


def _add_misplaced(walks: _Walks, step: ExecutionStep, what: Step, side: Side) -> None:
    """Adds a step on the wrong side of the opening, unless it is already recorded."""
    site = step.site
    place = (site.scope.path, site.record.line, site.record.column, side)
    walks.misplaced.setdefault(place, _Misplaced(site, what, side))


def _compare(walks: _Walks, opened: list[tuple[CallSite, bool]]) -> None:
    """Adds openings of a different device than the first; each opening comes with whether it is certainly executed."""
    earlier: list[object] = []
    for call, sure in opened:
        value = call.argument_value("device_id", 0)
        device = None if value is None else value.single
        if sure and device is not None:
            if any(previous != device for previous in earlier):
                walks.other.setdefault(call, str(earlier[0]))
            earlier.append(device)
