"""A module: the syntax facts of one file with the tables that name resolution asks for."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from functools import cached_property

from npulint.facts.code import Bind, Block, Call, Code, Const, Function, Import, Op, Ref, Result, Return
from npulint.facts.model import FileFacts

_SCOPES = frozenset(("module", "function", "class", "lambda"))


class Module:
    """Wraps one `Code`. `scope[b]` is the nearest enclosing scope block of block `b`; comprehension
    loops that bind names count as scopes of those names through their params."""

    def __init__(self, file: FileFacts, name: str) -> None:
        self.file = file
        self.path = file.path
        self.name = name
        self.code: Code = file.code or Code()
        self.blocks: list[Block] = self.code.blocks
        self.callees: list[str | None] = [None] * len(self.code.calls)  # filled by `Names`
        self.plain: dict[str, str] = {}  # names that mean the same everywhere in the module, by `Names`
        self.folder = posixpath.dirname(file.path)
        self.scope: list[int] = []
        self._functions: list[int] = []
        self._loops: list[int] = []
        for index, block in enumerate(self.blocks):
            self.scope.append(self._scope_of(index, block))
            self._place(index, block)
        self._written = [_last(call) for call in self.code.calls]
        self._by_written: dict[str, list[int]] | None = None
        self.names: dict[int, dict[str, list[Bind]]] = defaultdict(dict)
        self.dotted: dict[str, list[Bind]] = defaultdict(list)
        self.imports: dict[int, dict[str, Import]] = defaultdict(dict)
        self.stars: list[Import] = []
        self.returns: dict[int, list[Return]] = defaultdict(list)
        self._fill()

    def _scope_of(self, index: int, block: Block) -> int:
        if block.kind in _SCOPES or block.parent < 0:
            return index
        inner = self.scope[block.parent]
        if block.kind == "global":
            return 0
        return self.scope[max(0, self.blocks[inner].parent)] if block.kind == "nonlocal" else inner

    def _place(self, index: int, block: Block) -> None:
        """Note the nearest function and loop around a block; its parent comes before it."""
        inner = block.kind in ("function", "lambda")
        top = index == 0 or block.parent < 0
        self._functions.append(-1 if index == 0 else index if inner else -1 if top else self._functions[block.parent])
        around = -1 if inner or top else self._loops[block.parent]
        self._loops.append(index if block.kind == "loop" else around)

    def _fill(self) -> None:
        for bind in self.code.binds:
            if "." in bind.target or "[" in bind.target:
                self.dotted[bind.target].append(bind)
            else:
                self.names[self.scope[bind.block]].setdefault(bind.target, []).append(bind)
        for table in self.names.values():
            for binds in table.values():
                if len(binds) > 1:
                    binds.sort(key=lambda b: b.line)
        for record in self.code.imports:
            if record.name == "*":
                self.stars.append(record)
            elif record.alias:
                self.imports[self.scope[record.block]].setdefault(record.alias, record)
        for returned in self.code.returns:
            self.returns[self.function_of(returned.block)].append(returned)
        self.attributes = self._class_attributes()
        self.shadowed = {n for table in self.names.values() for n in table}
        for block in self.blocks:
            if block.params:
                self.shadowed.update([p.lstrip("*") for p in block.params])
        self.shadowed.update(a for scope, table in self.imports.items() if scope for a in table)
        self.qualified = {b.name: i for i, b in enumerate(self.blocks) if b.name}

    def _class_attributes(self) -> dict[int, dict[str, list[Bind]]]:
        """Class block -> attribute -> bindings, from ``self.x = …`` in methods and from the class body."""
        found: dict[int, dict[str, list[Bind]]] = defaultdict(dict)
        for target, binds in self.dotted.items():
            root, _, rest = target.partition(".")
            if not rest or "." in rest or "[" in rest:
                continue
            for bind in binds:
                owner = self.owner_of_self(root, bind.block)
                if owner >= 0:
                    found[owner].setdefault(rest, []).append(bind)
        return found

    @cached_property
    def methods(self) -> dict[int, tuple[int, str]]:
        """Call -> the call of a method on its result, and that method's name."""
        found: dict[int, tuple[int, str]] = {}
        for index, call in enumerate(self.code.calls):
            if isinstance(call.callee, Op) and call.callee.op == ".":
                owner, method = call.callee.operands
                if isinstance(owner, Result) and isinstance(method, Const):
                    found[owner.call] = (index, str(method.value))
        return found

    def written(self, index: int) -> str:
        """The last segment of what call number `index` calls, as written."""
        return self._written[index]

    def calls_of(self, *lasts: str) -> list[int]:
        """The calls whose callee as written ends with one of the segments `lasts`, in text order."""
        if self._by_written is None:
            self._by_written = {}
            for index, last in enumerate(self._written):
                self._by_written.setdefault(last, []).append(index)
        return sorted(index for last in lasts for index in self._by_written.get(last, ()))

    def function_of(self, block: int) -> int:
        """The nearest enclosing function or lambda block, or -1 at module level."""
        return self._functions[block] if block > 0 else -1

    def loop_of(self, block: int) -> int:
        """The nearest loop around `block` within its function, or -1."""
        return self._loops[block] if block >= 0 else -1

    def class_of(self, block: int) -> int:
        """The nearest enclosing class block, or -1."""
        while block > 0:
            if self.blocks[block].kind == "class":
                return block
            block = self.blocks[block].parent
        return -1

    def owner_of_self(self, name: str, block: int) -> int:
        """The class whose instance `name` is when it is the first parameter of an enclosing method, or -1."""
        function = self.function_of(block)
        while function > 0:
            record = self.blocks[function]
            parent = record.parent
            if record.kind == "function" and self.blocks[parent].kind == "class":
                return parent if record.params[:1] == (name,) else -1
            function = self.function_of(parent)
        return -1

    def ancestors(self, block: int) -> list[int]:
        """The block and all blocks around it, innermost first."""
        chain = []
        while block >= 0:
            chain.append(block)
            block = self.blocks[block].parent
        return chain

    def qualname(self, block: int) -> str:
        """The qualified name of the function or class around `block`; empty at module level."""
        while block > 0:
            if self.blocks[block].name:
                return self.blocks[block].name
            block = self.blocks[block].parent
        return ""

    def definition(self, scope: int, name: str) -> int:
        """The block of the function or class `name` defined in `scope`, or -1."""
        for bind in reversed(self.names.get(scope, {}).get(name, ())):
            if isinstance(bind.value, Function):
                return bind.value.block
        return -1

    def reaching(self, binds: list[Bind], block: int, line: int) -> list[Bind]:
        """Which of `binds` (one name, one scope, by line) may hold at `line` in `block`, the nearest
        first: those before it back to the first that lies on every path to it, and those further down
        in a loop around it. From another scope, or when none precedes, all of them."""
        if len(binds) == 1:
            return binds
        if self.scope[binds[0].block] != self.scope[block]:
            return binds[::-1]
        around = set(self.ancestors(block))
        loops = {b for b in around if self.blocks[b].kind == "loop"}
        found = []
        for bind in reversed(binds):
            if bind.line < line:
                found.append(bind)
                if bind.block in around:
                    loops.difference_update(self.ancestors(bind.block))
                    break
        if loops and found:  # the round before may have passed what stands further down
            found += [b for b in binds if b.line >= line and not loops.isdisjoint(self.ancestors(b.block))]
        return found or binds[::-1]


def _last(call: Call) -> str:
    callee = call.callee
    if isinstance(callee, Ref):
        return callee.name.rpartition(".")[2]
    if isinstance(callee, Op) and callee.op == "." and isinstance(callee.operands[1], Const):
        return str(callee.operands[1].value)
    return ""
