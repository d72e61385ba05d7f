"""Reports for machines, too, are printed into the logs of CI, whose runners obey what foreign texts say there. Their
formats can write a character in another way that means the same: nothing is left to obey, and nothing is lost."""

from __future__ import annotations

import re

from npulint.lazy_regex import lazy_compile
from npulint.report.terminal import COMMAND_SIGN

_SIGN = lazy_compile(COMMAND_SIGN)
_START = lazy_compile(r"^([^!-9;-~\n\r]*):", re.MULTILINE)
_HASH = {"json": "\\u0023", "jsonl": "\\u0023", "sarif": "\\u0023", "gitlab": "\\u0023"}


def ci_escape(text: str, format_name: str) -> str:
    """A report in one of the formats for machines that means the same and holds no command for CI runners."""
    if format_name in _HASH:  # a line of JSON never begins with a colon
        return _SIGN.sub(lambda _: _HASH[format_name], text)
    return _START.sub(r"\1&#58;", _SIGN.sub("&#35;", text))
