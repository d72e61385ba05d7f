"""A module: the syntax facts of one file with the tables for name resolution."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, TypeVar

from npulint.facts.code import (
    Assignment,
    Block,
    CallResult,
    Code,
    Const,
    Function,
    Import,
    Op,
    Ref,
    Return,
    SequenceDisplay,
    Value,
)
from npulint.facts.model import FileFacts
from npulint.model.code.local_calls import calls_from

_SCOPES = frozenset(("module", "function", "class", "lambda"))
_T = TypeVar("_T")
_STATIC = Ref("staticmethod")
_REACHING = 64  # assignments that may reach a line: only a hostile file has more


class Module:
    """Wraps one `Code`. `scope[b]` is the nearest enclosing scope block of block `b`; comprehension loops that bind
    names count as scopes of these names through their params."""

    def __init__(self, file: FileFacts, name: str) -> None:
        self.file = file
        self.path = file.path
        self.name = name
        self.code: Code = file.code or Code()
        self.blocks: list[Block] = self.code.blocks
        self._derived: dict[Callable[[Module], Any], Any] = {}
        self.generation = 0  # the number of the project that it was made for
        self.layout: frozenset[tuple[str, str, bool]] = frozenset()  # see `Project`: of all modules there
        self.former: Module | None = None  # of the same code in an earlier project, until this one has looked at it
        self._forget_project()
        self.folder = posixpath.dirname(file.path)
        self.scope: list[int] = []
        self._chains: dict[int, list[int]] = {}
        self._functions: list[int] = []
        self._loops: list[int] = []
        for index, block in enumerate(self.blocks):
            self._place(index, block.kind, block.parent)
        self._written = [
            call.callee.name.rpartition(".")[2] if isinstance(call.callee, Ref) else _method(call.callee)
            for call in self.code.calls
        ]
        self.names: dict[int, dict[str, list[Assignment]]] = defaultdict(dict)
        self.dotted: dict[str, list[Assignment]] = defaultdict(list)
        self.imports: dict[int, dict[str, Import]] = defaultdict(dict)
        self.stars: list[Import] = []
        self.returns: dict[int, list[Return]] = defaultdict(list)
        self.params: dict[int, frozenset[str]] = {}  # of functions, lambdas and loops, including starred ones
        self._fill()

    @classmethod
    def of(cls, file: FileFacts, name: str) -> Module:
        """The module of a file. What depends on its code alone is taken over from a module that was made of the same
        code for an earlier project, before another file was edited."""
        before: Module | None = None if file.code is None else file.code.__dict__.get("module")
        if before is None or (before.path, before.name) != (file.path, name):
            module = cls(file, name)
        else:
            module = copy(before)
            module.file = file
            module.former = before
            module._forget_project()
        if file.code is not None:
            file.code.__dict__["module"] = module
        return module

    def _forget_project(self) -> None:
        """Discards what depends on other files of the project."""
        self.callees: list[str | None] = [None] * len(self.code.calls)  # filled by `Names`
        self.plain: dict[str, str] = {}  # names with the same meaning in the whole module, set by `Names`
        self.settled: dict[tuple[int, str], str] = {}  # names with the same meaning on every line of a block
        self.forget_cursors()

    def forget_cursors(self) -> None:
        """Discards the cursors of blocks and calls, which are cached here and belong to a single context."""
        self.scopes: list[Any] = [None] * max(1, len(self.blocks))
        self.call_sites: list[Any] = [None] * len(self.code.calls)

    def keep_names(self, former: Module) -> None:
        """Take over what names mean from the module of an earlier project, where they mean the same."""
        self.callees, self.plain, self.settled = former.callees, former.plain, former.settled

    def derive(self, work: Callable[[Module], _T]) -> _T:
        """The result of a function of this module's code alone, computed once."""
        if work not in self._derived:
            self._derived[work] = work(self)
        result: _T = self._derived[work]
        return result

    def _place(self, index: int, kind: str, parent: int) -> None:
        """Records the nearest scope, function and loop around a block; its parent must be recorded before."""
        top = index == 0 or parent < 0
        inner = kind in ("function", "lambda")
        self.scope.append(index if top or kind in _SCOPES else self._scope_within(kind, self.scope[parent]))
        self._functions.append(-1 if index == 0 else index if inner else -1 if top else self._functions[parent])
        self._loops.append(index if kind == "loop" else -1 if inner or top else self._loops[parent])

    def _scope_within(self, kind: str, around: int) -> int:
        if kind == "global":
            return 0
        return self.scope[max(0, self.blocks[around].parent)] if kind == "nonlocal" else around

    def _fill(self) -> None:
        names, dotted, scope = self.names, self.dotted, self.scope
        for bind in self.code.assignments:
            target = bind.target
            if "." in target or "[" in target:
                dotted[target].append(bind)
            else:
                table = names[scope[bind.block]]
                if target in table:
                    table[target].append(bind)
                else:
                    table[target] = [bind]
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
        self._shadow()

    def _shadow(self) -> None:
        """Records the names that may be bound by something other than an import at module level."""
        self.shadowed: set[str] = set().union(*self.names.values())
        for index, block in enumerate(self.blocks):
            if block.params:
                self.params[index] = frozenset([p.lstrip("*") for p in block.params])
                self.shadowed.update(self.params[index])
        self.shadowed.update(a for scope, table in self.imports.items() if scope for a in table)
        self.shadowed.update(name for _, name in (*self.branch_imports, *self.repeated_imports))

    @cached_property
    def qualified(self) -> dict[str, int]:
        """The blocks of functions and classes by their qualified names."""
        return {b.name: i for i, b in enumerate(self.blocks) if b.name}

    @cached_property
    def attributes(self) -> dict[int, dict[str, list[Assignment]]]:
        """Class block -> attribute -> bindings, from ``self.x = …`` in methods and from the class body."""
        attributes: dict[int, dict[str, list[Assignment]]] = defaultdict(dict)
        for target, binds in self.dotted.items():
            root, _, rest = target.partition(".")
            if not rest or "." in rest or "[" in rest:
                continue
            for bind in binds:
                owner = self.owner_of_self(root, bind.block)
                if owner >= 0:
                    attributes[owner].setdefault(rest, []).append(bind)
        return attributes

    @cached_property
    def calls_in(self) -> dict[int, list[int]]:
        """From each function block (-1: none) to its calls, without those of nested functions."""
        calls: dict[int, list[int]] = {}
        for index, call in enumerate(self.code.calls):
            calls.setdefault(self.function_of(call.block), []).append(index)
        return calls

    @cached_property
    def assignments_in(self) -> dict[int, list[Assignment]]:
        """From each function block (-1: none) to its assignments, without those of nested functions."""
        assignments: dict[int, list[Assignment]] = {}
        for record in self.code.assignments:
            assignments.setdefault(self.function_of(record.block), []).append(record)
        return assignments

    @cached_property
    def functions_in(self) -> dict[int, list[int]]:
        """From each function block (-1: none) to the functions and lambdas defined directly in it."""
        functions: dict[int, list[int]] = {}
        for block, record in enumerate(self.blocks):
            if record.kind in ("function", "lambda"):
                functions.setdefault(self.function_of(record.parent), []).append(block)
        return functions

    @cached_property
    def blocks_by_kind(self) -> dict[str, list[int]]:
        """From each kind of block to the blocks of that kind, in text order."""
        kind: dict[str, list[int]] = defaultdict(list)
        for number, record in enumerate(self.blocks):
            kind[record.kind].append(number)
        return kind

    @cached_property
    def methods(self) -> dict[int, tuple[int, str]]:
        """From each call to the method call on its result, and the method's name."""
        methods: dict[int, tuple[int, str]] = {}
        for index, call in enumerate(self.code.calls):
            if isinstance(call.callee, Op) and call.callee.op == ".":
                owner, method = call.callee.operands
                if isinstance(owner, CallResult) and isinstance(method, Const):
                    methods[owner.call] = (index, str(method.value))
        return methods

    @cached_property
    def main_guards(self) -> frozenset[int]:
        """The blocks ``if __name__ == "__main__"``."""
        return frozenset([i for i, block in enumerate(self.blocks) if block.kind == "if" and is_main(block.test)])

    def settle(self, block: int, name: str, meaning: str) -> str:
        """Caches the meaning of a name on every line of a block."""
        self.settled[(block, name)] = meaning
        return meaning

    def callee_name(self, index: int) -> str:
        """The last segment of the callee of call number `index`, as written."""
        return self._written[index]

    def calls_of(self, *lasts: str) -> list[int]:
        """The calls whose callee, as written, ends with one of the segments `lasts`, in text order."""
        indices = [index for last in lasts if last in self._by_written for index in self._by_written[last]]
        return sorted(indices) if len(indices) > 1 else indices

    def calls_where(self, matches: Callable[[str], bool]) -> list[int]:
        """The calls for which `matches` holds for the last segment of the callee as written, in text order."""
        return sorted(index for last, calls in self._by_written.items() if matches(last) for index in calls)

    @cached_property
    def _by_written(self) -> dict[str, list[int]]:
        by_last: dict[str, list[int]] = {}
        for index, last in enumerate(self._written):
            by_last.setdefault(last, []).append(index)
        return by_last

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
                is_bound = record.params[:1] == (name,) and _STATIC not in record.decorators
                return parent if is_bound else -1
            function = self.function_of(parent)
        return -1

    def ancestors(self, block: int) -> list[int]:
        """The block and all blocks around it, innermost first; do not modify the list."""
        chain = self._chains.get(block)
        if chain is None:
            chain = self._chains[block] = []
            around = block
            while around >= 0:
                chain.append(around)
                around = self.blocks[around].parent
        return chain

    def qualname(self, block: int) -> str:
        """The qualified name of the function or class around `block`; empty at module level."""
        while block > 0:
            if self.blocks[block].name:
                return self.blocks[block].name
            block = self.blocks[block].parent
        return ""

    def is_assigned_again(self, bind: Assignment) -> bool:
        """Whether the module assigns something else to what an assignment gives a value."""
        by_name = self.names.get(self.scope[bind.block], {}).get(bind.target, ())
        return len(by_name) > 1 or len(self.dotted.get(bind.target, ())) > 1

    def definition(self, scope: int, name: str) -> int:
        """The block of the function or class `name` defined in `scope`, or -1."""
        for bind in reversed(self.names.get(scope, {}).get(name, ())):
            if isinstance(bind.value, Function):
                return bind.value.block
        return -1

    def called_block(self, block: int) -> int:
        """The block that a call of a function or class runs: of a class its own ``__init__``, or -1."""
        return self.definition(block, "__init__") if self.blocks[block].kind == "class" else block

    def parts(self, value: Value) -> tuple[Value, ...]:
        """The subexpressions of an expression: operands, items, or the callee and positional arguments of a call."""
        if isinstance(value, Op):
            return value.operands
        if isinstance(value, SequenceDisplay):
            return value.items
        if isinstance(value, CallResult):
            call = self.code.calls[value.call]
            return (call.callee, *call.args)
        return ()

    def reaching(self, binds: list[Assignment], block: int, line: int) -> list[Assignment]:
        """Those of `binds` (one name, one scope, by line) that may apply at `line` in `block`, nearest first: earlier
        ones back to the first that is on every path to the line, and later ones in a surrounding loop, but none in the
        other branch of a surrounding condition. From another scope, or if none precedes, all of them, of thousands the
        nearest ones; of a function that is only called by its name, those that may apply where it is."""
        home = self.scope[binds[0].block]
        if home != self.scope[block] and len(binds) > 1:
            calls = calls_from(self, home, block)
            applying = {
                id(assignment): assignment
                for call in calls
                for assignment in self.reaching(binds, call.block, call.line)
            }
            if applying:
                return list(applying.values())
        if home != self.scope[block] or (len(binds) == 1 and binds[0].block == home):
            return binds[: -_REACHING - 1 : -1]
        around = set(self.ancestors(block))
        loops = {b for b in around if self.blocks[b].kind == "loop"}
        other = set() if loops else self._other_branches(around)
        assignments = []
        for bind in reversed(bound_before(binds, line)):
            if other and not other.isdisjoint(self.ancestors(bind.block)):
                continue
            assignments.append(bind)
            if bind.block in around:
                loops.difference_update(self.ancestors(bind.block))
                break
        if loops and assignments:  # later lines of a loop precede in the next iteration
            end = bisect_left(binds, line, key=_line)
            later = binds[end : end + _REACHING]
            assignments += [b for b in later if not loops.isdisjoint(self.ancestors(b.block))]
        return assignments or [b for b in binds[: -_REACHING - 1 : -1] if other.isdisjoint(self.ancestors(b.block))]

    def _other_branches(self, around: set[int]) -> set[int]:
        """The condition blocks that do not run where one of the blocks `around` is their ``else``."""
        return {self.if_of_else[here] for here in around if here in self.if_of_else}

    @cached_property
    def repeated_imports(self) -> dict[tuple[int, str], list[Import]]:
        """By scope and name the imports that run whenever the scope does, where a name has several."""
        several: dict[tuple[int, str], list[Import]] = defaultdict(list)
        for record in self.code.imports:
            if record.alias and record.block == self.scope[record.block]:
                several[record.block, record.alias].append(record)
        return {key: records for key, records in several.items() if len(records) > 1}

    def import_of(self, scope: int, name: str, block: int, line: int) -> Import | None:
        """The import that binds a name of a scope for a line of a block: of several that run in any case the nearest
        one before, for code of other functions the last one; else the first, of which others are fallbacks."""
        first = self.imports.get(scope, {}).get(name)
        records = self.repeated_imports.get((scope, name))
        if records is None:
            return first
        before = [record for record in records if record.line <= line] if self.scope[block] == scope else records
        return before[-1] if before else first

    @cached_property
    def branch_imports(self) -> dict[tuple[int, str], list[Import]]:
        """By scope and name the imports that stand in different branches of one condition, where a name has such."""
        several: dict[tuple[int, str], list[Import]] = defaultdict(list)
        for record in self.code.imports:
            if record.alias:
                several[self.scope[record.block], record.alias].append(record)
        return {
            key: records
            for key, records in several.items()
            if any(self.are_alternatives(records[0].block, other.block) for other in records[1:])
        }

    def are_alternatives(self, first: int, second: int) -> bool:
        """Whether two blocks stand in different branches of one condition."""
        around, elsewhere = set(self.ancestors(first)), set(self.ancestors(second))
        return any(
            block in inner and self.if_of_else.get(block, -1) in outer
            for inner, outer in ((around, elsewhere), (elsewhere, around))
            for block in inner
        )

    @cached_property
    def if_of_else(self) -> dict[int, int]:
        """From each ``else`` block to its ``if`` block."""
        ifs: dict[int, int] = {}
        opened: dict[tuple[int, int], int] = {}
        for index, record in enumerate(self.blocks):
            if record.kind == "if":
                opened[(record.parent, record.line)] = index
            elif record.kind == "else" and (record.parent, record.line) in opened:
                ifs[index] = opened[(record.parent, record.line)]
        return ifs


def bound_before(binds: list[Assignment], line: int) -> list[Assignment]:
    """The assignments of a name (by line) that stand before a line: of thousands the nearest ones, see `reaching`."""
    end = bisect_left(binds, line, key=_line)
    return binds[max(0, end - _REACHING) : end]


def _line(bind: Assignment) -> int:
    return bind.line


def is_main(test: Value) -> bool:
    """Whether a condition is ``__name__ == "__main__"``."""
    return (
        isinstance(test, Op)
        and test.op == "=="
        and any(isinstance(v, Ref) and v.name == "__name__" for v in test.operands)
        and any(isinstance(v, Const) and v.value == "__main__" for v in test.operands)
    )


def _method(callee: Value) -> str:
    """The name of the method that is called on a result; empty for other values."""
    if isinstance(callee, Op) and callee.op == "." and isinstance(callee.operands[1], Const):
        return str(callee.operands[1].value)
    return ""
