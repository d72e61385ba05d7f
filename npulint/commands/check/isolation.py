"""Which file a project failed on: it is left out, so that the others are judged all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FrameType, TracebackType
from typing import TypeVar

from npulint.core.budget import BudgetError, Limit, within
from npulint.facts.model import FileFacts, Problem

_T = TypeVar("_T")
_ATTEMPTS = 4  # each of which may take the whole limit
_REPEATED = 8  # frames of one function in a stack, from which on it is one that asks itself


def without_failing(files: Sequence[FileFacts], limit: Limit, work: Callable[[list[FileFacts]], _T]) -> _T:
    """The result of `work` for all files together, within the limit. Where their code recurses too deeply to be
    resolved, or takes more time or memory than allowed, the files that this happened in are replaced by their problem
    and the work is done again. Raises `RecursionError` or `BudgetError` if that does not help, or no file stands
    out."""
    left = list(files)
    for _ in range(_ATTEMPTS - 1):
        looks = _Looks(left)
        try:
            return within(limit, partial(work, left), looks.add)
        except RecursionError as error:
            failing, reason, detail = _recursing(error, looks.paths), "too-deep", ""
            if not failing:
                raise
        except BudgetError as error:
            busiest = looks.busiest()
            if not busiest:
                raise
            failing, reason, detail = {busiest}, error.reason, error.detail
        left = [unjudged(file, reason, detail) if file.path in failing else file for file in left]
    return within(limit, partial(work, left))


def unjudged(file: FileFacts, reason: str, detail: str = "") -> FileFacts:
    """A file without what was read in it, and with the reason as its problem."""
    problem = Problem(file.path, reason, detail)
    return FileFacts(file.path, file.kind, problems=[*file.problems, problem], comments=file.comments)


class _Looks:
    """What a thread was seen to work on."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self.paths = frozenset(file.path for file in files if file.code is not None or file.graph is not None)
        self._seen: Counter[str] = Counter()
        self._count = 0

    def add(self, frame: FrameType | None) -> None:
        """Look at the stack of the thread, from its innermost frame."""
        nearest: dict[str, None] = {}
        while frame is not None:
            nearest.update(dict.fromkeys(_files_in(frame, self.paths)))
            frame = frame.f_back
        self._seen.update(nearest.keys())
        self._count += 1

    def busiest(self) -> str:
        """The file that most of the looks saw, first the one that was nearest to the work; empty without such a one."""
        path, count = max(self._seen.items(), key=lambda pair: pair[1], default=("", 0))
        return path if 2 * count > self._count else ""


def _recursing(error: RecursionError, paths: frozenset[str]) -> set[str]:
    """The files whose code led the resolution too deeply: the one that most of the deeper half of the stack is about,
    else all of that half, such as those of a circle."""
    frames = list(_frames(error.__traceback__))
    often = Counter(frame.f_code for frame in frames)
    repeated = [frame for frame in frames if often[frame.f_code] >= _REPEATED]
    nearest = [next(_files_in(frame, paths), "") for frame in repeated[len(repeated) // 2 :]]
    votes = Counter(filter(None, nearest))
    path, count = max(votes.items(), key=lambda pair: pair[1], default=("", 0))
    return {path} if 2 * count > votes.total() else set(votes)


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _files_in(frame: FrameType, paths: frozenset[str]) -> Iterator[str]:
    """The files among `paths` that the variables of a frame are about: they are one, or a cursor or fact of one."""
    if not frame.f_globals.get("__name__", "").startswith("npulint."):
        return
    for value in list(frame.f_locals.values()):
        own = type(value)
        path = value
        if own is not str:
            if not own.__module__.startswith("npulint.") or not hasattr(own, "path"):
                continue
            path = value.path
        if isinstance(path, str) and path in paths:
            yield path
