"""Configurations that are Python modules, as in mmcv: assignments of literals and ``dict(...)`` calls."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.cursors import expr_at
from npulint.assemble.module import Module
from npulint.facts.code import Assignment, CallResult, Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Span
from npulint.training_config.configs.values import ConfigValue

_DEPTH = 24
_MOST = 4000
_STEPS = 20_000  # values of one module, counting a name with everything it refers to
_DICTS = frozenset(
    ("dict", "ConfigDict", "edict", "EasyDict", "CN", "CfgNode", "AttrDict", "OrderedDict", "Munch", "Dict")
)

_NOT_PLAIN = object()


def module_values(context: Context, module: Module) -> tuple[ConfigValue, ...]:
    """The leaves of the module-level assignments of a module. Their places are those of the innermost enclosing call or
    assignment."""
    reader = _Module(context, module)
    for name, binds in module.names.get(0, {}).items():
        bind = binds[-1]
        if module.blocks[bind.block].kind == "module" or len(binds) == 1:
            reader.add((name,), bind.value, Span.of(bind), 0)
    return tuple(reader.found)


class _Module:
    def __init__(self, context: Context, module: Module) -> None:
        self._context = context
        self._module = module
        self._steps = 0
        self.found: list[ConfigValue] = []

    def add(self, key: tuple[str, ...], value: Value, span: Span, depth: int) -> None:
        self._steps += 1
        if depth > _DEPTH or len(self.found) >= _MOST or self._steps > _STEPS:
            return
        entries, span = self.entries(value, span, depth)
        if entries is not None:
            for name, inner in entries:
                self.add((*key, name), inner, span, depth + 1)
            return
        known = self._plain(value, depth)
        if known is not _NOT_PLAIN:
            self.found.append(ConfigValue(key, known, self._module.path, span))
        elif isinstance(value, SequenceDisplay):
            for number, inner in enumerate(value.items):
                self.add((*key, str(number)), inner, span, depth + 1)
        elif isinstance(value, Ref):
            bind = self._bind(value)
            if bind is not None:
                place = Span.of(bind)
                self.add(key, bind.value, place, depth + 1)

    def entries(self, value: Value, span: Span, depth: int) -> tuple[list[tuple[str, Value]] | None, Span]:
        """The entries of a mapping and its place; None when `value` is no mapping."""
        if isinstance(value, Table):
            return self._table(value, span, depth), span
        if isinstance(value, CallResult):
            call = self._module.code.calls[value.call]
            if self._module.callee_name(value.call) in _DICTS:
                span = Span.of(call)
                found: list[tuple[str, Value]] = []
                for one in call.args[:1]:
                    found += self.entries(one, span, depth + 1)[0] or ()
                for name, one in call.keywords:
                    found += self._spread(one, span, depth) if name == "**" else [(name, one)]
                return found, span
        return None, span

    def _table(self, value: Table, span: Span, depth: int) -> list[tuple[str, Value]]:
        found: list[tuple[str, Value]] = []
        for name, one in zip(value.keys, value.values, strict=True):
            if name is None:
                found += self._spread(one, span, depth)
            elif isinstance(name, Const):
                found.append((str(name.value), one))
        return found

    def _spread(self, value: Value, span: Span, depth: int) -> list[tuple[str, Value]]:
        """The entries of the operand of ``**``."""
        if depth > _DEPTH:
            return []
        bind = self._bind(value) if isinstance(value, Ref) else None
        return self.entries(bind.value if bind is not None else value, span, depth + 1)[0] or []

    def _bind(self, value: Ref) -> Assignment | None:
        binds = self._module.names.get(0, {}).get(value.name, ())
        return binds[-1] if binds else None

    def _plain(self, value: Value, depth: int) -> object:
        if isinstance(value, Const):
            return value.value
        if depth > _DEPTH:
            return _NOT_PLAIN
        if isinstance(value, SequenceDisplay):
            items = [self._plain(item, depth + 1) for item in value.items]
            return _NOT_PLAIN if any(item is _NOT_PLAIN for item in items) else tuple(items)
        if isinstance(value, Op) or (isinstance(value, Ref) and "." not in value.name):
            single = expr_at(self._context, self._module, value, 0, 1 << 30).known
            return single.single if single.exact and len(single.values) == 1 else _NOT_PLAIN
        return _NOT_PLAIN
