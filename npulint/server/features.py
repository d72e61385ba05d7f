"""What the server does when the editor tells it something, and the table of all that it understands."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from lsprotocol import types as lsp

from npulint.config import CONFIG_NAME
from npulint.discover.kinds import JSON_LIMIT, is_mixlist, kinds_of
from npulint.discover.safe_open import read_head
from npulint.server.actions import FIX_ALL, SHOW_PAGE
from npulint.server.documents import EditorDocument
from npulint.server.notebooks import Notebook
from npulint.server.progress import REFUSED
from npulint.server.requests import code_action, document_diagnostic, hover, show_page, workspace_diagnostic
from npulint.server.server import Server
from npulint.server.uris import path_of
from npulint.texts import say

_CONFIGURING = (CONFIG_NAME, "pyproject.toml", ".gitignore", "npulint-baseline.json")
_WATCHED = (
    "**/*.{py,ipynb,sh,bash,toml,cfg,txt,json,cu,cuh,cpp,cc,cxx,yml,yaml,dockerfile}",
    "**/{Dockerfile*,Pipfile,.gitignore}",
)


def register(server: Server) -> None:
    """Let the server answer everything here."""
    handlers: dict[str, Callable[..., Any]] = {
        lsp.INITIALIZE: initialize,
        lsp.INITIALIZED: initialized,
        lsp.TEXT_DOCUMENT_DID_OPEN: did_open,
        lsp.TEXT_DOCUMENT_DID_CHANGE: did_change,
        lsp.TEXT_DOCUMENT_DID_SAVE: did_save,
        lsp.TEXT_DOCUMENT_DID_CLOSE: did_close,
        lsp.NOTEBOOK_DOCUMENT_DID_OPEN: notebook_did_open,
        lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: notebook_did_change,
        lsp.NOTEBOOK_DOCUMENT_DID_SAVE: notebook_did_save,
        lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: notebook_did_close,
        lsp.WORKSPACE_DID_CHANGE_CONFIGURATION: did_change_configuration,
        lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: did_change_watched_files,
        lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: did_change_folders,
        lsp.TEXT_DOCUMENT_HOVER: hover,
    }
    for name, handler in handlers.items():
        server.feature(name)(handler)
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL]
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds))(code_action)
    server.command(SHOW_PAGE)(show_page)


def initialize(ls: Server, params: lsp.InitializeParams) -> None:
    """Learn what the editor can do; only one that asks for diagnostics is offered to."""
    ls.met(params)
    if ls.pulls:
        options = lsp.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="npulint")
        ls.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)(document_diagnostic)
        ls.feature(lsp.WORKSPACE_DIAGNOSTIC)(workspace_diagnostic)


async def initialized(ls: Server, params: lsp.InitializedParams) -> None:
    """Ask for settings and for word about changed files, then begin."""
    ls.reconfigure()
    registrations = _registrations(ls)
    if registrations:
        try:
            await ls.client_register_capability_async(lsp.RegistrationParams(registrations=registrations))
        except REFUSED as error:  # what the editor answers is its own affair
            ls.log(lsp.MessageType.Warning, str(error))
    if await _ask_settings(ls):
        ls.reconfigure()
    window = ls.capabilities.window
    if ls.desk.client.scope == "workspace" and window is not None and window.work_done_progress:
        await ls.bar.begin(say(ls.lang, "server.progress"))
        ls.desk.look_around()


def _registrations(ls: Server) -> list[lsp.Registration]:
    workspace = ls.capabilities.workspace
    found = []
    if workspace is not None:
        watch, settings = workspace.did_change_watched_files, workspace.did_change_configuration
        if watch is not None and watch.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            found.append(lsp.Registration("npulint-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        if settings is not None and settings.dynamic_registration:
            wanted = lsp.DidChangeConfigurationRegistrationOptions(section="npulint")
            found.append(lsp.Registration("npulint-settings", lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, wanted))
    return found


async def _ask_settings(ls: Server) -> bool:
    """Ask for the settings of the editor; whether it has any for npulint."""
    workspace = ls.capabilities.workspace
    if workspace is None or not workspace.configuration:
        return False
    try:
        items = [lsp.ConfigurationItem(section="npulint")]
        answer = await ls.workspace_configuration_async(lsp.ConfigurationParams(items=items))
    except REFUSED as error:  # what the editor answers is its own affair
        ls.log(lsp.MessageType.Warning, str(error))
        return False
    if not answer or not isinstance(answer[0], dict) or not answer[0]:
        return False
    ls.given = answer[0]
    return True


def did_open(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    """A document is open; one that is no file is none of npulint's business."""
    item = params.text_document
    path = path_of(item.uri)
    if path is not None:
        ls.desk.open(EditorDocument(item.uri, ls.desk.path(path), item.version, item.text, ls.encoding))


def did_change(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    """Something was typed."""
    document = ls.desk.documents.get(params.text_document.uri)
    if isinstance(document, EditorDocument):
        document.change(params.text_document.version, params.content_changes)
        ls.desk.changed(document)


def did_save(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    """A document was written."""
    path = path_of(params.text_document.uri)
    document = ls.desk.documents.get(params.text_document.uri)
    if document is not None:
        ls.desk.saved(document)
    if path is not None and _configures(path, ls):
        ls.reconfigure()


def did_close(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    """A document was closed; what is still shown of it the next run decides."""
    uri = params.text_document.uri
    ls.desk.close(uri)
    ls.pulled.pop(uri, None)
    ls.board.forget(uri)


def notebook_did_open(ls: Server, params: lsp.DidOpenNotebookDocumentParams) -> None:
    """A notebook is open, cell by cell."""
    book = params.notebook_document
    path = path_of(book.uri)
    if path is not None:
        ls.desk.open(Notebook(book.uri, ls.desk.path(path), book.cells, params.cell_text_documents, ls.encoding))


def notebook_did_change(ls: Server, params: lsp.DidChangeNotebookDocumentParams) -> None:
    """Something in a notebook was typed or moved."""
    book = ls.desk.documents.get(params.notebook_document.uri)
    if isinstance(book, Notebook):
        for gone in book.change(params.change):
            ls.board.forget(gone)
        ls.desk.changed(book)


def notebook_did_save(ls: Server, params: lsp.DidSaveNotebookDocumentParams) -> None:
    """A notebook was written."""
    book = ls.desk.documents.get(params.notebook_document.uri)
    if book is not None:
        ls.desk.saved(book)


def notebook_did_close(ls: Server, params: lsp.DidCloseNotebookDocumentParams) -> None:
    """A notebook was closed."""
    book = ls.desk.documents.get(params.notebook_document.uri)
    ls.desk.close(params.notebook_document.uri)
    for address in book.addresses if isinstance(book, Notebook) else ():
        ls.board.forget(address)


async def did_change_configuration(ls: Server, params: lsp.DidChangeConfigurationParams) -> None:
    """The editor's settings are others."""
    if isinstance(params.settings, dict) and params.settings:
        ls.given = params.settings
    else:
        await _ask_settings(ls)
    ls.reconfigure()


def did_change_folders(ls: Server, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    """Folders joined or left the workspace."""
    ls.reconfigure()


def did_change_watched_files(ls: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Files were made, written or deleted, by the editor or by others."""
    paths = [path for path in (path_of(event.uri) for event in params.changes) if path is not None]
    gone = [path_of(event.uri) for event in params.changes if event.type == lsp.FileChangeType.Deleted]
    if any(_configures(path, ls) for path in paths):
        ls.reconfigure()
    counting = [ls.desk.path(path) for path in paths if path in gone or _counts(path)]
    if counting:
        ls.desk.touched(counting)


def _configures(path: str, ls: Server) -> bool:
    """Whether a file says how others are checked: configuration, exclusions, or a check of the user's own."""
    if os.path.basename(path) in _CONFIGURING:
        return True
    folders = {os.path.abspath(one) for settings in ls.desk.answer.settings.values() for one in settings.checks}
    return any(path == folder or path.startswith(os.path.join(folder, "")) for folder in folders)


def _counts(path: str) -> bool:
    """Whether a file may be one that is checked; of JSON files few are."""
    kinds = kinds_of(os.path.basename(path))
    if kinds != ("mixlist",):
        return bool(kinds)
    return is_mixlist(read_head(path, JSON_LIMIT))
