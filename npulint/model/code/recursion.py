"""Bounded recursion: questions about code that lead to further ones, however deep or circular the code is."""

from __future__ import annotations


class Recursion:
    """The questions of one kind that are being asked, each within the one before: at most `depth`, none within itself,
    and at most `steps` since the outermost one. `active` holds them."""

    __slots__ = ("_depth", "_steps", "active", "count")
    cuts = 0
    """How many questions of any kind were not asked, so that the answers that needed them may lack something."""

    def __init__(self, depth: int, steps: int = 1 << 30) -> None:
        self.active: set[object] = set()
        self._depth = depth
        self._steps = steps
        self.count = 0

    def enter(self, question: object) -> bool:
        """Begin to ask a question; False where it must not be asked. Every question that is begun must `leave`."""
        active = self.active
        self.count = self.count + 1 if active else 0
        if len(active) >= self._depth or self.count > self._steps or question in active:
            Recursion.cuts += 1
            return False
        active.add(question)
        return True

    @property
    def final(self) -> bool:
        """Whether an answer holds for other askers, too: it was the outermost question, or there were no steps left,
        and then each of thousands of similar questions would use them up again."""
        return not self.active or self.count > self._steps

    def leave(self, question: object) -> None:
        """End a question that was begun."""
        self.active.discard(question)
