"""Statements that take several lines, so that a comment at either end speaks for all of it."""

from __future__ import annotations

from collections.abc import Sequence


def long_statements(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First and last lines of the statements of a Python source that take more than one; of a compound
    statement its head. Where the text stops being Python the list ends."""
    import tokenize  # only files with suppression comments pay for it

    rest = iter(lines)
    found: list[tuple[int, int]] = []
    first = 0
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
    try:
        for token in tokenize.generate_tokens(lambda: f"{line}\n" if (line := next(rest, None)) is not None else ""):
            if token.type == tokenize.NEWLINE:
                if first and token.start[0] > first:
                    found.append((first, token.start[0]))
                first = 0
            elif not first and token.type not in skipped:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError, RecursionError):
        pass
    return found
