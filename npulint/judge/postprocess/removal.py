"""Edits that remove unused names from suppression comments, and comments that become empty."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Comment, Span
from npulint.judge.findings import Edit

_MARK = lazy_compile(r"(?://|#+)\s*$")
_PIECE = lazy_compile(r"(?<!\S)#+(?!\d)")  # ``#12`` is an issue number in the reason
_NAME = lazy_compile(r"[^,\s]+")


class DirectiveNames(msgspec.Struct, frozen=True):
    """A directive in a comment: its offset, the offsets of its list of names, and the unused names."""

    start: int
    names: tuple[int, int]
    useless: Collection[str]


def removals(
    path: str, kind: str, lines: Sequence[str], comment: Comment, directives: Sequence[DirectiveNames]
) -> list[tuple[Edit, ...]]:
    """The edits that remove the unused names of each directive of a comment; directives removed together share an edit.
    Empty where the text may not be a comment."""
    line = lines[comment.line - 1] if 0 < comment.line <= len(lines) else ""
    body = len(line.rstrip()) - len(comment.text)
    mark = _MARK.search(line[: max(0, body)])
    if mark is None:
        return [()] * len(directives)
    edits: list[Edit | None] = []
    gone = [
        directive_names.start
        for directive_names in directives
        if directive_names.useless and not _NAME.search(_rest(comment, directive_names))
    ]
    for directive in directives:
        if directive.start in gone:
            start, end = _stretch(comment.text, directive.start, [other.start for other in directives], gone)
            if (start, end) == (0, len(comment.text)):
                edits.append(_whole(path, lines, comment.line, mark.start()))
            else:
                edits.append(_edit(path, comment.line, body + start if start else mark.start(), body + end))
        elif _rest(comment, directive) != comment.text[slice(*directive.names)]:
            first, last = directive.names
            edits.append(_edit(path, comment.line, body + first, body + last, _rest(comment, directive)))
        else:
            edits.append(None)
    return [(edit,) if edit and _only_a_comment(edit, kind, lines, comment) else () for edit in edits]


def applied(lines: Sequence[str], edit: Edit) -> list[str]:
    """The lines after an edit."""
    span = edit.span
    before = lines[span.line - 1][: span.column - 1] if span.line <= len(lines) else ""
    behind = lines[span.end_line - 1][span.end_column - 1 :] if span.end_line <= len(lines) else ""
    return [*lines[: span.line - 1], *(before + edit.text + behind).split("\n"), *lines[span.end_line :]]


def _rest(comment: Comment, directive_names: DirectiveNames) -> str:
    """The list of a directive without unused names and their separators."""
    text = comment.text[slice(*directive_names.names)]
    names = list(_NAME.finditer(text))
    kept = [name for name in names if name[0] not in directive_names.useless]
    if not kept:
        return ""
    rest = text[: names[0].start()] + kept[0][0]
    for name in kept[1:]:
        before = names[names.index(name) - 1]
        rest += text[before.end() : name.end()]
    return rest + text[names[-1].end() :]


def _stretch(text: str, start: int, directives: Sequence[int], gone: Collection[int]) -> tuple[int, int]:
    """The range removed with the directive at `start`: its part of the comment up to the next ``#``, adjacent parts
    removed as well, and whitespace."""
    marks = (*(match.start() for match in _PIECE.finditer(text)), *directives)
    begins = sorted({0, *(len(text[:mark].rstrip("#")) for mark in marks)})
    useless = {bisect_right(begins, directive) - 1 for directive in gone}
    place = bisect_right(begins, start) - 1
    first = last = place
    while first - 1 in useless:
        first -= 1
    while last + 1 in useless:
        last += 1
    ends = [*begins[1:], len(text)]
    if first == 0:
        return 0, ends[last]
    return len(text[: begins[first]].rstrip()), len(text[: ends[last]].rstrip())


def _whole(path: str, lines: Sequence[str], number: int, mark: int) -> Edit:
    """The edit that removes the comment with preceding blanks, or its whole line if it stands alone."""
    line = lines[number - 1]
    code = line[:mark].rstrip()
    if code:
        return _edit(path, number, len(code), len(line))
    if number < len(lines):
        return Edit(path, Span(number, 1, number + 1, 1), "")
    if number > 1:
        return Edit(path, Span(number - 1, len(lines[number - 2]) + 1, number, len(line) + 1), "")
    return _edit(path, number, 0, len(line))


def _only_a_comment(edit: Edit, kind: str, lines: Sequence[str], comment: Comment) -> bool:
    """Whether the edit changes nothing but a comment; verified for languages where that is not obvious."""
    if kind == "python":
        return True
    if kind == "shell":
        return _words(lines) == _words(applied(lines, edit))
    if comment.text.endswith("\\") or (kind == "dockerfile" and not comment.alone):
        return False
    return comment.line < 2 or kind == "dockerfile" or not lines[comment.line - 2].endswith("\\")


def _words(lines: Sequence[str]) -> list[str]:
    """The words and operators of a shell script, and everything from a line with a here-document to the next
    command."""
    from npulint.read.shell.lex import Lexer
    from npulint.read.shell.tokens import ShellOperator, Word

    text = "\n".join(lines)
    words = ["\n"]
    announced = False
    handed = -1
    for token in Lexer(text, remember=False).tokens():
        if not isinstance(token, (Word, ShellOperator)):
            continue
        if handed >= 0:
            words.append(text[handed : token.start])
            handed = -1
        if isinstance(token, Word):
            words.append(text[token.start : token.end])
        elif token.text != "\n":
            announced = announced or token.text in ("<<", "<<-")
            words.append(token.text)
        elif words[-1] != "\n":
            words.append("\n")
            handed, announced = (token.start + 1 if announced else -1), False
    return [*words, text[handed:]] if handed >= 0 else words[:-1] if words[-1] == "\n" else words


def _edit(path: str, line: int, start: int, end: int, text: str = "") -> Edit:
    return Edit(path, Span(line, start + 1, line, end + 1), text)
