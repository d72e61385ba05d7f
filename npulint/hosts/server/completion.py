"""Completion of check names in suppression comments."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec
from lsprotocol import types as lsp

from npulint.core.check_problems import CatalogueError
from npulint.core.texts import say
from npulint.facts.model import Span
from npulint.hosts.server.notebooks import Notebook
from npulint.hosts.server.positions import TextPositions
from npulint.hosts.server.requests import holder
from npulint.hosts.server.server import Server
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.judge.postprocess.engine import ENGINE_RULES

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
    found = listed_names(lines[line - 1][: column - 1])
    if found is None:
        return []
    begun, listed = found
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
