"""Files that make npulint part of other tools, as their users get them."""

from __future__ import annotations

import os


def template(name: str) -> str:
    """The text of one of these files."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as stream:
        return stream.read()
