"""Multi-line statements, so that a comment at either end covers them."""

from __future__ import annotations

from collections.abc import Sequence


def long_statements(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First and last lines of multi-line statements in Python source, for compound statements of the head; up to the
    first syntax error."""
    import tokenize  # only needed for files with suppression comments

    rest = iter(lines)
    statements: list[tuple[int, int]] = []
    first = 0
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
    try:
        for token in tokenize.generate_tokens(lambda: f"{line}\n" if (line := next(rest, None)) is not None else ""):
            if token.type == tokenize.NEWLINE:
                if first and token.start[0] > first:
                    statements.append((first, token.start[0]))
                first = 0
            elif not first and token.type not in skipped:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError, RecursionError):
        pass
    return statements


def long_commands(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First and last lines of multi-line shell commands: with backslash continuations, or texts and lists that span
    lines."""
    from bisect import bisect_right

    from npulint.read.shell.lex import Lexer
    from npulint.read.shell.tokens import ShellOperator, Word

    text = "\n".join(lines)
    starts = [0, *(offset + 1 for offset, char in enumerate(text) if char == "\n")]
    commands: list[tuple[int, int]] = []
    first = last = -1
    for token in (*Lexer(text, remember=False).tokens(), None):
        if isinstance(token, Word) or (isinstance(token, ShellOperator) and token.text != "\n"):
            first = token.start if first < 0 else first
            last = token.end - 1 if isinstance(token, Word) else token.start
            continue
        lines_of = (bisect_right(starts, first), bisect_right(starts, last))
        if first >= 0 and lines_of[0] < lines_of[1]:
            commands.append(lines_of)
        first = -1
    return commands
