"""Suppression comments: which findings they silence, and which of them are of no use.

``# npulint: ignore[name-or-code, other] reason`` silences its own line, or the next one when it stands
alone; ``# npulint: ignore-file[...]`` the whole file; ``# noqa: NPU1101`` its own line. A comment that
names no check silences nothing: a bare ``# noqa`` is meant for other tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from npulint.facts.model import Comment, FileFacts, Span
from npulint.findings import Finding, Silenced
from npulint.later import regex
from npulint.lines import Lines
from npulint.nearby import nearest
from npulint.settle.engine import INVALID_SUPPRESSION, UNUSED_SUPPRESSION, finding
from npulint.settle.select import Identity
from npulint.settle.statements import long_commands, long_statements
from npulint.texts import say

_IGNORE = regex(r"(?:^|#)\s*npulint\s*:\s*(ignore-file|ignore)(?![\w-])\s*(?:\[([^\]]*)\])?", re.IGNORECASE)
_NOQA = regex(r"(?:^|#)\s*noqa\s*:\s*([A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_OURS = regex(r"NPU[0-9]+", re.IGNORECASE)


class Directive(msgspec.Struct, frozen=True):
    """What one comment asks for: the checks `names` on the line `target` (0: everywhere). A comment at
    the end of a line also covers statements that end there. `line` is where it stands, `reason` the text behind it."""

    line: int
    target: int
    names: tuple[str, ...]
    trailing: bool
    source: str = ""
    reason: str = ""

    def covers(self, span: Span, statements: Sequence[tuple[int, int]]) -> bool:
        """Whether a finding at `span` is meant; `statements` are the lines of long statements around it."""
        if not self.target:
            return True
        begins = [span.line, *(first for first, last in statements if first <= span.line and span.end_line <= last)]
        if self.target in begins:
            return True
        ends = [span.end_line, *(last for first, last in statements if first <= span.line and span.end_line <= last)]
        return self.trailing and self.target in ends


class Suppressed(msgspec.Struct, frozen=True):
    """What is left of the findings, what was silenced, and what is wrong with the comments."""

    kept: list[Finding]
    silenced: list[Silenced]
    complaints: list[Finding]


def suppress(
    findings: Sequence[Finding],
    files: Iterable[FileFacts],
    rules: Sequence[Identity],
    active: Callable[[Identity], bool],
    lines: Lines,
    lang: str,
) -> Suppressed:
    """Apply the comments of `files`. Only a comment about an `active` check can be unused."""
    commented: dict[str, list[FileFacts]] = {}
    for file in files:
        if file.comments:
            commented.setdefault(file.path, []).append(file)
    directives = {path: _directives(parts, lines(path)) for path, parts in commented.items()}
    disputed = {one.path for one in findings}.intersection(commented)
    statements = {path: _long(commented[path], lines(path)) for path in sorted(disputed)}
    used: set[tuple[str, int, str]] = set()
    kept: list[Finding] = []
    silenced: list[Silenced] = []
    for one in findings:
        by = _silencers(one, directives.get(one.path, ()), statements.get(one.path, ()))
        used.update((one.path, position, name) for position, name in by)
        if by:
            silenced.append(Silenced(one, "comment", directives[one.path][by[0][0]].reason))
        else:
            kept.append(one)
    judge = _Judge(rules, active, lines, lang)
    complaints = [
        complaint
        for path in sorted(directives)
        for position, directive in enumerate(directives[path])
        for complaint in judge.complaints(path, directive, {name for p, i, name in used if (p, i) == (path, position)})
    ]
    return Suppressed(kept, silenced, complaints)


def parse(comment: Comment, following: int) -> list[Directive]:
    """What a comment asks for; `following` is the line of the code after a comment that stands alone."""
    directives = []
    for match in _IGNORE.finditer(comment.text):
        names = tuple(name for name in re.split(r"[,\s]+", match[2] or "") if name)
        whole = match[1].lower() == "ignore-file"
        target = 0 if whole else following if comment.alone else comment.line
        directives.append(Directive(comment.line, target, names, not comment.alone, *_words(comment.text, match)))
    if not comment.alone:
        for match in _NOQA.finditer(comment.text):
            names = tuple(_OURS.findall(match[1]))
            if names:
                directives.append(Directive(comment.line, comment.line, names, True, *_words(comment.text, match)))
    return directives


def _words(text: str, match: re.Match[str]) -> tuple[str, str]:
    """The directive as it is written, and the reason behind it."""
    return match[0].lstrip("# \t"), text[match.end() :].partition("#")[0].strip(" \t:-")


def _directives(parts: Sequence[FileFacts], text: Sequence[str]) -> list[Directive]:
    """All directives of a file; setup.py and the like are read as two kinds but have one set of comments."""
    comments = {(comment.line, comment.text): comment for part in parts for comment in part.comments}
    alone = {comment.line for comment in comments.values() if comment.alone}
    return [d for key in sorted(comments) for d in parse(comments[key], _following(comments[key].line, alone, text))]


def _following(line: int, alone: set[int], text: Sequence[str]) -> int:
    """The next line with code."""
    line += 1
    while line in alone or (line < len(text) and text[line - 1].lstrip()[:1] in ("", "#")):
        line += 1
    return line


def _long(parts: Sequence[FileFacts], text: Sequence[str]) -> list[tuple[int, int]]:
    """The lines of what takes more than one, in the languages where a comment cannot stand at every line."""
    kinds = {part.kind for part in parts}
    if "python" in kinds:
        return long_statements(text)
    return long_commands(text) if "shell" in kinds else []


def _silencers(
    one: Finding, directives: Sequence[Directive], statements: Sequence[tuple[int, int]]
) -> list[tuple[int, str]]:
    names = (one.code.casefold(), one.name.casefold())
    return [
        (position, name)
        for position, directive in enumerate(directives)
        for name in directive.names
        if name.casefold() in names and directive.covers(one.span, statements)
    ]


class _Judge:
    """Says what is wrong with comments."""

    def __init__(self, rules: Sequence[Identity], active: Callable[[Identity], bool], lines: Lines, lang: str) -> None:
        self._known = {word.casefold(): rule for rule in rules for word in (rule.code, rule.name)}
        self._spelled = {word for rule in rules for word in (rule.code, rule.name)}
        self._active = active
        self._lines = lines
        self._lang = lang

    def complaints(self, path: str, directive: Directive, used: set[str]) -> list[Finding]:
        span = self._span(path, directive)
        if not directive.names:
            return [self._invalid(path, span, "blanket", say(self._lang, "invalid.blanket"))]
        accepted = {name.casefold() for name in directive.names}
        if accepted & {UNUSED_SUPPRESSION.code.casefold(), UNUSED_SUPPRESSION.name}:
            used = used | set(directive.names)
        return [c for name in dict.fromkeys(directive.names) if name not in used for c in self._of(path, span, name)]

    def _of(self, path: str, span: Span, name: str) -> list[Finding]:
        rule = self._known.get(name.casefold())
        if rule is None:
            meant = nearest(name, self._spelled)
            hint = say(self._lang, "meant", word=meant) if meant else ""
            return [self._invalid(path, span, "unknown", say(self._lang, "invalid.unknown", name=name) + hint)]
        if not self._active(rule):
            return []
        message = say(self._lang, "unused.message", name=name)
        why, fix = say(self._lang, "unused.why"), say(self._lang, "unused.fix")
        return [finding(UNUSED_SUPPRESSION, path, span, message, why, fix)]

    def _invalid(self, path: str, span: Span, kind: str, message: str) -> Finding:
        why, fix = say(self._lang, "invalid.why"), say(self._lang, f"invalid.fix.{kind}")
        return finding(INVALID_SUPPRESSION, path, span, message, why, fix)

    def _span(self, path: str, directive: Directive) -> Span:
        text = self._lines(path)
        line = text[directive.line - 1] if 0 < directive.line <= len(text) else ""
        column = max(0, line.find(directive.source)) + 1
        width = len(directive.source) if line else 0
        return Span(directive.line, column, directive.line, column + width)
