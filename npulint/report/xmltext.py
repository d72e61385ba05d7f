"""XML 1.0 output from arbitrary text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from npulint.lazy_regex import lazy_compile

# Everything that is not a Char of XML 1.0.
_ILLEGAL = lazy_compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_IN_TEXT = str.maketrans({char: _ENTITIES[char] for char in "&<>\r"})
_IN_ATTRIBUTE = str.maketrans(_ENTITIES)

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def legal(text: str) -> str:
    r"""`text` with characters that XML does not allow as visible escapes, such as ``\x1b``."""
    return _ILLEGAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def escaped(text: str) -> str:
    """`text` as element content; a parser returns exactly `legal(text)`."""
    return legal(text).translate(_IN_TEXT)


def element(name: str, attributes: Mapping[str, str | int], content: str = "", indent: str = "") -> str:
    """One element on its own line. `content` is XML already; multi-line content ends in a line feed."""
    words = "".join(f' {key}="{legal(str(value)).translate(_IN_ATTRIBUTE)}"' for key, value in attributes.items())
    if not content:
        return f"{indent}<{name}{words}/>\n"
    if content.endswith(">\n"):
        return f"{indent}<{name}{words}>\n{content}{indent}</{name}>\n"
    return f"{indent}<{name}{words}>{content}</{name}>\n"
