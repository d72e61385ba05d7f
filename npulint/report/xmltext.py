"""XML 1.0 output from arbitrary text."""

from __future__ import annotations

from collections.abc import Mapping

from npulint.core.lazy_regex import lazy_compile
from npulint.report.terminal import UNSEEN, escaped_character

# Everything that is not a Char of XML 1.0, and what other reports escape too; line ends stay.
_ILLEGAL = lazy_compile(f"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[{UNSEEN}]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_IN_TEXT = str.maketrans({char: _ENTITIES[char] for char in "&<>\r"})
_IN_ATTRIBUTE = str.maketrans(_ENTITIES)

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def legal(text: str) -> str:
    r"""`text` with characters that XML does not allow, or that nobody sees, as visible escapes, such as ``\x1b``."""
    return _ILLEGAL.sub(escaped_character, text)


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
