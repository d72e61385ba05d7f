"""Which functions of a program's modules its entry may ever run, told by the names that running code uses.

Names, not resolved calls: a method called on an unknown object reaches every method of that name. What
remains unreached is surely not run, for instance the training function of a module that an evaluation
script imports for its loader.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from npulint.facts.code import Block, Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.model.code.module import Module
from npulint.model.code.project import Project

_DYNAMIC = frozenset(("getattr", "eval", "exec", "globals", "locals", "vars"))
_COMPUTED = "()"  # stands among names for those that are not written; `model.eval` makes none
# What frameworks and Python call of a file whose classes are used.
CALLED_BY_FRAMEWORKS = frozenset(
    """call build train_step model_fn input_fn main setUp run forward training_step validation_step
    configure_optimizers train_dataloader setup on_epoch_end
    __init__ __call__ __enter__ __iter__ __next__ __getitem__ __new__""".split()
)

Place = tuple[str, int]
"""A path and a function's (or class's) block there; `IMPORTED` is the code outside functions, `STARTED` what of it runs
only in the entry script."""

IMPORTED = -1
STARTED = -2


class Reached:
    """Per function the names it uses, and per name the functions that bear it; looked for on demand."""

    def __init__(self, project: Project, runs: Callable[[Module, int], bool] | None = None) -> None:
        """`runs` says whether a block may run; names used in blocks that do not run are left out."""
        self._project = project
        self._runs = runs
        self._uses: dict[Place, set[str]] = {}
        self._named: dict[str, list[Place]] = {}
        self._classes: dict[str, list[Place]] = {}
        self._called_back: dict[str, list[Place]] = {}

    def search(self, paths: Iterable[str], entry: str) -> Search:
        """A search through what a program of these modules may run."""
        return Search(self, paths, entry)

    def all_of(self, paths: Iterable[str], entry: str) -> set[Place] | None:
        """All that a program of these modules may run; None when names are computed, so that it may be anything.
        (A search also takes `getattr` and its like for such.)"""
        search = self.search(paths, entry)
        reached = set(search.waiting)
        while search.waiting and not search.is_computed:
            reached.update(search.advance())
        return None if search.is_computed else reached

    def by_name(self, paths: Iterable[str], entry: str) -> set[Place]:
        """All that a program of these modules may run as far as names are written; methods only of classes that
        something else names."""
        allowed = set(paths)
        queue: list[Place] = [*((path, IMPORTED) for path in allowed), (entry, STARTED)]
        name: set[Place] = set(queue)
        names: set[str] = set()
        held: dict[Place, list[Place]] = {}
        while queue:
            new = self.names_of(queue.pop()) - names
            names |= new
            waiting = [place for place in self.places(new) if place[0] in allowed]
            while waiting:
                place = waiting.pop()
                owner = self._owner(place)
                if place in name:
                    continue
                if owner is not None and owner not in name:
                    held.setdefault(owner, []).append(place)
                    continue
                name.add(place)
                queue.append(place)
                waiting += held.pop(place, ())
        return name

    def _owner(self, place: Place) -> Place | None:
        """The class that a method belongs to."""
        module = self._project.modules[place[0]]
        owner = module.class_of(module.blocks[place[1]].parent) if place[1] > 0 else -1
        return (place[0], owner) if owner > 0 else None

    def names_of(self, place: Place) -> set[str]:
        """The names that a function, or the code outside of functions, uses."""
        names = self._uses.get(place)
        if names is None:
            names = self._uses[place] = set()
            path, where = place
            module = self._project.modules[path]
            used = module.derive(_names_used)
            names |= used.always.get(where, frozenset())
            for block in used.blocks.get(where, ()):
                if self._runs is None or self._runs(module, block):
                    names |= used.here[block]
            if where == IMPORTED and module.code.light:
                names |= self._usable(module)
        return names

    def _usable(self, module: Module) -> set[str]:
        """What a module whose functions were not read may use: all that the modules define that it imports."""
        imported = {record.module.rpartition(".")[2] or record.name for record in module.code.imports}
        imported.update(record.name for record in module.code.imports)
        homes = [m for m in self._project.modules.values() if m.name.rpartition(".")[2] in imported]
        return {_simple(block) for home in homes for block in home.blocks if block.kind in ("function", "class")}

    def places(self, names: set[str]) -> Iterator[Place]:
        """What bears one of these names, and what frameworks call of the files of such classes."""
        if not self._named and not self._classes:
            self._fill()
        for name in names:
            yield from self._named.get(name, ())
            for path, block in self._classes.get(name, ()):
                yield path, block
                yield from self._called_back.get(path, ())
        if "run" in names:  # tf.app.run() looks for main by itself
            yield from self._named.get("main", ())

    def size(self, path: str) -> int:
        """The number of blocks of a file, and two for `IMPORTED` and `STARTED`, which stand at the end."""
        return len(self._project.modules[path].blocks) + 2

    def _fill(self) -> None:
        for module in self._project.modules.values():
            for index, block in enumerate(module.blocks):
                if block.kind == "function":
                    name = _simple(block)
                    self._named.setdefault(name, []).append((module.path, index))
                    if name in CALLED_BY_FRAMEWORKS:
                        self._called_back.setdefault(module.path, []).append((module.path, index))
                elif block.kind == "class":
                    self._classes.setdefault(_simple(block), []).append((module.path, index))


class Search:
    """What one program may run, looked for only as far as somebody asks. A byte stands for each function, since a
    project may have hundreds of programs that share its modules."""

    def __init__(self, uses: Reached, paths: Iterable[str], entry: str) -> None:
        self._uses = uses
        self._flags = {path: bytearray(uses.size(path)) for path in paths}  # by block; at the end `STARTED`, `IMPORTED`
        self._names: set[str] = set()
        self.waiting: list[Place] = [*((path, IMPORTED) for path in self._flags), (entry, STARTED)]
        """What is reached and was not looked at yet."""
        self.is_computed = False
        """Whether what was looked at computes names."""
        self._is_dynamic = False
        for path, block in self.waiting:
            if path in self._flags:
                self._flags[path][block] = 1

    def reaches(self, targets: Iterable[Place]) -> bool:
        """Whether the program may run any of `targets`; True when it computes names, or asks for them by `getattr`."""
        wanted = [place for place in targets if place[0] in self._flags]
        while self.waiting and not self._is_dynamic and not self._has_reached(wanted):
            self.advance()
        return self._is_dynamic or self._has_reached(wanted)

    def _has_reached(self, places: Iterable[Place]) -> bool:
        return any(self._flags[path][block] for path, block in places)

    def advance(self) -> list[Place]:
        """Look at one more function: the functions that it reaches and no other did."""
        new = self._uses.names_of(self.waiting.pop()) - self._names
        self._names |= new
        self.is_computed = self.is_computed or _COMPUTED in new
        self._is_dynamic = self._is_dynamic or self.is_computed or not new.isdisjoint(_DYNAMIC)
        added = []
        for path, block in self._uses.places(new):
            flags = self._flags.get(path)
            if flags is not None and not flags[block]:
                flags[block] = 1
                added.append((path, block))
        self.waiting += added
        if not self.waiting:
            self._names = set()  # nobody asks for them any more
        return added


def home(module: Module, block: int) -> int:
    """The function around `block`, or `IMPORTED` or `STARTED`."""
    function = module.function_of(block)
    while function >= 0 and module.blocks[function].kind == "lambda":
        function = module.function_of(module.blocks[function].parent)
    if function >= 0:
        return function
    return IMPORTED if module.main_guards.isdisjoint(module.ancestors(block)) else STARTED


def _homes(module: Module) -> list[int]:
    """`home` of every block of a module."""
    homes: list[int] = []
    for index, block in enumerate(module.blocks):
        around = homes[block.parent] if block.parent >= 0 else IMPORTED
        if block.kind == "function":
            homes.append(index)
        elif around == IMPORTED and index in module.main_guards:
            homes.append(STARTED)
        else:
            homes.append(around)
    return homes


class _NamesUsed(NamedTuple):
    """The names that a module uses: `here` by block, `always` (decorators, bases, what a decorator registers) and
    `blocks` (those with names) by their home."""

    here: dict[int, set[str]]
    always: dict[int, set[str]]
    blocks: dict[int, list[int]]


def _names_used(module: Module) -> _NamesUsed:
    homes = _homes(module)
    used = _NamesUsed(defaultdict(set), defaultdict(set), defaultdict(list))
    for call in module.code.calls:
        names = used.here[call.block]
        for value in (call.callee, *call.args, *(value for _, value in call.keywords)):
            _add_names(value, names)
    for bind in module.code.assignments:
        _add_names(bind.value, used.here[bind.block])
    for returned in module.code.returns:
        _add_names(returned.value, used.here[returned.block])
    for block in module.blocks:
        for value in (*block.decorators, *block.bases):
            _add_names(value, used.always[homes[block.parent]])
        if block.decorators:
            used.always[homes[block.parent]].add(_simple(block))
    for number in used.here:
        used.blocks[homes[number]].append(number)
    return used


def _simple(block: Block) -> str:
    return block.name.rpartition(".")[2]


def _add_names(value: Value, names: set[str]) -> None:
    """Add the first and last segments of the names in a value: ``train`` of ``tf.train.Saver`` is neither."""
    queue = [value]
    while queue:
        part = queue.pop()
        if isinstance(part, Ref):
            if part.name in _DYNAMIC:
                names.add(_COMPUTED)
            names.add(part.name.partition(".")[0])
            names.add(part.name.rpartition(".")[2])
        elif isinstance(part, Op):
            queue += part.operands
            if part.op == "." and isinstance(part.operands[1], Const):
                names.add(str(part.operands[1].value))
        elif isinstance(part, SequenceDisplay):
            queue += part.items
        elif isinstance(part, Table):
            queue += part.values
