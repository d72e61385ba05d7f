"""npulint from Python: check one project, or thousands in the processes of this machine or of a cluster."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from functools import partial

import msgspec

from npulint.commands.check.pipeline import run
from npulint.commands.settings.config import load
from npulint.commands.settings.options import OPTIONS
from npulint.core.errors import CatalogueError, NpulintError
from npulint.core.processes import ChildPool, Children, Ended
from npulint.judge.findings import RunResult

Option = str | int | bool | Sequence[str]
_Words = dict[str, list[str] | bool]

_ANSWER = "npulint.api:answer"
_AHEAD = 1000  # projects that are submitted before the result of the first one is there


class ProjectResult(msgspec.Struct, frozen=True):
    """One project of `check_many`: its path as given, and its result, or the error for which it has none."""

    path: str
    result: RunResult | None = None
    error: str = ""


def check(path: str | os.PathLike[str], **options: Option) -> RunResult:
    """Check a project as ``npulint check PATH`` does, with the configuration file that belongs to it. `options` are
    those of the command line with underscores: ``target=["soc=Ascend910B"], min_severity="warning"``. Raises
    `TypeError` for an unknown option, and `npulint.core.errors.NpulintError` for what the command ends with."""
    return run(load([os.fspath(path)], _words(options), os.environ))


def check_many(
    projects: Iterable[str | os.PathLike[str]], executor: Executor | None = None, **options: Option
) -> Iterator[ProjectResult]:
    """The results of many projects, in their order, each as `check` gives it. They are checked by `executor`, any of
    `concurrent.futures` or one of a cluster whose machines see the same folders and have the same npulint; without it
    by processes of this machine. A project whose worker ends is checked again by a process of its own here, and has
    an `error` if it ends that one as well. Raises `TypeError` for an unknown option."""
    words = _words(options)
    return _checked([os.fspath(path) for path in projects], executor, words)


def _words(options: Mapping[str, Option]) -> _Words:
    """Options as the command line has them."""
    names = {option.name for option in OPTIONS}
    unknown = sorted(set(options) - names)
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}")
    return {name: _written(value) for name, value in options.items()}


def _written(value: Option) -> list[str] | bool:
    if isinstance(value, bool):
        return value
    return [str(value)] if isinstance(value, (str, int)) else list(value)


def _checked(paths: Sequence[str], executor: Executor | None, words: _Words) -> Iterator[ProjectResult]:
    with ExitStack() as stack:
        if executor is None:
            pool = stack.enter_context(ChildPool(_ANSWER, min(os.cpu_count() or 1, max(1, len(paths))), paths))
            submit = partial(_asked, pool, words)
        else:
            submit = partial(_submitted, executor, words)
        waiting: deque[tuple[str, Future[bytes] | None]] = deque()
        stack.callback(_cancel, waiting)
        for path in paths:
            waiting.append((path, submit(path)))
            if len(waiting) >= _AHEAD:
                yield _result(*waiting.popleft(), words)
        while waiting:
            yield _result(*waiting.popleft(), words)


def _cancel(waiting: Iterable[tuple[str, Future[bytes] | None]]) -> None:
    for _, future in waiting:
        if future is not None:
            future.cancel()


def _asked(pool: ChildPool, words: _Words, path: str) -> Future[bytes] | None:
    return pool.submit(lambda: (path, words))


def _submitted(executor: Executor, words: _Words, path: str) -> Future[bytes] | None:
    """None if the executor takes no more: one of its workers has ended."""
    try:
        return executor.submit(answer, (path, words))
    except RuntimeError:
        return None


def _result(path: str, future: Future[bytes] | None, words: _Words) -> ProjectResult:
    try:
        encoded = future.result() if future is not None else None
    except Exception:  # each kind of executor has its own for a worker that ended
        encoded = None
    if encoded is None:
        encoded = _apart(path, words)
    return msgspec.msgpack.decode(encoded, type=ProjectResult)


def _apart(path: str, words: _Words) -> bytes:
    """The answer of a process of its own."""
    children = Children(_ANSWER, [path])
    try:
        encoded: bytes = children.ask((path, words))
    except Ended as ended:
        if ended.failure == "start":  # the host runs Python, but not as a program that can be started
            return answer((path, words))
        return msgspec.msgpack.encode(ProjectResult(path, error="the system ended the process that checked it"))
    finally:
        children.close()
    return encoded


def answer(request: tuple[str, _Words]) -> bytes:
    """The result of a project, its path and its options, as msgpack; called in a process of an executor."""
    path, words = request
    try:
        checked = ProjectResult(path, run(load([path], words, os.environ)))
    except CatalogueError:  # that of all projects
        raise
    except NpulintError as error:
        checked = ProjectResult(path, error=str(error))
    except Exception as error:  # a fault of npulint in one of thousands of projects
        checked = ProjectResult(path, error=f"internal error: {type(error).__name__}: {error}")
    return msgspec.msgpack.encode(checked)
