"""Escapes workflow commands in machine-readable reports, because CI runners execute commands in logs wherever they come
from, and characters that a terminal obeys or nobody sees. Only equivalent spellings of the formats are used, so the
content stays the same."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.report.terminal import COMMAND_SIGN, UNSEEN

_SIGN = lazy_compile(COMMAND_SIGN)
_START = lazy_compile(r"^([^!-9;-~\n\r]*):", re.MULTILINE)
_UNSEEN = lazy_compile(f"[{UNSEEN}]")
_HASH = {"json": "\\u0023", "jsonl": "\\u0023", "sarif": "\\u0023", "gitlab": "\\u0023"}
_XML = ("junit", "checkstyle")


def ci_escape(text: str, format_name: str) -> str:
    """An equivalent report in a machine-readable format without any command for CI runners. A format that is plain text
    stays as it is: whatever it has from a project is in quotations, which contain no command and begin with a sign."""
    if format_name in _HASH:  # a line of JSON never begins with a colon
        return _UNSEEN.sub(_in_json, _SIGN.sub(lambda _: _HASH[format_name], text))
    return _START.sub(r"\1&#58;", _SIGN.sub("&#35;", text)) if format_name in _XML else text


def _in_json(match: re.Match[str]) -> str:
    """A character as JSON may spell it in a text: by its UTF-16 units. Outside of texts JSON has none of these."""
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
