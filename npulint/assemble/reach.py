"""What a program runs: the functions that its entry comes to, surely or under conditions.

Surely: through calls that nothing may keep from running. Under conditions: also through calls that depend on options,
and functions that are stored and looked up. Classes count by rapid type analysis: a method runs if an instance of its
class is made and something that runs calls a method of this name on an object whose class is not known better.
`npulint.assemble.call_graph` says what a program might run by names alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from npulint.assemble.call_graph import CALLED_BY_FRAMEWORKS, IMPORTED, STARTED, Place, home
from npulint.assemble.code_places import returned_values
from npulint.assemble.context import Context, once
from npulint.assemble.cursors import CallSite, Expr, Scope, scope_at
from npulint.assemble.guards import active, surely_runs
from npulint.facts.code import Import, Ref

# Methods that Python and frameworks call of an instance by themselves.
_HOOKS = CALLED_BY_FRAMEWORKS | frozenset(
    """__exit__ __len__ __post_init__ compute_loss create_optimizer create_scheduler create_optimizer_and_scheduler
    get_train_dataloader on_train_start on_train_batch_start setup_model""".split()
)
_BASES = 16  # of one class that are looked at
_KNOWN_ROOTS = frozenset("torch torch_npu tensorflow numpy os sys logging json math random time re shutil".split())


class _Edges(NamedTuple):
    """What the code of one place leads to: places, classes of which it makes instances, names of methods that it
    calls on objects of unknown classes."""

    places: set[Place]
    classes: set[Place]
    methods: set[str]


class CallGraph:
    """The edges of a project's call graph, each worked out once; `surely`: only those that nothing may prevent."""

    def __init__(self, context: Context, surely: bool) -> None:
        self._context = context
        self._surely = surely
        self._edges: dict[Place, _Edges] = {}
        self._values: dict[str, dict[int, list[Expr]]] = {}
        self._methods_of: dict[Place, list[tuple[str, Place]]] = {}
        self._by_home: dict[str, dict[int, list[CallSite]]] = {}

    def of(self, place: Place) -> _Edges:
        """What the code of one place comes to."""
        known = self._edges.get(place)
        if known is None:
            known = self._edges[place] = _Edges(set(), set(), set())
            path, where = place
            module = scope_at(self._context, self._context.project.modules[path], 0)
            for call in self._calls(module).get(where, ()):
                if self._runs(call.scope):
                    self._follow(call, known)
            for value in () if self._surely else self._kept(module).get(where, ()):
                if self._runs(value.scope):
                    self._pass(value, known)
            if not self._surely and module.module.code.light and where == IMPORTED:
                self._use_imports(module, known)
            for record in module.module.code.imports if where in (IMPORTED, STARTED) else ():
                if home(module.module, record.block) == where and self._runs(module.at(record.block)):
                    known.places.update(self._imported(module, record))
        return known

    def of_entry(self, entry: str) -> _Edges:
        """The edges of the entry script. Where its functions were not read, it runs what it imports."""
        edges = self.of((entry, IMPORTED))
        module = self._context.project.modules[entry]
        if self._surely and module.code.light:
            edges = _Edges(set(edges.places), set(edges.classes), edges.methods)
            self._use_imports(scope_at(self._context, module, 0), edges)
        return edges

    def _use_imports(self, module: Scope, edges: _Edges) -> None:
        for record in module.module.code.imports:
            if record.name not in ("", "*"):
                self._pass(module.at(record.block).named(record.alias, record.line), edges)
        if not self._surely:  # what it calls of their instances is unknown
            edges.places.update(method for one in edges.classes for _, method in self.methods(one))

    def _calls(self, module: Scope) -> dict[int, list[CallSite]]:
        found = self._by_home.get(module.path)
        if found is None:
            found = self._by_home[module.path] = {}
            for call in module.all_calls:
                found.setdefault(home(module.module, call.scope.block), []).append(call)
        return found

    def _kept(self, module: Scope) -> dict[int, list[Expr]]:
        """The names in what is assigned and returned, by the function where that stands."""
        found = self._values.get(module.path)
        if found is None:
            found = self._values[module.path] = {}
            for value in (*(one.value for one in module.assignments), *returned_values(module)):
                names = [part for part in value.nested if part.written]
                found.setdefault(home(module.module, value.scope.block), []).extend(names)
        return found

    def _runs(self, scope: Scope) -> bool:
        return (not self._surely or surely_runs(scope)) and active(scope) != "no"

    def _imported(self, module: Scope, record: Import) -> Iterator[Place]:
        for target in self._context.project.imported(module.module, record):
            yield target.path, IMPORTED

    def _follow(self, call: CallSite, edges: _Edges) -> None:
        target = call.target
        if target is not None:
            self._enter(target, edges)
        elif call.last and call.name.partition(".")[0] not in _KNOWN_ROOTS:
            if call.receiver is not None:
                edges.methods.add(call.last)
            elif call.name.endswith("()"):
                edges.methods.add("__call__")
        for argument in call.arguments:
            if isinstance(argument.value, Ref):
                self._pass(argument, edges)
        if target is None and not self._surely and "." in call.written:  # ``Actor.remote()``, ``actor.fit.remote()``
            holder = call.written.rpartition(".")[0]
            self._pass(call.scope.named(holder, call.line), edges)
            edges.methods.add(holder.rpartition(".")[2])

    def _pass(self, argument: Expr, edges: _Edges) -> None:
        """A function or class that is handed to a call will be called by it."""
        name = argument.name
        found = self._context.names.function(name) if ":" in name and not name.endswith("()") else None
        if found is not None:
            self._enter(scope_at(self._context, *found), edges)

    def _enter(self, target: Scope, edges: _Edges) -> None:
        place = (target.path, target.block)
        edges.places.add(place)
        if target.kind == "class":
            edges.classes.add(place)

    def methods(self, place: Place) -> list[tuple[str, Place]]:
        """The methods of a class with their names; those of its bases in the project where it has none of that name."""
        known = self._methods_of.get(place)
        if known is None:
            known = self._methods_of[place] = []
            queue, names = [scope_at(self._context, self._context.project.modules[place[0]], place[1])], set[str]()
            for scope in queue:
                for name in scope.module.names.get(scope.block, {}):
                    method = None if name in names else scope.definition(name)
                    if method is not None:
                        names.add(name)
                        known.append((name, (method.path, method.block)))
                if len(queue) < _BASES:
                    queue += [base for one in scope.bases if (base := self._own_class(one)) is not None]
        return known

    def _own_class(self, base: Expr) -> Scope | None:
        found = self._context.names.function(base.name)
        return None if found is None else scope_at(self._context, *found)


class Reach:
    """What one program comes to. `comes_to` looks no further than it must, and goes on from there the next time."""

    def __init__(self, graph: CallGraph, entry: str, paths: Iterable[str]) -> None:
        self._graph = graph
        self._entry = (entry, IMPORTED)
        self._allowed = set(paths)
        self._queue: list[Place] = [(entry, IMPORTED), (entry, STARTED)]
        self._found = set(self._queue)
        self._classes: set[Place] = set()
        self._called: set[str] = set()
        self._waiting: dict[str, list[Place]] = {}

    def comes_to(self, places: Set[Place]) -> bool:
        """Whether the program reaches any of some functions, or of the code outside functions."""
        while self._queue and self._found.isdisjoint(places):
            self._go_on(self._queue.pop())
        return not self._found.isdisjoint(places)

    def _go_on(self, place: Place) -> None:
        edges = self._graph.of_entry(place[0]) if place == self._entry else self._graph.of(place)
        fresh = {one for one in edges.places if one[0] in self._allowed}
        for name in edges.methods - self._called:
            self._called.add(name)
            fresh.update(self._waiting.pop(name, ()))
        for one in edges.classes - self._classes:
            self._classes.add(one)
            for name, method in self._graph.methods(one) if one[0] in self._allowed else ():
                if name in self._called or name in _HOOKS:
                    fresh.add(method)
                else:
                    self._waiting.setdefault(name, []).append(method)
        fresh -= self._found
        self._found |= fresh
        self._queue += fresh


@once
def sure_calls(context: Context) -> CallGraph:
    """The sure edges of a project's call graph."""
    return CallGraph(context, surely=True)


@once
def possible_calls(context: Context) -> CallGraph:
    """All edges of a project's call graph."""
    return CallGraph(context, surely=False)
