"""Terminal output: escaping, cell widths and six colours. A library would take longer to import than the report to
render."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TextIO
from unicodedata import combining, east_asian_width

from npulint.core.lazy_regex import lazy_compile

# The first character of ``##[``, ``##vso[`` etc., which CI runners execute anywhere in a line. They
# compare by culture, so marks that .NET passes over may lie between.
COMMAND_SIGN = r"#(?=[^ -~]*#(?:[^ -~]*[A-Za-z])*[^ -~]*\[)"
UNSEEN = (
    "\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f"
)
"""Ranges of a character class, apart from C0: DEL and C1; line separators; marks without a glyph; bidi controls, which
reorder what is read; surrogates. No report contains them."""

_HOSTILE = lazy_compile(f"[\x00-\x1f{UNSEEN}]|{COMMAND_SIGN}")
_COMMAND = lazy_compile(
    r"[^!-9;-~]*:"
)  # CI runners obey lines that begin with two colons, whatever is unseen before them
_PIECE = lazy_compile(r"(?:[^\s\u2e80-\uffef]+|[\u2e80-\uffef])[，。；：、）！？]*\s*|\s+")
_SEQUENCE = lazy_compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\\\")
_COLUMN = lazy_compile(r"\s*\S+(?: \S+)*\s{2,}(?=\S)|\s*[0-9]+\. ")
_NARROWEST = 24  # cells that lines are folded to
_ARROW = lazy_compile(r"[\s\x1b\[0-9;m]*(?:-->|[0-9]* \|)")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
COLOR = {"error": "red", "warning": "yellow", "note": "cyan"}  # of severities
_COLORS = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "1;33", "green": "32", "blue": "34", "cyan": "36"}


def escape_control_chars(text: str) -> str:
    """`text` on one line with control characters as escapes."""
    return _HOSTILE.sub(escaped_character, text)


def escaped_character(match: re.Match[str]) -> str:
    """The visible escape of a character that a pattern has found, such as ``\\x1b`` or ``\\u202e``."""
    char = match.group()
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte of a file name
        return f"\\x{code - 0xDC00:02x}"
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def leading(path: str) -> str:
    """An escaped path for the beginning of a line, which looks neither like a CI command nor, by leading blanks, like a
    related location."""
    text = escape_control_chars(path)
    return f"./{text}" if text[:1].isspace() or _COMMAND.match(text) else text


def plain_line(text: str) -> str:
    """Any line, escaped, without CI commands."""
    line = escape_control_chars(text)
    return f"| {line}" if _COMMAND.match(line) else line


def cells(text: str) -> int:
    """The number of terminal columns of escaped `text`."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The longest prefix of escaped `text` that fits into `width` cells."""
    if text.isascii():
        return text[:width]
    used = 0
    for index, char in enumerate(text):
        used += _cells(char)
        if used > width:
            return text[:index]
    return text


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells (0: one line), broken at blanks or between Chinese characters."""
    if not width or cells(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    for piece in _PIECE.findall(text):
        if line and cells(line + piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()] if line.strip() else lines


def folded(line: str, width: int) -> list[str]:
    """A line of a report in lines of at most `width` cells, where blanks permit; as it is if that is 0 or very few.
    Colours and links take no cells. Further lines are indented to the second column, if there is one, else by four more
    cells."""
    if width < _NARROWEST or _seen(line) <= width or _ARROW.match(line):
        return [line]
    column = _COLUMN.match(_SEQUENCE.sub("", line))
    begun = len(line) - len(line.lstrip())
    start = cells(column.group()) if column else 0
    indent = start if 0 < start * 2 <= width else begun + 4
    lines: list[str] = []
    now, room = "", width
    for piece in _PIECE.findall(line):
        if now.strip() and _seen(now + piece.rstrip()) > room:
            lines.append(now.rstrip())
            now, room = piece.lstrip(), width - indent
        else:
            now += piece
    lines.append(now.rstrip())
    return [lines[0], *(" " * indent + line for line in lines[1:] if line)]


def _seen(text: str) -> int:
    """The cells of a text that may have colours and links."""
    return cells(_SEQUENCE.sub("", text) if "\x1b" in text else text)


class Paint:
    """Colours text if `on`."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, color: str, text: str) -> str:
        """`text` in one of bold, dim, red, yellow, green, blue, cyan."""
        return f"\x1b[{_COLORS[color]}m{text}\x1b[0m" if self._on and text else text


def linked(text: str, url: str) -> str:
    """`text` as a terminal hyperlink (OSC 8); without link if the URL contains unexpected characters."""
    plain = url.isascii() and url.isprintable() and " " not in url
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if url and plain else text


def wants_links(color: bool, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to print hyperlinks: only with colour on an interactive terminal, never in CI."""
    return color and is_terminal(stream) and not environ.get("CI")


def has_blocks(stream: TextIO) -> bool:
    """Whether the encoding of `stream` supports block characters."""
    try:
        "▁▒█·→×".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def wants_color(choice: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to colour output to `stream`: by option, else by environment (``NO_COLOR``, ``FORCE_COLOR``,
    ``CLICOLOR_FORCE``), else on terminals that are not dumb."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return is_terminal(stream) and environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Whether `stream` is an interactive terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def width_of(stream: TextIO, environ: Mapping[str, str]) -> int:
    """The width of the terminal behind `stream` in cells, at most 120; 0 if there is none."""
    if not is_terminal(stream):
        return 0
    import os

    columns = environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdigit() else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = 80
    return min(max(width, 40), 120)


# Escapes text for Markdown on GitHub and GitLab.

_MARKUP = str.maketrans({char: f"\\{char}" for char in "\\*_[]~|$`"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_APART = "&#8203;"  # zero-width space; breaks mentions, issue references and URLs
_CALL = lazy_compile(r"(?<=[@#!])(?=\w)|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE | re.ASCII)
_ADDRESS = lazy_compile(r"https?://[!-~]+")
_UNSAFE = lazy_compile(r"[^A-Za-z0-9_.~/?#=&:@%+,;-]")


def prose(text: str, *, cell: bool = False) -> str:
    """`text` on one line, escaped for a paragraph or a table `cell`; backticks stay code."""
    parts = escape_control_chars(text).split("`")
    if len(parts) % 2 == 0:  # the last backtick is unpaired
        parts[-2:] = ["`".join(parts[-2:])]
    last = len(parts) - 1
    pieces = []
    for place, part in enumerate(parts):
        if place % 2:
            pieces.append(code(part, cell=cell))
        else:
            pieces.append(_escaped(part) or (_APART if 0 < place < last else ""))
    return "".join(pieces)


def code(text: str, *, cell: bool = False) -> str:
    """`text` as code, backticks included; in a table cell bars are escaped."""
    text = escape_control_chars(text)
    if not text:
        return ""
    fence = "`"
    while fence in text:
        fence += "`"
    edges = text[0] + text[-1]
    pad = " " if "`" in edges or (edges == "  " and text.strip(" ")) else ""
    text = text.replace("|", "\\|") if cell else text
    return f"{fence}{pad}{text}{pad}{fence}"


def link(shown: str, url: str) -> str:
    """A Markdown link if `url` is a web address, else `shown`."""
    if not _ADDRESS.fullmatch(url):
        return shown
    return f"[{shown}]({_UNSAFE.sub(lambda match: f'%{ord(match.group()):02X}', url)})"


def _escaped(text: str) -> str:
    apart = _CALL.sub("\0", text)
    return apart.translate(_MARKUP).replace("\0", _APART)
