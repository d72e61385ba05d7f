"""Handlers of LSP notifications, and the table of all handlers."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from lsprotocol import types as lsp

from npulint.commands.settings.config import CONFIG_NAME
from npulint.core.errors import CatalogueError
from npulint.core.texts import say
from npulint.discover.kinds import JSON_LIMIT, is_mixlist, kinds_of
from npulint.discover.safe_open import read_head
from npulint.facts.model import Span
from npulint.hosts.server.actions import FIX_ALL, SHOW_PAGE
from npulint.hosts.server.documents import EditorDocument, Notebook
from npulint.hosts.server.positions import TextPositions
from npulint.hosts.server.progress import REFUSED
from npulint.hosts.server.requests import (
    code_action,
    document_diagnostic,
    holder,
    hover,
    show_page,
    workspace_diagnostic,
)
from npulint.hosts.server.server import Server
from npulint.hosts.server.uris import path_of
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.judge.postprocess.engine import ENGINE_RULES

# Completion of check names in suppression comments.

TRIGGERS = ("[", ",")
_LIST = re.compile(r"(?:#|//).*?npulint\s*:\s*(?:ignore-file|ignore)\s*\[([^\]]*)$", re.IGNORECASE)
_NAME = re.compile(r"[\w-]*$")


class Named(msgspec.Struct, frozen=True):
    """A check: its name, code and title."""

    name: str
    code: str
    title: str


async def completion(ls: Server, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    """The names of checks for a suppression comment at the position; empty elsewhere."""
    uri = params.text_document.uri
    document = ls.store.documents.get(holder(ls, uri))
    if document is None:
        return []
    lines = document.lines(uri) if isinstance(document, Notebook) else document.lines
    places = TextPositions(lines, ls.encoding)
    line, column = places.place(params.position)
    list_at_place = listed_names(lines[line - 1][: column - 1])
    if list_at_place is None:
        return []
    begun, listed = list_at_place
    result = ls.store.results.get(uri)
    settings = ls.store.answer.settings.get(document.path)
    lang = settings.language() if settings else ls.lang
    checks = await asyncio.to_thread(known_checks, settings.checks if settings else (), lang)
    span = places.range(Span(line, column - len(begun), line, column))
    return completions(checks, result.findings if result else (), line, begun, listed, span)


@lru_cache(4)
def known_checks(folders: tuple[str, ...], lang: str) -> tuple[Named, ...]:
    """All checks, those of the project in `folders` included unless they are broken."""
    try:
        catalogue = load_catalogue(folders)
    except CatalogueError:
        catalogue = load_catalogue()
    named = [Named(check.name, check.code, check.text[lang].title) for check in catalogue.checks]
    return (
        *named,
        *(
            Named(engine_rule.name, engine_rule.code, say(lang, f"title.{engine_rule.name}"))
            for engine_rule in ENGINE_RULES
        ),
    )


def listed_names(before: str) -> tuple[str, list[str]] | None:
    """The beginning of a name at the end of `before`, the text of a line up to the cursor, and the names that the
    comment lists already; None outside of the list of a suppression comment."""
    match = _LIST.search(before)
    if match is None:
        return None
    word = _NAME.search(match[1])
    begun = word[0] if word is not None else ""
    rest = match[1].removesuffix(begun)
    return begun, [name for name in re.split(r"[,\s]+", rest) if name]


def completions(
    checks: Iterable[Named], here: Sequence[Finding], line: int, begun: str, listed: Sequence[str], span: lsp.Range
) -> list[lsp.CompletionItem]:
    """The names of checks that may follow; those with findings on this line or the next one first, then those of the
    file. `begun` is what `span` contains, `listed` are the names that the comment has."""
    near = {
        finding.name
        for finding in here
        if finding.span.line <= line <= finding.span.end_line or finding.span.line == line + 1
    }
    in_file = {finding.name for finding in here}
    taken = {name.casefold() for name in listed}
    items = []
    for check in checks:
        if check.name in taken or check.code.casefold() in taken:
            continue
        if not _fits(begun, check):
            continue
        rank = 0 if check.name in near else 1 if check.name in in_file else 2
        items.append(
            lsp.CompletionItem(
                label=check.name,
                kind=lsp.CompletionItemKind.Constant,
                detail=check.code,
                documentation=check.title,
                filter_text=f"{check.name} {check.code}" if begun.upper().startswith("NPU") else check.name,
                sort_text=f"{rank}{check.name}",
                preselect=rank == 0 or None,
                text_edit=lsp.TextEdit(span, check.name),
            )
        )
    return items


def _fits(begun: str, check: Named) -> bool:
    """Whether a name contains what was begun, letters in order as editors match them."""
    rest = iter(check.name if not begun.upper().startswith("NPU") else check.code.casefold())
    return all(letter in rest for letter in begun.casefold())


_CONFIGURING = (CONFIG_NAME, "pyproject.toml", ".gitignore", "npulint-baseline.json")
_WATCHED = (
    "**/*.{py,ipynb,sh,bash,toml,cfg,txt,json,cu,cuh,cpp,cc,cxx,yml,yaml,dockerfile}",
    "**/{Dockerfile*,Pipfile,.gitignore}",
)


def register(server: Server) -> None:
    """Register all handlers with the server."""
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
    completing = lsp.CompletionOptions(trigger_characters=list(TRIGGERS))
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, completing)(completion)
    server.command(SHOW_PAGE)(show_page)


def initialize(ls: Server, params: lsp.InitializeParams) -> None:
    """Store the client capabilities; offers pull diagnostics only to clients that support them."""
    ls.met(params)
    if ls.pulls:
        options = lsp.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="npulint")
        ls.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)(document_diagnostic)
        ls.feature(lsp.WORKSPACE_DIAGNOSTIC)(workspace_diagnostic)


async def initialized(ls: Server, params: lsp.InitializedParams) -> None:
    """Request settings and file watching, then start."""
    ls.reconfigure()
    registrations = _registrations(ls)
    if registrations:
        try:
            await ls.client_register_capability_async(lsp.RegistrationParams(registrations=registrations))
        except REFUSED as error:  # the client may refuse
            ls.log(lsp.MessageType.Warning, str(error))
    if await _request_settings(ls):
        ls.reconfigure()
    window = ls.capabilities.window
    if ls.store.client.scope == "workspace" and window is not None and window.work_done_progress:
        await ls.bar.begin(say(ls.lang, "server.progress"))
        ls.store.check_workspace()


def _registrations(ls: Server) -> list[lsp.Registration]:
    workspace = ls.capabilities.workspace
    registrations = []
    if workspace is not None:
        watch, settings = workspace.did_change_watched_files, workspace.did_change_configuration
        if watch is not None and watch.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            registrations.append(lsp.Registration("npulint-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        if settings is not None and settings.dynamic_registration:
            registration = lsp.DidChangeConfigurationRegistrationOptions(section="npulint")
            registrations.append(
                lsp.Registration("npulint-settings", lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, registration)
            )
    return registrations


async def _request_settings(ls: Server) -> bool:
    """Request the client's settings; returns whether it has any for npulint."""
    workspace = ls.capabilities.workspace
    if workspace is None or not workspace.configuration:
        return False
    try:
        items = [lsp.ConfigurationItem(section="npulint")]
        answer = await ls.workspace_configuration_async(lsp.ConfigurationParams(items=items))
    except REFUSED as error:  # the client may refuse
        ls.log(lsp.MessageType.Warning, str(error))
        return False
    if not answer or not isinstance(answer[0], dict) or not answer[0]:
        return False
    ls.client_settings = answer[0]
    return True


def did_open(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    """Open a document; documents without a file are ignored."""
    item = params.text_document
    path = path_of(item.uri)
    if path is not None:
        ls.store.open(EditorDocument(item.uri, ls.store.path(path), item.version, item.text, ls.encoding))


def did_change(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    document = ls.store.documents.get(params.text_document.uri)
    if isinstance(document, EditorDocument):
        document.change(params.text_document.version, params.content_changes)
        ls.store.changed(document)


def did_save(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    document = ls.store.documents.get(params.text_document.uri)
    if document is not None:
        ls.store.saved(document)
    if path is not None and _configures(path, ls):
        ls.reconfigure()


def did_close(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    """Close a document; the next run decides what is still shown of it."""
    uri = params.text_document.uri
    ls.store.close(uri)
    ls.pulled.pop(uri, None)
    ls.publisher.forget(uri)


def notebook_did_open(ls: Server, params: lsp.DidOpenNotebookDocumentParams) -> None:
    book = params.notebook_document
    path = path_of(book.uri)
    if path is not None:
        ls.store.open(Notebook(book.uri, ls.store.path(path), book.cells, params.cell_text_documents, ls.encoding))


def notebook_did_change(ls: Server, params: lsp.DidChangeNotebookDocumentParams) -> None:
    book = ls.store.documents.get(params.notebook_document.uri)
    if isinstance(book, Notebook):
        for gone in book.change(params.change):
            ls.publisher.forget(gone)
        ls.store.changed(book)


def notebook_did_save(ls: Server, params: lsp.DidSaveNotebookDocumentParams) -> None:
    book = ls.store.documents.get(params.notebook_document.uri)
    if book is not None:
        ls.store.saved(book)


def notebook_did_close(ls: Server, params: lsp.DidCloseNotebookDocumentParams) -> None:
    book = ls.store.documents.get(params.notebook_document.uri)
    ls.store.close(params.notebook_document.uri)
    for address in book.addresses if isinstance(book, Notebook) else ():
        ls.publisher.forget(address)


async def did_change_configuration(ls: Server, params: lsp.DidChangeConfigurationParams) -> None:
    if isinstance(params.settings, dict) and params.settings:
        ls.client_settings = params.settings
    else:
        await _request_settings(ls)
    ls.reconfigure()


def did_change_folders(ls: Server, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    ls.reconfigure()


def did_change_watched_files(ls: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Handle files created, changed or deleted, by the editor or others."""
    paths = [path for path in (path_of(event.uri) for event in params.changes) if path is not None]
    gone = [path_of(event.uri) for event in params.changes if event.type == lsp.FileChangeType.Deleted]
    if any(_configures(path, ls) for path in paths):
        ls.reconfigure()
    counting = [ls.store.path(path) for path in paths if path in gone or _counts(path)]
    if counting:
        ls.store.touched(counting)


def _configures(path: str, ls: Server) -> bool:
    """Whether a file affects how others are checked: configuration, ignore files, or a check of the user."""
    if os.path.basename(path) in _CONFIGURING:
        return True
    folders = {os.path.abspath(check) for settings in ls.store.answer.settings.values() for check in settings.checks}
    return any(path == folder or path.startswith(os.path.join(folder, "")) for folder in folders)


def _counts(path: str) -> bool:
    """Whether a file may be checked; most JSON files are not."""
    kinds = kinds_of(path)
    if kinds != ("mixlist",):
        return bool(kinds)
    return os.path.islink(path) or is_mixlist(read_head(path, JSON_LIMIT))
