"""When the server looks again, and what becomes of late answers, with a session that can be slow or fail."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

import pytest
from lsprotocol.types import TextDocumentContentChangeWholeDocument

from npulint.commands.session import Checked
from npulint.core.cancellation import checkpoint
from npulint.core.errors import ConfigError
from npulint.hosts.server import engine
from npulint.hosts.server.configuration import ClientSettings
from npulint.hosts.server.document_store import DocumentStore
from npulint.hosts.server.documents import EditorDocument
from npulint.hosts.server.engine import EngineAnswer
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from tests.surface_support import finding


class Slow:
    """A session that finds the text of the file itself, after a while, or fails."""

    unprepared = False
    seconds = 0.0
    failure: Exception | None = None
    checks: int = 0
    steps: int = 0
    ended: int = 0
    gate: threading.Event | None = None
    waited: ClassVar[list[bool]] = []
    threads: ClassVar[set[str]] = set()

    def __init__(self, settings: Settings) -> None:
        self.texts: dict[str, str] = {}

    def change(self, path: str, data: bytes | None) -> None:
        self.texts[path] = (data or b"").decode()

    def touched(self, paths: list[str]) -> None: ...

    def reconfigure(self, settings: Settings) -> None: ...

    def rest(self) -> None: ...

    def check(self, path: str) -> Checked:
        Slow.checks += 1
        Slow.threads.add(threading.current_thread().name)
        time.sleep(self.seconds)
        for _ in range(Slow.steps):
            time.sleep(0.01)
            checkpoint()
        Slow.ended += 1
        if Slow.gate is not None:
            Slow.waited.append(Slow.gate.wait(20))
        if Slow.failure is not None:
            raise Slow.failure
        return Checked("/w", {path: [finding(path=path, message=self.texts.get(path, ""))]})


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "Session", Slow)
    monkeypatch.setattr(Slow, "seconds", 0.0)
    monkeypatch.setattr(Slow, "failure", None)
    monkeypatch.setattr(Slow, "checks", 0)
    monkeypatch.setattr(Slow, "steps", 0)
    monkeypatch.setattr(Slow, "ended", 0)
    monkeypatch.setattr(Slow, "gate", None)
    monkeypatch.setattr(Slow, "waited", [])
    monkeypatch.setattr(Slow, "threads", set())


def tell(story: Callable[[DocumentStore, list[EngineAnswer]], Coroutine[Any, Any, None]]) -> None:
    async def all_of_it() -> None:
        answers: list[EngineAnswer] = []
        store = DocumentStore({}, answers.append, lambda done, total: None)
        store.configure(["/w"], ClientSettings(), "en")
        await story(store, answers)

    asyncio.run(asyncio.wait_for(all_of_it(), 20))


def opened(store: DocumentStore, text: str = "1", path: str = "/w/a.py") -> EditorDocument:
    document = EditorDocument(f"file://{path}", path, 1, text, "utf-16")
    store.open(document)
    return document


def typed(store: DocumentStore, document: EditorDocument, text: str) -> None:
    document.change(document.version + 1, [TextDocumentContentChangeWholeDocument(text=text)])
    store.changed(document)


def said(findings: Any) -> list[str]:
    found: list[Finding] = list(findings)
    return [one.message for one in found]


def test_a_late_answer_is_never_about_a_newer_text() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        Slow.seconds = 0.05
        document = opened(store)
        for number in range(2, 30):
            await asyncio.sleep(0.01)
            typed(store, document, str(number))
            for one in store.results.values():
                assert said(one.findings) == [str(one.seen.version)] == [one.seen.text]
        result = await store.current(document.uri)
        assert result is not None and said(result.findings) == ["29"]

    tell(story)


def test_what_is_typed_in_quick_succession_is_looked_at_once() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        document = opened(store)
        await store.current(document.uri)
        before = Slow.checks
        for number in range(2, 52):
            typed(store, document, str(number))
        result = await store.current(document.uri)
        assert result is not None and said(result.findings) == ["51"]
        await store.settled()
        assert Slow.checks - before <= 2

    tell(story)


def test_an_edit_ends_the_check_of_the_text_before_it() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        document = opened(store)
        await store.settled()
        Slow.ended = Slow.checks = 0
        Slow.steps = 100_000  # would take a quarter of an hour
        for number in range(2, 6):
            typed(store, document, str(number))
            while Slow.checks < number - 1:
                await asyncio.sleep(0.01)
        Slow.steps = 0
        typed(store, document, "last")
        result = await store.current(document.uri)
        assert result is not None and said(result.findings) == ["last"]
        assert Slow.ended == 1
        assert [answer.failures for answer in answers] == [[]] * len(answers)

    tell(story)


def test_files_that_others_write_end_no_check() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        document = opened(store)
        await store.settled()
        Slow.ended = Slow.checks = 0
        Slow.steps = 20
        typed(store, document, "2")
        while not Slow.checks:
            await asyncio.sleep(0.01)
        store.touched(["/w/log.txt"])
        await store.settled()
        assert (Slow.checks, Slow.ended) == (2, 2)

    tell(story)


def test_a_bug_in_what_can_wait_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        opened(store)
        await store.settled()
        while not answers[-1].failures:
            await asyncio.sleep(0.05)
        assert "RuntimeError: a bug" in answers[-1].failures[0]

    def rest(self: Slow) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Slow, "rest", rest)
    tell(story)


def test_what_was_told_before_a_cancelled_check_is_not_lost() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        first, second = opened(store), opened(store, "1", "/w/b.py")
        await store.settled()
        Slow.steps, Slow.checks = 100_000, 0
        typed(store, first, "of a")
        while not Slow.checks:
            await asyncio.sleep(0.01)
        Slow.steps = 0
        typed(store, second, "of b")
        for document in (first, second):
            result = await store.current(document.uri)
            assert result is not None and said(result.findings) == [document.text]

    tell(story)


def test_the_loop_stays_free_while_a_check_runs() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        Slow.gate = threading.Event()  # a check waits for what only the loop does meanwhile
        document = opened(store)
        while not Slow.checks:
            await asyncio.sleep(0.01)
        Slow.gate.set()
        await store.current(document.uri)
        assert Slow.threads == {"npulint"}
        assert Slow.waited == [True]

    tell(story)


def test_a_bug_in_a_check_leaves_the_file_empty_and_the_server_alive() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        document = opened(store)
        await store.current(document.uri)
        Slow.failure = RuntimeError("a bug")
        typed(store, document, "2")
        result = await store.current(document.uri)
        assert result is not None and said(result.findings) == []
        assert "RuntimeError: a bug" in answers[-1].failures[0]
        Slow.failure = None
        typed(store, document, "3")
        result = await store.current(document.uri)
        assert result is not None and said(result.findings) == ["3"]
        assert answers[-1].failures == []

    tell(story)


def test_settings_that_a_run_refuses_are_a_problem_and_no_bug() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        Slow.failure = ConfigError(["select: there is no check named `x`"])
        document = opened(store)
        await store.current(document.uri)
        assert [one.message for one in answers[-1].problems] == ["select: there is no check named `x`"]
        assert answers[-1].failures == []
        Slow.failure = None
        store.configure(["/w"], ClientSettings(), "en")
        await store.settled()
        assert answers[-1].problems == []

    tell(story)


def test_a_closed_document_has_no_result_and_waits_for_none() -> None:
    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        Slow.seconds = 0.1
        document = opened(store)
        waiting = asyncio.ensure_future(store.current(document.uri))
        await asyncio.sleep(0.01)
        store.close(document.uri)
        assert await waiting is None
        assert store.results == {}

    tell(story)


def test_files_of_one_project_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(self: Slow, path: str) -> Checked:
        Slow.checks += 1
        return Checked("/w", {"/w/a.py": [], "/w/b.py": []})

    monkeypatch.setattr(Slow, "check", whole)

    async def story(store: DocumentStore, answers: list[EngineAnswer]) -> None:
        opened(store, path="/w/a.py")
        opened(store, path="/w/b.py")
        await store.settled()
        assert Slow.checks == len(answers)

    tell(story)
