"""What a program runs: the functions that its entry reaches through the edges of the call graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Literal

from npulint.model.code.reached import IMPORTED, STARTED, Place
from npulint.model.running.call_graph import CallGraph, possible_calls
from npulint.model.values.context import Context

HowReached = Literal["surely", "maybe", "no"]
"""Whether a training program reaches some code: surely, maybe (through calls that depend on something, or of methods of
unknown objects), or not."""


class Reach:
    """What one program reaches. `reaches` follows no more edges than it needs, and continues there on the next call."""

    def __init__(
        self,
        graph: CallGraph,
        entry: str,
        paths: Iterable[str],
        starts: Sequence[Place] = (),
        apart: Set[Place] = frozenset(),
    ) -> None:
        """`starts` are the places to begin with, by default the whole entry script; `apart` are functions and classes
        that are not followed, for other processes run them."""
        self._graph = graph
        self._entry = (entry, IMPORTED)
        self._allowed = set(paths)
        self._queue: list[Place] = [*starts] or [(entry, IMPORTED), (entry, STARTED)]
        self._found = {*self._queue, *apart}
        self._classes: set[Place] = set(apart)
        self._called: dict[str, int] = {}  # with the most arguments that a call gives
        self._waiting: dict[str, list[tuple[int, Place]]] = {}  # with the arguments that it needs
        self._chosen: set[frozenset[Place]] = set()
        self._branches: list[list[Set[Place]]] | None = None

    @property
    def branches(self) -> list[list[Set[Place]]]:
        """Where it looks up one of several functions or classes: what each of them reaches."""
        if self._branches is None:
            self.all()
            self._branches = [[self._through(place) for place in sorted(chosen)] for chosen in self._chosen]
        return self._branches

    def _through(self, place: Place) -> Set[Place]:
        """What it reaches if it looks up this function or class."""
        inner = Reach(self._graph, self._entry[0], self._allowed, [place])
        inner._called.update(self._called)
        if self._graph.is_class(place):
            fresh = inner._made([place])
            inner._found |= fresh
            inner._queue += fresh
        return inner.all()

    def reaches(self, places: Set[Place]) -> bool:
        """Whether the program reaches any of some functions, or of the code outside functions."""
        near = {path for path, _ in places}
        while self._queue and self._found.isdisjoint(places):
            fresh = self._leads_to(self._queue.pop())
            self._queue += [place for place in fresh if place[0] not in near]
            self._queue += [place for place in fresh if place[0] in near]  # looked at first
        return not self._found.isdisjoint(places)

    def all(self) -> Set[Place]:
        """All that the program reaches."""
        self.reaches(frozenset())
        return self._found

    def _leads_to(self, place: Place) -> Set[Place]:
        """What else the program reaches through a place."""
        edges = self._graph.of_entry(place[0]) if place == self._entry else self._graph.of(place)
        fresh = {target for target in edges.places if target[0] in self._allowed}
        for name, given in edges.methods:
            if given > self._called.get(name, -1):
                self._called[name] = given
                fresh.update(method for needed, method in self._waiting.get(name, ()) if needed <= given)
        fresh |= self._made(edges.classes - self._classes)
        fresh -= self._found
        self._found |= fresh
        for alternatives in edges.chosen:
            if all(path in self._allowed for path, _ in alternatives):
                self._chosen.add(alternatives)
        return fresh

    def _made(self, classes: Iterable[Place]) -> set[Place]:
        """The methods that run of the instances of more classes."""
        fresh = set()
        for cls in classes:
            self._classes.add(cls)
            for name, method in self._graph.methods(cls) if cls[0] in self._allowed else ():
                needed = self._graph.needed(method)
                if self._graph.is_hook(cls, name) or needed <= self._called.get(name, -1):
                    fresh.add(method)
                else:
                    self._waiting.setdefault(name, []).append((needed, method))
        return fresh


def reached_from(context: Context, place: Place) -> Set[Place]:
    """All that the code of one place may come to, itself included."""

    def found() -> Set[Place]:
        return Reach(possible_calls(context), place[0], context.project.modules, [place]).all()

    return context.memoize(("reached from", place), found)
