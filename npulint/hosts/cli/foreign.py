"""Words that users of other linters write: what npulint calls them."""

from __future__ import annotations

from npulint.core.texts import say

COMMANDS = {"rule": "explain", "lsp": "server"}
"""Commands of other linters that mean the same here."""
_COMMANDS = {
    "linter": "npulint rules",
    "clean": "npulint check --no-cache",
    "format": "npulint check --fix",
    "lint": "npulint check",
    "list": "npulint rules",
    "generate-shell-completion": "npulint completion",
}
_OPTIONS = {
    "--output-file": "--output FORMAT=FILE",
    "-o": "--output FORMAT=FILE",
    "--show-settings": "npulint config",
    "--add-noqa": "--add-ignore",
    "--target-version": "--target",
    "--show-source": "--format text",
    "--cache-dir": "NPULINT_CACHE_DIR",
    "-n": "--no-cache",
    "-s": "--quiet",
    "--silent": "--quiet",
    "--explain": "npulint explain",
}


def meant(word: str, lang: str) -> str:
    """A hint for a command or option of another linter that npulint lacks; empty for other words."""
    ours = _COMMANDS.get(word) or _OPTIONS.get(word.partition("=")[0])
    return say(lang, "instead", word=ours) if ours else ""
