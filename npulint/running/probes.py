"""What the calls of ``reveal_value`` and ``reveal_runs`` see."""

from __future__ import annotations

from npulint.values.heap import Heap
from npulint.values.hosted import Unhosted, possible_hosts
from npulint.values.value import Origin, Value


class Shown:
    """What a probe was seen to have: plain values, or that they are not known."""

    def __init__(self, values: list[object] | None, reason: str, origin: Origin | None) -> None:
        self.values, self.reason, self.origin = values, reason, origin

    @classmethod
    def of(cls, heap: Heap, value: Value) -> Shown:
        """The plain values of a value."""
        try:
            plain: list[object] | None = possible_hosts(value, heap)
        except Unhosted:
            plain = None
        return cls(plain, value.reason, value.origin)

    def joined(self, other: Shown) -> Shown:
        """What was seen at either time."""
        if self.values is None or other.values is None:
            return Shown(None, self.reason or other.reason, self.origin or other.origin)
        return Shown([*self.values, *other.values], self.reason or other.reason, self.origin or other.origin)


class Probes:
    """The probes that were reached, by path and line, and the values that were seen."""

    def __init__(self) -> None:
        self.shown: dict[tuple[str, int], Shown] = {}
        self.visited: set[tuple[str, int]] = set()
        self._log: list[tuple[str, int]] = []

    def see(self, probe: tuple[str, int], shown: Shown) -> None:
        """Add a value that a probe was seen to have."""
        self._log.append(probe)
        before = self.shown.get(probe)
        self.shown[probe] = shown if before is None else before.joined(shown)

    def seen_again(self) -> int:
        """A moment, for `forget_since`."""
        return len(self._log)

    def forget_since(self, moment: int) -> None:
        """Let the values that probes had since a moment be unknown."""
        for probe in self._log[moment:]:
            self.shown[probe] = Shown(None, "", None)
