"""Recorded facts about TensorFlow, the NPU adapter and its operators; every table is read when first asked."""

from __future__ import annotations

import os


def table(name: str) -> bytes:
    """The raw content of a table of this package."""
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as stream:
        return stream.read()
