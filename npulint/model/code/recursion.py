"""Bounded recursion: questions about code that lead to further ones, however deep or circular the code is.

A question within itself, or too deep within others, gets no answer: it is cut. What was worked out from a cut holds for
as long as the question that it was cut at is open, and perhaps longer; `Cuts` knows which question that is.
"""

from __future__ import annotations

from typing import ClassVar

_NONE = 1 << 60


class Cuts:
    """Where questions were cut, by the number of the open question up to which the answers around them hold."""

    open = 0
    """How many questions whose answers are kept are being answered within each other; they are numbered from 0."""
    lowest = _NONE
    """The lowest number of the open questions that have cut something since the innermost one began."""
    assumed: ClassVar[set[int]] = set()
    """The open questions that were asked again within themselves, and whose answer was assumed there."""
    limited: ClassVar[set[int]] = set()
    """The open questions within which something was cut that is not their own answer."""

    @classmethod
    def at(cls, number: int, *, is_own: bool) -> None:
        """Something was cut. What was worked out from it holds while the open question with this number is answered;
        `is_own`: that question was asked within itself."""
        if number < cls.lowest:
            cls.lowest = number
        (cls.assumed if is_own else cls.limited).add(number)

    @classmethod
    def begin(cls) -> tuple[int, int]:
        """Open a question: its number, and what `end` needs."""
        number, outer = cls.open, cls.lowest
        cls.open = number + 1
        cls.lowest = _NONE
        return number, outer

    @classmethod
    def end(cls, number: int, outer: int) -> int:
        """Close the question that `begin` opened; gives the lowest number of those that have cut something in it."""
        lowest = cls.lowest
        cls.open = number
        cls.lowest = outer if lowest >= number else min(outer, lowest)
        return lowest


class Recursion:
    """The questions of one kind that are being asked, each within the one before: at most `depth`, none within itself,
    and at most `steps` since the outermost one. `active` holds them with the number of questions that were open."""

    __slots__ = ("_depth", "_steps", "active", "count")

    def __init__(self, depth: int, steps: int = 1 << 30) -> None:
        self.active: dict[object, int] = {}
        self._depth = depth
        self._steps = steps
        self.count = 0

    def enter(self, question: object) -> bool:
        """Begin to ask a question; False where it must not be asked. Every question that is begun must `leave`."""
        active = self.active
        self.count = self.count + 1 if active else 0
        if len(active) >= self._depth or self.count > self._steps or question in active:
            self.cut(question, is_kept=False)
            return False
        active[question] = Cuts.open
        return True

    def cut(self, question: object, is_kept: bool) -> None:
        """Note that a question is not asked. `is_kept`: each question of this kind is an open one itself."""
        around = self.active.get(question)
        if around is None:  # too deep within the outermost question of this kind, or too many since then
            Cuts.at(next(iter(self.active.values())) - 1, is_own=False)
        else:
            Cuts.at(around - 1, is_own=is_kept)

    @property
    def final(self) -> bool:
        """Whether an answer holds for other askers, too: it was the outermost question, or there were no steps left,
        and then each of thousands of similar questions would use them up again."""
        return not self.active or self.count > self._steps

    def leave(self, question: object) -> None:
        """End a question that was begun."""
        self.active.pop(question, None)
