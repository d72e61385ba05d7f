"""TensorFlow 2: how and when the NPU is opened, and what a script does too early or too late for it."""

from __future__ import annotations

import re

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.order import ExecutionStep, Order
from npulint.assemble.recognizers.tensorflow.functions import is_compiled
from npulint.facts.code import Assignment, Ref
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_OPEN = frozenset(("npu_device.open", "npu_device.npu_device.open"))
_STARTS = 40  # scripts of a project that are walked through
_OPTION = lazy_compile(r"(?:^|\.)global_options\(\)\.(?P<key>\w[\w.]*)$")
# What is bound to the eager context that opening replaces.
_EARLY = (
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
    ("threads", lazy_compile(r"^tensorflow\.config\.threading\.set_\w+$")),
)
# What asks for a context that is not initialised yet.
_LATE = (("threads", _EARLY[-1][1]),)
_MADE = ("variable", "model")


class _Opened(msgspec.Struct):
    """What the walks through the scripts of a project found."""

    late: dict[tuple[str, int], tuple[str, str, int]] = {}
    """An opening call -> what was made before it: kind, name as written, line."""
    again: dict[tuple[str, int], str] = {}
    """An opening call -> the device of an earlier one in the same script, if it is another."""
    steps: dict[tuple[str, int, str], tuple[ExecutionStep, str, str]] = {}
    """Place and side -> a step on the wrong side of the opening, its kind and the line of the opening."""


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """``npu_open`` facts, and ``beside_open`` facts for what a script does on the wrong side of it."""
    sites = _sites(context)
    if not sites:
        return []
    opened: _Opened = context.memoize("opened", lambda: _opened(context, sites))
    found = [_open(context, opened, module, index) for home, index in sites if home is module]
    for step, kind, side in opened.steps.values():
        if step.module is module:
            found.append(_beside(context, step, kind, side))
    return found


def _sites(context: Context) -> list[tuple[Module, int]]:
    found: list[tuple[Module, int]] = context.memoize("npu sites", lambda: _calls(context))
    return found


def _calls(context: Context) -> list[tuple[Module, int]]:
    modules = list(context.project.modules.values())
    if not any(record.module.startswith("npu_device") for module in modules for record in module.code.imports):
        return []
    return [
        (module, index)
        for module in modules
        for index, name in enumerate(context.names.of_calls(module))
        if name in _OPEN
    ]


def _open(context: Context, opened: _Opened, module: Module, index: int) -> Fact:
    kind, name, line = opened.late.get((module.path, index), ("none", "", 0))
    return context.call_fact(
        "npu_open",
        "npu_device.open",
        module,
        index,
        default=lambda: _default(context, module, index),
        reached=lambda: _reached(context, module, module.function_of(module.code.calls[index].block)),
        late=kind,
        first=name or "-",
        first_line=str(line),
        other=opened.again.get((module.path, index), "none"),
    )


def _default(context: Context, module: Module, index: int) -> str:
    """Whether the opened device becomes the default one: yes, no (nothing is done with it) or unknown."""
    chained = module.methods.get(index)
    if chained is not None:
        return "yes" if chained[1] == "as_default" else "unknown"
    if any(
        context.names.of_call(home, i).startswith("npu_device.open().")
        for home in context.project.modules.values()
        for i in home.calls_of("as_default", "scope")
    ):
        return "yes"
    return "unknown" if _handed(module, index) else "no"


def _reached(context: Context, module: Module, function: int) -> str:
    """Whether anything calls the function that opens the device: yes, no or unknown."""
    record = module.blocks[max(function, 0)]
    if function < 0 or context.flow.callers(module, function):
        return "yes"
    if record.kind != "function" or module.blocks[record.parent].kind == "class" or record.decorators:
        return "unknown"
    name = record.name.rpartition(".")[2]
    modules = context.project.modules.values()
    return "unknown" if any(home.calls_of(name) or _names(home, name) for home in modules) else "no"


def _names(module: Module, name: str) -> bool:
    """Whether a module hands something of this name on, or keeps it under another name."""
    values = [bind.value for bind in module.code.assignments] + [returned.value for returned in module.code.returns]
    for call in module.code.calls:
        values += [*call.args, *(value for _, value in call.keywords)]
    return any(isinstance(value, Ref) and value.name.rpartition(".")[2] == name for value in values) or any(
        mention.name.rpartition(".")[2] == name for mention in module.code.name_uses
    )


def _handed(module: Module, index: int) -> bool:
    """Whether the result of a call goes elsewhere: it is returned, passed on, kept in an attribute or entered."""
    call = module.code.calls[index]
    around = range(call.line, call.end_line + 1)
    if any(r.line in around for r in module.code.returns):
        return True
    if any(block.kind == "with" and block.line in around for block in module.blocks):
        return True
    kept = [b for b in module.code.assignments if b.line in around]
    if any("." in b.target or "[" in b.target or not b.target for b in kept):
        return True
    names = {b.target for b in kept}
    used = [m for m in module.code.name_uses if m.name.partition(".")[0] in names]
    outer = [
        c for i, c in enumerate(module.code.calls) if i != index and _covers(c.line, c.column, call.line, call.column)
    ]
    called = [c for c in module.code.calls if isinstance(c.callee, Ref) and c.callee.name.partition(".")[0] in names]
    return bool(used or called or any(c.end_line >= call.end_line for c in outer if c.args or c.keywords))


def _covers(line: int, column: int, inner_line: int, inner_column: int) -> bool:
    return line == inner_line and column < inner_column


def _opened(context: Context, sites: list[tuple[Module, int]]) -> _Opened:
    found = _Opened()
    wanted = {(module.path, index) for module, index in sites}
    order = Order(context, is_compiled)
    for start in _starts(context, sites)[:_STARTS]:
        _look(context, found, wanted, list(order.steps(scope_at(context, start, 0))))
    return found


def _starts(context: Context, sites: list[tuple[Module, int]]) -> list[Module]:
    """The modules whose code outside functions comes to an opening call."""
    found: dict[str, Module] = {}
    seen: set[tuple[str, int]] = set()
    queue = [(module, module.function_of(module.code.calls[index].block)) for module, index in sites]
    while queue:
        module, function = queue.pop()
        if (module.path, function) in seen:
            continue
        seen.add((module.path, function))
        if function < 0:
            found[module.path] = module
            continue
        callers = context.flow.callers(module, function)
        queue += [(home, home.function_of(home.code.calls[i].block)) for home, i in callers]
        if not callers:
            found[module.path] = module
    return list(found.values())


def _look(context: Context, found: _Opened, wanted: set[tuple[str, int]], steps: list[ExecutionStep]) -> None:
    """Add what one walk shows."""
    opens = [at for at, step in enumerate(steps) if step.call >= 0 and (step.module.path, step.call) in wanted]
    if not opens:
        return
    first, last = steps[opens[0]], opens[-1]
    made = []
    for step in steps[: opens[0]]:
        kind = _kind(context, step, _EARLY)
        if kind:
            _note(found, step, kind, "before")
        if kind in _MADE:
            made.append((kind, context.names.of_call(step.module, step.call), step.module.code.calls[step.call].line))
    if made:
        found.late.setdefault((first.module.path, first.call), made[0])
    for step in steps[last + 1 :] if steps[last].sure else ():
        option = step.bind is not None and _is_option(context, step.module, step.bind)
        kind = "option" if option else _kind(context, step, _LATE)
        if kind:
            _note(found, step, kind, "after")
    _compare(context, found, [steps[at] for at in opens])


def _kind(context: Context, step: ExecutionStep, patterns: tuple[tuple[str, re.Pattern[str]], ...]) -> str:
    """What a call that surely happens is of these; empty for others."""
    if step.call < 0 or not step.sure:
        return ""
    name = context.names.of_call(step.module, step.call)
    if not name.startswith("tensorflow"):
        return ""
    return next((kind for kind, pattern in patterns if pattern.match(name)), "")


def _note(found: _Opened, step: ExecutionStep, kind: str, side: str) -> None:
    record = step.bind if step.bind is not None else step.module.code.calls[step.call]
    found.steps.setdefault((step.module.path, record.line, f"{record.column}{side}"), (step, kind, side))


def _compare(context: Context, found: _Opened, opens: list[ExecutionStep]) -> None:
    """Note a later opening of another device."""
    devices = [_device(context, step) for step in opens]
    for at, step in enumerate(opens):
        others = [d for s, d in zip(opens[:at], devices, strict=False) if s.sure and d is not None]
        if step.sure and devices[at] is not None and any(d != devices[at] for d in others):
            found.again.setdefault((step.module.path, step.call), str(others[0]))


def _device(context: Context, step: ExecutionStep) -> object:
    """The device that a call opens, where it is certain."""
    call = step.module.code.calls[step.call]
    value = argument(call, "device_id", 0)
    return None if value is None else context.known(step.module, value, call).single


def _is_option(context: Context, module: Module, bind: Assignment) -> bool:
    if "global_options" in bind.target:
        return bool(_OPTION.search(bind.target))
    head = bind.target.rpartition(".")[0]
    if "." not in bind.target or head in ("self", ""):
        return False
    meaning = context.names.of_name(module, head, bind.block, bind.line)
    return meaning.startswith("npu_device.") and "global_options()" in meaning


def _beside(context: Context, step: ExecutionStep, kind: str, side: str) -> Fact:
    if step.bind is not None:
        name = step.bind.target.rpartition("global_options().")[2]
        return context.bind_fact("beside_open", name, step.module, step.bind, what=kind, side=side)
    name = context.names.of_call(step.module, step.call)
    return context.call_fact("beside_open", name, step.module, step.call, what=kind, side=side)
