"""Which functions of a program's modules its entry may ever run, told by the names that running code uses.

Names, not resolved calls: a method called on an unknown object reaches every method of that name. What
remains unreached is surely not run, for instance the training function of a module that an evaluation
script imports for its loader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.assemble.guards import is_main
from npulint.assemble.module import Module
from npulint.assemble.project import Project
from npulint.facts.code import Block, Const, Items, Op, Ref, Table, Value

_DYNAMIC = frozenset(("getattr", "eval", "exec", "globals", "locals", "vars"))
_CALLED_BY_FRAMEWORKS = frozenset(("call", "build", "train_step", "model_fn", "input_fn", "main", "setUp", "run"))

Place = tuple[str, int]
"""A path and a function's block there; `IMPORTED` is the code outside functions, `STARTED` what of it runs
only in the entry script."""

IMPORTED = -1
STARTED = -2


class Reached:
    """Per function the names it uses, and per name the functions that bear it."""

    def __init__(self, project: Project) -> None:
        self._uses: dict[Place, set[str]] = {}
        self._named: dict[str, list[Place]] = {}
        self._classes: dict[str, list[Place]] = {}
        for module in project.modules.values():
            self._add(module)

    def _add(self, module: Module) -> None:
        for index, block in enumerate(module.blocks):
            if block.kind == "function":
                self._named.setdefault(_simple(block), []).append((module.path, index))
            elif block.kind == "class":
                self._classes.setdefault(_simple(block), []).append((module.path, index))
        for call in module.code.calls:
            used = self._uses.setdefault((module.path, home(module, call.block)), set())
            for value in (call.callee, *call.args, *(v for _, v in call.keywords)):
                used.update(_names(value))
        for record in (*module.code.binds, *module.code.returns):
            used = self._uses.setdefault((module.path, home(module, record.block)), set())
            used.update(_names(record.value))
        for index, block in enumerate(module.blocks):
            if block.decorators or block.bases:
                used = self._uses.setdefault((module.path, home(module, block.parent)), set())
                for value in (*block.decorators, *block.bases):
                    used.update(_names(value))
            if block.decorators:  # registered somewhere by its decorator
                self._uses.setdefault((module.path, home(module, block.parent)), set()).add(_simple(block))

    def within(self, paths: Iterable[str], entry: str) -> set[Place] | None:
        """The functions that a program of these modules may run; None when names are computed, so that
        any may."""
        allowed = set(paths)
        queue: list[Place] = [*((path, IMPORTED) for path in allowed), (entry, STARTED)]
        found: set[Place] = set(queue)
        names: set[str] = set()
        while queue:
            new = self._uses.get(queue.pop(), set()) - names
            if new & _DYNAMIC:
                return None
            names |= new
            for place in self._places(new):
                if place[0] in allowed and place not in found:
                    found.add(place)
                    queue.append(place)
        return found

    def _places(self, names: set[str]) -> Iterator[Place]:
        for name in names:
            yield from self._named.get(name, ())
            for path, _ in self._classes.get(name, ()):
                for wanted in _CALLED_BY_FRAMEWORKS:
                    yield from (p for p in self._named.get(wanted, ()) if p[0] == path)
                yield from (p for n in _DUNDERS for p in self._named.get(n, ()) if p[0] == path)
        if "run" in names:  # tf.app.run() looks for main by itself
            yield from self._named.get("main", ())


_DUNDERS = ("__init__", "__call__", "__enter__", "__iter__", "__next__", "__getitem__", "__new__")


def home(module: Module, block: int) -> int:
    """The function around `block`, or `IMPORTED` or `STARTED`."""
    function = module.function_of(block)
    while function >= 0 and module.blocks[function].kind == "lambda":
        function = module.function_of(module.blocks[function].parent)
    if function >= 0:
        return function
    started = any(module.blocks[b].kind == "if" and is_main(module.blocks[b].test) for b in module.ancestors(block))
    return STARTED if started else IMPORTED


def _simple(block: Block) -> str:
    return block.name.rpartition(".")[2]


def _names(value: Value, depth: int = 0) -> Iterator[str]:
    """The first and last segments of the names in a value: ``train`` of ``tf.train.Saver`` is neither."""
    if isinstance(value, Ref):
        yield value.name.partition(".")[0]
        yield value.name.rpartition(".")[2]
    elif isinstance(value, Op) and depth < 8:
        for operand in value.operands:
            yield from _names(operand, depth + 1)
        if value.op == "." and isinstance(value.operands[1], Const):
            yield str(value.operands[1].value)
    elif isinstance(value, Items) and depth < 8:
        for item in value.items:
            yield from _names(item, depth + 1)
    elif isinstance(value, Table) and depth < 8:
        for item in value.values:
            yield from _names(item, depth + 1)
