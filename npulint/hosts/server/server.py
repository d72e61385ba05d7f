"""The server: connects the protocol with the document store."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from npulint import __version__
from npulint.commands.settings.config import language
from npulint.core.digest import blake2b
from npulint.core.texts import say
from npulint.hosts.server.configuration import understood
from npulint.hosts.server.diagnostics import Abilities
from npulint.hosts.server.document_store import DocumentStore
from npulint.hosts.server.engine import EngineAnswer
from npulint.hosts.server.positions import agreed
from npulint.hosts.server.progress import REFUSED, ProgressBar
from npulint.hosts.server.publishing import DiagnosticsPublisher
from npulint.hosts.server.screen import PublishedDiagnostics, Screen
from npulint.hosts.server.uris import path_of
from npulint.judge.settings import Settings
from npulint.report.view import RulePage

Pages = Callable[[Settings], Callable[[str], RulePage | None]]


def _handed_on(method: str) -> Any:
    """A handler of the protocol that does no more than call the feature for `method`."""

    @lsp_method(method)
    def handler(protocol: LanguageServerProtocol, params: Any) -> None:
        protocol.fm.features[method](params)

    return handler


class _Protocol(LanguageServerProtocol):
    """A pygls protocol without its workspace, which also ends lines at form feeds and the like; npulint keeps its own
    texts."""

    lsp_text_document__did_open = _handed_on(lsp.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _handed_on(lsp.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _handed_on(lsp.TEXT_DOCUMENT_DID_CLOSE)
    lsp_notebook_document__did_open = _handed_on(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    lsp_notebook_document__did_change = _handed_on(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    lsp_notebook_document__did_close = _handed_on(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)

    @property
    def ended_well(self) -> bool:
        """Whether the client requested the shutdown before exiting."""
        return bool(self._shutdown)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message that is already in the form of JSON-RPC."""
        self._send_data(message)

    def give_up(self, request: str | int | None, error: Exception) -> None:
        """End the wait for the answer to a request to the client, whose answer was malformed."""
        future = self._request_futures.pop(request, None) if request is not None else None
        if future is not None:
            future.set_exception(error)


class Server(LanguageServer):
    """The server of one client. `environ` are environment variables, `pages` returns documentation of checks."""

    protocol: _Protocol

    def __init__(self, environ: Mapping[str, str], pages: Pages) -> None:
        super().__init__(
            "npulint",
            __version__,
            notebook_document_sync=lsp.NotebookDocumentSyncOptions(
                notebook_selector=[
                    lsp.NotebookDocumentFilterWithCells(
                        cells=[lsp.NotebookCellLanguage(language="python")], notebook="jupyter-notebook"
                    )
                ],
                save=True,
            ),
            protocol_cls=_Protocol,
        )
        self.environ = environ
        self.pages = pages
        self.store = DocumentStore(environ, self._on_answer, lambda done, total: self.bar.report(done, total))
        self.publisher = DiagnosticsPublisher(self._publish)
        self.bar = ProgressBar(self)
        self.encoding = "utf-16"
        self.can = Abilities()
        self.client_settings: object = None
        self.pulled: dict[str, str] = {}
        self.pulls_workspace = False
        self.pages_folder = ""
        self._refreshing: asyncio.Future[None] | None = None
        self._pages: tuple[Settings, Callable[[str], RulePage | None]] | None = None
        self._shown_texts: set[str] = set()
        self._verdicts: dict[str, str] = {}

    @property
    def lang(self) -> str:
        """The language of the server's own messages."""
        setting = self.store.client.words.get("lang")
        from_editor = {"NPULINT_LANG": self.store.locale} if self.store.locale else {}
        return language(
            {**from_editor, **self.environ}, setting[-1] if isinstance(setting, list) and setting else "auto"
        )

    @property
    def capabilities(self) -> lsp.ClientCapabilities:
        """The client capabilities."""
        return self.protocol.client_capabilities

    @property
    def pulls(self) -> bool:
        """Whether the client uses pull diagnostics."""
        documents = self.capabilities.text_document
        return documents is not None and documents.diagnostic is not None

    def met(self, params: lsp.InitializeParams) -> None:
        """Store the parameters of the initialize request."""
        general = params.capabilities.general
        self.encoding = agreed(general.position_encodings if general else None)
        self.can = _abilities(params.capabilities)
        self.store.locale = "zh" if (params.locale or "").lower().startswith("zh") else "en" if params.locale else ""
        self.client_settings = params.initialization_options

    def reconfigure(self) -> None:
        """Read client settings and configuration files again."""
        client = understood(self.client_settings, self.lang)
        self._shown_texts = set()
        for problem in client.problems:
            self.say_once(lsp.MessageType.Warning, say(self.lang, "server.settings", text=problem))
        self.store.configure(self.folders(), client, self.store.locale)

    def folders(self) -> list[str]:
        """The absolute paths of local workspace folders."""
        workspace = self.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri or ""]
        return [path for path in map(path_of, uris) if path is not None and os.path.isdir(path)]

    def screen(self) -> Screen:
        """The current diagnostics."""
        return Screen(self.store, self.encoding, self.can)

    def page(self, word: str) -> RulePage | None:
        """The documentation of the check with this code or name, in the client's language."""
        settings = next(iter(self.store.answer.settings.values()), None) or Settings(lang=self.lang)
        if self._pages is None or self._pages[0] != settings:
            self._pages = (settings, self.pages(settings))
        pages = self._pages[1]
        return pages(word) or pages(word.upper()) or pages(word.lower())

    def show(self) -> None:
        """Publish what has changed, except open documents for clients with pull diagnostics."""
        screen = self.screen()
        items = [] if self.pulls_workspace else list(screen.elsewhere())
        waiting: set[str] = set()
        if not self.pulls:
            items += screen.opened()
            waiting = {uri for uri in self.store.documents if uri not in self.store.results}
        self.publisher.only({item.uri for item in items} | waiting)
        for item in items:
            self.publisher.show(item.uri, item.version, item.diagnostics)
        if self.pulls and self._outdated(screen):
            self._refreshing = asyncio.ensure_future(self._refresh())

    def say_once(self, kind: lsp.MessageType, text: str) -> None:
        """Show a message, unless it was shown since the settings were read."""
        if text not in self._shown_texts:
            self._shown_texts.add(text)
            self.window_show_message(lsp.ShowMessageParams(type=kind, message=text))

    def log(self, kind: lsp.MessageType, text: str) -> None:
        """Write to the client's log."""
        self.window_log_message(lsp.LogMessageParams(type=kind, message=text))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an invalid message or internal error without interrupting the user."""
        self.log(lsp.MessageType.Error, f"{type(error).__name__}: {error}")

    def _on_answer(self, answer: EngineAnswer) -> None:
        for notice in answer.notices:
            if notice not in self._shown_texts:
                self._shown_texts.add(notice)
                self.log(lsp.MessageType.Warning, notice)
        for folder, verdict in answer.verdicts.items():  # only the log can show what is not at a line
            if self._verdicts.get(folder) != verdict:
                self._verdicts[folder] = verdict
                self.log(lsp.MessageType.Info, say(self.lang, "problem.detail", text=folder, detail=verdict))
        for failure in answer.failures:
            self.log(lsp.MessageType.Error, failure)
            self.say_once(lsp.MessageType.Error, say(self.lang, "server.internal"))
        for problem in answer.problems:
            place = f"{problem.path}:{problem.line}: " if problem.path else ""
            text = say(self.lang, "server.config", text=place + problem.message)
            self.say_once(lsp.MessageType.Error, text)
        try:
            self.show()
        except Exception:  # a bug in one update must not prevent later ones
            self.log(lsp.MessageType.Error, traceback.format_exc())
            self.say_once(lsp.MessageType.Error, say(self.lang, "server.internal"))

    def _publish(self, uri: str, version: int | None, diagnostics: Sequence[Any]) -> None:
        params = lsp.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=list(diagnostics))
        self.text_document_publish_diagnostics(params)

    def _outdated(self, screen: Screen) -> bool:
        """Whether the client has pulled other diagnostics for an unchanged document."""
        now = {item.uri: identity(item) for item in screen.opened()}
        return any(
            uri in now and now[uri] != before and now[uri].partition(":")[0] == before.partition(":")[0]
            for uri, before in self.pulled.items()
        )

    async def _refresh(self) -> None:
        workspace = self.capabilities.workspace
        if workspace is not None and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
            self.pulled.clear()
            try:
                await self.workspace_diagnostic_refresh_async(None)
            except REFUSED as error:  # the client may refuse
                self.log(lsp.MessageType.Warning, str(error))


def identity(item: PublishedDiagnostics) -> str:
    """A result id: the version and a digest of the diagnostics."""
    return f"{item.version}:{blake2b(repr(item.diagnostics).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _abilities(capabilities: lsp.ClientCapabilities) -> Abilities:
    documents = capabilities.text_document
    if documents is None:
        return Abilities()
    tags: list[lsp.DiagnosticTag] = []
    related = links = False
    for way in (documents.publish_diagnostics, documents.diagnostic):
        if way is not None:
            tags += way.tag_support.value_set if way.tag_support else []
            related = related or bool(way.related_information)
            links = links or bool(way.code_description_support)
    return Abilities(tuple(tags), related, links)
