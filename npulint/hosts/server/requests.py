"""Handlers of LSP requests: diagnostics, code actions, hover, documentation."""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from lsprotocol import types as lsp

from npulint.core.texts import say
from npulint.facts.model import Span
from npulint.hosts.server.actions import FIX_ALL, EditableFile, Proposer, meets
from npulint.hosts.server.document_store import StoredResult
from npulint.hosts.server.documents import Notebook
from npulint.hosts.server.positions import TextPositions
from npulint.hosts.server.screen import PublishedDiagnostics
from npulint.hosts.server.server import Server, identity
from npulint.hosts.server.uris import uri_of
from npulint.judge.findings import Finding
from npulint.report.terminal import escape_control_chars
from npulint.report.view import RulePage

# Hover: a finding in full, or the documentation of a check named in a suppression comment.

_COMMENT = re.compile(r"npulint\s*:\s*ignore(?:-file)?\s*\[([^\]]*)\]|noqa\s*:\s*([A-Z0-9,\s]+)", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")
_LINK = re.compile(r"\[([^\]]+)\]\(<?([^)>]+)>?\)")


def named_at(line: str, column: int) -> tuple[str, int, int] | None:
    """The name in a suppression comment at a column (from 1), with its start and end column; None if there is none."""
    for comment in _COMMENT.finditer(line):
        group = 1 if comment[1] is not None else 2
        for word in _WORD.finditer(line, comment.start(group), comment.end(group)):
            if word.start() < column <= word.end() + 1:
                return word[0], word.start() + 1, word.end() + 1
    return None


def as_markdown(findings: Sequence[Finding], lang: str, title: Callable[[str], RulePage | None]) -> str:
    """Findings as Markdown: title, message, rationale and advice."""
    return "\n\n---\n\n".join(_section(finding, lang, title(finding.code)) for finding in findings)


def _section(finding: Finding, lang: str, page: RulePage | None) -> str:
    facts = say(lang, "list.and").join(
        [finding.code, say(lang, f"severity.{finding.severity}"), say(lang, f"category.{finding.category}")]
    )
    parts = [f"**{finding.name}** ({facts})", page.title if page else "", escape_control_chars(finding.message)]
    parts.append(f"**{say(lang, 'server.why')}** {escape_control_chars(finding.why)}" if finding.why else "")
    if finding.fix.text:
        parts.append(f"**{say(lang, 'server.todo')}** {escape_control_chars(finding.fix.text)}")
    if finding.url:
        parts.append(f"[{say(lang, 'server.page')}](<{finding.url}>)")
    return "\n\n".join(part for part in parts if part)


def plain(markdown: str) -> str:
    """Markdown as plain text, for clients without Markdown."""
    lines = []
    for line in markdown.split("\n"):
        if line.startswith("```") or re.fullmatch(r"\|(?: --- \|)+", line):
            continue
        line = _LINK.sub(r"\1 (\2)", line.lstrip("#").lstrip() if line.startswith("#") else line)
        lines.append(line.replace("**", "").replace("`", ""))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


async def document_diagnostic(ls: Server, params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
    """The diagnostics of one document for its current text."""
    uri = params.text_document.uri
    result = await ls.store.current(holder(ls, uri))
    item = (
        next((published for published in ls.screen().of(result) if published.uri == uri), None)
        if result is not None
        else None
    )
    if item is None:
        return lsp.RelatedFullDocumentDiagnosticReport(items=[])
    name = identity(item)
    ls.pulled[uri] = name
    if name == params.previous_result_id:
        return lsp.RelatedUnchangedDocumentDiagnosticReport(result_id=name)
    return lsp.RelatedFullDocumentDiagnosticReport(items=item.diagnostics, result_id=name)


def holder(ls: Server, uri: str) -> str:
    """The open document or notebook that a URI belongs to."""
    books = [book for book in ls.store.documents.values() if isinstance(book, Notebook)]
    return next((book.uri for book in books if uri in book.addresses), uri)


async def workspace_diagnostic(ls: Server, params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
    """All diagnostics to show. From now on those of other files are no longer pushed."""
    ls.pulls_workspace = True
    ls.publisher.only(())
    await ls.store.settled()
    screen = ls.screen()
    result_ids = {previous_result_id.uri: previous_result_id.value for previous_result_id in params.previous_result_ids}
    items = {item.uri: item for item in (*screen.elsewhere(), *screen.opened())}
    gone = [PublishedDiagnostics(uri, None, []) for uri in result_ids if uri not in items]
    return lsp.WorkspaceDiagnosticReport(items=[_report(item, result_ids) for item in (*items.values(), *gone)])


def _report(item: PublishedDiagnostics, result_ids: dict[str, str]) -> lsp.WorkspaceDocumentDiagnosticReport:
    name = identity(item)
    if result_ids.get(item.uri) == name:
        return lsp.WorkspaceUnchangedDocumentDiagnosticReport(uri=item.uri, result_id=name, version=item.version)
    return lsp.WorkspaceFullDocumentDiagnosticReport(
        uri=item.uri, items=item.diagnostics, version=item.version, result_id=name
    )


async def code_action(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
    """The code actions for the findings in a range; empty if the text has changed since."""
    uri = params.text_document.uri
    result = await ls.store.current(uri)
    if result is None or ls.store.stale(uri):
        return []
    proposer = _proposer(ls, result)
    action: list[lsp.CodeAction | lsp.Command] = []
    if _is_requested(lsp.CodeActionKind.QuickFix, params.context.only):
        requested = _requested(ls, result, params)
        shown = ls.screen().diagnostics(requested)
        for finding, diagnostic in zip(requested, shown, strict=True):  # in a thread: long files take time
            action += await asyncio.to_thread(proposer.for_finding, finding, diagnostic)
    if _is_requested(FIX_ALL, params.context.only):
        everything = await asyncio.to_thread(proposer.fix_all, result.findings)
        action += [everything] if everything is not None else []
    return action


def _is_requested(kind: str, only: Sequence[str] | None) -> bool:
    kind = getattr(kind, "value", kind)
    words = [getattr(word, "value", word) for word in only or ()]
    return not words or any(kind == word or kind.startswith(f"{word}.") for word in words)


def _requested(ls: Server, result: StoredResult, params: lsp.CodeActionParams) -> list[Finding]:
    """The findings in the range, and those of the diagnostics in the request."""
    data = [shown.data for shown in params.context.diagnostics]
    named = {diagnostic.get("fingerprint") for diagnostic in data if isinstance(diagnostic, dict)}
    span = TextPositions(result.seen.lines, ls.encoding).span(params.range)
    return [f for f in result.findings if meets(f.span, span) or (f.fingerprint and f.fingerprint in named)]


def _proposer(ls: Server, result: StoredResult) -> Proposer:
    workspace = ls.capabilities.workspace
    edits = workspace.workspace_edit if workspace is not None else None
    versioned = edits is not None and bool(edits.document_changes)
    settings = ls.store.answer.settings.get(result.seen.path)
    screen = ls.screen()
    by_path = {stored_result.seen.path: stored_result for stored_result in ls.store.results.values()}

    def file(path: str) -> EditableFile:
        stored_result = by_path.get(os.path.abspath(path))
        if stored_result is not None:
            return EditableFile(
                stored_result.seen.uri, stored_result.seen.version, stored_result.seen.text, stored_result.seen.lines
            )
        lines = screen.sight(os.path.abspath(path))[2]
        return EditableFile(uri_of(os.path.abspath(path)), None, "\n".join(lines), lines)

    return Proposer(file, ls.encoding, versioned, settings.language() if settings else ls.lang)


async def hover(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    """The documentation of a check that a comment names, or the findings at the position."""
    uri = params.text_document.uri
    result = await ls.store.current(uri)
    if result is None or result.seen.cells:
        return None
    places = TextPositions(result.seen.lines, ls.encoding)
    line, column = places.place(params.position)
    named = named_at(result.seen.lines[line - 1], column)
    settings = ls.store.answer.settings.get(result.seen.path)
    lang = settings.language() if settings else ls.lang
    if named is not None:
        page = await asyncio.to_thread(ls.page, named[0])
        if page is not None:
            return _hover(ls, page.markdown, places.range(Span(line, named[1], line, named[2])))
    at = Span(line, column, line, column)
    here = [finding for finding in result.findings if meets(finding.span, at)]
    if not here:
        return None
    return _hover(ls, await asyncio.to_thread(as_markdown, here, lang, ls.page), places.range(here[0].span))


def _hover(ls: Server, markdown: str, place: lsp.Range) -> lsp.Hover:
    documents = ls.capabilities.text_document
    formats = documents.hover.content_format if documents is not None and documents.hover is not None else None
    rich = lsp.MarkupKind.Markdown in (formats or ())
    kind = lsp.MarkupKind.Markdown if rich else lsp.MarkupKind.PlainText
    return lsp.Hover(contents=lsp.MarkupContent(kind, markdown if rich else plain(markdown)), range=place)


async def show_page(ls: Server, code: str) -> str | None:
    """Open the documentation of a check in the client if possible; returns its Markdown."""
    page = await asyncio.to_thread(ls.page, code)
    if page is None:
        return None
    window = ls.capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        path = Path(_pages_folder(ls)) / f"{code}.md"
        path.write_text(page.markdown, encoding="utf-8")
        await ls.window_show_document_async(lsp.ShowDocumentParams(uri=uri_of(str(path)), take_focus=True))
    else:
        text = "\n".join(part for part in (f"{code}: {page.title}", page.why, page.fix) if part)
        ls.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Info, message=text))
    return page.markdown


def _pages_folder(ls: Server) -> str:
    """A temporary folder that is deleted with the server."""
    if not ls.pages_folder:
        ls.pages_folder = tempfile.mkdtemp(prefix="npulint-pages-")
        atexit.register(partial(shutil.rmtree, ls.pages_folder, ignore_errors=True))
    return ls.pages_folder
