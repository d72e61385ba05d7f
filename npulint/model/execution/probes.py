"""What the calls of ``reveal_value`` and ``reveal_runs`` see."""

from __future__ import annotations

import ast

from npulint.model.abstract_values.heap import Heap
from npulint.model.abstract_values.hosted import Unhosted, possible_hosts
from npulint.model.abstract_values.value import Origin, Value


class Shown:
    """What a probe was seen to have: plain values, or that they are not known."""

    def __init__(self, values: list[object] | None, reason: str, origin: Origin | None) -> None:
        self.values, self.reason, self.origin = values, reason, origin

    @classmethod
    def of(cls, heap: Heap, value: Value) -> Shown:
        """The plain values of a value."""
        heap.is_observing = True
        try:
            plain: list[object] | None = possible_hosts(value, heap)
        except Unhosted:
            plain = None
        finally:
            heap.is_observing = False
        return cls(plain, value.reason, value.origin)

    def joined(self, other: Shown) -> Shown:
        """What was seen at either time."""
        if self.values is None or other.values is None:
            return Shown(None, self.reason or other.reason, self.origin or other.origin)
        return Shown([*self.values, *other.values], self.reason or other.reason, self.origin or other.origin)


_MOST = 64  # values of a watched expression
Watched = ast.expr | tuple[ast.ClassDef, str]
"""An expression, or a field of a class that generates its constructor."""
Observable = tuple[str, int] | Watched
"""A probe by path and line, or what is watched."""


class Probes:
    """The probes that were reached, by path and line, and the values that they and the watched expressions had."""

    def __init__(self) -> None:
        self.shown: dict[Observable, Shown] = {}
        self.visited: set[tuple[str, int]] = set()
        self._log: list[Observable] = []

    def see(self, probe: Observable, shown: Shown) -> None:
        """Add a value that was seen."""
        self._log.append(probe)
        before = self.shown.get(probe)
        self.shown[probe] = shown if before is None else before.joined(shown)

    def observe(self, node: Watched, heap: Heap, value: Value) -> None:
        """Add a value that a watched expression or field was seen to have; with many different ones it is not known."""
        self._log.append(node)
        before = self.shown.get(node)
        if before is None:
            self.shown[node] = Shown.of(heap, value)
        elif before.values is not None:
            seen = Shown.of(heap, value)
            if seen.values is None or any(shown not in before.values for shown in seen.values):
                more = before.joined(seen)
                is_many = more.values is not None and len(more.values) > _MOST
                self.shown[node] = Shown(None, more.reason, more.origin) if is_many else more

    def seen_again(self) -> int:
        """A moment, for `forget_since`."""
        return len(self._log)

    def forget_since(self, moment: int) -> None:
        """Let the values that probes had since a moment be unknown."""
        for probe in self._log[moment:]:
            self.shown[probe] = Shown(None, "", None)
