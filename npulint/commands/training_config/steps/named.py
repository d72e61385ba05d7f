"""Steps from named literals: assignments, defaults, entries of displays, and iteration counts of loops."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.commands.training_config.steps.expressions import is_filling, is_literal, is_relevant
from npulint.commands.training_config.steps.model import Argument, CodeStep
from npulint.commands.training_config.steps.unresolved import AVERAGE, group_part, named_part
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Const, Table, Unknown
from npulint.facts.model import Span
from npulint.model.running.code_places import returned_values
from npulint.model.values.cursors import AssignmentSite, Expr, Scope

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
_FEW_SAMPLES = 16  # fewer are a part of a sample
_SAMPLES = lazy_compile(
    r"data|image|img|label|sample|file|item|list|path|record|example|row|sorted|glob|^xs?$|^ys?$|[xy]_?train|train_?[xy]"
    r"|name|sentence|text|frames?$|ids$|pairs|annot|target|index|indices"
)
_SIZES = frozenset(("size", "len", "numel", "nelement"))
_BATCH = "items of the batch"  # the increment by the number of items in a batch, in any spelling
_OF_SCHEDULE = frozenset(("interval", "frequency", "strict"))
_ARRAYS = frozenset(("array", "asarray", "tensor", "constant", "FloatTensor"))
_OF_GROUPS = frozenset(("weight_decay", "momentum"))
_OUTER = ("module", "class", "global")


def named_steps(module: Scope) -> Iterator[CodeStep]:
    """The steps of a module's named literals, unordered."""
    increments = list(_counters(module))
    counted = {_last(bind.target) for bind, _ in increments}
    for bind in module.assignments:
        if _ADAPTER in bind.target:
            continue  # its settings are separate facts
        yield from _entries(bind.value, bind.span, _last(bind.target))
        yield from _slices(bind.value, bind.span)
        step = None if bind.value.is_dict else _assigned(bind, counted)
        if step is not None:
            yield step
    for bind, added in increments:
        yield _literal("counter", _last(bind.target), "evaluation", added, bind.span)
    for returned in returned_values(module):
        yield from _entries(returned, Span.at(returned.line), "return")
    for site in module.all_calls:
        for value in site.arguments:
            yield from _entries(value, site.span, site.last)
            yield from _slices(value, site.span)
    for function in module.blocks_of("function"):
        yield from _defaults(function)
    yield from _loops(module)


def _assigned(bind: AssignmentSite, counted: set[str]) -> CodeStep | None:
    """The step of an assignment: a switch, a constant that fills a mask, or a named literal."""
    last, literal = _last(bind.target), is_literal(bind.value.value)
    array = None if literal else _array(bind.value)
    if array is not None:
        return _array_step(bind, last, array)
    value = bind.value.value
    part = _SWITCHES.get(last, "") or group_part(bind.target)
    if (part and literal) or part in _OF_GROUPS:
        return _literal("switch", last, part, bind.value, bind.span)
    if bind.target.endswith("[*]") and is_filling(value):
        return _literal("fill", last, "operation", bind.value, bind.span)
    part = named_part(last) if literal and is_relevant(value) else ""
    begins = last in counted and bind.value.is_literal and bind.value.literal in (0, 1)
    if not part or begins or (part == "setting" and not _is_configuration(bind)):
        return None
    return _literal("bind", last, part, bind.value, bind.span)


def _array(value: Expr) -> Expr | None:
    """The literal elements of an array: ``np.array([0.5, 1.0])``."""
    site = value.call
    if site is None or site.last not in _ARRAYS or not site.record.args:
        return None
    return site.args[0] if site.args[0].is_display and is_literal(site.args[0].value) else None


def _array_step(bind: AssignmentSite, last: str, array: Expr) -> CodeStep | None:
    part = named_part(last) if _is_configuration(bind) else ""
    return _literal("bind", last, part, array, bind.span) if part else None


def _counters(module: Scope) -> Iterator[tuple[AssignmentSite, Expr]]:
    """The assignments in loops that count, by one or by the batch size, and their increments."""
    for bind in module.assignments:
        added = bind.value.operands("+=")[:1]
        if added and bind.scope.loop is not None:
            if isinstance(added[0].literal, int):
                yield bind, added[0]
            elif _is_size(added[0]):
                yield bind, added[0].sibling(Const(_BATCH))


def _is_size(expr: Expr) -> bool:
    """Whether a value is a size: ``x.size(0)``, ``len(x)``, ``x.shape[0]``."""
    if expr.call is not None:
        return expr.call.last in _SIZES
    subscript = expr.subscript
    return subscript is not None and subscript[0].written.endswith(".shape") and subscript[1].value == Const(0)


def _entries(value: Expr, place: Span, owner: str) -> Iterator[CodeStep]:
    """The entries of dict displays, also in lists: ``[{"params": p, "lr": 0.1}]``."""
    waiting: list[tuple[str, Expr]] = [(owner, value)]
    while waiting:
        prefix, display = waiting.pop()
        waiting += [(prefix, item) for item in display.items if item.is_dict or item.is_display]
        table = display.value
        if not isinstance(table, Table):
            continue
        places = [Span(*bounds) for bounds in table.places] or [place] * len(table.keys)
        for (key, inner), at in zip(display.entries, places, strict=True):
            if key is None or not key.is_literal:
                continue
            name, part = f"{prefix}.{key.literal}", named_part(str(key.literal))
            if any(item.is_dict for item in (inner.items if inner.is_display else [inner])):
                waiting.append((name, inner))
            elif is_literal(inner.value) and is_relevant(inner.value):
                part = part or ("schedule" if key.literal in _OF_SCHEDULE and _schedules(display) else "")
                if part:
                    yield _literal("entry", name, part, inner, at)


def _schedules(display: Expr) -> bool:
    """Whether a display says how a schedule is used: ``{"scheduler": schedule, "interval": "step"}``."""
    keys = [key for key, _ in display.entries if key is not None and key.is_literal]
    return any(key.literal == "scheduler" for key in keys)


def _slices(value: Expr, place: Span) -> Iterator[CodeStep]:
    """A literal limit on the number of samples: ``images[:1000]``."""
    part = value.subscript
    bounds = part[1].value.bounds if part is not None and isinstance(part[1].value, Unknown) else ()
    limits = [bound for bound in bounds[:2] if isinstance(bound, int) and abs(bound) >= _FEW_SAMPLES]
    if part is not None and limits and _samples(part[0]):
        text = ":".join("" if bound is None else str(bound) for bound in bounds[:2])
        number = value.sibling(Const(text))
        yield CodeStep("slice", "slice", "slice", "dataset", value.scope, place, (Argument("", number, "dataset"),))


def _samples(holder: Expr) -> bool:
    """Whether a sequence holds samples, judging by its name or by what lists them."""
    name = holder.call.last if holder.call is not None else holder.written.rpartition(".")[2]
    return bool(_SAMPLES.search(name.lower()))


def _literal(kind: str, name: str, part: str, value: Expr, place: Span) -> CodeStep:
    return CodeStep(kind, name, name, part, value.scope, place, (Argument("", value, part),))


def _defaults(function: Scope) -> Iterator[CodeStep]:
    """The literal defaults of a function that some call uses."""
    for name, default in function.defaults:
        part = _parameter_part(function, name)
        if part and (_is_member(default) or (is_literal(default.value) and is_relevant(default.value))):
            passed = function.passed(name)
            if not passed or any(value is None for _, value in passed):
                yield _literal("default", name, part, function.expr(default.value, default.line), Span.at(default.line))


def _is_member(default: Expr) -> bool:
    """Whether a default is a member of an enumeration: ``Mode.MEAN``."""
    holder, _, last = default.written.rpartition(".")
    return last.isupper() and holder.rpartition(".")[2][:1].isupper()


def _loops(module: Scope) -> Iterator[CodeStep]:
    """Loops with a literal number of iterations: ``for epoch in range(90)``."""
    counters = {bind.scope: bind.target for bind in module.assignments if bind.scope.kind == "loop"}
    sites = (site for site in module.all_calls if _TRAINING.search(site.written.rpartition(".")[2]))
    training = {loop for site in sites for loop in _loops_around(site.scope)}
    for loop in module.blocks_of("loop"):
        site = loop.test.call
        part = named_part(counters.get(loop, ""))
        part = part if part in ("epochs", "steps") else "steps" if loop in training else ""
        if part and site is not None and site.written in ("range", "xrange"):
            arguments = tuple(Argument(str(at), value, part) for at, value in enumerate(site.args))
            yield CodeStep("loop", part, "range", part, loop.test.scope, site.span, arguments)


def _loops_around(scope: Scope) -> Iterator[Scope]:
    """The loops around a call within its function."""
    for ancestor in scope.ancestors:
        if ancestor.kind in ("function", "class", "lambda"):
            return
        if ancestor.kind == "loop":
            yield ancestor


def _parameter_part(function: Scope, name: str) -> str:
    """The part of a parameter, by its name and those of its function or class."""
    part, owner = named_part(name), function.record.name.lower()
    if part in ("schedule", "momentum", "setting") and AVERAGE.search(owner):
        return "average"
    return "schedule" if part == "setting" and _SCHEDULE.search(owner) else part


def _last(target: str) -> str:
    """The last name of an assignment target: ``lr`` of ``self.cfg[lr]`` and of ``cfg.lr``."""
    return target.rstrip("]").replace("[", ".").rpartition(".")[2]


def _is_configuration(bind: AssignmentSite) -> bool:
    """Whether an assignment affects more than its own function: at module or class level, on an object, or in a
    function that creates a configuration."""
    return "." in bind.target or "[" in bind.target or bind.scope.namespace.kind in _OUTER
