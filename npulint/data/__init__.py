"""Recorded tables about TensorFlow, PyTorch, the NPU adapter and their operators; each is loaded on first use."""

from __future__ import annotations

import os


def table(name: str) -> bytes:
    """The raw content of a table of this package."""
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as stream:
        return stream.read()
