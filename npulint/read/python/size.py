"""How much memory the syntax tree of a source will take, from its tokens: parsing cannot be stopped half way."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile

SMALL = 400_000
"""Characters of a source whose syntax tree fits into the usual limits, whatever they are."""
_TEXT = r"(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
_TOKENS = lazy_compile(
    r"(#[^\n]*)"
    rf"|((?:\b[rRbBuU]{{1,2}})?{_TEXT})"
    rf"|(\b(?:[fF][rR]?|[rR][fF]){_TEXT})"
    r"|(\d[\w.]*|\w+)"
    r"|(\.\w+)"
    r"|([(\[{])"
    r"|([-+*/%&|^~<>@])"
    r"|((?<![,(\[{\n\\])\n|;)",
    re.DOTALL,
)
# Bytes for a token of each group, as measured: those of the nodes that it makes, with their lists and places.
_COMMENT, _STRING, _FORMATTED, _WORD, _ATTRIBUTE, _BRACKET, _OPERATOR, _STATEMENT = range(1, 9)
_BYTES = (0, 0, 1100, 1100, 950, 800, 1700, 550, 900)
_FIELD = 2000  # of a formatted string


def memory_of_tree(text: str) -> int:
    """About how many bytes the syntax tree of a source takes; 0 for a small source."""
    if len(text) <= SMALL:
        return 0
    memory = 0
    for token in _TOKENS.finditer(text):
        group = token.lastindex or 0
        memory += _BYTES[group]
        if group == _FORMATTED:
            memory += _FIELD * token.group().count("{")
    return memory
