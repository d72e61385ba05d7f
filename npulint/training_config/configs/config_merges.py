"""Finds where code merges the settings of one object, or of a file, into another object
(``cfg.merge_from_file(path)``)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.calls import receiver_of
from npulint.facts.code import Assignment, CallResult, Op, Ref, Value
from npulint.training_config.configs.paths import Paths, takes

_DEPTH = 6
_MOST = 8
READS = frozenset("merge_from_file cfg_from_file read read_file load_from_file update_from_file".split())
"""Methods that load settings from a file."""
_TAKES = frozenset(("update", "set_defaults", "setattr", "setdefault", "merge_from_other_cfg", "merge_update"))


class ConfigMerge(msgspec.Struct, frozen=True, eq=False):
    """One merge: `value` (or the file at `path` if it is None) is merged into `holder`."""

    module: Module
    holder: Value
    block: int
    line: int
    value: Value | None = None
    reader: int = -1


class ConfigMerges:
    """The merges of a project, indexed by the assignment that created the target object."""

    def __init__(self, context: Context, paths: Paths) -> None:
        self._context = context
        self._paths = paths
        self._by_bind: dict[tuple[str, int, int, str], list[ConfigMerge]] | None = None

    def into(self, home: Module, bind: Assignment) -> list[ConfigMerge]:
        """The merges into the object that an assignment created."""
        if self._by_bind is None:
            self._by_bind = {}
            self._gather(self._by_bind)
        return self._by_bind.get((home.path, bind.line, bind.column, bind.target), [])

    def of_self(self, module: Module, function: int, me: str) -> list[ConfigMerge]:
        """The merges that a class makes into its instances, which method `function` calls `me`."""
        return [
            merge
            for merge in self.of(module)
            if isinstance(merge.holder, Ref)
            and merge.holder.name in (me, f"{me}.__dict__")
            and module.class_of(merge.block) == module.class_of(function)
        ]

    def _gather(self, table: dict[tuple[str, int, int, str], list[ConfigMerge]]) -> None:
        for path, module in self._context.project.modules.items():
            if self._paths.modules is None or path in self._paths.modules:
                for merge in self.of(module):
                    for home, bind in self._holders(merge.module, merge.holder, merge.block, merge.line, 0):
                        table.setdefault((home.path, bind.line, bind.column, bind.target), []).append(merge)

    def _holders(
        self, module: Module, holder: Value, block: int, line: int, depth: int
    ) -> list[tuple[Module, Assignment]]:
        """The assignments that created an object, including those of its aliases."""
        if depth > _DEPTH:
            return []
        if isinstance(holder, CallResult):
            args = module.code.calls[holder.call].args
            same = module.callee_name(holder.call) == "vars" and bool(args)
            return self._holders(module, args[0], block, line, depth + 1) if same else []
        if not isinstance(holder, Ref):
            return []
        found = list(self._context.bindings(module, holder.name, block, line)[:_MOST])
        for home, bind in tuple(found):
            if isinstance(bind.value, Ref | CallResult):
                found += self._holders(home, bind.value, bind.block, bind.line, depth + 1)
        if not found:
            function = takes(module, holder.name, block)
            if function:
                for home, value, at, _ in self._paths.arguments(module, function, holder.name, None)[:16]:
                    if value is not None:
                        found += self._holders(home, value, at.block, at.line, depth + 1)
        return found

    def of(self, module: Module) -> list[ConfigMerge]:
        """All merges in the code of a module."""
        return self._context.memoize(("merge", module.path), lambda: [*self._by_calls(module), *self._by_items(module)])

    def _by_calls(self, module: Module) -> Iterator[ConfigMerge]:
        for index in module.calls_where(lambda last: last in READS or last in _TAKES):
            call = module.code.calls[index]
            last = module.callee_name(index)
            receiver = receiver_of(call)
            if last == "setattr":
                source = self._looped(module, call.block) if len(call.args) > 2 else None
                if source is not None:
                    yield ConfigMerge(module, call.args[0], call.block, call.line, source)
            elif receiver is not None and last in READS:
                if not last.startswith("read") or "onfigParser" in self._context.names.of_call(module, index):
                    yield ConfigMerge(module, receiver, call.block, call.line, None, index)
            elif receiver is not None:
                for value in (*call.args[:1], *(value for name, value in call.keywords if name == "**")):
                    yield ConfigMerge(module, _bare(module, receiver), call.block, call.line, value)

    def _by_items(self, module: Module) -> Iterator[ConfigMerge]:
        for target, binds in module.dotted.items():
            holder = Ref(target.rpartition("[")[0] if target.endswith("[*]") else target.removesuffix(".__dict__"))
            for bind in binds if holder.name != target else ():
                source = self._looped(module, bind.block) if target.endswith("[*]") else bind.value
                if source is not None:
                    yield ConfigMerge(module, _bare(module, holder), bind.block, bind.line, source)

    def _looped(self, module: Module, block: int) -> Value | None:
        """The mapping whose entries the loop around a block iterates over."""
        loop = module.loop_of(block)
        if loop < 0:
            return None
        over = module.blocks[loop].test
        if isinstance(over, Op) and over.op == "iter":
            over = over.operands[0]
        if isinstance(over, CallResult):
            call = module.code.calls[over.call]
            if module.callee_name(over.call) in ("items", "iteritems", "keys"):
                return call.args[0] if call.args else receiver_of(call)
        return over if isinstance(over, Ref) else None


def _bare(module: Module, holder: Value) -> Value:
    """The object behind its dictionary: ``args`` for ``args.__dict__`` and ``vars(args)``."""
    if isinstance(holder, Ref):
        return Ref(holder.name.removesuffix(".__dict__"))
    if isinstance(holder, CallResult) and module.callee_name(holder.call) == "vars":
        call = module.code.calls[holder.call]
        return call.args[0] if call.args else holder
    return holder
