"""Open documents, their results, and the scheduling of runs; independent of LSP messages."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import msgspec

from npulint.core.cancellation import Cancellation, CancelledError, cancelled_by
from npulint.hosts.server.configuration import ClientSettings
from npulint.hosts.server.documents import EditorDocument, Notebook, Snapshot, unsaved
from npulint.hosts.server.engine import Engine, EngineAnswer
from npulint.hosts.server.publishing import QUICK, pause
from npulint.judge.findings import Finding

# A worker thread, so that the protocol thread stays responsive.

T = TypeVar("T")


class Worker:
    """Runs jobs one by one in a daemon thread."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """A future for the result of `job`; call it in a running event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result: Any = job()
            except BaseException as error:
                _hand_over(loop, future, error=error)
            else:
                _hand_over(loop, future, result)

        self._jobs.put(run)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="npulint", daemon=True)
            self._thread.start()
        return future

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def _hand_over(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[T], result: Any = None, error: BaseException | None = None
) -> None:
    def settle() -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    with suppress(RuntimeError):  # the event loop may be closed
        loop.call_soon_threadsafe(settle)


_IDLE = 1.0  # idle seconds before what can wait is done
_SOON = 0.1  # the same after projects were opened with results from the cache


class StoredResult(msgspec.Struct, frozen=True):
    """The findings of an open document and the version that they are for."""

    seen: Snapshot
    findings: Sequence[Finding]


class DocumentStore:
    """Open documents by URI, with the latest result of each. `on_answer` is called after every run, `progress` with
    (done, total) projects while the whole workspace is checked."""

    def __init__(
        self,
        environ: Mapping[str, str],
        on_answer: Callable[[EngineAnswer], None],
        progress: Callable[[int, int], None],
    ) -> None:
        self.documents: dict[str, EditorDocument | Notebook] = {}
        self.results: dict[str, StoredResult] = {}
        self.answer = EngineAnswer()
        self.folders: list[str] = []
        self.client = ClientSettings()
        self.locale = ""
        self._on_answer = on_answer
        self._progress = progress
        self._engine = Engine(environ)
        self._worker = Worker()
        self._changes: dict[str, EditorDocument | Notebook | None] = {}
        self._touched: list[str] = []
        self._configured = False
        self._requested = False
        self._around = False
        self._apart: dict[str, list[Finding]] = {}
        self._running: asyncio.Task[None] | None = None
        self._cancellation = Cancellation()
        self._timer: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._resting: asyncio.Task[None] | None = None
        self._seconds = 0.0
        self._waiters: list[asyncio.Future[None]] = []

    def path(self, path: str) -> str:
        """The path as findings spell it: below a workspace folder after resolving links."""
        real = os.path.realpath(path)
        for folder in self.folders:
            top = os.path.realpath(folder)
            if real == top or real.startswith(os.path.join(top, "")):
                return os.path.normpath(folder + real[len(top) :])
        return path

    def configure(self, folders: Sequence[str], client: ClientSettings, locale: str) -> None:
        """Use new folders and settings, and read all configuration files again."""
        self.folders = list(folders)
        for document in self.documents.values():
            place = self.path(document.path)
            if place != document.path:
                self._changes[document.path] = None
                document.path = place
                self._changes[place] = document
        self.client = client
        self.locale = locale
        self._configured = False
        self._apart = {}
        self.check_workspace()

    def check_workspace(self) -> None:
        """Check all projects of the workspace, if the scope requires it."""
        self._around = self.client.scope == "workspace"
        self.soon(0)

    def open(self, document: EditorDocument | Notebook) -> None:
        """Handle an opened document."""
        self.documents[document.uri] = document
        self.results.pop(document.uri, None)
        self._changes[document.path] = document
        self.soon(0)

    def changed(self, document: EditorDocument | Notebook) -> None:
        """Handle an edited document."""
        self._changes[document.path] = document
        if self.client.run == "onType":
            self.soon(pause(self._seconds))

    def saved(self, document: EditorDocument | Notebook) -> None:
        """Handle a saved document."""
        self._changes[document.path] = document
        self._touched.append(document.path)
        self.soon(0)

    def close(self, uri: str) -> None:
        """Handle a closed document; unsaved text is discarded."""
        document = self.documents.pop(uri, None)
        self.results.pop(uri, None)
        if document is None:
            return
        others = [opened for opened in self.documents.values() if opened.path == document.path]
        self._changes[document.path] = others[0] if others else None
        self.soon(pause(self._seconds))

    def touched(self, paths: Sequence[str]) -> None:
        """Handle files changed outside of the editor."""
        self._touched += paths
        self._around = self.client.scope == "workspace"
        self.soon(pause(self._seconds), supersedes=False)  # a training that writes logs must not stop all runs

    def stale(self, uri: str) -> bool:
        """Whether the latest result is for an older version of the text."""
        document, result = self.documents.get(uri), self.results.get(uri)
        return document is not None and (result is None or result.seen.version != document.version)

    async def current(self, uri: str) -> StoredResult | None:
        """The result for the current text, waiting for it; None when the document is not open. With ``onSave``, the
        result of the last save."""
        while uri in self.documents:
            result = self.results.get(uri)
            if result is not None and (self.client.run == "onSave" or not self.stale(uri)):
                return result
            await self._next()
        return None

    async def settled(self) -> None:
        """Wait until no run is pending."""
        while self._requested or self._running is not None:
            await self._next()

    async def _next(self) -> None:
        """Wait for the end of the current run, or start one."""
        if self._running is None:
            self.soon(0)
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def soon(self, seconds: float, supersedes: bool = True) -> None:
        """Schedule a run after `seconds`; a later call replaces this one. If a run is in progress, another one follows;
        one about an older text (`supersedes`) ends at its next checkpoint."""
        self._requested = True
        if supersedes or self._running is None:  # what can wait waits longer
            self._cancellation.request()
        for timer in (self._timer, self._idle):
            if timer is not None:
                timer.cancel()
        self._timer = self._idle = None
        if self._running is None:
            loop = asyncio.get_running_loop()
            if seconds > 0:
                self._timer = loop.call_later(seconds, self._start)
            else:
                self._start()

    def _start(self) -> None:
        self._timer = None
        if self._running is None:
            self._running = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        try:
            while self._requested or self._around:
                if self._requested:
                    self._requested = False
                    await self._once()
                else:
                    await self._everything()
        finally:
            self._running = None
            self._wake()
        seconds = _SOON if self._engine.unprepared else _IDLE
        self._idle = asyncio.get_running_loop().call_later(seconds, self._rest)

    def _rest(self) -> None:
        """Do what can wait, after a pause in typing."""
        self._resting = asyncio.ensure_future(self._rested())

    async def _rested(self) -> None:
        def job() -> EngineAnswer:
            self._engine.rest()
            return EngineAnswer()

        answer = await self._answer(job)
        if answer is not None and answer.failures:
            self._on_answer(msgspec.structs.replace(self.answer, failures=answer.failures))

    def _wake(self) -> None:
        waiting, self._waiters = self._waiters, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def _once(self) -> None:
        begun = time.monotonic()
        seen = [document.snapshot() for document in self.documents.values()]
        changes = {
            path: None if document is None else document.snapshot().text for path, document in self._changes.items()
        }
        self._changes = {}
        touched, self._touched = self._touched, []
        configured, self._configured = self._configured, True
        setup = None if configured else (list(self.folders), self.client, self.locale)

        def prepare() -> None:
            if setup is not None:
                self._engine.configure(*setup)
            for path, text in changes.items():
                self._engine.change(path, None if text is None else unsaved(path, text))
            if touched:
                self._engine.touched(touched)

        answer = await self._answer(lambda: self._engine.check([snapshot.path for snapshot in seen]), prepare)
        if answer is None:
            await asyncio.sleep(QUICK)  # there may be more edits
            return
        self._seconds = time.monotonic() - begun
        self._take(answer, seen)
        self._wake()

    async def _everything(self) -> None:
        """Check all projects one by one; edits take precedence."""
        try:
            paths = await self._worker.submit(self._engine.projects)
        except Exception:  # a bug must not end the server
            self._around = False
            self._on_answer(EngineAnswer(failures=[traceback.format_exc()]))
            return
        by_path: dict[str, list[Finding]] = {}
        failures: list[str] = []
        verdicts: dict[str, str] = {}
        problems = self.answer.problems
        for number, path in enumerate(paths):
            if self._requested:
                return
            self._progress(number, len(paths))
            engine_answer = await self._answer(partial(self._engine.check, [path]))
            if engine_answer is None:
                return
            by_path.update(engine_answer.findings)
            failures += engine_answer.failures
            verdicts.update(engine_answer.verdicts)
            problems = engine_answer.problems
        self._around = False
        self._apart = by_path
        self.answer = msgspec.structs.replace(
            self.answer,
            findings=by_path | self.answer.findings,
            failures=failures,
            verdicts=verdicts,
            problems=problems,
        )
        self._on_answer(self.answer)
        self._progress(len(paths), len(paths))

    async def _answer(
        self, job: Callable[[], EngineAnswer], prepare: Callable[[], None] = lambda: None
    ) -> EngineAnswer | None:
        """The answer of a job in the worker thread; None when a later edit has cancelled it. `prepare` runs before, and
        is never cancelled."""
        cancellation = self._cancellation = Cancellation()

        def work() -> EngineAnswer | None:
            prepare()
            try:
                with cancelled_by(cancellation):
                    return job()
            except CancelledError:
                return None

        try:
            return await self._worker.submit(work)
        except Exception:  # a bug must not end the server
            return EngineAnswer(failures=[traceback.format_exc()])

    def _take(self, answer: EngineAnswer, seen: Sequence[Snapshot]) -> None:
        if self.client.scope == "workspace":
            self._apart.update(answer.findings)
        self.answer = msgspec.structs.replace(answer, findings=self._apart | answer.findings)
        for snapshot in seen:
            document = self.documents.get(snapshot.uri)
            if document is not None and document.version == snapshot.version:
                self.results[snapshot.uri] = StoredResult(snapshot, answer.findings.get(snapshot.path, ()))
        self._on_answer(self.answer)
