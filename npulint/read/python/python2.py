"""Converts Python 2 sources to Python 3 line by line, so that old training code can be checked.

Only what prevents parsing is changed, and no line moves: print and exec statements, ``except A, b``, ``raise A, b``,
``<>``, backquotes, octal and long numbers, ``ur""``, tabs of eight columns, and ``async`` as a name."""

from __future__ import annotations

import io
import tokenize

from npulint.core.lazy_regex import lazy_compile

_NUMBER = lazy_compile(r"(?<![\w.])0([0-7]+)[lL]?(?![\w.])|(?<![\w.])((?:0[xX][0-9a-fA-F]+|\d+))[lL](?!\w)")
_UNICODE_RAW = lazy_compile(r"(?<![\w])[uU][rR](?=[\"'])")
_BACKQUOTES = lazy_compile(r"`([^`\n]*)`")
ASYNC = "ASYNC"
"""Replaces ``async`` as a name: the same length, so that nothing moves."""

_ASYNC = lazy_compile(r"\basync(?=\s*[=,):.])")
# A colon after these may be followed by a statement on the same line (``if x: print y``).
_HEADS = ("if", "else", "elif", "for", "while", "try", "except", "finally", "with", "def", "class")
_LONG = 4000  # characters; some Python releases tokenize a line in quadratic time
_SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)

Edit = tuple[int, int, int, str]
"""Line (from 1), first column, end column, replacement."""


def modernised(text: str) -> str:
    """The source with its Python 2 statements rewritten; unchanged where no rewriting is known."""
    written = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if any(len(line) > _LONG for line in written):
        return text
    lines = [_in_line(_untabbed(line)) for line in written]
    plain = "\n".join(lines)
    for line, start, end, new in sorted(_edits(plain), reverse=True):
        lines[line - 1] = lines[line - 1][:start] + new + lines[line - 1][end:]
    return "\n".join(lines)


def _untabbed(line: str) -> str:
    body = line.lstrip(" \t")
    indent = line[: len(line) - len(body)]
    return indent.expandtabs(8) + body if "\t" in indent else line


def _in_line(line: str) -> str:
    """Rewrites that need no context. Text in strings may change too, which is harmless."""
    if "0" in line or "L" in line or "l" in line:
        line = _NUMBER.sub(lambda m: f"0o{m[1]}" if m[1] else m[2], line)
    if "`" in line:
        line = _BACKQUOTES.sub(r"(\1)", line)
    line = _UNICODE_RAW.sub("r", line)
    line = _ASYNC.sub(ASYNC, line)
    return line.replace("<>", "!=")


def _edits(text: str) -> list[Edit]:
    edits: list[Edit] = []
    statement: list[tokenize.TokenInfo] = []
    depth = lambdas = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE or token.string == ";":
                edits += _statement(statement)
                statement, depth, lambdas = [], 0, 0
            elif token.type not in _SKIPPED:
                statement.append(token)
                depth += _opening(token)
                lambdas += token.string == "lambda"
                if token.string == ":" and depth == 0 and not lambdas and statement[0].string in _HEADS:
                    edits += _statement(statement)
                    statement = []
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return edits


def _opening(token: tokenize.TokenInfo) -> int:
    """The number of brackets that a token opens; negative if it closes one."""
    return (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))


def _statement(tokens: list[tokenize.TokenInfo]) -> list[Edit]:
    if not tokens:
        return []
    head = tokens[0].string
    if head in ("print", "exec") and (len(tokens) == 1 or _is_statement(tokens)):
        return _called(tokens)
    if head in ("except", "raise"):
        commas = _commas(tokens)
        if commas:
            word = " as" if head == "except" else " from"
            edits = [(*commas[0].start, commas[0].end[1], word)]
            return edits + [(t.start[0], t.start[1], t.end[1], " or") for t in commas[1:2]]
    return []


def _is_statement(tokens: list[tokenize.TokenInfo]) -> bool:
    """Whether ``print`` or ``exec`` begins a statement: not a call, an assignment, or an attribute access."""
    follow = tokens[1].string
    if follow in ("=", ".", ",", ")", "["):
        return False
    if follow != "(":
        return True
    depth = 0
    for index, token in enumerate(tokens[1:], 1):
        depth += _opening(token)
        if depth == 0:
            return index != len(tokens) - 1
    return False


def _called(tokens: list[tokenize.TokenInfo]) -> list[Edit]:
    line, column = tokens[0].end
    if len(tokens) == 1:
        return [(line, column, column, "()")]
    edits: list[Edit] = []
    first = tokens[1]
    if first.string == ">>":
        edits.append((first.start[0], first.start[1], first.end[1], "  "))
    last = tokens[-1]
    end_line, end = last.end
    edits.append((end_line, end, end, ")"))
    gap = first.start[1] if first.start[0] == line else column
    edits.append((line, column, gap if gap > column else column, "("))
    return edits


def _commas(tokens: list[tokenize.TokenInfo]) -> list[tokenize.TokenInfo]:
    """The commas outside all brackets."""
    commas, depth = [], 0
    for token in tokens:
        if token.string == "," and depth == 0:
            commas.append(token)
        depth += _opening(token)
    return commas
