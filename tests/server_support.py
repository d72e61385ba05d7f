"""An editor for tests: a real client library that talks to ``npulint server`` over its standard streams."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from npulint.hosts.server.uris import uri_of

ROOT = Path(__file__).parent.parent
SECONDS = 20  # after which something that was awaited counts as never coming
QUIET = 0.6  # seconds in which a server with nothing to say says nothing


class Editor(LanguageClient):
    """Keeps all that the server says. `settings` are what it answers when the server asks for them."""

    def __init__(self, settings: object = None) -> None:
        super().__init__("editor", "1")
        self.settings = settings
        self.published: list[lsp.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.log: list[str] = []
        self.registered: list[lsp.Registration] = []
        self.bars: list[Any] = []
        self.documents: list[lsp.ShowDocumentParams] = []
        self.refreshed = 0
        self.versions: dict[str, int] = {}
        self.result: lsp.InitializeResult | None = None
        self._news = asyncio.Event()
        self._listen()

    def _listen(self) -> None:
        """Take note of everything."""
        heard: dict[str, Callable[[Any], object]] = {
            lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: self.published.append,
            lsp.WINDOW_SHOW_MESSAGE: lambda params: self.messages.append(params.message),
            lsp.WINDOW_LOG_MESSAGE: lambda params: self.log.append(params.message),
            lsp.PROGRESS: lambda params: self.bars.append(params.value),
        }
        for name, take in heard.items():
            self.feature(name)(partial(self._hear, take))
        answered: dict[str, Callable[[Any], object]] = {
            lsp.CLIENT_REGISTER_CAPABILITY: lambda params: self.registered.extend(params.registrations),
            lsp.WORKSPACE_CONFIGURATION: lambda params: [self.settings for _ in params.items],
            lsp.WINDOW_WORK_DONE_PROGRESS_CREATE: self.bars.append,
            lsp.WORKSPACE_DIAGNOSTIC_REFRESH: lambda params: self._refreshed(),
            lsp.WINDOW_SHOW_DOCUMENT: self._show,
        }
        for name, answer in answered.items():
            self.feature(name)(partial(answer))

    def _hear(self, take: Callable[[Any], object], params: Any) -> None:
        take(params)
        self._news.set()

    def _refreshed(self) -> None:
        self.refreshed += 1
        self._news.set()

    def _show(self, params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
        self.documents.append(params)
        return lsp.ShowDocumentResult(success=True)

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until something holds that the server's words decide."""
        loop = asyncio.get_running_loop()
        end = loop.time() + SECONDS
        while not true():
            self._news.clear()
            left = end - loop.time()
            assert left > 0, f"published {self.published[-3:]}, said {self.messages}, logged {self.log}"
            try:
                await asyncio.wait_for(self._news.wait(), min(left, 1))
            except asyncio.TimeoutError:
                continue

    def last(self, path: Path) -> lsp.PublishDiagnosticsParams | None:
        """What is shown of a file now."""
        uri = uri_of(str(path))
        return next((one for one in reversed(self.published) if one.uri == uri), None)

    def shown(self, path: Path) -> list[str]:
        """The same, as ``line:column-line:column name``, counted as the protocol does."""
        last = self.last(path)
        return [short(one) for one in last.diagnostics] if last is not None else []

    async def at(self, path: Path, version: int | None) -> list[lsp.Diagnostic]:
        """The diagnostics of a version of a document, when they are there."""
        await self.until(lambda: (last := self.last(path)) is not None and last.version == version)
        last = self.last(path)
        return list(last.diagnostics) if last is not None else []

    def open(self, path: Path, text: str | None = None, uri: str = "", language: str = "python") -> str:
        """Open a document with what the disk has, or another text; returns its address."""
        uri = uri or uri_of(str(path))
        self.versions[uri] = 1
        text = path.read_bytes().decode() if text is None else text
        item = lsp.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, *changes: lsp.TextDocumentContentChangeEvent) -> int:
        """Send changes; returns the version that they make."""
        self.versions[uri] += 1
        document = lsp.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, list(changes)))
        return self.versions[uri]

    def rewrite(self, uri: str, text: str) -> int:
        """Replace all of a document; returns the version that this makes."""
        return self.type(uri, lsp.TextDocumentContentChangeWholeDocument(text=text))

    def save(self, uri: str) -> None:
        """Say that a document was written."""
        self.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        """Close a document."""
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    def wrote(self, *paths: Path, kind: lsp.FileChangeType = lsp.FileChangeType.Changed) -> None:
        """Say that files were changed outside of the editor."""
        events = [lsp.FileEvent(uri_of(str(path)), kind) for path in paths]
        self.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))

    async def actions(
        self, uri: str, place: lsp.Range, only: Sequence[str] | None = None
    ) -> dict[str, lsp.CodeAction | lsp.Command]:
        """What can be done in a range, by title."""
        params = lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(uri), place, lsp.CodeActionContext(diagnostics=[], only=only)
        )
        return {one.title: one for one in await self.text_document_code_action_async(params) or ()}

    async def hovered(self, uri: str, line: int, character: int) -> str:
        """What is shown where the mouse rests."""
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(line, character))
        answer = await self.text_document_hover_async(params)
        if answer is None:
            return ""
        assert isinstance(answer.contents, lsp.MarkupContent)
        return answer.contents.value


def short(shown: lsp.Diagnostic) -> str:
    """A diagnostic in one line."""
    start, end = shown.range.start, shown.range.end
    return f"{start.line}:{start.character}-{end.line}:{end.character} {shown.code}"


def pushed(**changes: Any) -> lsp.ClientCapabilities:
    """What an editor of the ordinary kind can do: diagnostics are pushed to it."""
    tags = lsp.ClientDiagnosticsTagOptions([lsp.DiagnosticTag.Unnecessary, lsp.DiagnosticTag.Deprecated])
    markdown = [lsp.MarkupKind.Markdown, lsp.MarkupKind.PlainText]
    documents = lsp.TextDocumentClientCapabilities(
        publish_diagnostics=lsp.PublishDiagnosticsClientCapabilities(
            version_support=True, related_information=True, tag_support=tags, code_description_support=True
        ),
        hover=lsp.HoverClientCapabilities(content_format=markdown),
    )
    workspace = lsp.WorkspaceClientCapabilities(
        configuration=True,
        workspace_edit=lsp.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        did_change_configuration=lsp.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
        diagnostics=lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
    )
    window = lsp.WindowClientCapabilities(
        work_done_progress=True, show_document=lsp.ShowDocumentClientCapabilities(support=True)
    )
    given: dict[str, Any] = {"text_document": documents, "workspace": workspace, "window": window, **changes}
    return lsp.ClientCapabilities(**given)


@asynccontextmanager
async def editing(
    *folders: Path,
    options: object = None,
    settings: object = None,
    locale: str | None = "en",
    capabilities: lsp.ClientCapabilities | None = None,
    environ: Mapping[str, str] | None = None,
    words: Sequence[str] = (),
) -> AsyncIterator[Editor]:
    """An editor with these folders open. When all is done the server has ended, and well."""
    editor = Editor(settings)
    env = {**os.environ, "LC_ALL": "C", "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "npulint", "server", *words]
    await editor.start_io(*command, cwd=folders[0] if folders else ROOT, env={**env, **(environ or {})})
    process = editor._server
    assert process is not None
    try:
        editor.result = await editor.initialize_async(
            lsp.InitializeParams(
                capabilities=capabilities or pushed(),
                locale=locale,
                initialization_options=options,
                workspace_folders=[lsp.WorkspaceFolder(uri_of(str(folder)), folder.name) for folder in folders] or None,
            )
        )
        editor.initialized(lsp.InitializedParams())
        yield editor
        await asyncio.wait_for(editor.shutdown_async(None), SECONDS)
        editor.exit(None)
        assert await asyncio.wait_for(process.wait(), SECONDS) == 0
    finally:
        if process.returncode is None:
            process.kill()
        stop: Callable[[], Awaitable[None]] = editor.stop  # pygls does not say what it gives
        await asyncio.wait_for(stop(), SECONDS)
