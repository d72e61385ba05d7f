"""Code actions for findings: apply a fix, suppress the finding here or in the file, open the documentation."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence

import msgspec
from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    Command,
    Diagnostic,
    OptionalVersionedTextDocumentIdentifier,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from npulint.core.texts import say
from npulint.facts.model import Span
from npulint.fix.ignoring import ignore_here, ignore_in_file, style_of
from npulint.hosts.server.positions import TextPositions, line_end
from npulint.judge.findings import Edit, Finding

# Edits for quick fixes, computed for the text in the editor.

TextOf = Callable[[str], str | None]
"""From a path to the text in the editor or on disk; None without one."""


class Offer(msgspec.Struct, frozen=True):
    """Edits that fix a finding, and whether they are safe."""

    edits: tuple[Edit, ...]
    safe: bool


def offers(finding: Finding, text_of: TextOf) -> list[Offer]:
    """The fixes of a finding: the safe part, and all of it if that needs unsafe edits."""
    fix = finding.fix
    kinds = {change.applicability for change in fix.changes} or ({fix.applicability} if fix.edits else set())
    if not kinds:
        return []
    from npulint.fix.code_actions import DecodedFiles, edits_of
    from npulint.fix.model import FixRefused

    files = DecodedFiles(_bytes(text_of))
    offered: list[Offer] = []
    for word in ("safe", "unsafe"):
        if word in kinds:
            try:
                offered.append(Offer(edits_of(finding, files, word == "unsafe"), word == "safe"))
            except FixRefused:
                continue
    return offered


def all_safe(findings: Sequence[Finding], text_of: TextOf) -> Sequence[Edit]:
    """All safe, compatible fixes of the findings of one file, without those that change other files."""
    fixable = [finding for finding in findings if finding.fix.edits or finding.fix.changes]
    if not fixable:
        return ()
    from npulint.fix.code_actions import DecodedFiles, safe_edits

    return safe_edits(fixable, DecodedFiles(_bytes(text_of), only=fixable[0].path))


def _bytes(text_of: TextOf) -> Callable[[str], bytes | None]:
    """A function from path to UTF-8 bytes, their coding declaration adjusted, so that they decode whatever encoding the
    text declares."""

    def bytes_of(path: str) -> bytes | None:
        text = text_of(path)
        return None if text is None else codecs.BOM_UTF8 + text.removeprefix("\ufeff").encode("utf-8", "replace")

    return bytes_of


FIX_ALL = "source.fixAll.npulint"
SHOW_PAGE = "npulint.showPage"
_TITLE = 60  # characters of a fix title; editors cut longer ones


class EditableFile(msgspec.Struct, frozen=True):
    """An editable file: its URI, the document version (None: not open), its text."""

    uri: str
    version: int | None
    text: str
    lines: Sequence[str]


Files = Callable[[str], EditableFile]


class Proposer(msgspec.Struct, frozen=True):
    """Creates code actions. `encoding` is that of positions, `versioned` whether the client supports versioned
    edits."""

    files: Files
    encoding: str
    versioned: bool
    lang: str

    def for_finding(self, finding: Finding, shown: Diagnostic) -> list[CodeAction]:
        """All code actions for one finding."""
        file = self.files(finding.path)
        style = style_of(finding.path, file.text[:200].encode("utf-8", "replace"))
        named = {"name": finding.name}
        actions = []
        for offer in offers(finding, self._text):
            actions.append(self._quick(self._title(finding, offer), offer.edits, shown, preferred=offer.safe))
        here, everywhere = ignore_here(finding, file.lines, style), ignore_in_file(finding, file.lines, style)
        if here is not None:
            actions.append(self._quick(say(self.lang, "server.ignore.line", **named), [here], shown))
        if everywhere is not None:
            actions.append(self._quick(say(self.lang, "server.ignore.file", **named), [everywhere], shown))
        title = say(self.lang, "server.show", **named)
        command = Command(title=title, command=SHOW_PAGE, arguments=[finding.code])
        actions.append(CodeAction(title=title, kind=CodeActionKind.QuickFix, diagnostics=[shown], command=command))
        return actions

    def _title(self, finding: Finding, offer: Offer) -> str:
        """What a fix does, if that can be said in a short line, else what it fixes."""
        key = "server.fix" if offer.safe else "server.fix.unsafe"
        files = {path: self.files(path).lines for path in {edit.path for edit in offer.edits}}
        for text in (_line(finding.fix.text), *edit_in_words(offer.edits, files, self.lang), finding.name):
            title = say(self.lang, key, text=text)
            if len(title) <= _TITLE:
                return title
        return title

    def fix_all(self, findings: Sequence[Finding]) -> CodeAction | None:
        """All safe fixes of a file as one action; of two conflicting fixes the more severe finding's is applied."""
        chosen = all_safe(findings, self._text)
        if not chosen:
            return None
        return CodeAction(title=say(self.lang, "server.fix.all"), kind=FIX_ALL, edit=self._edit(chosen))

    def _text(self, path: str) -> str | None:
        file = self.files(path)
        return file.text if file.version is not None or file.lines else None

    def _quick(self, title: str, edits: Sequence[Edit], shown: Diagnostic, preferred: bool = False) -> CodeAction:
        return CodeAction(
            title=title,
            kind=CodeActionKind.QuickFix,
            diagnostics=[shown],
            is_preferred=preferred or None,
            edit=self._edit(edits),
        )

    def _edit(self, edits: Sequence[Edit]) -> WorkspaceEdit:
        by_path: dict[str, list[Edit]] = {}
        for edit in edits:
            by_path.setdefault(edit.path, []).append(edit)
        changed = [(self.files(path), self._text_edits(path, some)) for path, some in sorted(by_path.items())]
        if not self.versioned:
            return WorkspaceEdit(changes={file.uri: some for file, some in changed})
        return WorkspaceEdit(
            document_changes=[
                TextDocumentEdit(OptionalVersionedTextDocumentIdentifier(file.uri, file.version), list(some))
                for file, some in changed
            ]
        )

    def _text_edits(self, path: str, edits: Sequence[Edit]) -> list[TextEdit]:
        file = self.files(path)
        places, end = TextPositions(file.lines, self.encoding), line_end(file.text)
        ordered = sorted(edits, key=lambda edit: edit.span)
        return [TextEdit(places.range(edit.span), edit.text.replace("\n", end)) for edit in ordered]


def meets(span: Span, other: Span) -> bool:
    """Whether two spans overlap or touch."""
    first, second = sorted((span, other))
    return (second.line, second.column) <= (first.end_line, first.end_column)


def edit_in_words(edits: Sequence[Edit], files: Mapping[str, Sequence[str]], lang: str) -> list[str]:
    """What the only edit of a fix within a line does; empty for other fixes."""
    if len(edits) != 1 or edits[0].span.line != edits[0].span.end_line or "\n" in edits[0].text:
        return []
    edit, lines = edits[0], files[edits[0].path]
    line = lines[edit.span.line - 1] if edit.span.line <= len(lines) else ""
    old, new = _line(line[edit.span.column - 1 : edit.span.end_column - 1]), _line(edit.text)
    word = "replace" if old and new else "delete" if old else "insert"
    return [say(lang, f"server.edit.{word}", old=old, new=new)] if old or new else []


def _line(text: str) -> str:
    return " ".join(text.split())
