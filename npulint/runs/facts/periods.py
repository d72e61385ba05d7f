"""What the code of a project does every so many steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Const, Op, Ref, Value
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.values.context import Context
from npulint.model.values.cursors import expr_at

_INTERVAL = lazy_compile(r"(?:^|_)(?:steps?|secs|every|freq(?:uency)?|interval|iter(?:ation)?s?|period|loop)(?:_|$)")
_MOST = 6  # places: where more things happen that often, nobody knows which it was
_DEPTH = 12


def periodic(context: Context, period: int, paths: Collection[str] | None = None) -> list[tuple[str, Span]]:
    """The conditions of the project, in the files of `paths` (None: in all), that hold every `period` steps
    (``step % 50 == 0``), and the calls that are told such an interval (``save_summary_steps=50``); nothing if there are
    many."""
    tested: list[tuple[str, Span]] = []
    told: list[tuple[str, Span]] = []
    modules = context.project.modules
    for path in sorted(modules if paths is None else modules.keys() & paths):
        module = modules[path]
        tested += [(path, Span.at(line)) for line in _tests(context, module, period)]
        told += [(path, span) for span in _intervals(context, module, period)]
    found = list(dict.fromkeys([*tested, *told]))
    return next((some for some in (found, tested) if len(some) <= _MOST), [])


def _tests(context: Context, module: Module, period: int) -> Iterator[int]:
    for block in module.blocks:
        if block.kind == "if":
            for value in _remainders(block.test):
                values = expr_at(context, module, value, block.parent, block.line).known
                if _is(period, values.values or _configured(context, value)):
                    yield block.line


def _is(period: int, values: Iterable[object]) -> bool:
    return any(value == period and not isinstance(value, bool) for value in values)


def _configured(context: Context, value: Value) -> list[object]:
    """What the project's configuration, a module that fills an object of settings, gives ``cfg.TRAIN.SAVE_STEPS``."""
    if not isinstance(value, Ref) or "." not in value.name:
        return []
    inner = value.name.partition(".")[2]
    modules = context.project.modules.values()
    binds = (bind for module in modules for bind in module.code.assignments if bind.target.partition(".")[2] == inner)
    return [bind.value.value for bind in binds if isinstance(bind.value, Const)]


def _remainders(test: Value) -> Iterator[Value]:
    """The divisors of all remainders in a condition."""
    rest = [(test, 0)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, Op) and value.op == "%" and len(value.operands) == 2:
            yield value.operands[1]
        if isinstance(value, Op) and depth < _DEPTH:
            rest += [(part, depth + 1) for part in value.operands]


def _intervals(context: Context, module: Module, period: int) -> Iterator[Span]:
    for call in module.code.calls:
        for key, value in call.keywords:
            if _INTERVAL.search(key) and _is(
                period, expr_at(context, module, value, call.block, call.line).known.values
            ):
                yield Span.of(call)
                break
